"""How columns of each kind are read in Spark SQL; that it agrees with the local engine is in test_local."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from antecede.spark.order.behind import NEVER
from antecede.spark.order.columns import Columns

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_columns_of_every_kind_are_read(spark: SparkSession) -> None:
    from antecede.spark.order.sql import read

    table = spark.createDataFrame(
        [(7, "1, 2;3 4", "s", 3, "g", 5, 9, '{"s": 3, "t": 2, "u": 0}'), (8, None, None, None, None, None, None, None)],
        "`the id` bigint, p string, s string, n int, g string, at bigint, due bigint, c string",
    )
    names = ("_name", "_other", "_needs", "_at", "_late", "_due", "_fault")

    def told(**options: Any) -> list[Any]:
        rows = read(table, Columns(**options)).select("c0", *names).orderBy("c0").drop("c0").collect()
        return [tuple(row) for row in rows]

    first, second = told(id="the id", parents="p", sender="s", seq="n", arrived="at", deadline="due")
    assert first == ("7", "s:3", ["1", "2", "3", "4", "s:2"], 5, 9, 9, None)
    assert second == (None, None, [], None, NEVER, NEVER, "sender is null")
    first, second = told(sender="s", clock="c", time="at", wait_us=3, remember_us=100)
    assert first == ("s:3", None, ["s:2", "t:2"], 5, 105, 8, None)
    assert second[0] is None and second[-1] == "clock is null"
