"""Streams: one stateful pass, the domains of a key as one value of bytes, timers on event time.

Decided in this file: rows travel to the operator and back in chunks, Arrow in one binary value for each key, because
Spark hands rows to a stateful Python operator one by one; inside they are sorted by arrival and id, since a shuffle
leaves them in any order. The watermark is that of the arrival column, and lets time pass for groups in which nothing
arrives. Spark would drop rows behind the watermark without a word; here they reach the operator, because the column
that Spark looks at is always null. What is held when a stream ends stays in its state; `drain` takes it from there.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from antecede.collector import collecting_rarely
from antecede.spark.metrics import OUTPUT, Tallied, asking, observed
from antecede.spark.order.arrow import table_bytes, table_of, together
from antecede.spark.order.batch import out_schema
from antecede.spark.order.behind import NEVER
from antecede.spark.order.bucket import Bucket, Warm
from antecede.spark.order.columns import ADDED, Columns
from antecede.spark.order.rows import feed
from antecede.spark.order.work import Work, arranged, work_of
from antecede.spark.tables.frames import arrow_types

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

__all__ = ["KEYS", "STATE", "OrderProcessor", "order_stream"]

KEYS = 16
"""Keys of the state. Few, since each costs a call; more than the cores, so that they share the work."""

STATE = "domains"
STATE_SCHEMA = "saved binary, waiting binary, armed bigint"

WARM = Warm(1_000_000)
"""Of this process. A name takes about 120 bytes."""

CHUNK = 65_536
"""Rows that are put together before they are split by key. Raising it costs memory and saves calls."""


def order_stream(read: DataFrame, columns: Columns, schema: StructType) -> DataFrame:
    """`read`: the table as `sql.read` gives it; `schema`: what it was."""
    from pyspark.sql import functions as f

    timed = columns.bounded
    work = work_of(columns, arrow_types(schema))
    if timed:
        read = read.withColumn("_clock", f.timestamp_micros("_at")).withWatermark("_clock", "0 seconds").drop("_clock")
    key = f.lit(0) if work.group is None else f.pmod(f.xxhash64(work.group), f.lit(KEYS)).cast("int")
    out = out_schema(read.schema)
    keys = 1 if work.group is None else KEYS
    into = asking(into_chunks, keys)
    chunks = work.narrow(read).withColumn("_key", key).mapInArrow(into, "_key int, chunk binary")
    if timed:
        chunks = chunks.withColumn("silent", silent_clock())
    clock = columns.arrived or columns.time
    arrived = None if clock is None else f"c{schema.names.index(clock)}"
    told = chunks.groupBy("_key").transformWithStateInPandas(
        Tallied(OrderProcessor(columns, work), arrived, timed),
        outputStructType=OUTPUT,
        outputMode="Append",
        timeMode="EventTime" if timed else "None",
    )
    return observed(told, keys).mapInArrow(out_of_chunks, out).toDF(*schema.names, *ADDED)


def silent_clock() -> Column:
    """Carries the watermark and never a time: rows behind the watermark are ours to judge, not Spark's to drop."""
    from pyspark.sql import functions as f

    return f.lit(None).cast("timestamp").alias("silent", metadata={"spark.watermarkDelayMs": 0})


def into_chunks(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rows by key: one value each."""
    collected: list[pa.RecordBatch] = []
    for batch in batches:
        collected.append(batch)
        if sum(one.num_rows for one in collected) >= CHUNK:
            yield by_key(together(collected))
            collected = []
    if collected and sum(one.num_rows for one in collected):
        yield by_key(together(collected))


def by_key(rows: pa.RecordBatch) -> pa.RecordBatch:
    keys = rows["_key"].to_numpy()
    rows = rows.drop_columns(["_key"])
    present = np.unique(keys)
    if len(present) == 1:
        chunks = [table_bytes(rows)]
    else:
        order = np.argsort(keys, kind="stable")
        rows = rows.take(order)
        edges = np.searchsorted(keys[order], [*present, KEYS])
        chunks = [table_bytes(rows.slice(a, b - a)) for a, b in pairwise(edges)]
    return pa.RecordBatch.from_arrays([pa.array(present, pa.int32()), pa.array(chunks, pa.binary())], ["_key", "chunk"])


def out_of_chunks(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for chunk in batch["chunk"]:
            yield table_of(chunk.as_buffer())


class OrderProcessor(StatefulProcessor):
    def __init__(self, columns: Columns, work: Work) -> None:
        self.rules = columns.rules(streaming=True)
        self.timed = columns.bounded
        self.work = work

    def init(self, handle: Any) -> None:
        self.handle = handle
        self.state = handle.getValueState(STATE, STATE_SCHEMA)

    # Spark calls the following by these names, and hands over its arguments by theirs.
    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Iterator[pd.DataFrame]:
        with collecting_rarely():
            bucket, armed = self.load()
            chunks = [table_of(chunk) for frame in rows for chunk in frame["chunk"]]
            feed(arranged(chunks, self.work), self.work, bucket.rows, bucket.domain)
            out = self.leave(bucket, armed)
        yield from out

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[pd.DataFrame]:
        bucket, _ = self.load()
        bucket.expire(timerValues.getCurrentWatermarkInMs() * 1000)
        yield from self.leave(bucket, None)

    def close(self) -> None:
        pass

    def load(self) -> tuple[Bucket, int | None]:
        value = self.state.get()  # None if there is none; asking for that first would read it twice
        if value is None:
            return Bucket(self.rules), None
        saved, waiting, armed = value
        return WARM.take(self.rules, saved, waiting), armed

    def leave(self, bucket: Bucket, armed: int | None) -> list[pd.DataFrame]:
        import pandas as pd

        out = list(bucket.rows.emit(keep=True))
        due = bucket.next_due() if self.timed else NEVER
        wanted = due // 1000 + 1 if due < NEVER else None
        if wanted != armed:
            if armed is not None:
                self.handle.deleteTimer(armed)
            if wanted is not None:
                self.handle.registerTimer(wanted)
        saved, waiting = bucket.frozen()
        self.left = bucket.rows.chunks, wanted  # what waits, and until when: see `metrics`
        self.state.update((saved, waiting, wanted))
        WARM.leave(bucket, saved, waiting)
        return [pd.DataFrame({"chunk": [table_bytes(batch) for batch in out]})] if out else []
