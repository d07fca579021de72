"""ShiViz logs and spans become tables: read, audited, and what is odd in them is said."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from antecede.errors import InputError
from antecede.spark.foreign import audit_table
from antecede.spark.imports import EVENT_ROLES, read_shiviz, spans
from tests.spark.auditing.places_twin import Place, judge_places

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOGS = Path(__file__).resolve().parents[3] / "shared" / "data" / "shiviz"
COLUMNS = EVENT_ROLES


@pytest.mark.skipif(not LOGS.is_dir(), reason="needs ../shared/data/shiviz, which is not part of the project")
def test_the_real_logs_are_judged_as_the_oracle_judges_them(spark: SparkSession) -> None:
    events = read_shiviz(spark, LOGS / "simpledb.log", LOGS / "shared_var.log").cache()
    assert events.count() == 5509 and events.where("problem is not null").count() == 0
    result = audit_table(events, **COLUMNS)
    rows = events.where("source like '%simpledb%'").collect()
    places = [Place("all", r["position"], r["id"], (), tuple(r["clock"].items())) for r in rows]
    want = {(f.verdict, f.message, f.other, f.step) for f in judge_places(places).findings}
    mine = result.findings.where("source = '' and run like '%simpledb%'")
    assert {tuple(r) for r in mine.select("verdict", "message", "other", "step").collect()} == want
    assert result.summary["absent"] == 0 and result.findings.where("run like '%shared_var%'").count() == 0


def test_a_log_with_holes_and_odd_lines(spark: SparkSession, tmp_path: Path) -> None:
    log = tmp_path / "odd.log"
    log.write_text('one\na {"a": 1}\ntwo\nb {"a": 3, "b": 1}\nodd\nc {"a": 1}\n', "utf-8")
    events = read_shiviz(spark, log)
    assert [(r["id"], r["problem"]) for r in events.collect()] == [
        ("a:1", None), ("b:1", None), (None, "the clock has no step of its own host c"),
    ]  # fmt: skip
    result = audit_table(events, **COLUMNS)
    assert result.missing is not None
    assert [r["text"] for r in result.missing.collect()] == [
        "the clock of b:1 counts step 3 of a, which is not in the table"
    ]
    assert [r["text"] for r in result.quarantine.collect()] == ["the clock has no step of its own host c"]


def test_logs_that_are_not_there(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a file"):
        read_shiviz(spark, tmp_path)
    with pytest.raises(InputError, match="no log is given"):
        read_shiviz(spark)


def test_spans_that_begin_before_their_cause(spark: SparkSession) -> None:
    rows = [
        ("t1", "s1", None, [], "web", "1000"),
        ("t1", "s2", "s1", [], "db", "900"),
        ("t1", "s3", "", [{"trace_id": "t1", "span_id": "s2"}], "queue", "2000"),
        ("t2", "s1", "0000000000000000", [], "web", "5"),
    ]
    schema = (
        "trace_id string, span_id string, parent_span_id string, "
        "links array<struct<trace_id:string,span_id:string>>, service string, start_time string"
    )
    frame = spans(spark.createDataFrame(rows, schema), links="links", service="service", trace="trace_id")
    told = {(r["run"], r["id"]): (r["parents"], r["sender"], r["position"]) for r in frame.collect()}
    assert told["t1", "s3"] == (["s2"], "queue", 2000) and told["t2", "s1"] == ([], "web", 5)
    result = audit_table(frame, id="id", parents="parents", position="position", run="run")
    assert [(r["run"], r["message"], r["other"]) for r in result.findings.collect()] == [("t1", "s1", "s2")]


def test_spans_of_other_forms(spark: SparkSession) -> None:
    frame = spark.sql("select 's' id, 'p' parent, timestamp'1970-01-01 00:00:01' begun, array('q', 'p') links")
    told = spans(frame, id="id", parent="parent", start="begun", links="links").collect()
    assert [(r["parents"], r["position"], r["run"]) for r in told] == [(["p", "q"], 1_000_000, "")]
    with pytest.raises(InputError, match="no column nope"):
        spans(frame, id="nope", parent="parent", start="begun")
    with pytest.raises(InputError, match="the links begun are timestamp"):
        spans(frame, id="id", parent="parent", start="begun", links="begun")
    with pytest.raises(InputError, match=r"the start links is array"):
        spans(frame, id="id", parent="parent", start="links")
