"""Whole pipelines: every row is accounted for, what is finished is not repeated, what is damaged is named."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from antecede.errors import InputError
from antecede.sim.run import simulate
from antecede.sim.scenario import Scenario
from antecede.trace.parquet import write_run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from antecede.spark.outcome import Report


def write_table(folder: Path, seed: int = 1, rows: int = 300) -> None:
    """Three rooms, a row each from one of four senders, shuffled over three files; two rows without an id."""
    dice = Random(seed)
    table: list[dict[str, Any]] = []
    sent: dict[tuple[str, str], int] = {}
    last: dict[str, list[str]] = {}
    for place in range(rows):
        room, sender = f"room{place % 3}", f"s{dice.randrange(4)}"
        number = sent[room, sender] = sent.get((room, sender), 0) + 1
        name = f"{room}/{sender}:{number}"
        parents = dice.sample(last.setdefault(room, []), min(2, len(last[room])))
        last[room] = [*last[room], name][-6:]
        arrived = place * 10 + dice.randrange(80)
        table.append({"id": name, "parents": parents, "room": room, "who": f"{room}/{sender}", "n": number,
                      "arrived_us": arrived, "value": dice.random()})  # fmt: skip
    table += [{**table[5], "id": None}, {**table[6], "id": None}]
    dice.shuffle(table)
    folder.mkdir()
    kinds = {"id": pa.string(), "parents": pa.list_(pa.string()), "room": pa.string(), "who": pa.string(),
             "n": pa.int64(), "arrived_us": pa.int64(), "value": pa.float64()}  # fmt: skip
    schema = pa.schema(list(kinds.items()))
    for number in range(3):
        path = folder / f"part-{number}.parquet"
        pq.write_table(pa.Table.from_pylist(table[number::3], schema), path, write_page_checksum=True)


def settings(tmp_path: Path, **more: Any) -> dict[str, Any]:
    return {
        "source": {"kind": "table", "path": str(tmp_path / "in")},
        "columns": {"parents": "parents", "sender": "who", "seq": "n", "group": "room", "arrived": "arrived_us"},
        "order": {"unknown": "skip"},
        "fuse": {"every": 25, "values": ["value"]},
        "output": {"path": str(tmp_path / "out"), "partition_by": ["room"]},
        **more,
    }  # fmt: skip


def repeated(report: Report) -> dict[str, bool]:
    return {stage.name: stage.repeated for stage in report.stages}


def test_a_table_through_all_stages_and_what_changes_is_done_again(spark: SparkSession, tmp_path: Path) -> None:
    from antecede.spark.pipeline import run_pipeline as run
    from antecede.spark.sink import read

    write_table(tmp_path / "in")
    (tmp_path / "in" / "torn.parquet").write_bytes(b"PAR1 and then nothing")
    first = run(settings(tmp_path), spark=spark, clock=iter(range(100)).__next__)
    told = first.to_json()
    assert (first.rows_in, first.rows_out, first.damaged, first.reconciled) == (302, 302, 1, True), told
    assert all(repeated(first).values()) and all(stage.seconds for stage in first.stages)
    ordered = first.stage("ordered")
    assert ordered is not None and ordered.counts == {"delivered": 300}
    findings = first.stage("findings")
    assert findings is not None and findings.counts.get("as it came inversion", 0) == findings.rows > 0
    reasons = {row["reason"].partition(":")[0]: row for row in read(spark, tmp_path / "out" / "quarantine").collect()}
    assert set(reasons) == {"id is null", "damaged Parquet file"}
    assert json.loads(reasons["id is null"]["row"])["n"] >= 1
    assert reasons["damaged Parquet file"]["file"].endswith("torn.parquet")
    assert sorted(path.name for path in (tmp_path / "out" / "ordered").iterdir() if "=" in path.name) == [
        f"room=room{n}" for n in range(3)
    ]
    fused = read(spark, tmp_path / "out" / "fused").collect()
    assert sum(row["rows"] for row in fused) == 300 and {row["room"] for row in fused} == {"room0", "room1", "room2"}

    again = run(settings(tmp_path), spark=spark)
    assert not any(repeated(again).values())
    assert [asdict(stage) | {"repeated": True} for stage in again.stages] == [asdict(stage) for stage in first.stages]
    assert json.loads((tmp_path / "out" / "pipeline.json").read_text("utf-8"))["report"]["reconciled"] is True

    other = run(settings(tmp_path, fuse={"every": 50}), spark=spark)
    assert repeated(other) == {"quarantine": False, "ordered": False, "fused": True, "findings": False}
    assert len(read(spark, tmp_path / "out" / "fused").columns) < len(fused[0]), "written anew, not added to"


def test_a_file_damaged_inside_costs_itself_only(spark: SparkSession, tmp_path: Path) -> None:
    from antecede.spark.pipeline import run_pipeline as run

    write_table(tmp_path / "in", seed=2)
    path = tmp_path / "in" / "part-1.parquet"
    body = bytearray(path.read_bytes())
    body[len(body) // 4] ^= 0xFF
    lost = pq.ParquetFile(path).metadata.num_rows
    path.write_bytes(bytes(body))
    report = run(settings(tmp_path, fuse=None, audit={"wanted": False}), spark=spark)
    assert (report.rows_in, report.damaged, report.reconciled) == (302 - lost, 1, True), report.to_json()


def test_names_with_dots_and_spaces_and_in_both_cases(spark: SparkSession, tmp_path: Path) -> None:
    from antecede.spark.pipeline import run_pipeline as run
    from antecede.spark.sink import read

    (tmp_path / "in").mkdir()
    lines = ["id,ID,my.parents,the room,at.us,a value.x", "b,1,a,r,10,2.5", "a,2,,r,20,1.5", "c,3,a;b,r,30,3.5"]
    (tmp_path / "in" / "t.csv").write_text("\n".join(lines) + "\n", "utf-8")
    columns = {"id": "id", "parents": "my.parents", "group": "the room", "arrived": "at.us", "sender": "ID"}
    report = run(
        {
            "source": {"kind": "table", "path": str(tmp_path / "in"), "format": "csv", "options": {"header": "true"}},
            "columns": columns,
            "order": {"unknown": "skip"},
            "fuse": {"every": 3},
            "output": {"path": str(tmp_path / "out"), "partition_by": ["the room"]},
        },
        spark=spark,
    )
    assert (report.rows_in, report.reconciled) == (3, True), report.to_json()
    with pytest.raises(InputError, match=r"set spark\.sql\.caseSensitive to true"):
        read(spark, tmp_path / "out" / "ordered")
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        rows = read(spark, tmp_path / "out" / "ordered").collect()
    finally:
        spark.conf.unset("spark.sql.caseSensitive")
    assert {row["id"]: (row["ID"], row["causal_pos"]) for row in rows} == {"a": ("2", 0), "b": ("1", 1), "c": ("3", 2)}
    findings = report.stage("findings")
    assert findings is not None and findings.counts == {"as it came inversion": 1}
    (fused,) = read(spark, tmp_path / "out" / "fused").collect()
    assert fused["the room"] == "r" and sorted(fused["causes"]) == ["a", "b", "c"]


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "one"
    scenario = Scenario(recipe="home", messages=60, loss=0.15, duplicate=0.1, deadline_ms=(100.0, 300.0), seed=2)
    run = simulate(scenario)
    write_run(folder, run.rows, run.body(), {"processes": run.totals})
    return folder


def test_a_run_through_all_stages(spark: SparkSession, tmp_path: Path, run_folder: Path) -> None:
    from antecede.spark.pipeline import run_pipeline as run
    from antecede.spark.sink import read

    seen: list[str] = []
    report = run(
        {
            "source": {"path": str(run_folder), "receivers": ["S1", "S2"]},
            "fuse": {"every": 10, "interests": {"all": "#", "first": "G1"}},
            "output": {"path": str(tmp_path / "out")},
        },
        spark=spark,
        told=lambda stage, far: seen.append(stage),
    )
    rows = pq.read_table(run_folder / "records.parquet").to_pylist()
    came = [row for row in rows if row["kind"] in ("arrive", "publish") and row["process"] in ("S1", "S2")]
    assert (report.rows_in, report.reconciled) == (len(came), True), report.to_json()
    findings = report.stage("findings")
    assert findings is not None and findings.rows == 0, "the recipe keeps its promises"
    assert list(dict.fromkeys(seen)) == ["quarantine", "ordered", "fused", "findings"]
    fused = read(spark, tmp_path / "out" / "fused").collect()
    assert {row["interest"] for row in fused} == {"all", "first"}
    for row in fused:
        assert row["count"] == len(row["latest"]) and set(row["absent"]).isdisjoint(e["sender"] for e in row["latest"])
