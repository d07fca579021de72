"""Writing: `df.write.format("antecede")` and `df.writeStream.format("antecede")`, for rows of any schema.

Decided in this file: each task writes Parquet files under names nobody else has, hidden until they are whole; what
counts is decided by the manifest alone (`manifest.py`), written once on the driver after all tasks are done. So a batch
that fails, is tried twice or is killed leaves at most orphans, and a reader through the manifest sees each batch
exactly once. A disk that is full, or a place that cannot be written, is one sentence that names it, and what was begun
there is removed.

Options: `path` (a folder that all workers see), `partition_by` (columns, by commas: one folder for each value).
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.datasource import WriterCommitMessage
from pyspark.sql.types import (
    BooleanType,
    ByteType,
    DateType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructType,
)

from antecede.errors import InputError
from antecede.spark.manifest import DataFile, Manifest, clean, commit, committed, local_path, sync_folder, writing

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = [
    "Target",
    "Written",
    "clean",
    "commit_batch",
    "files",
    "read",
    "table_rows",
    "target_of",
    "write_files",
]

PARTITION_TYPES = (BooleanType, ByteType, ShortType, IntegerType, LongType, StringType, DateType)
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""What a null is called in the name of a folder; the convention of Hive, which every reader knows."""

MISREAD = re.compile(r"[\x00-\x1f\x7f\"#%'*/:=?\\{\[\]^]")
"""What Spark escapes in the name of a folder, and nothing else: it reads each %xx back as one character."""

OPEN_FILES = 64
"""Files a task keeps open; more values than that cost more, smaller files, not more memory."""


@dataclass(frozen=True)
class Target:
    """Where and how to write; goes to the tasks."""

    root: str
    schema: dict[str, Any]
    partition_by: tuple[str, ...] = ()
    overwrite: bool = False


@dataclass
class Written(WriterCommitMessage):
    """What one task wrote."""

    files: tuple[DataFile, ...]
    query: str | None


def target_of(path: str | None, partition_by: str | None, schema: StructType, overwrite: bool) -> Target:
    if not path:
        raise InputError('the sink needs a path: .start("DIR"), .save("DIR") or .option("path", "DIR")')
    by = tuple(name.strip() for name in (partition_by or "").split(",") if name.strip())
    for name in by:
        if name not in schema.names:
            raise InputError(f"partition_by names {name}, but the columns are {', '.join(schema.names)}")
        if not isinstance(schema[name].dataType, PARTITION_TYPES):
            raise InputError(
                f"partition_by names {name}, which is {schema[name].dataType.simpleString()}: "
                "only text, whole numbers, dates and booleans make folders"
            )
    if len(by) >= len(schema.names):
        raise InputError("partition_by names every column: at least one must remain for the files")
    root = local_path(path)
    return Target(str(root), schema.jsonValue(), by, overwrite)


class _Open:
    """One file that is being written."""

    def __init__(self, folder: Path, partition: int, schema: pa.Schema, values: dict[str, Any]) -> None:
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            # The random part of the name is what makes it ours: attempts, retries and restarts never share one.
            handle, name = tempfile.mkstemp(dir=folder, prefix=f".part-{partition:05d}-", suffix=".parquet.tmp")
        self._file = os.fdopen(handle, "wb")
        self._temporary = Path(name)
        self._writer = pq.ParquetWriter(self._file, schema, compression="zstd", write_page_checksum=True)
        self._values = values
        self._rows = 0

    def write(self, batch: pa.RecordBatch) -> None:
        with writing(self._temporary.parent):
            self._writer.write_batch(batch)
        self._rows += batch.num_rows

    def close(self, root: Path) -> DataFile:
        """Whole and on disk first, then visible."""
        try:
            with writing(self._temporary.parent):
                self._writer.close()
                self._file.flush()
                os.fsync(self._file.fileno())
                self._file.close()
                self._temporary.chmod(0o644)
                final = self._temporary.with_name(self._temporary.name[1:].removesuffix(".tmp"))
                self._temporary.rename(final)
                sync_folder(final.parent)
                return DataFile(final.relative_to(root).as_posix(), self._rows, final.stat().st_size, self._values)
        except BaseException:
            self.abandon()
            raise

    def abandon(self) -> None:
        """Away with it first: to close it writes to the disk that may be full."""
        self._temporary.unlink(missing_ok=True)
        for part in (self._writer, self._file):
            with suppress(OSError, ValueError):
                part.close()


def folder_name(name: str, value: Any) -> str:
    """`name=value`, escaped as Spark and Hive do."""
    text = "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    return f"{MISREAD.sub(escaped, name)}={MISREAD.sub(escaped, text) or NO_VALUE}"


