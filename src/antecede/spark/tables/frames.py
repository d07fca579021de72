"""The same tables as DataFrames: files are read by the same readers, in Spark's tasks, and so are cells that need it.

Decided in this file: Parquet is read by Spark, once all footers agree; CSV and JSON by one task for each file, since
Spark's own readers deliver damaged rows without a word. Cells of plain types (texts, arrays of texts, whole numbers,
timestamps) stay in Java; others pass through `cells` in one more step over the table.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from antecede.errors import InputError
from antecede.spark.tables.cells import PARENTS, PLAIN, TEXT, is_plain, read_cells
from antecede.spark.tables.decoded import Aside, known_encoding
from antecede.spark.tables.files import Found, files_of, one_schema
from antecede.spark.tables.guess import TYPES, built, guessed, joined
from antecede.spark.tables.kinds import arrow_type, spark_schema
from antecede.spark.tables.local import check_header, no_columns
from antecede.spark.tables.rows import blocks_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

__all__ = [
    "ASIDE",
    "FAULT",
    "READ",
    "Frames",
    "arrow_types",
    "col",
    "path_stream",
    "read_files",
    "read_frame",
    "read_lines",
    "read_tables",
]

ASIDE = "file string, reason string, row string"
"""The table of what could not be read."""
FAULT = "_fault"
"""Why a row is invalid; null if it is not."""
READ = "_read_"
"""Before a role: the column of its cells as they were read."""
SIMPLE = {"text": "string", "none": "string", "json": "string", "whole": "bigint", "number": "double"}
SIMPLE |= {"truth": "boolean", "texts": "array<string>"}


class Frames(NamedTuple):
    rows: DataFrame
    """The rows, all their columns."""
    aside: DataFrame | None
    """Lines that are no rows: ASIDE. None where there can be none."""


def read_tables(
    spark: SparkSession,
    paths: Sequence[str | Path],
    texts: Collection[str | None] = (),
    encoding: str | None = None,
) -> Frames:
    """Parquet, CSV with a header, or JSON lines. `texts`: columns of CSV and JSON that are text whatever is in them."""
    return read_files(spark, files_of(paths), texts, encoding)


def read_files(
    spark: SparkSession,
    found: Found,
    texts: Collection[str | None] = (),
    encoding: str | None = None,
    stream: DataFrame | None = None,
) -> Frames:
    """`stream`: one of paths of files (CSV and JSON), of which those found now tell the columns."""
    if found.kind == "parquet":
        from antecede.spark.sink import literally

        one_schema(found.files)
        reader = spark.read if found.root is None else spark.read.option("basePath", str(found.root.absolute()))
        return Frames(reader.parquet(*(literally(file.absolute()) for file in found.files)), None)
    whole, names = read_lines(spark, found, texts, encoding, stream)
    return Frames(
        whole.where("reason is null").drop("file", "reason", "row").toDF(*names),
        whole.where("reason is not null").select("file", "reason", "row"),
    )


def read_lines(
    spark: SparkSession,
    found: Found,
    texts: Collection[str | None],
    encoding: str | None,
    stream: DataFrame | None = None,
) -> tuple[DataFrame, list[str]]:
    """CSV and JSON: all lines, with columns c0, c1, ... and ASIDE, and the names of these columns.

    A line that is no row has a reason, and nothing in the columns.
    """
    from antecede.spark.faults import plain_faults

    known_encoding(encoding)
    files = [str(file.absolute()) for file in found.files]
    paths = spark.createDataFrame([(file,) for file in files], "path string").repartition(min(len(files), MOST_TASKS))
    words = paths.mapInArrow(looked_at(found.kind, texts, encoding), LOOKED)
    with plain_faults():
        told = {row["path"]: row for row in words.collect()}
    types: dict[str, str] = {}
    for file in files:
        if file in told:
            if found.kind == "csv" and told[file]["names"]:
                check_header(file, told[file]["names"], files[0], list(types))
            for name, word in zip(told[file]["names"], told[file]["words"], strict=True):
                types[name] = joined(types.get(name, "none"), word)
    if not types:
        raise InputError(no_columns(found, [row["wrong"] for row in told.values() if row["wrong"]][:1]))
    plain = ", ".join(f"c{place} {SIMPLE[word]}" for place, word in enumerate(types.values()))
    source = paths if stream is None else stream
    return source.mapInArrow(as_rows(found.kind, types, encoding), f"{plain}, {ASIDE}"), list(types)


def path_stream(reader: Any, folder: str) -> DataFrame:
    """Paths of the files of a folder as they come; what is in them is not read here. `reader`: `spark.readStream`."""
    known = "path string, modificationTime timestamp, length bigint, content binary"
    found: DataFrame = reader.format("binaryFile").schema(known).load(folder).select("path")
    return found


MOST_TASKS = 10_000


def paths_in(batch: pa.RecordBatch) -> list[str]:
    """Paths as Python opens them; Spark names the scheme too."""
    return [str(path).removeprefix("file://").removeprefix("file:") for path in batch["path"].to_pylist()]


def looked_at(kind: str, texts: Collection[str | None], encoding: str | None) -> Any:
    """What a task does to know the columns of its files."""
    named = frozenset(texts)

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for file in paths_in(batch):
                types: dict[str, str] = {}
                wrong = None
                for block in blocks_of(file, kind, encoding):
                    for name, word in guessed(block, named, kind == "csv").items():
                        types[name] = joined(types.get(name, "none"), word)
                    wrong = wrong or (block.aside[0].reason if block.aside else None)
                row = {"path": file, "names": list(types), "words": list(types.values()), "wrong": wrong}
                yield pa.RecordBatch.from_pylist([row], LOOK)

    return run


LOOKED = "path string, names array<string>, words array<string>, wrong string"
LOOK = pa.schema([("path", TEXT), ("names", PARENTS), ("words", PARENTS), ("wrong", TEXT)])


def as_rows(kind: str, types: Mapping[str, str], encoding: str | None) -> Any:
    """What a task does to read its files: rows, and after them what is set aside, with nothing in the columns."""
    fields = [(f"c{place}", TYPES[word]) for place, word in enumerate(types.values())]
    names = ("file", "reason", "row")
    schema = pa.schema([*fields, *((name, pa.string()) for name in names)])

    def told(arrays: list[Any], size: int, aside: Sequence[Aside]) -> pa.RecordBatch:
        notes: list[Any] = list(zip(*aside, strict=True)) if aside else [[None] * size] * 3
        return pa.RecordBatch.from_arrays([*arrays, *(pa.array(note, pa.string()) for note in notes)], schema=schema)

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for file in paths_in(batch):
                for number, block in enumerate(blocks_of(file, kind, encoding)):
                    if kind == "csv" and not number:
                        check_header(file, list(block.columns), "the others", list(types))
                    arrays, more, _ = built(block, types, file)
                    yield told(arrays, len(arrays[0]), ())
                    aside = [*block.aside, *more]
                    if aside:
                        yield told([pa.array([None] * len(aside), kind) for _, kind in fields], len(aside), aside)

    return run


# -- cells -------------------------------------------------------------------------------------------------------------


def arrow_types(schema: StructType) -> dict[str, pa.DataType | None]:
    """Column -> its type in Arrow; None where Arrow has none."""
    return {field.name: arrow_type(field.dataType.jsonValue()) for field in schema.fields}


def col(name: str) -> Column:
    """A column by its exact name: dots are part of it."""
    from pyspark.sql import functions as f

    return f.col("`" + name.replace("`", "``") + "`")


def read_frame(df: DataFrame, roles: Mapping[str, str]) -> DataFrame:
    """The table with a column `_read_ROLE` for each role (role -> column) whose cells need reading, and FAULT.

    Cells of plain types are not copied: see `read_as`. FAULT is there only if something was read.
    """
    kinds = arrow_types(df.schema)
    named = {role: name for role, name in roles.items() if role in PLAIN}
    needed = {role: name for role, name in named.items() if not is_plain(role, kinds[name] or pa.null())}
    if not needed:
        return df
    from pyspark.sql import types as t

    names = df.columns
    places = {role: f"c{names.index(name)}" for role, name in needed.items()}
    plain = df.toDF(*(f"c{place}" for place in range(len(names))))
    added = pa.schema([*((READ + role, PLAIN[role]) for role in needed), (FAULT, TEXT)])
    schema = t.StructType([*plain.schema.fields, *t.StructType.fromJson(spark_schema(added)).fields])

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            read, wrong = read_cells({role: batch[column] for role, column in places.items()})
            told = [*batch.columns, *(read[role] for role in places), wrong]
            yield pa.RecordBatch.from_arrays(told, names=[*batch.schema.names, *(READ + r for r in places), FAULT])

    whole = plain.mapInArrow(run, schema)
    return whole.toDF(*names, *(READ + role for role in needed), FAULT)
