"""A batch task on Arrow data, against the twin; the wiring is in test_operator."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest

from antecede.errors import InputError
from antecede.spark.order.batch import order_batches
from antecede.spark.order.columns import Columns
from tests.spark.order.tables import as_batch, history, in_sequence
from tests.spark.order.twin import Line, Outcome, Twin

PLAIN = Columns(id="id", parents="parents", unknown="skip")


def told(batches: list[pa.RecordBatch]) -> dict[int, Outcome]:
    found = {}
    for batch in batches:
        for row in batch.to_pylist():
            assert row["number"] not in found
            missing = tuple(row["missing"])
            found[row["number"]] = Outcome(row["fate"], row["causal_pos"], row["released_by"], missing, row["revealed"])
    return found


def wanted(lines: list[Line]) -> dict[int, Outcome]:
    return Twin(lines).run()


def test_a_task_is_the_twin_for_every_domain_however_the_batches_are_cut() -> None:
    for seed in range(200):
        dice = Random(seed)
        groups = [in_sequence(history(1000 * seed + n, cyclic=n == 2)) for n in range(dice.randint(1, 4))]
        batches, expected, first = [], {}, 0
        for n, lines in enumerate(groups):
            if lines:
                batches.append(as_batch(lines, f"g{n}", first))
                expected |= {first + i: outcome for i, outcome in wanted(lines).items()}
                first += len(lines)
        if not batches:
            continue
        whole = pa.Table.from_batches(batches).combine_chunks().to_batches()[0]
        size = dice.randint(1, 9)
        pieces = [whole.slice(start, size) for start in range(0, whole.num_rows, size)]
        assert told(list(order_batches(PLAIN)(iter(pieces)))) == expected, seed


def test_an_unknown_parent_without_a_policy_is_one_sentence() -> None:
    strict = Columns(id="id", parents="parents", group="g")
    batch = as_batch([Line("a"), Line("b", ["a", "lost"])], "x")
    with pytest.raises(
        InputError, match=r"b comes after lost, which is not in group x: say unknown='skip' .* foreign="
    ):
        list(order_batches(strict)(iter([batch])))
    known = as_batch([Line("b", ["a"]), Line("a")], "x")
    assert {o.fate for o in told(list(order_batches(strict)(iter([known])))).values()} == {"delivered"}


def test_no_rows_no_output() -> None:
    assert list(order_batches(PLAIN)(iter([]))) == []
    assert list(order_batches(PLAIN)(iter([as_batch([])]))) == []
