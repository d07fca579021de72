"""From a cut to a result: exact sums, who is there, and who is not."""

from __future__ import annotations

import pytest

from antecede.core.fold.cuts import Cut, CutRule
from antecede.core.fold.results import check_over, counted_in, result_of
from antecede.errors import InputError
from tests.core.fold.cuts_twin import fold_of, reading


def cut_of(*values: float | None) -> Cut:
    rows = [reading(f"s{n}:1", n, values=(value,)) for n, value in enumerate(values)]
    return next(iter(fold_of(CutRule(rows=len(rows))).push(rows)))


def test_sums_are_exact_and_nothing_is_no_number() -> None:
    row = result_of(cut_of(1e16, 1.0, -1e16, None), 0, values=["t"])
    assert (row["t_mean"], row["t_count"], row["count"]) == (1 / 3, 3, 4)
    empty = result_of(cut_of(None), 0, values=["t"])
    assert (empty["t_mean"], empty["t_min"], empty["t_max"], empty["t_count"]) == (None, None, None, 0)


def test_who_is_expected_and_absent() -> None:
    cut = cut_of(1.0, 2.0)
    assert (result_of(cut, 0, values=["t"])["completeness"], result_of(cut, 0, values=["t"])["absent"]) == (1.0, [])
    row = result_of(cut, 0, values=["t"], senders=frozenset({"s0", "z"}))
    assert (row["completeness"], row["absent"]) == (0.5, ["z"])


def test_the_latest_of_each_or_all_that_is_new() -> None:
    rows = [reading("a:1", 0, values=(1.0,)), reading("a:2", 1, values=(3.0,))]
    (cut,) = fold_of(CutRule(rows=2)).push(rows)
    assert [len(counted_in(cut, 0, over)) for over in ("latest", "new")] == [1, 2]
    assert result_of(cut, 0, values=["t"], over="new")["t_mean"] == 2.0
    with pytest.raises(InputError, match="latest or new"):
        check_over("all")
