"""The engine without Spark: the same steps in this process, one after the other, over Arrow.

Decided in this file: a frame is a list of batches, all in memory; what a step says is the same as on Spark, row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute

from antecede.spark.auditing.outcome import Totals
from antecede.spark.auditing.pieces import PIECE, RESULT, SHIPPED
from antecede.spark.auditing.work import SUMS, Step, sums_of

__all__ = ["SAME", "Local", "Watch"]

pc: Any = pa.compute

SAME = ("source", "run", "verdict", "process", "message", "other")
"""Of answers that are the same in these, one is the finding."""


Watch = Callable[[str, int, int | None], None]
"""Told what is being counted, how much of it is done, and of how much."""

STAGES = {id(PIECE): "rows read", id(SHIPPED): "rows read again", id(RESULT): "rows judged"}
"""What a step is about, by what it gives."""


class Local:
    parts = 1

    def __init__(self, watch: Watch | None = None) -> None:
        self.watch = watch

    def numbers(self, count: int) -> list[pa.RecordBatch]:
        """A frame of the numbers below `count`, one batch each."""
        return [pa.RecordBatch.from_pydict({"id": pa.array([n], pa.int64())}) for n in range(count)]

    def mapped(self, frame: Any, function: Step, schema: pa.Schema) -> list[pa.RecordBatch]:
        if self.watch is None:
            return list(function(iter(frame)))
        return list(function(self._watched(list(frame), STAGES.get(id(schema), "rows"))))

    def _watched(self, frame: list[Any], what: str) -> Iterator[Any]:
        done, total = 0, sum(len(batch) for batch in frame)
        for batch in frame:
            assert self.watch is not None
            self.watch(what, done, total)
            yield batch
            done += len(batch)

    def by_domain(self, pieces: Any) -> list[pa.RecordBatch]:
        return list(pa.Table.from_batches(pieces, schema=PIECE).sort_by("domain").to_batches())

    def by_part(self, chunks: Any) -> Any:
        return chunks

    def kept(self, frame: Any) -> Any:
        return frame

    def both(self, one: Any, other: Any) -> Any:
        return [*one, *other]

    def counted(self, results: Any) -> Totals:
        sums: Any = [([], "count_all"), *((name, "sum") for name in SUMS)]
        grouped = whole(results).group_by(["what", "verdict"]).aggregate(sums)
        columns = ["what", "verdict", "count_all", *(f"{name}_sum" for name in SUMS)]
        return sums_of(zip(*(grouped.column(name).to_pylist() for name in columns), strict=True))

    def of_readable(self, results: Any) -> list[pa.RecordBatch]:
        table = whole(results)
        unreadable = pc.and_(pc.equal(table["what"], "quarantine"), pc.equal(table["verdict"], "unreadable"))
        bad = pc.is_in(table["source"], pc.unique(table.filter(unreadable)["source"]))
        reasons = pc.is_in(table["what"], pa.array(["quarantine", "counts"]))
        return list(table.filter(pc.or_(pc.invert(bad), reasons)).to_batches())

    def best(self, answers: Any) -> list[pa.RecordBatch]:
        first: dict[tuple[Any, ...], dict[str, Any]] = {}
        for row in sorted(whole(answers).to_pylist(), key=lambda row: row["turn"]):
            first.setdefault(tuple(row[name] for name in SAME), {**row, "what": "finding"})
        return [pa.RecordBatch.from_pylist(list(first.values()), schema=RESULT)]

    def only(self, results: Any, what: str) -> list[pa.RecordBatch]:
        table = whole(results)
        return list(table.filter(pc.equal(table["what"], what)).to_batches())

    def told(self, results: Any, columns: tuple[str, ...], *what: str) -> pa.Table:
        table = whole(results)
        return table.filter(pc.is_in(table["what"], pa.array(what))).select(list(columns))


def whole(results: Any) -> pa.Table:
    return pa.Table.from_batches(results, schema=RESULT)
