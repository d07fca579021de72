"""Writing: whole files, exactly the committed batches, values of any kind as folders, counts that reconcile."""

from __future__ import annotations

import datetime
import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql.types import StructType

from antecede.errors import EnvironmentFault, InputError
from antecede.spark import sink
from antecede.spark.faults import plain_faults
from antecede.spark.manifest import orphans
from antecede.spark.sink import Target, Written, commit_batch, split, target_of, write_files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = StructType().add("id", "long").add("name", "string").add("score", "double")


def batch(ids: list[int], names: list[str | None]) -> pa.RecordBatch:
    return pa.record_batch(
        {"id": pa.array(ids, pa.int64()), "name": pa.array(names, pa.string()), "score": [0.5] * len(ids)}
    )


@pytest.mark.parametrize(
    ("path", "by", "words"),
    [
        (None, None, "needs a path"),
        ("x", "nmae", "partition_by names nmae, but the columns are id, name, score"),
        ("x", "id, score", "which is double: only text"),
        ("hdfs://x/y", None, "not a mounted path"),
    ],
)
def test_targets_that_cannot_work(path: str | None, by: str | None, words: str) -> None:
    with pytest.raises(InputError, match=words):
        target_of(path, by, SCHEMA, False)


def test_at_least_one_column_remains() -> None:
    with pytest.raises(InputError, match="names every column"):
        target_of("x", "a,b", StructType().add("a", "integer").add("b", "string"), False)


def test_rows_are_split_by_value_in_their_order() -> None:
    parts = list(split(batch([1, 2, 3, 4, 5], ["x", None, "x", "", None]), ["name"]))
    got = {values["name"]: part.column("id").to_pylist() for values, part in parts}
    assert got == {"x": [1, 3], None: [2, 5], "": [4]} and all(p.schema.names == ["id", "score"] for _, p in parts)
    assert [v for v, _ in split(batch([1, 1, 2], ["x", "y", "x"]), ["id", "name"])] == [
        {"id": 1, "name": "x"}, {"id": 1, "name": "y"}, {"id": 2, "name": "x"},
    ]  # fmt: skip


def test_files_are_whole_when_they_have_their_name(tmp_path: Path) -> None:
    target = target_of(str(tmp_path), None, SCHEMA, False)

    def batches() -> Any:
        yield batch([1, 2], ["a", "b"])
        assert [p.suffix for p in tmp_path.iterdir()] == [".tmp"] and all(p.name[0] == "." for p in tmp_path.iterdir())
        yield batch([], [])
        yield batch([3], ["c"])

    (file,) = write_files(target, batches(), 7)
    assert (
        file.rows == 3 and file.path.startswith("part-00007-") and file.bytes == (tmp_path / file.path).stat().st_size
    )
    assert pq.read_table(tmp_path / file.path).column("id").to_pylist() == [1, 2, 3]
    assert write_files(target, iter([batch([], [])]), 0) == ()


def test_a_task_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def batches() -> Any:
        yield batch([1, 2], ["a", "b"])
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_files(target_of(str(tmp_path), "name", SCHEMA, False), batches(), 0)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_many_values_need_few_open_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sink, "OPEN_FILES", 3)
    target = target_of(str(tmp_path), "id", SCHEMA, False)
    files = write_files(target, iter([batch(list(range(10)), ["x"] * 10)] * 2), 0)
    assert len(files) == 20 and sum(file.rows for file in files) == 20
    assert len(list(tmp_path.glob("id=*"))) == 10


def test_two_attempts_never_share_a_name_and_one_counts(tmp_path: Path) -> None:
    target = target_of(str(tmp_path), None, SCHEMA, False)
    first, second = (Written(write_files(target, iter([batch([1], ["a"])]), 0), "q") for _ in range(2))
    commit_batch(target, [second], 0)
    assert sink.files(tmp_path) == [str(tmp_path / second.files[0].path)] and sink.table_rows(tmp_path) == {0: 1}
    assert orphans(tmp_path) == [tmp_path / first.files[0].path]
    with pytest.raises(InputError, match="a task of batch 1 did not say what it wrote"):
        commit_batch(target, [second, None], 1)


ODD: list[str | None] = ["plain", "", None, "a/b=c %41 d", "é ü", "__x", "1", "true", "tab\tline", "[x]{y}^?*:#'\""]


