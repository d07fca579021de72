"""What the local engine writes is a table of antecede, and the report counts what was written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from antecede.spark.manifest import committed, orphans
from antecede.spark.order.columns import Columns
from antecede.spark.order.written import Outcome, Targets, order_to_files, report_of, write_table
from antecede.spark.tables.decoded import Aside
from antecede.spark.tables.local import Taken

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = pa.schema([("a.b", pa.string()), ("p", pa.list_(pa.string()))])
TABLE = pa.table({"a.b": ["b", "a", "b", None], "p": [["a"], [], [], []]}, schema=SCHEMA)


def test_rows_go_where_they_belong_and_are_counted(tmp_path: Path) -> None:
    to = Targets(tmp_path / "out", tmp_path / "late", tmp_path / "aside")
    report = order_to_files(Taken(TABLE, [Aside("f.csv", "ragged", "x")]), Columns(id="a.b", parents="p"), to)
    assert report == {
        "engine": "local", "rows_in": 5, "rows_out": 4, "quarantined": 1, "held": 0, "reconciled": True,
        "fates": {"delivered": 2, "duplicate": 1, "invalid": 1}, "missing": 0, "foreign": 0, "revealed": 0,
        "notes": [],
    }  # fmt: skip
    assert [sum(m.rows for m in committed(root)) for root in to] == [2, 2, 1] and not orphans(to.out)


def test_without_anything_set_aside_there_is_no_quarantine(tmp_path: Path) -> None:
    to = Targets(tmp_path / "out", None, tmp_path / "aside")
    report = order_to_files(Taken(TABLE.slice(0, 0), []), Columns(id="a.b", parents="p"), to)
    assert report["rows_out"] == 0 and report["reconciled"] and not to.quarantine.exists()


def test_spark_reads_it_with_the_columns_and_types_it_would_have_written(spark: SparkSession, tmp_path: Path) -> None:
    from antecede.spark.order import causal_order
    from antecede.spark.sink import read

    order_to_files(Taken(TABLE, []), Columns(id="a.b", parents="p"), Targets(tmp_path / "out", None, tmp_path / "q"))
    mine = read(spark, tmp_path / "out")
    table = spark.createDataFrame([("b", ["a"]), ("a", []), ("b", []), (None, [])], "`a.b` string, p array<string>")
    ordered = table.transform(causal_order(id="a.b", parents="p"))
    assert mine.schema.simpleString() == ordered.schema.simpleString()
    assert sorted(map(str, mine.collect())) == sorted(map(str, ordered.collect()))
    again = spark.read.format("antecede").load(str(tmp_path / "out"))
    assert again.count() == 4 and again.schema.simpleString() == mine.schema.simpleString()


def test_a_report_that_does_not_reconcile_says_so() -> None:
    report = report_of("spark", 9, [Outcome("delivered", 4, 1, 2, 3), Outcome("late", 1, 0, 0, 0)], 2, 1)
    assert not report["reconciled"] and (report["rows_out"], report["missing"], report["foreign"]) == (5, 1, 2)


def test_a_second_write_is_appended(tmp_path: Path) -> None:
    for _ in range(2):
        write_table(tmp_path, TABLE)
    assert [m.rows for m in committed(tmp_path)] == [4, 4]
