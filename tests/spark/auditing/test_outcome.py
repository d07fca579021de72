"""Counts reconcile, and what is clean is."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa

from antecede.spark.auditing.outcome import FINDING, Audit, Totals, summary, table_summary


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


def test_json_says_how_much_it_leaves_out() -> None:
    rows = pa.table({name: [name] * 3 for name in FINDING})
    totals: Totals = Counter({("finding", "inversion"): 3, ("counts", "rows"): 3})
    told = Audit(rows, rows, rows, rows, rows, table_summary(totals)).to_json(limit=2)
    assert len(told["findings"]) == 2 and told["left_out"] == {"findings": 1} and told["quarantine"] == []
    assert told["counts"] == {"inversion": 3, "duplicate": 0, "missing": 0} and not told["clean"]
