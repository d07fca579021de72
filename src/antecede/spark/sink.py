"""Writing: `df.write.format("antecede")` and `df.writeStream.format("antecede")`, for rows of any schema.

Decided in this file: each task writes its files (`parts.py`); what counts is decided by the manifest alone
(`manifest.py`), written once on the driver after all tasks are done. So a batch that fails, is tried twice or is killed
leaves at most orphans, and a reader through the manifest sees each batch exactly once.

Options: `path` (a folder that all workers see), `partition_by` (columns, by commas: one folder for each value).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
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
from antecede.spark.faults import plain_faults
from antecede.spark.manifest import DataFile, Manifest, clean, commit, committed, local_path
from antecede.spark.parts import Target, write_files
from antecede.spark.ship import is_connect

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
    "write",
    "write_files",
]

PARTITION_TYPES = (BooleanType, ByteType, ShortType, IntegerType, LongType, StringType, DateType)


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


def commit_batch(target: Target, messages: Sequence[Any], number: int | None) -> Manifest:
    """Let what the tasks wrote count, as batch `number` of a stream, or as the next write."""
    told = [message for message in messages if isinstance(message, Written)]
    if number is not None and len(told) < len(messages):
        raise InputError(f"a task of batch {number} did not say what it wrote to {target.root}")
    query = next((message.query for message in told if message.query), "") if number is not None else None
    names = tuple(file for message in told for file in message.files)
    manifest = Manifest(-1 if number is None else number, query, target.schema, target.partition_by, names)
    return commit(Path(target.root), manifest, overwrite=target.overwrite)


def write(frame: DataFrame, path: str | Path, *, partition_by: Sequence[str] = (), overwrite: bool = False) -> None:
    """The rows of `frame` as one write, exactly as `frame.write.format("antecede")` makes it, and sooner.

    For a format Spark starts Python processes of their own to look it up, to plan and to commit; here tasks write their
    files and this process commits. Over Connect the folder may be the server's alone, so there it is the format.
    """
    if is_connect(frame.sparkSession):
        writer = frame.write.format("antecede").mode("overwrite" if overwrite else "append")
        writer.option("partition_by", ",".join(partition_by)).save(str(Path(path).absolute()))
        return
    target = target_of(str(path), ",".join(partition_by), frame.schema, overwrite)
    plain = frame.toDF(
        *(f"c{place}" for place in range(len(frame.columns)))
    )  # to `mapInArrow` a dot is no part of a name
    told = plain.mapInArrow(written_by_task(target, frame.columns), "files string").collect()
    names = tuple(DataFile(**file) for row in told for file in json.loads(row["files"]))
    commit_batch(target, [Written(names, None)], None)


def written_by_task(target: Target, names: Sequence[str]) -> Any:
    """What a task does with its rows: files that do not count yet, told as one line."""

    def named(batch: pa.RecordBatch) -> pa.RecordBatch:
        fields = [field.with_name(name) for field, name in zip(batch.schema, names, strict=True)]
        return pa.RecordBatch.from_arrays(batch.columns, schema=pa.schema(fields))

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        files = write_files(target, map(named, batches), context.partitionId() if context is not None else 0)
        yield pa.RecordBatch.from_pydict({"files": [json.dumps([asdict(file) for file in files])]})

    return run


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


def column(name: str) -> str:
    """The name as Spark takes it for itself: dots are part of it."""
    return "`" + name.replace("`", "``") + "`"


def read(spark: SparkSession, path: str | Path) -> DataFrame:
    """The table at `path` with Spark's own Parquet reader: exactly the committed batches."""
    with plain_faults():
        return _read(spark, path)


def _read(spark: SparkSession, path: str | Path) -> DataFrame:
    from pyspark.sql import functions

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
    return frame.select(*(column(name) for name in schema.names))  # Spark puts partition columns last
