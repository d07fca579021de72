"""Writing to live topics: `df.writeStream.format("antecede").option("brokers", ...)`, and `df.write` likewise.

Decided in this file: tasks hand their rows, as messages, to the driver, which puts a batch into the outbox when all of
it is there and waits until it is published (`publisher.py`: by whom, and what a crash can do). So a task that is tried
twice, a batch that fails, and one that is run again after it was published, publish nothing twice. Rows are published
one after the other, by one sender, so subscribers see them in the order of Spark's partitions. Results are small; who
has millions of rows a second writes a table instead.

Options, beside those of `places.py`:
- `topic`: where rows go that have no column `topic`
- `read_spool`: with a column `after` or `causes`: the spool of the stream that read those messages
- `outbox`: a folder of the driver for batches on their way; left out, one in the checkpoint. A batch write needs none
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceArrowWriter, DataSourceStreamArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from antecede.errors import InputError
from antecede.live.message import check_topic
from antecede.spark.manifest import local_path
from antecede.spark.topics.outbox import MESSAGES, Outbox, as_messages, packed
from antecede.spark.topics.places import SHARED, Places, places_of
from antecede.spark.topics.publisher import publish_batch, publish_here

__all__ = ["WRITING", "LiveBatchWriter", "LiveStreamWriter", "LiveTarget", "live_target"]

WRITING = (*SHARED, "topic", "read_spool", "outbox", "checkpointlocation")

TYPES: dict[str, tuple[str, ...]] = {
    "topic": ("string",), "payload": ("string", "binary"), "headers": ("map<string,string>",),
    "deadline_us": ("bigint",), "after": ("array<string>",), "causes": ("array<string>",),
}  # fmt: skip


@dataclass(frozen=True)
class LiveTarget:
    places: Places
    topic: str | None
    read_spool: str | None
    outbox: str | None


@dataclass
class Handed(WriterCommitMessage):
    """The messages of one task."""

    messages: bytes
    query: str


def live_target(options: Mapping[str, str], schema: StructType, overwrite: bool) -> LiveTarget:
    places, topic = places_of(options), options.get("topic")
    if overwrite:
        raise InputError("what is published cannot be overwritten: write with mode append")
    if topic is not None:
        check_topic(topic)
    elif "topic" not in schema.names:
        raise InputError("rows are published to a topic: give option topic, or a column topic")
    for name, kinds in TYPES.items():
        kind = schema[name].dataType.simpleString() if name in schema.names else kinds[0]
        if kind not in kinds:
            raise InputError(f"column {name} is {kind}, not {' or '.join(kinds)}: cast it, or drop it")
    spool = options.get("read_spool")
    if spool is None and ("after" in schema.names or "causes" in schema.names):
        raise InputError(
            "rows name causes (column after or causes): say in option read_spool by which stream they were read, "
            "or drop the column"
        )
    checkpoint, outbox = options.get("checkpointLocation"), options.get("outbox")
    if outbox is None and checkpoint is not None:
        outbox = f"{checkpoint.rstrip('/')}/antecede-outbox"
    return LiveTarget(
        places, topic, str(local_path(spool)) if spool else None, str(local_path(outbox)) if outbox else None
    )  # fmt: skip


def hand_over(target: LiveTarget, batches: Iterator[pa.RecordBatch]) -> Handed:
    from pyspark import TaskContext

    context = TaskContext.get()
    query = context.getLocalProperty("sql.streaming.queryId") if context is not None else None
    tables = [as_messages(pa.Table.from_batches([batch]), target.topic) for batch in batches]
    return Handed(packed(pa.concat_tables([MESSAGES.empty_table(), *tables])), query or "")


def parts_of(messages: Sequence[Any]) -> tuple[list[bytes], str]:
    told = [message for message in messages if isinstance(message, Handed)]
    return [one.messages for one in told], next((one.query for one in told if one.query), "")


class LiveBatchWriter(DataSourceArrowWriter):
    def __init__(self, target: LiveTarget) -> None:
        self.target = target

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Handed:  # type: ignore[override]
        return hand_over(self.target, iterator)

    def commit(self, messages: Sequence[Any]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            outbox = Outbox(Path(folder))
            outbox.begin(self.target.places.name, "", self.target.places.prefix())
            outbox.put(0, parts_of(messages)[0])
            publish_here(outbox, self.target.places, self.target.read_spool)


class LiveStreamWriter(DataSourceStreamArrowWriter):
    def __init__(self, target: LiveTarget) -> None:
        if target.outbox is None:
            raise InputError(
                "publishing a stream needs a folder for batches on their way: give checkpointLocation as an option of "
                "the writer, or option outbox"
            )
        self.target = target

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Handed:  # type: ignore[override]
        return hand_over(self.target, iterator)

    def commit(self, messages: Sequence[Any], batchId: int) -> None:
        assert self.target.outbox is not None
        parts, query = parts_of(messages)
        if len(parts) < len(messages):
            raise InputError(f"a task of batch {batchId} did not say what it has to publish")
        outbox = Outbox(Path(self.target.outbox))
        outbox.begin(self.target.places.name, query, self.target.places.prefix())
        outbox.put(batchId, parts)
        publish_batch(outbox, batchId, self.target.places, self.target.read_spool, os.getppid())
