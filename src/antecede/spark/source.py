"""Reading: `spark.read.format("antecede")` and `spark.readStream.format("antecede")`, and the door to the sink.

Decided in this file: the options, what an offset is, and how much goes into one batch. An offset says for every file
how many of its rows are behind us (for a table: how many batches), so it survives restarts, new files, and streams that
have grown or been rotated since; a batch takes its share from every file, so that one busy node does not hold up the
others.

Options of reading:
- `path`: a run directory, a folder of them, a records file, or a table that the sink wrote; `load(PATH)` sets it
- `max_rows`: the most rows of a streaming batch; without it a batch is all there is
- `bad`: `fail` (the first thing that cannot be read is an error) or `quarantine` (it is left out and noted)
- `quarantine`: the folder for those notes; `bad.bad_files` reads them
- `split_rows`: about how many rows a task reads

Those of writing are in `sink.py`. With the option `brokers` the same format reads and writes live topics: what that
means is decided in `topics/reading.py` and `topics/writing.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSource,
    DataSourceArrowWriter,
    DataSourceReader,
    DataSourceStreamArrowWriter,
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.types import StructType

try:
    from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow
except ImportError:  # Spark before 4.2 takes all there is as one batch
    SupportsTriggerAvailableNow = object  # type: ignore[misc, assignment]

from antecede.errors import InputError
from antecede.spark.manifest import committed, is_table, local_path
from antecede.spark.rows import as_spark_batch, trace_schema
from antecede.spark.sink import Target, Written, commit_batch, target_of, write_files
from antecede.spark.stretches import Stretch, pack, read_stretch
from antecede.spark.tail import TableTail, Tail, TraceTail
from antecede.spark.topics.reading import READING as LIVE_READING
from antecede.spark.topics.reading import LiveReader, LiveSettings, live_schema, live_settings
from antecede.spark.topics.writing import WRITING as LIVE_WRITING
from antecede.spark.topics.writing import LiveBatchWriter, LiveStreamWriter, LiveTarget, live_target

__all__ = ["FORMAT", "AntecedeSource"]

FORMAT = "antecede"
SPLIT_ROWS = 262_144
"""Rows of a task: a task costs about 30 ms whatever it does, and this many take about a second."""

READING = ("path", "max_rows", "bad", "quarantine", "split_rows")
WRITING = ("path", "partition_by", "checkpointlocation")
"""Spark hands the last one on; it is not ours."""


@dataclass(frozen=True)
class Settings:
    """The options of a read, checked."""

    root: str
    max_rows: int | None
    split_rows: int
    quarantine: str | None
    table: bool


def whole_number(options: Any, name: str, default: int | None) -> int | None:
    text = options.get(name)
    if text is None:
        return default
    if not str(text).isdigit() or int(text) < 1:
        raise InputError(f"option {name} is {text!r}: give a whole number of at least 1")
    return int(text)


def refuse_unknown(options: Any, known: Sequence[str]) -> None:
    unknown = [name for name in options if name.lower() not in known]
    if unknown:
        raise InputError(f"format antecede has no option {', '.join(unknown)}; it has {', '.join(known)}")


def reading(options: Any) -> Settings:
    refuse_unknown(options, READING)
    if not options.get("path"):
        raise InputError('format antecede needs a path: .load("DIR"), or the option brokers for live topics')
    bad, folder = options.get("bad", "fail"), options.get("quarantine")
    if bad not in ("fail", "quarantine"):
        raise InputError(f"option bad is {bad!r}: give fail or quarantine")
    if (bad == "quarantine") != bool(folder):
        raise InputError("bad=quarantine and a folder as option quarantine go together: give both or none")
    root = local_path(options["path"])
    return Settings(
        str(root),
        whole_number(options, "max_rows", None),
        whole_number(options, "split_rows", SPLIT_ROWS) or SPLIT_ROWS,
        str(local_path(folder)) if folder else None,
        is_table(root),
    )


def live_reading(options: Any) -> LiveSettings:
    refuse_unknown(options, LIVE_READING)
    return live_settings(options, whole_number(options, "max_rows", None))


class Work(InputPartition):
    """What one task reads."""

    def __init__(self, stretches: tuple[Stretch, ...]) -> None:
        super().__init__(None)
        self.stretches = stretches


def tail_of(settings: Settings) -> Tail:
    root = Path(settings.root)
    return TableTail(root) if settings.table else TraceTail(root, settings.quarantine)


def read_work(work: InputPartition, settings: Settings, schema: StructType) -> Iterator[pa.RecordBatch]:
    """The batches of a task, as Spark wants them."""
    if not isinstance(work, Work):
        return  # Spark asks once even where there is nothing to read
    for stretch in work.stretches:
        inside = [name for name in schema.names if name not in stretch.values] if settings.table else None
        for batch in read_stretch(stretch, settings.quarantine, inside):
            yield as_spark_batch(batch, schema, stretch.values)


class BatchReader(DataSourceReader):
    def __init__(self, settings: Settings, schema: StructType) -> None:
        self.settings, self.schema = settings, schema

    def partitions(self) -> Sequence[InputPartition]:
        tail = tail_of(self.settings)
        end = tail.end(tail.begin(), None)
        return works(tail, tail.begin(), end, self.settings)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return read_work(partition, self.settings, self.schema)


def works(tail: Tail, start: dict[str, Any], end: dict[str, Any], settings: Settings) -> list[InputPartition]:
    stretches = tail.between(start, end, settings.split_rows)
    return [Work(chosen) for chosen in pack(stretches, settings.split_rows)]


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    def __init__(self, settings: Settings, schema: StructType) -> None:
        self.settings, self.schema = settings, schema
        self._tail: Tail | None = None
        self._goal: dict[str, Any] | None = None

    @property
    def tail(self) -> Tail:
        """Made where it is used: the reader also travels to the tasks, and they need none."""
        if self._tail is None:
            self._tail = tail_of(self.settings)
        return self._tail

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_tail": None}

    def initialOffset(self) -> dict[str, Any]:
        return self.tail.begin()

    def getDefaultReadLimit(self) -> Any:
        from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows

        most = self.settings.max_rows
        return ReadAllAvailable() if most is None else ReadMaxRows(most)

    def latestOffset(self, start: dict[str, Any] | None = None, limit: Any = None) -> dict[str, Any]:
        """Before Spark 4.2 neither is given: then a batch is all there is."""
        return self.tail.end(start or self.tail.begin(), getattr(limit, "max_rows", None), self._goal)

    def prepareForTriggerAvailableNow(self) -> None:
        """What comes from now on is for the next query."""
        self._goal = self.tail.end(self.tail.begin(), None)

    def reportLatestOffset(self) -> dict[str, Any]:
        return self.tail.end(self.tail.begin(), None)

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        return works(self.tail, start, end, self.settings)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return read_work(partition, self.settings, self.schema)


def write_task(target: Target, batches: Iterator[pa.RecordBatch]) -> Written:
    from pyspark import TaskContext

    context = TaskContext.get()
    partition = context.partitionId() if context is not None else 0
    query = context.getLocalProperty("sql.streaming.queryId") if context is not None else None
    return Written(write_files(target, batches, partition), query)


# Neither writer removes anything when Spark gives a batch up: its manifest may be there all the same (a query that is
# stopped while it commits), and then its files count. What does not count is left to `manifest.clean`.


class BatchWriter(DataSourceArrowWriter):
    def __init__(self, target: Target) -> None:
        self.target = target

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Written:  # type: ignore[override]
        return write_task(self.target, iterator)

    def commit(self, messages: Sequence[Any]) -> None:
        commit_batch(self.target, messages, None)


class StreamWriter(DataSourceStreamArrowWriter):
    def __init__(self, target: Target) -> None:
        self.target = target

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Written:  # type: ignore[override]
        return write_task(self.target, iterator)

    def commit(self, messages: Sequence[Any], batchId: int) -> None:
        commit_batch(self.target, messages, batchId)


class AntecedeSource(DataSource):
    """The format `antecede`."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    @property
    def live(self) -> bool:
        return self.options.get("brokers") is not None

    def schema(self) -> StructType:
        if self.live:
            live_reading(self.options)
            return live_schema()
        settings = reading(self.options)
        root = Path(settings.root)
        if settings.table:
            manifests = committed(root)
            if not manifests:
                raise InputError(f"{root} has no committed batch yet, so its columns are not known")
            return StructType.fromJson(manifests[-1].schema)
        if not root.exists():
            raise InputError(f"{root} does not exist: give a run directory, a folder of them, or a records file")
        return trace_schema()

    def reader(self, schema: StructType) -> DataSourceReader:
        if self.live:
            raise InputError("live topics have no end: read them as a stream, with spark.readStream")
        return BatchReader(reading(self.options), schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        if self.live:
            return LiveReader(live_reading(self.options), schema)
        return StreamReader(reading(self.options), schema)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceArrowWriter:
        if self.live:
            return LiveBatchWriter(self.live_target(schema, overwrite))
        return BatchWriter(self.target(schema, overwrite))

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamArrowWriter:
        if self.live:
            return LiveStreamWriter(self.live_target(schema, overwrite))
        return StreamWriter(self.target(schema, overwrite))

    def target(self, schema: StructType, overwrite: bool) -> Target:
        refuse_unknown(self.options, WRITING)
        return target_of(self.options.get("path"), self.options.get("partition_by"), schema, overwrite)

    def live_target(self, schema: StructType, overwrite: bool) -> LiveTarget:
        refuse_unknown(self.options, LIVE_WRITING)
        return live_target(self.options, schema, overwrite)
