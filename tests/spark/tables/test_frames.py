"""The same tables through Spark: the same rows, the same set aside, cells read where they must be."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from antecede.errors import InputError
from antecede.spark.tables.files import files_of
from antecede.spark.tables.local import read_local

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_spark_reads_what_the_local_reader_reads(spark: SparkSession, tmp_path: Path) -> None:
    from antecede.spark.tables.frames import read_tables

    csv, json = tmp_path / "csv", tmp_path / "json"
    csv.mkdir()
    json.mkdir()
    (csv / "a.csv").write_bytes(b'id,a.b,x y,n\n001,"p,q",caf\xe9,1\n2,,"l1\nl2",2\n3,"open,,3\n4,r,s,3.5\n5\n')
    (csv / "b [1].csv").write_text("id,a.b,x y,n\n6,t,u,4\n")
    (json / "a.jsonl").write_text('{"id": 1.10, "p": [1, "b"], "o": {"k": 2}}\n{"id": \n{"id": "z", "t": true}\n')
    for folder in (csv, json):
        texts = {"id", "a.b", "p"}
        frames, taken = read_tables(spark, [folder], texts), read_local(files_of([folder]), texts)
        assert frames.rows.columns == taken.table.column_names
        names = [f"c{place}" for place in range(len(frames.rows.columns))]
        rows = [tuple(row) for row in frames.rows.toDF(*names).collect()]
        assert sorted(rows, key=str) == sorted(zip(*taken.table.to_pydict().values(), strict=True), key=str)
        assert sorted(tuple(row) for row in frames.aside.collect()) == sorted(taken.aside) and len(taken.aside) in (
            1,
            3,
        )


def test_files_that_cannot_be_read_are_one_sentence(spark: SparkSession, tmp_path: Path) -> None:
    from antecede.spark.tables.frames import read_tables

    (tmp_path / "a.csv").write_text("id,n\n1,2\n")
    (tmp_path / "b.csv").write_text("id,m\n1,2\n")
    with pytest.raises(InputError, match=r"b.csv has other columns than .*a.csv"):
        read_tables(spark, [tmp_path])
    (tmp_path / "b.csv").write_text("id,id\n1,2\n")
    with pytest.raises(InputError, match=r"b.csv has two columns id"):
        read_tables(spark, [tmp_path])
    pq.write_table(pa.table({"id": ["a"]}), tmp_path / "good.parquet")
    (tmp_path / "torn.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"torn.parquet cannot be read"):
        read_tables(spark, [tmp_path / "good.parquet", tmp_path / "torn.parquet"])


def test_cells_that_need_it_are_read(spark: SparkSession) -> None:
    from antecede.spark.tables.frames import read_frame

    table = spark.createDataFrame(
        [("a", "[1]", '{"p": 1}', "2024-01-01T00:00:00Z", 1), ("b", "[", "nonsense", "soon", 2)],
        "`the id` string, `a.b` string, clock string, t string, n bigint",
    )
    plain = {"id": "the id", "seq": "n"}
    assert read_frame(table, plain).columns == table.columns
    found = read_frame(table, {**plain, "parents": "a.b", "clock": "clock", "time": "t"})
    assert found.columns == [*table.columns, "_read_parents", "_read_clock", "_read_time", "_fault"]
    first, second = (tuple(row)[5:] for row in found.collect())
    assert first == (["1"], {"p": 1}, 1_704_067_200_000_000, None)
    assert second == ([], None, None, "parents cannot be read: [")
