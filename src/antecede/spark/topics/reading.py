"""Reading live topics: `spark.readStream.format("antecede").option("brokers", ...).option("topics", ...)`.

Decided in this file: what an offset is and where rows live between an offset and the reading of its batch. An offset is
a frontier of the client (everything it was handed so far, as marks), with the number of the next row. Rows live in the
spool, a folder that `spool.py` explains: tasks read them there, so the folder must be one that all workers see, and a
batch that is run again after a crash is the same batch. The client itself (`feed.py`) lives in the process in which
Spark plans the stream, as long as the query runs. A later run of the query begins at the frontier of the newest rows in
the spool; if the folder is lost, at that of Spark's own offset, from whatever the brokers still hold.

Options, beside those of `places.py`:
- `topics`: filters, by commas
- `where`: only messages of which this predicate is true (docs/live.md)
- `spool`: a folder for this query alone, beside its checkpoint
- `max_rows`: the most rows of a batch, as far as the pieces in which rows were written allow
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any, TextIO

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.types import ArrayType, BinaryType, DataType, LongType, MapType, StringType, StructField, StructType

try:
    from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow
except ImportError:  # Spark before 4.2 takes all there is as one batch
    SupportsTriggerAvailableNow = object  # type: ignore[misc, assignment]

from antecede.errors import InputError
from antecede.live.message import selecting
from antecede.spark.manifest import local_path
from antecede.spark.rows import as_spark_batch
from antecede.spark.topics.feed import FULL, Feed
from antecede.spark.topics.places import SHARED, Places, places_of, words
from antecede.spark.topics.spool import LIVE, After, Chunk, Spool, locked, read_chunk

__all__ = ["READING", "LiveReader", "LiveSettings", "live_schema", "live_settings"]

READING = (*SHARED, "topics", "where", "spool", "max_rows")
TASK_ROWS = 100_000
"""Rows of a task."""
QUIET_S = 1.0
"""With the trigger availableNow: so long nothing may have come for all to be there."""

Offset = dict[str, Any]


@dataclass(frozen=True)
class LiveSettings:
    places: Places
    topics: tuple[str, ...]
    where: str | None
    spool: str
    max_rows: int | None


def live_settings(options: Mapping[str, str], max_rows: int | None) -> LiveSettings:
    places, topics = places_of(options), words(options.get("topics"))
    if not topics:
        raise InputError("reading from brokers needs option topics: filters by commas, such as sensors/#,alarms/+")
    for one in topics:
        selecting(one, options.get("where"))
    if not options.get("spool"):
        raise InputError(
            'reading from brokers needs a folder for rows whose batch is not done: .option("spool", "DIR"), '
            "beside the checkpoint and for this query alone"
        )
    return LiveSettings(places, topics, options.get("where"), str(local_path(options["spool"])), max_rows)


def live_schema() -> StructType:
    """The columns of live rows as Spark names them."""
    text = StringType()
    types: dict[pa.DataType, DataType] = {
        pa.string(): text, pa.binary(): BinaryType(), pa.int64(): LongType(), pa.list_(pa.string()): ArrayType(text),
        pa.map_(pa.string(), pa.string()): MapType(text, text),
    }  # fmt: skip
    return StructType([StructField(field.name, types[field.type]) for field in LIVE])


class Chunks(InputPartition):
    """What one task reads."""

    def __init__(self, paths: tuple[str, ...]) -> None:
        super().__init__(None)
        self.paths = paths


class LiveReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    def __init__(self, settings: LiveSettings, schema: StructType) -> None:
        self.settings, self.schema = settings, schema
        self.spool = Spool(Path(settings.spool))
        self._feed: Feed | None = None
        self._lock: TextIO | None = None
        self._available_now = False
        self._goal: int | None = None

    def __getstate__(self) -> dict[str, Any]:
        """The reader also travels to the tasks: they read files, and need no client."""
        return {**self.__dict__, "_feed": None, "_lock": None}

    def feed(self, start: Offset | None) -> Feed:
        if self._feed is None:
            self._lock = locked(self.spool.root / ".lock", "query")
            since = self.spool.after()
            if since is None and start is not None and start["frontier"]:
                since = After(start["row"], start["pos"], base64.b64decode(start["frontier"]))
            settings = self.settings
            self._feed = Feed(self.spool, settings.places, settings.topics, settings.where, settings.max_rows or FULL)
            held = self.spool.chunks()
            self._feed.done_row = start["row"] if start is not None else held[0].first if held else 0
            self._feed.start(since)
        self._feed.check()
        return self._feed

    def initialOffset(self) -> Offset:
        """A new checkpoint: it begins now, or with what its spool already holds."""
        self.feed(None)
        held = [chunk for chunk in self.spool.chunks() if chunk.rows]
        after = self.spool.after()
        assert after is not None
        return {"row": held[0].first if held else after.row, "pos": 0, "frontier": ""}

    def getDefaultReadLimit(self) -> Any:
        from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows

        most = self.settings.max_rows
        return ReadAllAvailable() if most is None else ReadMaxRows(most)

    def prepareForTriggerAvailableNow(self) -> None:
        self._available_now = True

    def latestOffset(self, start: Offset | None = None, limit: Any = None) -> Offset:
        """Before Spark 4.2 neither is given: then a batch is all there is."""
        feed = self.feed(start)
        row = -1 if start is None else int(start["row"])
        if self._available_now and self._goal is None:
            while not feed.quiet_for(QUIET_S):
                Event().wait(QUIET_S / 10)
                feed.check()
            self._goal = feed.row
        most, rows, last = getattr(limit, "max_rows", None), 0, None
        for chunk in self.spool.chunks():
            if not chunk.rows or chunk.first < row or (self._goal is not None and chunk.end > self._goal):
                continue
            rows += chunk.rows
            if most is not None and rows > most and last is not None:
                break  # a chunk is taken whole; the first one always
            last = chunk
        if last is None:
            return start if start is not None else self.initialOffset()
        after = self.spool.said(last)
        return {"row": after.row, "pos": after.pos, "frontier": base64.b64encode(after.frontier).decode()}

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        works: list[list[Chunk]] = []
        for chunk in self.spool.between(start["row"], end["row"]):
            if not works or sum(one.rows for one in works[-1]) + chunk.rows > TASK_ROWS:
                works.append([])
            works[-1].append(chunk)
        return [Chunks(tuple(str(chunk.path) for chunk in work)) for work in works]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        if isinstance(partition, Chunks):  # Spark asks once even where there is nothing to read
            for path in partition.paths:
                for batch in read_chunk(path):
                    yield as_spark_batch(batch, self.schema)

    def commit(self, end: Offset) -> None:
        self.spool.trim(end["row"])
        if self._feed is not None:
            self._feed.done_row = end["row"]

    def stop(self) -> None:
        if self._feed is not None:
            self._feed.stop()
        if self._lock is not None:
            self._lock.close()
        self._feed = self._lock = None
