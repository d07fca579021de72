"""The state of a stream, read with Spark's own state reader: what waits, and what would become of it at the end.

Decided in this file: `drain` is for a stream that has ended. It leaves the state as it is, so a stream that goes on
after it would tell the same rows again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from antecede.spark.order.behind import NEVER
from antecede.spark.order.bucket import Bucket
from antecede.spark.order.columns import ADDED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

__all__ = ["drain", "held"]

HELD = "group string, positions bigint, clock_us bigint, waiting bigint, next_due_us bigint, remembered bigint"


def drain(spark: SparkSession, checkpoint: str, schema: StructType, *, operator: int = 0) -> DataFrame:
    """What the stream still holds, as if its input had ended: together with what it wrote, all rows it was given.

    `schema`: that of the ordered stream. `operator`: its number among the stateful operators of the query.
    """
    from pyspark.sql import types as t

    own = len(schema.fields) - len(ADDED)
    plain = [
        t.StructField(f"c{place}" if place < own else field.name, field.dataType)
        for place, field in enumerate(schema.fields)
    ]
    return state_of(spark, checkpoint, operator).mapInArrow(finish, t.StructType(plain)).toDF(*schema.names)


def held(spark: SparkSession, checkpoint: str, *, operator: int = 0) -> DataFrame:
    """One row for each group: how far it is, what waits in it and until when, how many names it remembers."""
    return state_of(spark, checkpoint, operator).mapInArrow(describe, HELD)


def state_of(spark: SparkSession, checkpoint: str, operator: int) -> DataFrame:
    from antecede.spark.order.stream import STATE

    reader = spark.read.format("statestore").option("operatorId", operator).option("stateVarName", STATE)
    return reader.load(str(checkpoint)).select("value.saved", "value.waiting")


def buckets(batches: Iterator[pa.RecordBatch]) -> Iterator[Bucket]:
    for batch in batches:
        for saved, waiting in zip(batch["saved"].to_pylist(), batch["waiting"].to_pylist(), strict=True):
            yield Bucket(None, saved, waiting)


def finish(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for bucket in buckets(batches):
        bucket.finish()
        yield from bucket.rows.emit()


def describe(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    names = [part.split()[0] for part in HELD.split(", ")]
    for bucket in buckets(batches):
        told = [
            [group, domain.pos, domain.now, sum(not row.ghost for row in domain.rows()), due, len(domain.past)]
            for group, domain in bucket.domains()
            for due in [None if domain.next_due() == NEVER else domain.next_due()]
        ]
        types = [pa.string(), *[pa.int64()] * 5]
        columns = [pa.array(column, kind) for column, kind in zip(zip(*told, strict=True), types, strict=True)]
        yield pa.RecordBatch.from_arrays(columns, names)
