"""The first step of a pipeline: what is read becomes rows that can be ordered, and what cannot is set aside with why.

Decided in this file: that cells are read here, by the rules of `spark/tables`, and stand in the columns from here on as
lists, maps and numbers; that lines of CSV and JSON which are no rows come along with why and as they were written; and
that a damaged Parquet file costs itself, not the run: it is found by its footer, or, when Spark stumbles over it later,
by reading all of each file once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Column
from pyspark.sql import functions as F

from antecede.errors import InputError, one_line
from antecede.spark.config import Pipeline
from antecede.spark.stamps import files_below
from antecede.spark.tables.cells import FITTING, REQUIRED, fits, is_plain
from antecede.spark.tables.files import Found
from antecede.spark.tables.frames import FAULT, READ, arrow_types, col, path_stream, read_frame, read_lines
from antecede.spark.tables.kinds import shown_type
from antecede.spark.tables.naming import as_named, hint
from antecede.spark.views import arrivals

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["FAULT", "QUARANTINE", "damaged", "faulty", "read_rows", "sound"]

QUARANTINE = "file string, reason string, row string"
_FILE, _REASON, _TEXT = "_file", "_reason", "_line"
"""Of a line that is no row: where it stands, why, and the line itself."""
_AS_READ = "_as_read_"
"""Before the name of a column: as it was read, before it was made a list, a map or a number."""

_OPTIONS = {"header", "inferSchema", "encoding", "mode"}
"""Settings of Spark's readers for which ours do as well; with others Spark reads CSV and JSON itself."""


def read_rows(spark: SparkSession, config: Pipeline, leave_out: Sequence[str] = (), stream: bool = False) -> DataFrame:
    """The rows of the source with FAULT beside them; files in `leave_out` are not opened."""
    source = config.source
    if source.kind == "run":
        return _runs(spark, config)
    reader: Any = spark.readStream if stream else spark.read
    if source.format == "antecede":
        frames = [reader.format("antecede").options(**source.options).load(path) for path in source.paths]
        return _judged(_united(frames), config)
    if source.format in ("csv", "json") and _is_ours(config):
        return _judged(_lines(spark, config, stream), config)
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
            others = {path.suffix[1:] for path in files_below(source.paths, (".csv", ".json"))}
            cure = f"say format = {json.dumps(min(others))} in [source]" if others else "correct source.path"
            raise InputError(f"No Parquet file that can be read below {', '.join(source.paths)}: {cure}.")
    return _judged(reader.options(**options).format(source.format).load(paths), config)


def _is_ours(config: Pipeline) -> bool:
    """Whether our readers can take these files: on a mounted path, with a header, without settings of Spark's own."""
    source, columns = config.source, config.columns
    remote = any(re.match(r"\w+:/", path) and not path.startswith("file:/") for path in source.paths)
    named = [getattr(columns, role) for role in columns.__struct_fields__]
    bare = source.options.get("header", "true").lower() != "true" or any(re.fullmatch(r"_c\d+", n or "") for n in named)
    return not remote and set(source.options) <= _OPTIONS and not (source.format == "csv" and bare)


def _lines(spark: SparkSession, config: Pipeline, stream: bool) -> DataFrame:
    source, columns = config.source, config.columns
    files = files_below(source.paths)
    if not files:
        raise InputError(f"{', '.join(source.paths)} holds no file: correct source.path.")
    names_things = {columns.id, columns.parents, columns.sender, columns.clock, columns.group, columns.topic}
    found = Found(source.format, files, None)
    paths = None
    if stream:
        reader = spark.readStream.option("recursiveFileLookup", "true")
        paths = _united([path_stream(reader, path) for path in source.paths])
    whole, names = read_lines(spark, found, names_things, source.options.get("encoding"), paths)
    return whole.toDF(*names, _FILE, _REASON, _TEXT)


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
    """Cells in the types they must have, and FAULT."""
    columns = config.columns
    named = {role: getattr(columns, role) for role in columns.__struct_fields__ if getattr(columns, role) is not None}
    kinds = arrow_types(df.schema)
    for role, name in named.items():
        if name not in kinds:
            have = [name for name in kinds if name not in (_FILE, _REASON, _TEXT)]
            raise InputError(
                f"The source has no column {name} (columns.{role}){hint(name, have)}; it has {as_named(have)}."
            )
        if not fits("parents" if role == "topic" else role, kinds[name]):
            must = "text or a list of texts" if role == "topic" else FITTING[role]
            raise InputError(f"The column {name} is {shown_type(kinds[name])}: for columns.{role} it must be {must}.")
    if FAULT in kinds:
        raise InputError(f"The source has a column {FAULT}, which this pipeline adds: rename it.")
    roles = {role: name for role, name in named.items() if role not in ("group", "topic")}
    read = read_frame(df, roles)
    made = {name: READ + role for role, name in roles.items() if READ + role in read.columns}
    kept = [col(made[name]).alias(name) if name in made else col(name) for name in df.columns]
    before = [col(name).alias(_AS_READ + name) for name in made]
    return read.select(*kept, *before, _fault(read, roles, kinds).alias(FAULT))


def _fault(read: DataFrame, roles: dict[str, str], kinds: dict[str, pa.DataType | None]) -> Column:
    """The first thing that is wrong with a row."""
    reasons = [col(_REASON)] if _REASON in read.columns else []
    if _TEXT in read.columns and not reasons:
        reasons.append(F.when(col(_TEXT).isNotNull(), "the line cannot be parsed"))
    for role in REQUIRED:
        if role in roles and is_plain(role, kinds[roles[role]] or pa.null()):
            reasons.append(F.when(F.coalesce(col(roles[role]).cast("string"), F.lit("")) == "", f"{role} is null"))
    if FAULT in read.columns:
        reasons.append(col(FAULT))
    return F.coalesce(*reasons, F.lit(None).cast("string"))


def sound(rows: DataFrame) -> DataFrame:
    """The rows that can be ordered."""
    ours = (FAULT, _FILE, _REASON, _TEXT)
    own = [name for name in rows.columns if name not in ours and not name.startswith(_AS_READ)]
    return rows.where(F.col(FAULT).isNull()).select(*map(col, own))


def faulty(rows: DataFrame) -> DataFrame:
    """The rows that cannot, as they are kept: QUARANTINE, each whole as JSON as it was read, or the line itself."""
    ours = (FAULT, _FILE, _REASON)
    names = [name for name in rows.columns if name not in ours and not name.startswith(_AS_READ)]
    as_read = [col(_AS_READ + name if _AS_READ + name in rows.columns else name).alias(name) for name in names]
    kept = rows.where(F.col(FAULT).isNotNull())
    whole = F.to_json(F.struct(*as_read))
    if _REASON not in rows.columns:
        return kept.select(F.lit(None).cast("string").alias("file"), F.col(FAULT).alias("reason"), whole.alias("row"))
    return kept.select(F.col(_FILE).alias("file"), F.col(FAULT).alias("reason"), F.coalesce(_TEXT, whole).alias("row"))


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
