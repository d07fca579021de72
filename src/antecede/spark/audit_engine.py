"""The engine that is Spark: frames are DataFrames, tasks run wherever the session's do.

Decided in this file: how the steps of an audit are laid out. What rows tell is shuffled by domain, deliveries once, by
process, as packed chunks; results are kept, and only counts come to the driver.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from antecede.spark.auditing.local import SAME
from antecede.spark.auditing.outcome import Totals
from antecede.spark.auditing.pieces import RESULT
from antecede.spark.auditing.work import SUMS, Step, sums_of
from antecede.spark.ship import ship

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["OnSpark", "slots"]

PARTS_PER_CORE = 4
"""Tasks that judge, for each core: more of them even out processes of different size, each costs some 50 ms."""


def slots(spark: SparkSession) -> int:
    """How many tasks run at once, as far as can be told."""
    told = spark.conf.get("spark.default.parallelism", None) or spark.conf.get("spark.sql.shuffle.partitions", "1")
    return max(1, int(told or 1))


class OnSpark:
    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark
        self.parts = PARTS_PER_CORE * slots(spark)
        ship(spark)

    def numbers(self, count: int) -> DataFrame:
        return self.spark.range(0, count, 1, min(count, 8 * slots(self.spark)))

    def mapped(self, frame: DataFrame, function: Step, schema: pa.Schema) -> DataFrame:
        return frame.mapInArrow(function, from_arrow_schema(schema))

    def by_domain(self, pieces: DataFrame) -> DataFrame:
        return pieces.repartition("domain").sortWithinPartitions("domain")

    def by_part(self, chunks: DataFrame) -> DataFrame:
        """One task for each part; before Spark 4.1 parts may share one."""
        by_id = getattr(chunks, "repartitionById", None)
        parts = self.parts
        dealt: DataFrame = by_id(parts, F.col("part")) if by_id is not None else chunks.repartition(parts, "part")
        return dealt

    def kept(self, frame: DataFrame) -> DataFrame:
        return frame.persist()

    def both(self, one: DataFrame, other: DataFrame) -> DataFrame:
        return one.unionByName(other)

    def counted(self, results: DataFrame) -> Totals:
        sums = [F.sum(name).alias(name) for name in SUMS]
        return sums_of(results.groupBy("what", "verdict").agg(F.count("*").alias("count"), *sums).collect())

    def of_readable(self, results: DataFrame) -> DataFrame:
        unreadable = (F.col("what") == "quarantine") & (F.col("verdict") == "unreadable")
        bad = F.broadcast(results.where(unreadable).select("source").distinct())
        good = results.join(bad, "source", "left_anti")
        reasons = results.where("what in ('quarantine', 'counts')").join(bad, "source", "left_semi")
        return good.unionByName(reasons).select(*RESULT.names)

    def best(self, answers: DataFrame) -> DataFrame:
        rest = [name for name in RESULT.names if name not in SAME]
        found = answers.groupBy(*SAME).agg(F.min_by(F.struct(*rest), "turn").alias("best")).select("*", "best.*")
        return found.withColumn("what", F.lit("finding")).select(*RESULT.names)

    def only(self, results: DataFrame, what: str) -> DataFrame:
        return results.where(F.col("what") == what)

    def told(self, results: DataFrame, columns: tuple[str, ...], *what: str) -> Any:
        return results.where(F.col("what").isin(*what)).select(*columns)
