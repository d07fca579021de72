"""Ordering as jobs of Spark: rows, and beside them what is no row; whole commands are in tests/cli/test_order.py."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from antecede.spark.order.written import Targets
from antecede.spark.tables.files import files_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_every_line_is_a_row_with_a_fate_or_in_the_quarantine(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from antecede.spark.order import jobs
    from antecede.spark.sink import read

    (tmp_path / "in.csv").write_text("id,parents\nb,a\nragged\na,\na,\n", "utf-8")
    to = Targets(tmp_path / "out", tmp_path / "late", tmp_path / "aside")
    report = jobs.as_batch(spark, files_of([tmp_path / "in.csv"]), {"id": "id", "parents": "parents"}, to, {"id"}, None)
    assert (report["engine"], report["rows_in"], report["quarantined"], report["reconciled"]) == ("spark", 4, 1, True)
    assert {row.id: row.causal_pos for row in read(spark, to.out).collect()} == {"a": 0, "b": 1}
    assert [(row.id, row.fate) for row in read(spark, to.late).collect()] == [("a", "duplicate")]
    assert [row.row for row in read(spark, to.quarantine).collect()] == ["ragged"]
    monkeypatch.setattr(jobs, "FEW_ROWS", 0)
    assert jobs.told(spark, [to.out, to.late], 4, 1) == report, "Spark counts what this process counts"