def test_values_of_any_kind_come_back(spark: SparkSession, tmp_path: Path) -> None:
    day = datetime.date(2024, 2, 29)
    made = [(n, name, n % 2 == 0, day if n % 3 else None, float(n)) for n, name in enumerate(ODD)]
    frame = spark.createDataFrame(made, "id bigint, name string, even boolean, day date, score double")
    table = str(tmp_path / "t[1]{a,b} *")
    frame.write.format("antecede").mode("append").option("partition_by", "name, even, day").save(table)
    for back in (sink.read(spark, table), spark.read.format("antecede").load(table)):
        assert back.schema.simpleString() == frame.schema.simpleString()
        assert sorted(map(tuple, back.collect())) == sorted(made)


def test_appends_overwrites_and_schemas(spark: SparkSession, tmp_path: Path) -> None:
    table = str(tmp_path / "table")
    frame = spark.range(100).repartition(2)
    frame.write.format("antecede").mode("append").save(table)
    frame.write.format("antecede").mode("append").save(table)
    assert sink.read(spark, table).count() == 200 and list(sink.table_rows(table).values()) == [100, 100]
    with pytest.raises(InputError, match="rows of another schema"), plain_faults():
        frame.selectExpr("id as other").write.format("antecede").mode("append").save(table)
    assert sink.read(spark, table).count() == 200
    frame.selectExpr("id as other").write.format("antecede").mode("overwrite").save(table)
    assert sink.read(spark, table).columns == ["other"] and sink.table_rows(table) == {2: 100}
    assert len(sink.clean(table, idle=True)) >= 4 and sink.read(spark, table).count() == 100
    spark.range(0).write.format("antecede").mode("overwrite").save(table)
    assert sink.read(spark, table).count() == 0
    with pytest.raises(InputError, match="has no option partitionby"), plain_faults():
        frame.write.format("antecede").mode("append").option("partitionby", "id").save(table)


def test_a_table_that_is_none() -> None:
    with pytest.raises(InputError, match="is not a table of antecede"):
        sink.files("/tmp")


def test_targets_travel() -> None:
    target = target_of("/x", "name", SCHEMA, True)
    assert target == Target("/x", SCHEMA.jsonValue(), ("name",), True)


def test_complete_mode_replaces_the_table(spark: SparkSession, tmp_path: Path) -> None:
    source, table = str(tmp_path / "source"), str(tmp_path / "table")
    for _ in range(2):
        spark.range(10).selectExpr("id % 2 as even").write.format("antecede").mode("append").save(source)
        counts = spark.readStream.format("antecede").load(source).groupBy("even").count()
        writer = counts.writeStream.format("antecede").outputMode("complete").trigger(availableNow=True)
        writer.option("checkpointLocation", str(tmp_path / "c")).start(table).awaitTermination()
    assert sorted(map(tuple, sink.read(spark, table).collect())) == [(0, 10), (1, 10)]


@pytest.mark.parametrize("where", ["write", "close"])
def test_a_full_disk_is_a_sentence_with_the_path_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    if where == "write":
        monkeypatch.setattr(sink.pq.ParquetWriter, "write_batch", full)
    else:
        monkeypatch.setattr(os, "fsync", full)
    target = target_of(str(tmp_path / "t"), "name", SCHEMA, False)
    with pytest.raises(EnvironmentFault, match=rf"no room left to write {tmp_path}/t/name=x: free some"):
        write_files(target, iter([batch([1, 2], ["x", "y"])]), 0)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_place_that_cannot_be_written_is_our_sentence_out_of_spark(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=rf"^{tmp_path}/file/t cannot be written \(Not a directory\)"), plain_faults():
        spark.range(3).write.format("antecede").mode("append").save(str(tmp_path / "file" / "t"))


def test_names_with_dots_spaces_and_other_cases_are_columns_like_others(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.range(3).selectExpr("id as `a.b`", "id * 2 as `a b`", "cast(id % 2 as string) as `the.part`")
    frame.write.format("antecede").mode("append").option("partition_by", "the.part").save(str(tmp_path / "t"))
    for table in (sink.read(spark, tmp_path / "t"), spark.read.format("antecede").load(str(tmp_path / "t"))):
        assert sorted(map(tuple, table.collect())) == [(0, 0, "0"), (1, 2, "1"), (2, 4, "0")]
        assert table.columns == ["a.b", "a b", "the.part"]
