"""The engine without Spark: batches in lists, sums by Arrow."""

from __future__ import annotations

import pyarrow as pa

from antecede.spark.auditing.local import Local
from antecede.spark.auditing.pieces import PIECE, RESULT, pieces


def test_pieces_come_domain_after_domain() -> None:
    engine = Local()
    told = [pieces([("b", "x", b"1"), ("a", "x", b"2")]), pieces([("b", "y", b"3")])]
    rows = pa.Table.from_batches(engine.by_domain(told), schema=PIECE)
    assert rows.column("domain").to_pylist() == ["a", "b", "b"]


def test_how_far_it_is_is_told() -> None:
    said: list[tuple[str, int, int | None]] = []
    engine = Local(lambda *told: said.append(told))
    frame = [pa.RecordBatch.from_pydict({"id": [1, 2]}), pa.RecordBatch.from_pydict({"id": [3]})]
    assert engine.mapped(frame, list, PIECE) == frame
    assert said == [("rows read", 0, 3), ("rows read", 2, 3)]


def test_counts() -> None:
    rows = [
        {"what": "counts", "rows": 2, "messages": 1},
        {"what": "counts", "rows": 3},
        {"what": "finding", "verdict": "v"},
    ]  # fmt: skip
    totals = Local().counted([pa.RecordBatch.from_pylist(rows, schema=RESULT)])
    assert totals["counts", "rows"] == 5 and totals["counts", "messages"] == 1 and totals["finding", "v"] == 1
    assert Local().counted([]) == {}
