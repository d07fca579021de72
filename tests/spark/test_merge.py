"""MERGE by causal_pos, as plain Spark SQL says it: batches in any order, and again, leave the same state."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

from antecede.spark.order import causal_order
from examples.merge import MERGE, latest, merged

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Each change comes after the one it replaces; the clock of the second writer runs behind.
CHANGES = [
    ("c1", [], "r1", "door", "shut", 10),
    ("c2", ["c1"], "r1", "door", "open", 4),
    ("c3", ["c2"], "r1", "door", "locked", 11),
    ("c4", [], "r1", "lamp", "on", 5),
    ("d1", [], "r2", "door", "open", 1),
]


def test_no_older_change_wins_whatever_the_batches(spark: SparkSession) -> None:
    table = spark.createDataFrame(
        CHANGES, "id string, parents array<string>, room string, item string, value string, at bigint"
    )
    ordered = table.transform(causal_order(id="id", parents="parents", group="room", unknown="skip")).cache()
    wanted = {("r1", "door"): ("locked", 2), ("r1", "lamp"): ("on", None), ("r2", "door"): ("open", 0)}
    batches = [ordered.where("id in ('c1', 'c4')"), ordered.where("id in ('c2', 'd1')"), ordered.where("id = 'c3'")]
    for turn in [*permutations(range(3))][::2]:
        state = latest(ordered).where("false")
        for number in (*turn, turn[0]):  # and one again
            state = merged(state, latest(batches[number]))
        found: dict[Any, Any] = {
            (row["room"], row["item"]): (row["value"], row["causal_pos"]) for row in state.collect()
        }
        found["r1", "lamp"] = (found["r1", "lamp"][0], None)  # its place among the others is a matter of ties
        assert found == wanted
    ordered.unpersist()
    assert "c.causal_pos > s.causal_pos" in MERGE and "s.room = c.room" in MERGE
