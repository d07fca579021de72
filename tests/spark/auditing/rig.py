"""The steps of the audit one after the other, without Spark: the same functions that its tasks run, in this process."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa

from antecede.spark.auditing import work
from antecede.spark.auditing.files import SETTINGS
from antecede.spark.auditing.local import Local
from antecede.spark.auditing.pieces import PIECE, RESULT, SHIPPED
from antecede.spark.auditing.work import Engine, Traces
from antecede.trace.parquet import to_batch
from antecede.trace.record import Row, arrow_schema

__all__ = ["Result", "Shuffled", "audited", "cut_up", "renumbered", "table_audited", "with_faults"]

Result = dict[str, list[dict[str, Any]]]
"""Rows by what they are: finding, doubt, tail, quarantine, counts, missing, absent."""


def cut_up(rows: Sequence[Row], dice: random.Random, cuts: int = 3) -> list[pa.Table]:
    """The rows as a trace, in pieces as tasks get them."""
    borders = sorted({0, len(rows), *(dice.randrange(len(rows) + 1) for _ in range(cuts))})
    schema = arrow_schema()
    return [pa.Table.from_batches([to_batch(rows[a:b], schema)]) for a, b in pairwise(borders)]


class Parts(list[Any]):
    """A frame in several parts."""


class Shuffled(Local):
    """The engine that is not Spark, with parts as Spark has them, in any order; it remembers all results."""

    parts = 3

    def __init__(self, dice: random.Random | None = None) -> None:
        super().__init__()
        self.dice = dice or random.Random(0)
        self.seen: list[pa.RecordBatch] = []

    def mapped(self, frame: Any, function: Any, schema: pa.Schema) -> list[pa.RecordBatch]:
        parts = frame if isinstance(frame, Parts) else [[one] for one in frame] if schema is not RESULT else [frame]
        return [batch for part in parts for batch in function(iter(part))]

    def by_domain(self, pieces: Any) -> list[pa.RecordBatch]:
        return list(pa.Table.from_batches(pieces, schema=PIECE).sort_by("domain").to_batches(max_chunksize=2))

    def by_part(self, chunks: Any) -> Parts:
        """As a shuffle would: each part's chunks in any order."""
        table = pa.Table.from_batches(chunks, schema=SHIPPED)
        parts = Parts()
        for part in range(self.parts):
            rows = [n for n, p in enumerate(table.column("part").to_pylist()) if p == part]
            self.dice.shuffle(rows)
            parts.append(table.take(pa.array(rows, pa.int64())).to_batches(max_chunksize=2))
        return parts

    def kept(self, frame: Any) -> Any:
        self.seen += frame
        return frame

    def result(self) -> Result:
        result: Result = {}
        for batch in self.seen:
            for row in batch.to_pylist():
                result.setdefault(row["what"], []).append(row)
        result.pop("question", None)
        result.setdefault("finding", [])
        return result


def read(tables: Any) -> Iterator[tuple[str, Any]]:
    return (("", table) for table in tables)


class Cut(Traces):
    """Pieces of a trace."""

    def __init__(self, tables: Sequence[pa.Table], settings: dict[str, Any]) -> None:
        super().__init__(settings)
        self.tables_of_rows = tables

    def telling(self, engine: Engine, kinds: tuple[str, ...]) -> tuple[Any, Any]:
        return self.tables_of_rows, read

    def shipping(self, engine: Engine) -> tuple[Any, Any]:
        return self.tables_of_rows, read


def audited(tables: Sequence[pa.Table], scratch: Path, dice: random.Random | None = None, **settings: Any) -> Result:
    """Everything the audit says of these pieces of a trace."""
    engine = Shuffled(dice)
    work.audited(engine, Cut(tables, {**SETTINGS, **settings}), str(scratch))
    return engine.result()


def table_audited(tables: Sequence[pa.Table], scratch: Path, dice: random.Random | None = None) -> Result:
    """Everything the audit says of a table with columns named by their roles."""
    engine = Shuffled(dice)
    work.audited(engine, work.Table(tables, read), str(scratch))
    return engine.result()


# --- faults ----------------------------------------------------------------------------------------------------------


def renumbered(rows: Iterable[Row]) -> list[Row]:
    """Steps made contiguous again."""
    steps: dict[str, int] = {}
    out = []
    for row in rows:
        out.append(row._replace(step=steps.setdefault(row.process, 0)))
        steps[row.process] += 1
    return out


def with_faults(run: Sequence[Row], dice: random.Random) -> list[Row]:
    """The run with a few deliveries left out, doubled, put off, brought forward, made late, or made discards."""
    rows = list(run)
    for _ in range(dice.randrange(6)):
        places = [place for place, row in enumerate(rows) if row.kind == "deliver"]
        if not places:
            break
        at = dice.choice(places)
        row = rows[at]
        mine = [
            n for n, other in enumerate(rows) if other.process == row.process and other.kind not in ("end", "crash")
        ]
        what = dice.choice(["leave out", "double", "put off", "bring forward", "late", "discard", "no clock"])
        if what == "leave out":
            del rows[at]
        elif what == "double":
            rows.insert(dice.choice([place for place in mine if place >= at]) + 1, row)
        elif what == "put off":
            to = dice.choice([place for place in mine if place > at] or [at])
            rows.insert(to, rows.pop(at))
        elif what == "bring forward":
            to = dice.choice([place for place in mine if mine[0] < place < at] or [at])
            rows.insert(to, rows.pop(at))
        elif what == "late":
            later = None if row.true_us is None else row.true_us + 10**6
            rows[at] = row._replace(at_us=row.at_us + 10**6, true_us=later)
        elif what == "discard":
            reasons = ["late", "superseded", "foreign", "overflow", "duplicate", "gone", "expired"]
            rows[at] = row._replace(kind="discard", reason=dice.choice(reasons))
        else:
            rows = [other._replace(true_us=None) for other in rows]
    return renumbered(rows)
