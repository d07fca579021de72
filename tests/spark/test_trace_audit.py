"""The audit on Spark: the oracle's findings, from run directories and from DataFrames; bad input loses nothing."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from antecede.core.recipes import RECIPES
from antecede.errors import EnvironmentFault, InputError
from antecede.spark.auditing.tables import Shelf, domain_of
from antecede.spark.trace_audit import AUDITED, Audit, audit, records
from antecede.trace.check import check
from antecede.trace.parquet import write_run
from antecede.trace.record import Row
from tests.spark.auditing.rig import with_faults
from tests.spark.auditing.test_judging import simulated
from tests.trace.causal import causal_run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Key = tuple[Any, ...]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of every recipe with planted faults, each in its directory."""
    place = tmp_path_factory.mktemp("runs")
    for recipe in sorted(RECIPES):
        rows, skew_ms = simulated(6606, recipe, 2)
        faulty = with_faults(rows, random.Random(recipe))
        write_run(place / recipe, faulty, scenario={"recipe": recipe, "skew_ms": skew_ms})
    return place


def expected(runs: Path, **scenario: Any) -> set[Key]:
    return {
        (run.name, f.verdict, f.process, f.message, f.other, f.step)
        for run in runs.iterdir()
        for f in check(run, **scenario).findings
        if f.verdict in AUDITED
    }


def found(result: Audit, source: str = "source") -> set[Key]:
    rows = result.findings.collect()
    assert len(rows) == sum(result.counts.values())
    return {(Path(r[source]).name, r["verdict"], r["process"], r["message"], r["other"], r["step"]) for r in rows}


def test_a_directory_of_run_directories(spark: SparkSession, runs: Path, tmp_path: Path) -> None:
    result = audit(runs, spark=spark, scratch=tmp_path)
    want = expected(runs)
    assert found(result) == want and len(want) > 5
    rows = sum(pq.ParquetFile(f).metadata.num_rows for f in runs.glob("*/records.parquet"))
    assert result.summary["rows"] == rows and not result.clean
    told = result.to_json(limit=3)
    assert len(told["findings"]) == 3 and told["left_out"]["findings"] == len(want) - 3
    assert told["counts"] == result.counts and set(told["counts"]) == set(AUDITED)


def test_a_dataframe_of_several_runs(spark: SparkSession, runs: Path) -> None:
    from pyspark.sql import functions as F

    frame = spark.read.parquet(*(str(f) for f in sorted(runs.glob("*/records.parquet"))))
    names = {str(r.name) for r in runs.iterdir()}
    by_run = {row["run"]: row["run"].rsplit("-", 2)[0] for row in frame.select("run").distinct().collect()}
    assert set(by_run.values()) == names
    mapping = F.create_map(*(F.lit(x) for pair in by_run.items() for x in pair))
    frame = frame.withColumn("run", mapping[F.col("run")]).repartition(5)
    result = audit(frame)  # no scenario beside it: no skew is known
    want = expected(runs, scenario={})
    assert found(result, "run") == want and len(want) > 5


def test_a_clean_run_is_clean(spark: SparkSession, tmp_path: Path) -> None:
    run = causal_run(5, messages=60, deadline_us=10**9)
    write_run(tmp_path / "run", run)
    result = records(spark, tmp_path / "run")
    assert result.clean and result.summary["deliveries"] == sum(row.kind == "deliver" for row in run)
    assert result.summary["messages"] == 60 and result.summary["processes"] == 4


def test_a_stream_without_a_record_is_an_unknown_tail(spark: SparkSession, tmp_path: Path) -> None:
    write_run(tmp_path / "run", causal_run(5, messages=20))
    (tmp_path / "run" / "records-z.arrow").write_bytes(b"\xff\xff\xff\xff\x10")
    result = records(spark, tmp_path / "run")
    assert not result.clean and [row["process"] for row in result.tails.collect()] == ["records-z.arrow"]
    assert check(tmp_path / "run").unknown_tails == ["records-z.arrow"]


def test_what_cannot_be_read_is_set_aside_and_the_rest_is_judged(spark: SparkSession, tmp_path: Path) -> None:
    run = causal_run(5, messages=40)
    twice = next(row for row in run if row.kind == "deliver")
    end = next(n for n, row in enumerate(run) if row.process == twice.process and row.kind == "end")
    faulty = [
        *run[:end],
        twice._replace(step=run[end].step),
        run[end]._replace(step=run[end].step + 1),
        *run[end + 1 :],
    ]
    write_run(tmp_path / "good", faulty)
    for name in ("cut", "torn"):
        write_run(tmp_path / name, run)
    cut = tmp_path / "cut" / "records.parquet"
    cut.write_bytes(cut.read_bytes()[:500])
    content = bytearray((tmp_path / "torn" / "records.parquet").read_bytes())
    content[400:440] = bytes(40)
    (tmp_path / "torn" / "records.parquet").write_bytes(bytes(content))
    write_run(tmp_path / "cyclic", cyclic())
    write_run(tmp_path / "gaps", [row for row in run if not (row.process == "m1" and row.step == 3)])
    result = records(spark, tmp_path)
    reasons = {Path(row["source"]).name: row["text"] for row in result.quarantine.collect()}
    assert "truncated Parquet file" in reasons["cut"] and "damaged Parquet file" in reasons["torn"]
    assert "among its own causes" in reasons["cyclic"] and "steps must run from 0 on" in reasons["gaps"]
    duplicates = result.findings.where("verdict = 'duplicate'").collect()
    assert [(Path(row["source"]).name, row["process"]) for row in duplicates] == [("good", twice.process)]
    assert {Path(row["source"]).name for row in result.findings.collect()} <= {"good", "gaps"}
    assert result.summary["rows_refused"] == len(cyclic()) and not result.clean


def cyclic() -> list[Row]:
    rows = [Row("r", p, "member", 0, 0, "publish", f"{p}:1", ("G",), after=(f"{q}:1",)) for p, q in ("ab", "ba")]
    return [*rows, *(Row("r", p, "member", 1, 9, "end", reason="quiet") for p in "ab")]


def test_rows_of_a_frame_that_cannot_be_used_are_set_aside(spark: SparkSession) -> None:
    rows = [
        ("r", "p", "member", 0, 0, "publish", "p:1"),
        ("r", "p", "member", 1, 1, "publish", None),
        ("r", "p", "member", 2, 2, "dance", None),
        ("r", None, "member", 3, 3, "end", None),
    ]
    schema = "run string, process string, role string, step bigint, at_us bigint, kind string, message string"
    result = audit(spark.createDataFrame(rows, schema))
    assert sorted(row["text"] for row in result.quarantine.collect()) == [
        "publish names no message",
        "the row names no process or no step",
        "there is no kind of row called 'dance'",
    ]
    assert [row["process"] for row in result.tails.collect()] == ["p"]


def test_what_may_be_exempt(spark: SparkSession, runs: Path) -> None:
    for wrong in ("inversion", "nonsense"):
        with pytest.raises(InputError, match=f"cannot exempt from {wrong}"):
            audit(runs, spark=spark, exempt=[wrong])


def test_a_table_that_workers_cannot_see_is_said_in_one_sentence(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_run(tmp_path / "run", causal_run(5, messages=5))
    monkeypatch.setattr(Shelf, "put", lambda self, domain, messages: None)
    with pytest.raises(EnvironmentFault, match="scratch directory that every Spark worker can reach"):
        Shelf(str(tmp_path)).get(domain_of("", ""))
