"""Tables of other systems on Spark: any form of ids, parents and clocks; the verdicts of `antecede check`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from antecede.errors import InputError
from antecede.spark.audit import Audit
from antecede.spark.foreign import audit_table
from antecede.trace.foreign import ForeignReport, Place, judge_places

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = [
    ("r1", 1, "a", []), ("r1", 2, "c", ["b", "x"]), ("r1", 3, "b", ["a"]), ("r1", 4, "b", ["a"]),
    ("r2", 1, "c", ["b", "x"]), ("r2", 2, "a", []),
]  # fmt: skip
GIT = Path(__file__).resolve().parents[3] / "shared" / "data" / "git_history.parquet"


def same(result: Audit, want: ForeignReport) -> None:
    def told(findings: Any) -> set[tuple[Any, ...]]:
        return {(f.verdict, f.process, f.message, f.other, f.step) for f in findings}

    def rows(frame: Any) -> set[tuple[Any, ...]]:
        return {tuple(r) for r in frame.select("verdict", "process", "message", "other", "step").collect()}

    assert rows(result.findings) == told(want.findings) and rows(result.missing) == told(want.missing)
    assert result.counts == want.counts
    assert (result.summary["rows"], result.summary["receivers"]) == (want.rows, want.receivers)
    assert result.summary["messages"] == want.messages


def test_parents_as_lists(spark: SparkSession) -> None:
    frame = spark.createDataFrame(ROWS, "node string, n int, msg string, refs array<string>").repartition(3)
    result = audit_table(frame, id="msg", parents="refs", receiver="node", position="n")
    same(result, judge_places([Place(r, n, m, tuple(p)) for r, n, m, p in ROWS]))
    told = result.to_json()
    assert told["counts"]["missing"] == len(told["missing"]) == 3 and not told["clean"]


def test_parents_as_text_and_ids_as_numbers(spark: SparkSession) -> None:
    number = {"a": 1, "b": 2, "c": 3, "x": 9}
    rows = [(r, n, number[m], "; ".join(str(number[p]) for p in above) or None) for r, n, m, above in ROWS]
    frame = spark.createDataFrame(rows, "node string, n bigint, msg int, refs string")
    result = audit_table(frame, id="msg", parents="refs", receiver="node", position="n")
    places = [Place(r, n, str(number[m]), tuple(str(number[p]) for p in above)) for r, n, m, above in ROWS]
    same(result, judge_places(places))


@pytest.mark.parametrize("form", ["json", "map", "struct"])
def test_clocks(spark: SparkSession, form: str) -> None:
    clocks = [("e3", {"a": 2, "b": 1}), ("e1", {"a": 1, "b": 0}), ("e2", {"a": 1, "b": 1}), ("e0", {"a": 0, "b": 2})]
    rows = [(n, name, json.dumps(c) if form == "json" else c) for n, (name, c) in enumerate(clocks)]
    kind = {"json": "string", "map": "map<string,bigint>", "struct": "struct<a:bigint,b:bigint>"}[form]
    frame = spark.createDataFrame(rows, f"n int, id string, clock {kind}")
    result = audit_table(frame, id="id", clock="clock", position="n")
    places = [Place("all", n, name, (), tuple((h, k) for h, k in c.items() if k)) for n, (name, c) in enumerate(clocks)]
    same(result, judge_places(places))


def test_bad_input(spark: SparkSession) -> None:
    frame = spark.createDataFrame(ROWS, "node string, n int, msg string, refs array<string>")
    with pytest.raises(InputError, match="the table has no column nope; it has node, n, msg, refs"):
        audit_table(frame, id="nope", parents="refs")
    with pytest.raises(InputError, match="one of the two"):
        audit_table(frame, id="msg")
    with pytest.raises(InputError, match="the position node is string, not a whole number"):
        audit_table(frame, id="msg", parents="refs", position="node")
    with pytest.raises(InputError, match="the id refs is array<string>"):
        audit_table(frame, id="refs", parents="refs")
    with pytest.raises(InputError, match=r"the clock n is int.*JSON"):
        audit_table(frame, id="msg", clock="n")


def test_what_cannot_be_used_is_set_aside(spark: SparkSession) -> None:
    rows = [
        ("x", "r", 1, None, []), ("x", "r", 2, "a", ["a"]), ("x", "r", 3, "b", ["a"]), ("x", "s", 3, "b", []),
        ("y", "r", 1, "a", ["b"]), ("y", "r", 2, "b", ["a"]),
    ]  # fmt: skip
    frame = spark.createDataFrame(rows, "h string, node string, n int, msg string, refs array<string>")
    result = audit_table(frame, id="msg", parents="refs", receiver="node", position="n", run="h")
    reasons = sorted((row["run"], row["text"]) for row in result.quarantine.collect())
    assert [r for r in reasons if r[0] == "x"] == [
        ("x", "a names itself among its parents"),
        ("x", "b comes with different parents in different rows: all of them are taken"),
        ("x", "the row has no id"),
    ]
    assert [r[0] for r in reasons].count("y") == 1 and "among its own causes" in reasons[-1][1]
    assert result.summary["rows"] == 5 and result.summary["rows_refused"] == 2 and not result.clean


@pytest.mark.skipif(not GIT.is_file(), reason="needs ../shared/data, which is not part of the project")
def test_the_history_of_git_sorted_by_time_is_not_causal(spark: SparkSession) -> None:
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    frame = spark.read.parquet(str(GIT))
    by_time = Window.orderBy("sent_at_us", "message")
    placed = frame.withColumn("place", F.row_number().over(by_time))
    above = placed.select(F.col("message").alias("parent"), F.col("place").alias("before"))
    edges = placed.select("message", "place", F.explode("parents").alias("parent")).join(above, "parent")
    inverted = {row["parent"] for row in edges.where("before > place").select("parent").distinct().collect()}
    result = audit_table(placed, id="message", parents="parents", position="place")
    found = {row["message"] for row in result.findings.select("message").collect()}
    assert inverted <= found and result.counts["duplicate"] == 0 and len(inverted) > 1000
