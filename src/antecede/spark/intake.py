"""The first step of a pipeline: what is read becomes rows that can be ordered, and what cannot is set aside with why.

Decided in this file: which faults a row can have (no id, no sender or number where they are named, a number that is
none, a line that does not parse); that texts from CSV become lists and numbers here; and that a damaged file costs
itself, not the run: it is found by its footer, or, when Spark stumbles over it later, by reading all of each file once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, MapType, NumericType, StringType, TimestampNTZType, TimestampType

from antecede.errors import InputError, one_line
from antecede.spark.config import Pipeline
from antecede.spark.stamps import files_below
from antecede.spark.views import arrivals

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["FAULT", "QUARANTINE", "damaged", "faulty", "read_rows", "sound"]

FAULT = "_fault"
"""Why a row cannot be ordered; null if it can."""
QUARANTINE = "file string, reason string, row string"
_TEXT = "_line"
"""Where Spark puts a line it cannot parse."""
_READ = "_read_"
"""Before the name of a column: as it was read, before it was made a number."""


def read_rows(spark: SparkSession, config: Pipeline, leave_out: Sequence[str] = (), stream: bool = False) -> DataFrame:
    """The rows of the source with FAULT beside them; files in `leave_out` are not opened."""
    source = config.source
    if source.kind == "run":
        return _runs(spark, config)
    reader: Any = spark.readStream if stream else spark.read
    if source.format == "antecede":
        frames = [reader.format("antecede").options(**source.options).load(path) for path in source.paths]
        return _judged(_united(frames), config)
    options = dict(source.options)
    if source.format in ("csv", "json"):
        options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _TEXT} | options
    paths = source.paths
    if stream:
        if source.format == "parquet":
            # Else one damaged file would end the stream. It is noted at the end: see `streams`.
            options = {"ignoreCorruptFiles": "true"} | options
        schema = spark.read.options(**options).format(source.format).load(paths).schema
        frames = [reader.schema(schema).options(**options).format(source.format).load(path) for path in paths]
        return _judged(_united(frames), config)
    if source.format == "parquet":
        paths = [str(path) for path in files_below(paths, (".parquet",)) if str(path) not in set(leave_out)]
        if not paths:
            raise InputError(f"No Parquet file that can be read below {', '.join(source.paths)}.")
    return _judged(reader.options(**options).format(source.format).load(paths), config)


def _united(frames: Sequence[DataFrame]) -> DataFrame:
    whole = frames[0]
    for frame in frames[1:]:
        whole = whole.unionByName(frame, allowMissingColumns=True)
    return whole


def _runs(spark: SparkSession, config: Pipeline) -> DataFrame:
    source = config.source
    options = {"bad": "quarantine", "quarantine": str(_notes(config))} | source.options
    records = _united([spark.read.format("antecede").options(**options).load(path) for path in source.paths])
    rows = arrivals(records, source.receivers).withColumnRenamed("fault", FAULT)
    if source.values is None:
        return rows
    kind = "csv" if source.values.endswith(".csv") else "json" if source.values.endswith("json") else "parquet"
    values = spark.read.format(kind).options(header="true", inferSchema="true").load(source.values)
    if "message" not in values.columns:
        raise InputError(f"{source.values} has no column message to be joined by; it has {', '.join(values.columns)}.")
    twice = sorted(set(values.columns) & set(rows.columns) - {"message"})
    if twice:
        raise InputError(f"{source.values} has a column {twice[0]}, which the run has too: rename it.")
    return rows.join(values.dropDuplicates(["message"]), "message", "left")


def _notes(config: Pipeline) -> str:
    """Where the reader of runs notes what it could not read."""
    return f"{config.output.path}/damaged"


def _judged(df: DataFrame, config: Pipeline) -> DataFrame:
    """Columns in the kinds they must have, and FAULT."""
    columns = config.columns
    named = {role: getattr(columns, role) for role in columns.__struct_fields__ if getattr(columns, role) is not None}
    for role, name in named.items():
        if name not in df.columns:
            have = ", ".join(name for name in df.columns if name != _TEXT)
            raise InputError(f"The source has no column {name} (columns.{role}); it has {have}.")
    if FAULT in df.columns:
        raise InputError(f"The source has a column {FAULT}, which this pipeline adds: rename it.")
    faults: list[tuple[Column, str]] = []
    if _TEXT in df.columns:
        faults.append((F.col(_TEXT).isNotNull(), "the line cannot be parsed"))
    for role in ("seq", "deadline", "time", "arrived"):
        if role in named:
            df, wrong = _number(df, named[role])
            faults.append((wrong, f"{role} is not a number"))
    for role in ("id", "sender", "seq"):
        if role in named:
            faults.append((F.col(named[role]).isNull(), f"{role} is null"))
    for role in ("parents", "topic"):
        if role in named:
            df = _list(df, named[role], role)
    if columns.clock is not None and not isinstance(df.schema[columns.clock].dataType, MapType):
        df = df.withColumn(columns.clock, F.from_json(columns.clock, "map<string,bigint>"))
    fault = F.lit(None).cast("string")
    for wrong, reason in reversed(faults):
        fault = F.when(wrong, reason).otherwise(fault)
    return df.withColumn(FAULT, fault)


def _number(df: DataFrame, name: str) -> tuple[DataFrame, Column]:
    kind = df.schema[name].dataType
    if isinstance(kind, NumericType | TimestampType | TimestampNTZType):
        return df, F.lit(False)
    if not isinstance(kind, StringType):
        raise InputError(f"The column {name} is {kind.simpleString()}: it must be a number or a timestamp.")
    before = _READ + name
    df = df.withColumn(before, F.col(name)).withColumn(name, F.col(name).try_cast("bigint"))
    return df, F.col(before).isNotNull() & F.col(name).isNull()


def _list(df: DataFrame, name: str, role: str) -> DataFrame:
    """A text with names between commas, spaces or in JSON's brackets is a list of them."""
    kind = df.schema[name].dataType
    if isinstance(kind, ArrayType) or (role == "topic" and isinstance(kind, StringType)):
        return df
    if not isinstance(kind, StringType):
        raise InputError(f"The column {name} is {kind.simpleString()}: it must be a list of names.")
    names = F.filter(F.split(F.regexp_replace(name, r'[\[\]"]', " "), r"[\s,;]+"), lambda one: one != "")
    return df.withColumn(name, F.coalesce(names, F.array().cast("array<string>")))


