"""Writing: whole files, exactly the committed batches, values of any kind as folders, counts that reconcile."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql.types import StructType

from antecede.errors import InputError
from antecede.spark import sink
from antecede.spark.faults import plain_faults
from antecede.spark.manifest import orphans
from antecede.spark.sink import Target, Written, commit_batch, target_of, write_files

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


def test_two_attempts_never_share_a_name_and_one_counts(tmp_path: Path) -> None:
    target = target_of(str(tmp_path), None, SCHEMA, False)
    first, second = (Written(write_files(target, iter([batch([1], ["a"])]), 0), "q") for _ in range(2))
    commit_batch(target, [second], 0)
    assert sink.files(tmp_path) == [str(tmp_path / second.files[0].path)] and sink.table_rows(tmp_path) == {0: 1}
    assert orphans(tmp_path) == [tmp_path / first.files[0].path]
    with pytest.raises(InputError, match="a task of batch 1 did not say what it wrote"):
        commit_batch(target, [second, None], 1)


KINDS = """select id, cast(id as string) `a.b`, if(id = 1, null, array('x', null)) l, map(1, array(1.5)) m,
struct(1 x, 'q' z) s, cast(1.25 as decimal(20, 5)) c, binary('b') b, timestamp'2020-01-01 00:00:00.000001' t,
timestamp_ntz'2020-01-01 00:00:00' n, date'0001-01-01' d, cast(id % 2 as string) odd from range(5)"""


def test_a_write_of_our_own_is_what_the_format_writes(spark: SparkSession, tmp_path: Path) -> None:
    """Types, rows, folders and manifest; added to, then written anew, also where there is nothing to write."""
    rows = spark.sql(KINDS)
    one, other = tmp_path / "one", tmp_path / "other"
    for table, mode in ((rows, "append"), (rows.where("id < 3"), "append"), (rows.where("id > 3"), "overwrite")):
        sink.write(table, one, partition_by=["odd"], overwrite=mode == "overwrite")
        table.write.format("antecede").mode(mode).option("partition_by", "odd").save(str(other))
        assert sink.table_rows(one) == sink.table_rows(other)
        mine, formats = (sorted(map(repr, sink.read(spark, path).collect())) for path in (one, other))
        assert mine == formats
        schemas = {str(pq.read_schema(file)) for path in (one, other) for file in sink.files(path)}
        assert len(schemas) == 1
    assert {Path(file).parent.name for file in sink.files(one)} == {"odd=0"}
    sink.write(rows.where("id < 0"), one, overwrite=True)
    assert list(sink.table_rows(one).values()) == [0] and sink.read(spark, one).columns == rows.columns
    with pytest.raises(InputError, match="partition_by names nobody"):
        sink.write(rows, one, partition_by=["nobody"])


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
