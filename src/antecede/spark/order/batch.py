"""Batch: one pass over each domain, rows sorted by Spark, payload as Arrow from end to end.

Spark sorts by group and arrival and spills as it must; a task sees each domain's rows in their order and keeps only the
names that lie behind and the rows that wait. One domain is one task: it is sequential by nature.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from antecede.errors import InputError
from antecede.spark.order.columns import FOREIGN, WORKING, Columns, added_schema
from antecede.spark.order.domain import FATES, INVALID, REASONS, Domain
from antecede.spark.order.rows import Rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["order_batches", "order_table"]

FLUSH = 10_000
"""Rows: what comes out of small domains is put together to batches of at least this."""


def order_table(read: DataFrame, columns: Columns) -> DataFrame:
    """`read`: the table with its working columns."""
    from pyspark.sql import types as t

    own = [field for field in read.schema.fields if field.name not in WORKING]
    by_number = columns.id is not None and isinstance(read.schema[columns.id].dataType, t.IntegralType)
    tie = columns.id if by_number and columns.id is not None else "_name"
    parted = read.repartition(1) if columns.group is None else read.repartition("_group")
    tied = parted.sortWithinPartitions("_group", "_at", f"`{tie}`", "_late", "_due", "_needs")
    schema = t.StructType(own)
    for field in t.StructType.fromDDL(added_schema()):
        schema.add(field)
    return tied.mapInArrow(order_batches(columns), schema)


def order_batches(columns: Columns) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What a task does."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from Task(columns).run(batches)

    return run


class Task:
    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.rules = columns.rules(streaming=False)
        self.rows = Rows()
        self.domain: Domain | None = None
        self.group: str | None = None
        self.foreign: dict[int, list[str]] = {}

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if batch.num_rows:
                self.feed(batch)
                if self.rows.ready >= FLUSH:
                    yield from self.rows.emit()
                if self.domain is not None:
                    self.rows.compact(self.domain)
        self.end()
        yield from self.rows.emit()

    def feed(self, batch: pa.RecordBatch) -> None:
        work = {name: batch.column(batch.schema.get_field_index(name)) for name in WORKING}
        first = self.rows.add(batch.drop_columns(list(WORKING)))
        groups = work["_group"]
        if self.columns.group is None:
            edges, names = [len(groups)], [None]
        else:
            runs = pa.compute.run_end_encode(groups)
            edges, names = runs.run_ends.to_pylist(), runs.values.to_pylist()
        name, other, needs = work["_name"].to_pylist(), work["_other"], lists(work["_needs"])
        others = repeat(None, len(name)) if other.null_count == len(other) else other.to_pylist()
        others = list(others) if isinstance(others, repeat) and len(edges) > 1 else others
        foreign = work["_foreign"]
        if foreign.null_count < len(foreign):
            self.foreign = {first + i: found for i, found in enumerate(foreign.to_pylist()) if found}
            self.rows.foreign.update(self.foreign)
        at, late, due = (work[one].to_numpy().tolist() for one in ("_at", "_late", "_due"))
        start = 0
        for edge, group in zip(edges, names, strict=True):
            if self.domain is None or group != self.group:
                self.end()
                self.domain, self.group = Domain(self.rules), group
            part = slice(start, edge)
            if start == 0 and edge == len(name):
                self.domain.take(range(first, first + edge), name, others, needs, at, late, due)
            else:
                theirs = others if isinstance(others, repeat) else others[part]
                self.domain.take(
                    range(first + start, first + edge), name[part], theirs, needs[part], at[part], late[part], due[part]
                )
            self.rows.collect(self.domain)
            start = edge

    def end(self) -> None:
        """All rows of the domain have come."""
        domain = self.domain
        if domain is None:
            return
        if domain.held and not self.columns.bounded and self.columns.unknown is None:
            for row, need in domain.unknown():
                where = "the table" if self.columns.group is None else f"group {self.group}"
                raise InputError(
                    f"{row.name} comes after {need}, which is not in {where}: say unknown='skip' to go on without what "
                    "is missing, or wait_us or deadline until when to wait for it"
                    + ("" if self.columns.group is None else ", or foreign='project' if parents are in other groups")
                )
        domain.finish()
        self.rows.collect(domain)
        self.rows.settle()
        self.domain = None


def lists(array: Any) -> list[Any]:
    """The lists of a list array, without going through Python for each."""
    values, edges = array.values.to_pylist(), array.offsets.to_pylist()
    return [values[a:b] for a, b in zip(edges, edges[1:], strict=False)]
