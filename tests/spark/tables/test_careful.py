"""What is set in a session while tables are worked on is taken back; what is damaged inside is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from antecede.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_names_that_differ_in_case_are_two_columns_meanwhile(spark: SparkSession) -> None:
    from antecede.spark.tables.careful import careful

    name = "spark.sql.caseSensitive"
    before = spark.conf.get(name)
    with careful(spark):
        assert spark.conf.get(name) == "true"
        assert spark.sql("select 1 as id, 2 as ID").select("ID").first()[0] == 2
    assert spark.conf.get(name) == before


def test_a_file_that_is_damaged_inside_is_named(spark: SparkSession) -> None:
    from antecede.spark.tables.careful import careful

    said = (
        "[FAILED_READ_FILE.NO_HINT] Encountered error while reading file file:///tmp/in/x%20y.parquet.  SQLSTATE: KD001"
    )
    with pytest.raises(InputError, match=r"x y.parquet cannot be read: it is damaged inside"), careful(spark):
        raise RuntimeError(said)
    with pytest.raises(RuntimeError, match="other"), careful(spark):
        raise RuntimeError("something other")