def escaped(found: re.Match[str]) -> str:
    return f"%{ord(found[0]):02X}"


def split(batch: pa.RecordBatch, by: Sequence[str]) -> Iterator[tuple[dict[str, Any], pa.RecordBatch]]:
    """The rows of each combination of values, in the order they came, without the columns of the values."""
    if not by:
        yield {}, batch
        return
    rest = batch.select([name for name in batch.schema.names if name not in by])
    codes = np.zeros(batch.num_rows, np.int64)
    for name in by:
        column: Any = batch.column(name).dictionary_encode()
        size = len(column.dictionary)
        codes = codes * (size + 1) + column.indices.fill_null(size).to_numpy()
    order = np.argsort(codes, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(codes[order])) + 1):
        values = {name: batch.column(name)[int(rows[0])].as_py() for name in by}
        yield values, rest.take(rows)


def write_files(target: Target, batches: Iterator[pa.RecordBatch], partition: int) -> tuple[DataFile, ...]:
    """All of `batches` as files of the table that do not count yet."""
    root = Path(target.root)
    done: list[DataFile] = []
    opened: dict[tuple[Any, ...], _Open] = {}
    try:
        for batch in batches:
            if not batch.num_rows:
                continue
            for values, rows in split(batch, target.partition_by):
                key = tuple(values.values())
                writer = opened.pop(key, None)
                if writer is None:
                    while len(opened) >= OPEN_FILES:
                        done.append(opened.pop(next(iter(opened))).close(root))  # the one longest unused
                    folder = root.joinpath(*(folder_name(name, value) for name, value in values.items()))
                    writer = _Open(folder, partition, rows.schema, {n: plain(v) for n, v in values.items()})
                opened[key] = writer
                writer.write(rows)
        while opened:
            done.append(opened.pop(next(iter(opened))).close(root))
    finally:
        for writer in opened.values():
            writer.abandon()
    return tuple(done)


def plain(value: Any) -> Any:
    """As JSON can say it: a date becomes its text."""
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def commit_batch(target: Target, messages: Sequence[Any], number: int | None) -> Manifest:
    """Let what the tasks wrote count, as batch `number` of a stream, or as the next write."""
    told = [message for message in messages if isinstance(message, Written)]
    if number is not None and len(told) < len(messages):
        raise InputError(f"a task of batch {number} did not say what it wrote to {target.root}")
    query = next((message.query for message in told if message.query), "") if number is not None else None
    names = tuple(file for message in told for file in message.files)
    manifest = Manifest(-1 if number is None else number, query, target.schema, target.partition_by, names)
    return commit(Path(target.root), manifest, overwrite=target.overwrite)


def files(path: str | Path) -> list[str]:
    """The data files of the table at `path` that count, as absolute paths."""
    root = local_path(str(path))
    return [str(root / file.path) for manifest in committed(root) for file in manifest.files]


def table_rows(path: str | Path) -> dict[int, int]:
    """batch number -> rows, as the manifests have counted them."""
    return {manifest.number: manifest.rows for manifest in committed(local_path(str(path)))}


def literally(path: Path) -> str:
    """The path as Spark takes it for itself, not for a pattern."""
    return re.sub(r"([\\{}\[\]*?])", r"\\\1", str(path))


def read(spark: SparkSession, path: str | Path) -> DataFrame:
    """The table at `path` with Spark's own Parquet reader: exactly the committed batches."""
    from pyspark.sql import functions

    from antecede.spark.order.columns import col

    root = local_path(str(path))
    manifests = committed(root)
    if not manifests:
        raise InputError(f"{root} has no committed batch yet, so its columns are not known")
    schema = StructType.fromJson(manifests[-1].schema)
    plain_files: list[str] = []
    empty: dict[tuple[tuple[str, Any], ...], list[str]] = {}  # Spark takes an empty text in a folder's name for a null
    for file in (file for manifest in manifests for file in manifest.files):
        held = empty.setdefault(tuple(file.values.items()), []) if "" in file.values.values() else plain_files
        held.append(literally(root / file.path))
    frame = spark.createDataFrame([], schema)
    if plain_files:
        frame = spark.read.schema(schema).option("basePath", str(root)).parquet(*plain_files)
    for values, names in empty.items():
        inside = StructType([field for field in schema if field.name not in dict(values)])
        part = spark.read.schema(inside).parquet(*names)
        for name, value in values:
            part = part.withColumn(name, functions.lit(value).cast(schema[name].dataType))
        frame = frame.unionByName(part)
    return frame.select(*map(col, schema.names))  # Spark puts partition columns last
