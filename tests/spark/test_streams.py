"""Continuous: what was there and what comes goes through the same stages, each row once, also after an interruption."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def put(folder: Path, name: str, rows: list[tuple[str | None, list[str], str, int, float]]) -> None:
    """(id, parents, room, when it came, value)"""
    folder.mkdir(exist_ok=True)
    columns = list(zip(*rows, strict=True))
    kinds = [pa.string(), pa.list_(pa.string()), pa.string(), pa.int64(), pa.float64()]
    arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    pq.write_table(pa.table(arrays, ["id", "parents", "room", "came_us", "value"]), folder / name)


def settings(tmp_path: Path) -> dict[str, Any]:
    return {
        "source": {"kind": "table", "path": str(tmp_path / "in")},
        "columns": {"parents": "parents", "group": "room", "arrived": "came_us"},
        "order": {"wait_us": 1_000},
        "fuse": {"every": 2, "values": ["value"]},
        "mode": {"continuous": True},
        "output": {"path": str(tmp_path / "out")},
    }


def test_what_comes_later_goes_on_where_it_was(spark: SparkSession, tmp_path: Path) -> None:
    from antecede.spark.bad import bad_files
    from antecede.spark.pipeline import run_pipeline as run
    from antecede.spark.sink import read

    put(
        tmp_path / "in",
        "1.parquet",
        [("a:2", ["a:1"], "r", 10, 2.0), ("b:1", [], "r", 20, 5.0), (None, [], "r", 5, 0.0)],
    )
    first = run(settings(tmp_path) | {"audit": {"wanted": False}}, spark=spark)
    assert (first.rows_in, first.held, first.reconciled) == (3, 1, True), "a:2 waits for a:1"

    (tmp_path / "in" / "torn.parquet").write_bytes(b"PAR1 and then nothing")
    put(tmp_path / "in", "2.parquet", [("a:1", [], "r", 30, 1.0), ("b:2", ["a:2"], "r", 40, 6.0)])
    second = run(settings(tmp_path), spark=spark)
    assert (second.rows_in, second.held, second.reconciled) == (5, 0, True)
    ordered = read(spark, tmp_path / "out" / "ordered").orderBy("causal_pos").collect()
    assert [row["id"] for row in ordered] == ["b:1", "a:1", "a:2", "b:2"]
    fused = read(spark, tmp_path / "out" / "fused").orderBy("cut").collect()
    assert [(row["cut"], row["value_mean"], row["causes"]) for row in fused] == [
        (0, 3.0, ["a:1", "b:1"]),
        (1, 4.0, ["a:2", "b:2"]),
    ]
    findings = second.stage("findings")
    assert findings is not None and findings.counts == {"as it came inversion": 1}
    quarantine = second.stage("quarantine")
    assert quarantine is not None and quarantine.counts == {"id is null": 1}
    (bad,) = bad_files(tmp_path / "out" / "damaged")
    assert bad.file.endswith("torn.parquet") and "damaged" in bad.reason
