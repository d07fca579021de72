"""Counts reconcile, and what is clean is."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa

from antecede.spark.auditing.outcome import FINDING, Audit, Totals, first_rows, summary, table_summary


def test_rows_are_those_judged_and_those_set_aside() -> None:
    totals: Totals = Counter(
        {("counts", "rows"): 7, ("refused", "rows"): 2, ("finding", "gap"): 1, ("doubt", "gap"): 3, ("tail", ""): 1}
    )
    told = summary(totals)
    assert (told["rows"], told["rows_refused"], told["counts"]["gap"], told["in_doubt"]) == (9, 2, 1, 3)
    totals = Counter({("counts", "rows"): 7, ("ties", "rows"): 4, ("doubt", "tie"): 1, ("missing", "missing"): 2})
    told = table_summary(totals)
    assert (told["rows"], told["ties"], told["missing"], told["counts"]) == (7, 4, 2, {"inversion": 0, "duplicate": 0})
    empty = pa.table({name: pa.nulls(0) for name in FINDING})
    ties = Audit(empty, empty, empty, empty, empty, told)
    assert ties.clean, "what has no order is told, and is no fault"


def test_the_first_rows_are_the_same_and_crashes_are_known_on_any_engine(spark: Any) -> None:
    told = [("s", "r", process, step, "m", None, None) for process in ("B", "A") for step in (None, 2, 1)]
    columns = ("source", "run", "process", "step", "message", "other", "text")
    here = pa.Table.from_pylist([dict(zip(columns, row, strict=True)) for row in told])
    there = spark.createDataFrame(told, "source string, run string, process string, step bigint, message string, "
                                        "other string, text string")  # fmt: skip
    assert [(row["process"], row["step"]) for row in first_rows(here, 4)] == [("A", 1), ("A", 2), ("A", None), ("B", 1)]
    assert first_rows(there, 4) == first_rows(here, 4)
    for table in (here, there):
        result = Audit(table, table, table, table, None, {"unknown_tails": 6})
        assert [result.unexpected(names) for names in ((), ("A",), ("C",), ("A", "B"))] == [6, 3, 6, 0]


def test_json_says_how_much_it_leaves_out() -> None:
    rows = pa.table({name: [name] * 3 for name in FINDING})
    totals: Totals = Counter({("finding", "inversion"): 3, ("counts", "rows"): 3})
    told = Audit(rows, rows, rows, rows, rows, table_summary(totals)).to_json(limit=2)
    assert len(told["findings"]) == 2 and told["left_out"] == {"findings": 1} and told["quarantine"] == []
    assert told["counts"] == {"inversion": 3, "duplicate": 0, "missing": 0} and not told["clean"]
