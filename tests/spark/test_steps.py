"""A configuration becomes calls: which column plays which part, and what the audit of a table looks at."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from antecede.spark.config import config_from
from antecede.trace.parquet import write_run

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS = [
    ("x", "a", 1, [], 10),
    ("z", "b", 1, ["y"], 20),  # came before what it comes after
    ("y", "a", 2, [], 30),
    ("w", "a", 3, ["z"], 40),
]


def table(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(ROWS, "id string, who string, n bigint, parents array<string>, came bigint")


def config(tmp_path: Path, **more: Any) -> Any:
    columns = {"parents": "parents", "sender": "who", "seq": "n", "arrived": "came"}
    body = {"source": {"kind": "table", "path": "in"}, "output": {"path": str(tmp_path)}, "columns": columns}
    return config_from({**body, "order": {"unknown": "skip"}, **more})


def test_the_columns_of_a_run_are_known() -> None:
    from antecede.spark.steps import RUN, columns_of

    assert columns_of(config_from({"source": {"path": "r"}, "output": {"path": "o"}})) == RUN


def test_own_previous_messages_are_parents_for_the_audit_too(spark: SparkSession, tmp_path: Path) -> None:
    from pyspark.sql import functions as F

    from antecede.spark.steps import _with_parents

    rows, name = _with_parents(table(spark).withColumn("g", F.lit("all")), config(tmp_path).columns, "g")
    assert name is not None
    found = {row["id"]: row[name] for row in rows.collect()}
    assert found == {"x": [], "z": ["y"], "y": ["x"], "w": ["z", "y"]}


def test_order_fuse_and_audit_of_a_small_table(spark: SparkSession, tmp_path: Path) -> None:
    from antecede.spark import steps

    told = config(tmp_path, fuse={"every": 2, "interests": {"b": {"where": "who = 'b'"}, "all": "#"}})
    ordered = table(spark).transform(steps.order(told))
    ordered.write.format("antecede").mode("append").save(str(tmp_path / "ordered"))
    places = {row["id"]: row["causal_pos"] for row in ordered.collect()}
    assert sorted(places, key=lambda name: places[name]) == ["x", "y", "z", "w"]
    fused = {(row["interest"], row["cut"]): row["count"] for row in ordered.transform(steps.fused(told)).collect()}
    assert fused == {("b", 0): 0, ("all", 0): 1, ("b", 1): 1, ("all", 1): 2}
    found = [(row["of"], row["verdict"], row["message"]) for row in steps.findings(spark, told, tmp_path).collect()]
    assert found == [("as it came", "inversion", "y")]


def test_an_inversion_beside_a_cycle_is_found_and_the_cycle_is_told(spark: SparkSession, tmp_path: Path) -> None:
    from antecede.spark import steps

    told = config(tmp_path)
    rows = [("x", "a", 1, ["v"], 10), ("v", "d", 1, ["x"], 11), ("z", "b", 1, ["y"], 20), ("y", "c", 1, [], 30)]
    frame = spark.createDataFrame(rows, table(spark).schema)
    frame.transform(steps.order(told)).write.format("antecede").mode("append").save(str(tmp_path / "ordered"))
    found = steps.findings(spark, told, tmp_path).select("of", "verdict", "message", "text").collect()
    assert sorted((row["of"], row["verdict"], row["message"]) for row in found) == [
        ("as it came", "inversion", "y"),
        ("as it came", "set aside", "v"),
        ("as it came", "set aside", "x"),
    ]
    assert {row["text"] for row in found if row["message"] == "v"} == {"v is among its own causes"}


def test_runs_that_cannot_be_judged_are_told(spark: SparkSession, tmp_path: Path) -> None:
    from antecede.spark import steps
    from tests.spark.test_trace_audit import cyclic

    write_run(tmp_path / "run", cyclic())
    told = config_from({"source": {"path": str(tmp_path / "run")}, "output": {"path": str(tmp_path / "out")}})
    [row] = steps.findings(spark, told, tmp_path / "out").collect()
    assert (row["of"], row["verdict"]) == ("records", steps.SET_ASIDE) and "among its own causes" in row["text"]
