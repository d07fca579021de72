"""Between the trace's columns, Arrow and Spark: the one place for conversions.

Decided in this file: the Spark schema of a trace is derived from `trace/record.py` and so is the shape of every Arrow
batch that goes into Spark; and what differs between them (large strings, dictionaries, wider integers, columns of nulls
from other writers) is evened out here and nowhere else.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from pyspark.sql.types import ArrayType, DataType, IntegerType, LongType, StringType, StructField, StructType

from antecede.errors import InputError
from antecede.trace.parquet import completed
from antecede.trace.record import COLUMNS, arrow_schema

__all__ = ["as_spark_batch", "as_trace_batch", "plain_schema", "spark_arrow_schema", "trace_schema"]


def trace_schema() -> StructType:
    """The Spark schema of a trace: the columns of `antecede.trace.record`, in their order."""
    types: dict[str, DataType] = {
        "string": StringType(),
        "int64": LongType(),
        "int32": IntegerType(),
        "list<string>": ArrayType(StringType(), containsNull=True),
    }
    return StructType([StructField(c.name, types[c.type], c.nullable) for c in COLUMNS])


def plain_schema() -> pa.Schema:
    """The Arrow schema of a trace without its metadata: what Spark expects of a batch."""
    return arrow_schema().remove_metadata()


def as_trace_batch(batch: pa.RecordBatch) -> pa.RecordBatch:
    """`batch` with exactly the columns and types of a trace, whoever wrote it."""
    schema = plain_schema()
    arrays: list[Any] = []
    batch = completed(batch)
    for field in schema:
        array: Any = batch.column(field.name)
        if array.type != field.type:
            if pa.types.is_dictionary(array.type):
                array = array.dictionary_decode()
            try:
                array = array.cast(field.type)
            except pa.ArrowException as error:
                raise InputError(f"column {field.name} does not fit into {field.type}: {error}") from error
        arrays.append(array)
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


@functools.cache
def _arrow_of(text: str) -> pa.Schema:
    from pyspark.sql.pandas import types

    convert: Any = types.to_arrow_schema
    schema = StructType.fromJson(json.loads(text))
    try:
        made: pa.Schema = convert(schema, timezone="UTC")
    except TypeError:  # Spark before 4.3 knows no such word, and means the same
        made = convert(schema)
    return made


def spark_arrow_schema(schema: StructType) -> pa.Schema:
    """The Arrow schema in which Spark expects rows of `schema`; times are in UTC."""
    return _arrow_of(schema.json())


def as_spark_batch(
    batch: pa.RecordBatch, schema: StructType, values: Mapping[str, Any] | None = None
) -> pa.RecordBatch:
    """`batch` in exactly the columns and types Spark expects for `schema`; `values` fill whole columns."""
    wanted = spark_arrow_schema(schema)
    arrays: list[Any] = []
    for field in wanted:
        if values and field.name in values:
            value = values[field.name]
            given = pa.nulls(batch.num_rows) if value is None else pa.array([value]).take([0] * batch.num_rows)
            arrays.append(given.cast(field.type))
        else:
            column: Any = batch.column(field.name)
            arrays.append(column if column.type == field.type else column.cast(field.type))
    return pa.RecordBatch.from_arrays(arrays, schema=wanted)
