"""A session that the user already has: it gets what it needs, or one sentence says what to add before it starts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from antecede.errors import EnvironmentFault
from antecede.spark import adopting, register
from antecede.spark.adopting import see_to
from antecede.spark.settings import STATE_STORE
from tests.spark.clusters import run_job

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PLAIN = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"


def test_another_session_gets_the_format_and_the_store_of_streams(spark: SparkSession, tmp_path: Path) -> None:
    mine = spark.newSession()  # with formats and settings of its own
    mine.conf.set(STATE_STORE.name, PLAIN)
    assert register(mine) is mine
    assert mine.conf.get(STATE_STORE.name) == STATE_STORE.value
    mine.range(3).write.format("antecede").mode("append").save(str(tmp_path / "t"))
    assert mine.read.format("antecede").load(str(tmp_path / "t")).count() == 3


def test_the_format_is_made_known_only_where_it_is_wanted(spark: SparkSession) -> None:
    mine, other = spark.newSession(), spark.newSession()
    register(mine, formats=False)
    see_to(mine, streams=False)
    assert mine in adopting._KNOWN and mine not in adopting._FORMATTED
    see_to(other, streams=False)
    assert register(mine) is mine and {mine, other} <= set(adopting._FORMATTED)


def test_a_stateful_stream_sees_to_its_session_by_itself(spark: SparkSession, tmp_path: Path) -> None:
    from antecede.spark.order import causal_order

    mine = spark.newSession()
    mine.conf.set(STATE_STORE.name, PLAIN)
    rows = mine.createDataFrame([("b", ["a"]), ("a", [])], "id string, parents array<string>")
    rows.write.parquet(str(tmp_path / "in"))
    stream = mine.readStream.schema(rows.schema).parquet(str(tmp_path / "in"))
    ordered = stream.transform(causal_order(id="id", parents="parents", unknown="skip"))
    query = ordered.writeStream.format("memory").queryName("adopted").trigger(availableNow=True).start()
    query.awaitTermination()
    assert {row.id: row.causal_pos for row in mine.table("adopted").collect()} == {"a": 0, "b": 1}


def test_many_partitions_on_few_cores_are_worth_a_warning_once(spark: SparkSession) -> None:
    mine = spark.newSession()
    register(mine, streams=True)
    mine.conf.set("spark.sql.shuffle.partitions", 200)
    with pytest.warns(RuntimeWarning, match=r"each of 200 partitions, .*partitions\", 2\) before it first starts"):
        register(mine, streams=True)
    register(mine, streams=True)  # a second would be an error here


class Locked:
    """A session whose settings cannot be changed, as some platforms have it."""

    class conf:
        @staticmethod
        def get(name: str, default: Any) -> str:
            return PLAIN

        @staticmethod
        def set(name: str, value: str) -> None:
            raise RuntimeError(f"[CANNOT_MODIFY_CONFIG] {name}")


def test_what_cannot_be_set_any_more_is_the_line_to_add_and_only_streams_need_it() -> None:
    locked: Any = Locked()
    adopting._KNOWN.add(locked)
    adopting._FORMATTED.add(locked)
    register(locked)
    with pytest.raises(EnvironmentFault, match=r"add \.config\(\"spark\.sql\.streaming.*RocksDB.*\) to its builder$"):
        register(locked, streams=True)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_plain_session_works_on_executors_of_their_own(tmp_path: Path) -> None:
    """As `SparkSession.builder.master(...).getOrCreate()` makes it; over Connect the same is in test_clusters."""
    said = run_job("plain:local-cluster[2,1,1024]", "tests.spark.cluster_job:everything", tmp_path)
    worker = said.pop("worker")
    places = [["a", 0], ["b", 1]]
    assert said == {"batch": places, "stream": places, "sink": 2, "source": 2} and worker["missing"] == []
