"""Where rows come from: frames that are none, keys that agree with Spark's, and those who only listened."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from antecede.errors import InputError
from antecede.sim.run import simulate
from antecede.sim.scenario import Scenario
from antecede.spark.audit_rows import plain_files, trace_files_of
from antecede.spark.auditing.keys import spark_key
from antecede.spark.trace_audit import audit
from antecede.trace.parquet import write_run
from tests.spark.traces import let_go_rows, write_parquet

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = "run string, process string, role string, step bigint, at_us bigint, kind string, message string"


def test_names_have_the_keys_that_spark_gives_them(spark: SparkSession) -> None:
    from pyspark.sql import functions as F

    names = ["", "a", "p:1", "Zoë", "x" * 31, "y" * 32, "z" * 33, "0123456789" * 13]
    rows = spark.createDataFrame([(n, m) for n in names for m in names], "a string, b string")
    for row in rows.select("a", "b", F.xxhash64("a").alias("one"), F.xxhash64("a", "b").alias("two")).collect():
        assert spark_key(row["a"]) == row["one"] % 2**64
        assert spark_key(row["a"], row["b"]) == row["two"] % 2**64


def test_who_only_listened_is_judged_too(spark: SparkSession) -> None:
    rows = [
        ("r", "p", "member", 0, 0, "publish", "p:1"),
        ("r", "p", "member", 1, 1, "publish", "p:2"),
        ("r", "p", "member", 2, 9, "end", None),
        ("r", "q", "member", 0, 5, "deliver", "p:2"),
        ("r", "q", "member", 1, 6, "deliver", "p:1"),
    ]
    result = audit(spark.createDataFrame(rows, SCHEMA))
    found = [(r["verdict"], r["process"], r["message"], r["other"]) for r in result.findings.collect()]
    assert found == [("inversion", "q", "p:1", "p:2")]
    assert [row["process"] for row in result.tails.collect()] == ["q"] and result.summary["rows"] == 5


@pytest.mark.parametrize(("cut", "gaps"), [(("A@:1",), 0), ((), 1)])
def test_a_cut_may_count_what_a_broker_let_go_of(
    spark: SparkSession, tmp_path: Path, cut: tuple[str, ...], gaps: int
) -> None:
    write_parquet(tmp_path / "r", let_go_rows(cut))
    frame = spark.read.parquet(str(tmp_path / "r" / "records.parquet")).where("step >= 0")
    assert audit(frame).counts["gap"] == gaps


def test_frames_that_are_no_trace(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("r", "p", 0)], "run string, process string, step bigint")
    with pytest.raises(InputError, match=r"columns role, at_us, kind, message missing.*audit_table"):
        audit(frame)
    wrong = spark.createDataFrame(
        [("r", "p", "member", "0", 0, "end", None)],
        "run string, process string, role string, step string, at_us bigint, kind string, message string",
    )
    with pytest.raises(InputError, match="column step is string, not bigint"):
        audit(wrong)


def test_a_frame_that_is_only_files_is_read_as_files(spark: SparkSession, tmp_path: Path) -> None:
    run = simulate(Scenario(recipe="graph", messages=30, loss=0.2))
    folder = tmp_path / "a run"
    write_run(folder, run.rows, run.body())
    frame = spark.read.parquet(str(folder / "records*.parquet"))
    assert plain_files(frame) == sorted(folder.glob("records*.parquet"))
    derived = frame.where("step >= 0")
    assert plain_files(derived) is None and trace_files_of(frame.drop("peer")) is None
    assert audit(frame).summary == audit(derived).summary
    frame.write.partitionBy("role").parquet(str(tmp_path / "parted"))
    assert plain_files(spark.read.parquet(str(tmp_path / "parted"))) is None
    assert plain_files(spark.createDataFrame([("r", "p", "member", 0, 0, "end", None)], SCHEMA)) is None
    frame.persist()
    assert plain_files(frame) is None, "what was kept counts, whatever became of the files"
    frame.unpersist()
