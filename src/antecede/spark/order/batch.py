"""Batch: one pass over each domain, rows sorted by Spark, payload as Arrow from end to end.

Spark sorts by group and arrival and spills as it must; a task sees each domain's rows in their order and keeps only the
names that lie behind and the rows that wait. One domain is one task: it is sequential by nature.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from antecede.collector import collecting_rarely
from antecede.errors import InputError
from antecede.spark.order.columns import ADDED, WORKING, Columns
from antecede.spark.order.domain import Domain
from antecede.spark.order.rows import Rows, feed
from antecede.spark.order.work import AS_READ, Work, work_of
from antecede.spark.tables.frames import arrow_types

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

__all__ = ["order_batches", "order_table", "out_schema"]

FLUSH = 10_000
"""Rows: what comes out of small domains is put together to batches of at least this."""


def order_table(read: DataFrame, columns: Columns, schema: StructType, *, projected: bool = False) -> DataFrame:
    """`read`: the table as `sql.read` gives it; `schema`: what it was; `projected`: parents were replaced."""
    work = work_of(columns, arrow_types(schema), projected=projected)
    narrow = work.narrow(read)
    parted = narrow.repartition(1) if work.group is None else narrow.repartition(work.group)
    tied = parted.sortWithinPartitions(*work.sort())
    return tied.mapInArrow(order_batches(columns, work), out_schema(read.schema)).toDF(*schema.names, *ADDED)


def out_schema(schema: StructType) -> StructType:
    """The columns c0, c1, ... and those that are added."""
    from pyspark.sql import types as t

    text = t.StringType()
    kinds = (t.LongType(), text, text, t.ArrayType(text), t.IntegerType(), text)
    own = [field for field in schema.fields if field.name not in WORKING]
    return t.StructType([*own, *(t.StructField(name, kind) for name, kind in zip(ADDED, kinds, strict=True))])


def order_batches(
    columns: Columns, work: Work = AS_READ
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What a task does with its sorted rows."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with collecting_rarely():
            yield from Task(columns, work).run(batches)

    return run


class Task:
    """Domains one after the other; only one is open."""

    def __init__(self, columns: Columns, work: Work) -> None:
        self.columns = columns
        self.work = work
        self.rules = columns.rules(streaming=False)
        self.rows = Rows()
        self.domain: Domain | None = None
        self.group: str | None = None

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if not batch.num_rows:
                continue
            feed(batch, self.work, self.rows, self.open)
            if self.rows.ready >= FLUSH:
                yield from self.rows.emit()
            if self.domain is not None:
                self.rows.compact(self.domain)
        self.end()
        yield from self.rows.emit()

    def open(self, group: str | None) -> Domain:
        if self.domain is None or group != self.group:
            self.end()
            self.domain, self.group = Domain(self.rules), group
        return self.domain

    def end(self) -> None:
        """All rows of the domain have come."""
        domain = self.domain
        if domain is None:
            return
        if not self.columns.bounded and self.columns.unknown is None:
            for row, need in domain.unknown():
                self.complain(row.name, need)
        domain.finish()
        self.rows.collect(domain)
        self.domain = None

    def complain(self, name: str, need: str) -> None:
        grouped = self.columns.group is not None
        raise InputError(
            f"{name} comes after {need}, which is not in {f'group {self.group}' if grouped else 'the table'}: say "
            "unknown='skip' (--unknown skip) to go on without what is missing, or how long to wait for it with wait_us "
            "(--wait-us) or deadline (--deadline)"
            + (", or foreign='project' if it is in another group" if grouped else "")
        )
