"""Between the trace's columns, Arrow and Spark: the one place for conversions.

Decided in this file: the Spark schema of a trace is derived from `trace/record.py` and so is the shape of every Arrow
batch that goes into Spark; and what differs between them (large strings, dictionaries, wider integers, columns of nulls
from other writers) is evened out here and nowhere else.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyspark.sql.types import ArrayType, DataType, IntegerType, LongType, StringType, StructField, StructType

from antecede.errors import InputError
from antecede.trace.record import COLUMNS, arrow_schema

__all__ = ["as_trace_batch", "plain_schema", "trace_schema"]


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
