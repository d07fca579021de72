"""The report says whether every row is accounted for."""

from __future__ import annotations

from dataclasses import replace

from antecede.spark.outcome import DAMAGED, ROWS_IN, Report, Stage


def report(rows_in: int, ordered: int, quarantined: int, damaged: int = 0, held: int = 0) -> Report:
    stages = (
        Stage("quarantine", quarantined, {ROWS_IN: rows_in, DAMAGED: damaged}),
        Stage("ordered", ordered, {"delivered": ordered}),
        Stage("fused", 99),
    )
    return Report("out", rows_in, stages, held)


def test_rows_in_are_rows_out() -> None:
    assert report(10, 7, 3).reconciled
    assert not report(10, 6, 3).reconciled and report(10, 6, 3, held=1).reconciled
    assert not report(10, 8, 3).reconciled, "a row too many is a fault too"
    assert replace(report(10, 5, 3), unread=2).reconciled and not replace(report(10, 8, 3), unread=-1).reconciled


def test_damaged_files_are_no_rows() -> None:
    told = report(10, 8, 3, damaged=1)
    assert told.reconciled and (told.rows_out, told.damaged) == (10, 1)


def test_as_json() -> None:
    body = report(10, 7, 3).to_json()
    assert body["reconciled"] is True and body["rows_out"] == 10
    assert [stage["name"] for stage in body["stages"]] == ["quarantine", "ordered", "fused"]
    assert report(10, 7, 3).stage("fused") == Stage("fused", 99) and report(1, 1, 0).stage("none") is None
