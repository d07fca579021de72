"""Between traces, Arrow and Spark: the schemas agree, and batches of other writers are evened out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from antecede.errors import InputError
from antecede.spark.rows import as_trace_batch, plain_schema, trace_schema
from antecede.trace.record import COLUMNS, Row

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROW = Row("r", "p", "member", 0, 5, "publish", "p:1", ("G",), 100, after=("q:1",), bytes=7)


def batch(**other: Any) -> pa.RecordBatch:
    """One row of a trace, some columns of another type."""
    arrays = {
        name: pa.array([value], type) for name, value, type in zip(ROW._fields, ROW, plain_schema().types, strict=True)
    }
    return pa.RecordBatch.from_pydict({**arrays, **other})


def test_the_schema_has_the_columns_of_the_record_in_their_order() -> None:
    schema = trace_schema()
    assert [(f.name, f.nullable) for f in schema] == [(c.name, c.nullable) for c in COLUMNS]
    assert schema.simpleString().startswith("struct<run:string,process:string,role:string,step:bigint,")
    assert (
        schema["bytes"].dataType.simpleString() == "int" and schema["after"].dataType.simpleString() == "array<string>"
    )


def test_a_batch_goes_through_spark_and_comes_back_equal(spark: SparkSession) -> None:
    frame = spark.createDataFrame([tuple(ROW)], trace_schema())
    assert frame.toArrow().cast(plain_schema()).to_batches()[0].equals(as_trace_batch(batch()))


def test_other_writers_are_evened_out() -> None:
    other = batch(
        run=pa.array(["r"]).dictionary_encode(),
        kind=pa.array(["publish"], pa.large_string()),
        step=pa.array([0], pa.int32()),
        groups=pa.array([["G"]], pa.large_list(pa.large_string())),
        cut=pa.nulls(1),
        bytes=pa.array([7], pa.int64()),
    )
    assert as_trace_batch(other).equals(as_trace_batch(batch()))


def test_what_does_not_fit_is_named() -> None:
    with pytest.raises(InputError, match="column bytes does not fit into int32"):
        as_trace_batch(batch(bytes=pa.array([1 << 40])))
