"""Types as Spark and Arrow both have them, in manifests and in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from antecede.errors import InputError
from antecede.spark.tables.kinds import arrow_type, settled, settled_type, shown_type, spark_schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_types_are_settled() -> None:
    table = pa.table(
        {
            "a": pa.array(["x"]).dictionary_encode(),
            "b": pa.array(["x"], pa.large_string()),
            "c": pa.array([2**64 - 1], pa.uint64()),
            "d": pa.array([1_000], pa.timestamp("ns", "Europe/Paris")),
            "e": pa.array([None]),
            "f": pa.array([[1]], pa.large_list(pa.uint8())),
            "g": pa.array([{"x": 1.5}], pa.struct([("x", pa.float32())])),
        }
    )
    found = settled(table)
    assert [shown_type(kind) for kind in found.schema.types] == [
        "string", "string", "decimal128(20, 0)", "timestamp", "string", "array<smallint>", "struct<x:float>",
    ]  # fmt: skip
    assert found["d"].cast(pa.int64()).to_pylist() == [1] and int(found["c"][0].as_py()) == 2**64 - 1
    with pytest.raises(InputError, match="column t is duration"):
        settled(pa.table({"t": pa.array([1], pa.duration("s"))}))
    assert settled_type(pa.list_(pa.duration("s"))) is None


def test_a_schema_is_what_spark_says(spark: SparkSession) -> None:
    text = (
        "a string, b bigint, c int, d smallint, e tinyint, f double, g float, h boolean, i date, j binary, "
        "k timestamp, l timestamp_ntz, m decimal(12,3), n array<string>, o map<string,bigint>, "
        "p struct<x:array<int>,y:string>"
    )
    schema: Any = spark.createDataFrame([], text).schema
    kinds: Any = [(field.name, arrow_type(field.dataType.jsonValue())) for field in schema.fields]
    assert spark_schema(pa.schema(kinds)) == schema.jsonValue()
    assert [shown_type(kind) for _, kind in kinds[:5]] == ["string", "bigint", "int", "smallint", "tinyint"]
    assert arrow_type("interval") is None and arrow_type({"type": "array", "elementType": "interval"}) is None
