"""Rows by slot: nothing is copied twice, nothing is lost when the rest is put together."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from antecede.spark.order import rows as module
from antecede.spark.order.behind import Rules
from antecede.spark.order.domain import Domain
from antecede.spark.order.rows import Chunk, Rows, feed
from tests.spark.order.tables import as_batch
from tests.spark.order.twin import Line


def numbers(batches: list[pa.RecordBatch]) -> list[int]:
    return [n for batch in batches for n in batch["number"].to_pylist()]


def test_a_chunk_without_some_of_its_rows() -> None:
    batch = pa.RecordBatch.from_pydict({"number": [10, 11, 12, 13]})
    left = Chunk(batch, 100).without(np.array([101, 103]))
    assert left is not None and left.slots is not None and left.slots.tolist() == [100, 102]
    assert left.take(np.array([102]))["number"].to_pylist() == [12]
    assert left.without(np.array([100, 102])) is None


def test_rows_that_wait_survive_when_the_rest_is_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOOSE", 2)
    rows, domain = Rows(), Domain(Rules())
    out = []
    for start in range(0, 100, 5):
        lines = [Line(f"m{n}", ["never"] if n % 10 == 0 else []) for n in range(start, start + 5)]
        feed(as_batch(lines, first=start), rows, lambda group: domain)
        out += list(rows.emit())
        rows.compact(domain)
        assert sum(chunk.batch.num_rows for chunk in rows.chunks) <= 2 * domain.waiting + 2 + 5
    domain.finish()
    rows.collect(domain)
    out += list(rows.emit())
    assert sorted(numbers(out)) == list(range(100))
    last = out[-1]
    assert last["number"].to_pylist() == list(range(0, 100, 10)) and last["released_by"].to_pylist() == ["skip"] * 10
    assert last["missing"].to_pylist() == [["never"]] * 10 and "_foreign" not in last.schema.names


def test_a_foreign_parent_is_told_with_the_others() -> None:
    rows, domain = Rows(), Domain(Rules())
    batch = as_batch([Line("a"), Line("b", ["x"])])
    place = batch.schema.get_field_index("_foreign")
    told = pa.array([["far"], ["there", None]], pa.list_(pa.string()))
    feed(batch.set_column(place, batch.schema.field(place), told), rows, lambda group: domain)
    domain.finish()
    rows.collect(domain)
    (out,) = rows.emit()
    assert out["missing"].to_pylist() == [["foreign:far"], ["foreign:there", "x"]]