def sound(rows: DataFrame) -> DataFrame:
    """The rows that can be ordered."""
    return rows.where(F.col(FAULT).isNull()).drop(FAULT, _TEXT, *(n for n in rows.columns if n.startswith(_READ)))


def faulty(rows: DataFrame) -> DataFrame:
    """The rows that cannot, as they are kept: QUARANTINE, each whole as JSON, as it was read."""
    names = [name for name in rows.columns if name != FAULT and not name.startswith(_READ)]
    as_read = [F.col(_READ + name).alias(name) if _READ + name in rows.columns else F.col(name) for name in names]
    kept = rows.where(F.col(FAULT).isNotNull())
    whole = F.to_json(F.struct(*as_read)).alias("row")
    return kept.select(F.lit(None).cast("string").alias("file"), F.col(FAULT).alias("reason"), whole)


def damaged(spark: SparkSession, config: Pipeline, thorough: bool = False) -> list[tuple[str, str]]:
    """(file, reason) of what cannot be read as Parquet; `thorough`: read all of each, on the workers."""
    if config.source.kind != "table" or config.source.format != "parquet":
        return []
    files = [str(path) for path in files_below(config.source.paths, (".parquet",))]
    if not thorough:
        return [(file, reason) for file in files if (reason := _wrong_with(file, whole=False))]

    def look(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            found = [(str(file), _wrong_with(str(file), whole=True)) for file in batch.column("file").to_pylist()]
            bad = [(file, reason) for file, reason in found if reason]
            yield pa.RecordBatch.from_pylist(
                [{"file": file, "reason": reason} for file, reason in bad],
                pa.schema([("file", pa.string()), ("reason", pa.string())]),
            )

    frame = spark.createDataFrame([(file,) for file in files], "file string").repartition(min(len(files), 64))
    return [(row["file"], row["reason"]) for row in frame.mapInArrow(look, "file string, reason string").collect()]


def _wrong_with(file: str, whole: bool) -> str | None:
    try:
        parquet = pq.ParquetFile(file, page_checksum_verification=True)
        if whole:
            for _ in parquet.iter_batches():
                pass
    except (OSError, pa.ArrowException) as error:
        return f"damaged Parquet file: {one_line(error)}"
    return None
