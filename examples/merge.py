"""The latest state of every key from an ordered stream: MERGE by `causal_pos`, so that no older change wins.

With Delta Lake or Iceberg, for each micro-batch (`foreachBatch`):

    changes.createOrReplaceTempView("changes")      # latest(ordered_batch)
    spark.sql(MERGE.format(table="state"))

`causal_pos` counts within a group: two changes can be compared by it if they are of one group, so the group is part of
the key. It grows along causality, has no holes and no ties, and a batch that is run again, or comes out of turn,
changes nothing.

Neither is installed here: `merged` says the same in plain Spark SQL over two DataFrames, and that is what is tested.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MERGE = """
MERGE INTO {table} AS s USING changes AS c ON s.room = c.room AND s.item = c.item
WHEN MATCHED AND c.causal_pos > s.causal_pos THEN UPDATE SET *
WHEN NOT MATCHED THEN INSERT *
"""


def latest(ordered: DataFrame) -> DataFrame:
    """Of each item the last of its delivered changes: MERGE wants one row for a key."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    turn = Window.partitionBy("room", "item").orderBy(f.desc("causal_pos"))
    delivered = ordered.where("fate = 'delivered'").select("room", "item", "value", "causal_pos")
    return delivered.withColumn("turn", f.row_number().over(turn)).where("turn = 1").drop("turn")


def merged(state: DataFrame, changes: DataFrame) -> DataFrame:
    """What MERGE leaves in the table: of each key the row with the larger place."""
    from pyspark.sql import functions as f

    whole = state.unionByName(changes)
    values = [name for name in whole.columns if name not in ("room", "item", "causal_pos")]
    last = [f.max_by(name, "causal_pos").alias(name) for name in values]
    return whole.groupBy("room", "item").agg(*last, f.max("causal_pos").alias("causal_pos"))
