"""Tables of other systems on Spark: any form of ids, parents and clocks; the verdicts of `antecede check`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from antecede.errors import InputError
from antecede.spark.audit_here import table_here
from antecede.spark.foreign import audit_files, audit_table
from antecede.spark.trace_audit import Audit
from tests.spark.auditing.places_twin import Place, Verdicts, judge_places

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = [
    ("r1", 1, "a", []), ("r1", 2, "c", ["b", "x"]), ("r1", 3, "b", ["a"]), ("r1", 4, "b", ["a"]),
    ("r2", 1, "c", ["b", "x"]), ("r2", 2, "a", []),
]  # fmt: skip
GIT = Path(__file__).resolve().parents[3] / "shared" / "data" / "git_history.parquet"


def same(result: Audit, want: Verdicts) -> None:
    def rows(frame: Any) -> set[tuple[Any, ...]]:
        return {tuple(r) for r in frame.select("verdict", "process", "message", "other", "step").collect()}

    assert rows(result.findings) == set(want.findings) and rows(result.missing) == set(want.missing)
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
    with pytest.raises(InputError, match="the position refs is array<string>: give a whole number"):
        audit_table(frame, id="msg", parents="refs", position="refs")
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
    assert reasons == [
        ("x", "a is among its own causes"),
        ("x", "b comes after a, which is among its own causes"),
        ("x", "id is null"),
        ("y", "a is among its own causes"),
        ("y", "b is among its own causes"),
    ]
    assert [row["text"] for row in result.in_doubt.collect()] == [
        "b comes with different parents in different rows: all of them are taken"
    ]
    assert result.summary["rows"] == len(rows) == result.summary["rows_refused"] and not result.clean


def test_an_inversion_beside_a_cycle_is_found_without_a_run_to_split_it_off(spark: SparkSession) -> None:
    rows = [("x", ["y"], 0), ("y", ["x"], 1), ("b", ["a"], 2), ("a", [], 3), ("c", ["a"], 3)]
    result = audit_table(
        spark.createDataFrame(rows, "`my.id` string, refs array<string>, n int"), id="my.id", parents="refs",
        position="n",
    )  # fmt: skip
    assert [(r["message"], r["other"]) for r in result.findings.collect()] == [("a", "b")]
    assert sorted(r["message"] for r in result.quarantine.collect()) == ["x", "y"]
    assert result.summary["rows_refused"] == 2 and result.summary["rows"] == 5 and result.summary["ties"] == 2


def test_files_say_the_same_on_both_engines(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(
        'node,n,msg,refs\nr,1,b,a\nr,2,a,\nr,3,c,b;x\nr,4,x,\nr,4,d,c\nr,5,e,"[1\n'
        "s,1,p,q\ns,2,q,p\ns,3,a,,extra\ns,x,b,a\n"
    )
    (tmp_path / "b.csv").write_text("node,n,msg,refs\ns,9,d,c\ns,9,c,b\n")
    named = {"id": "msg", "parents": "refs", "clock": None, "receiver": "node", "position": "n"}
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    here, there = table_here(files, named), audit_files(spark, files, named)
    assert here.summary == there.summary and here.counts["inversion"] > 1 and here.summary["ties"] == 4
    told, same = here.to_json(), there.to_json()
    for name in ("findings", "quarantine", "missing", "in_doubt"):
        assert told[name] and sorted(map(str, told[name])) == sorted(map(str, same[name])), name


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
