"""The format `antecede`: traces as batches and as streams, whole or growing, sound or damaged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from antecede.errors import InputError
from antecede.spark import sink
from antecede.spark.bad import bad_files
from antecede.spark.faults import plain_faults
from antecede.spark.rows import trace_schema
from antecede.spark.source import AntecedeSource, StreamReader, read_work, reading
from antecede.trace.parquet import read_rows
from tests.spark.traces import rows, write_parquet, write_stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def as_tuples(frame: DataFrame) -> list[tuple[Any, ...]]:
    return sorted((tuple(tuple(v) if isinstance(v, list) else v for v in row) for row in frame.collect()), key=repr)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "needs a path"),
        ({"path": "x", "max_row": "5"}, "has no option max_row; it has path, max_rows, bad"),
        ({"path": "x", "max_rows": "0"}, "option max_rows is '0': give a whole number"),
        ({"path": "x", "split_rows": "many"}, "option split_rows"),
        ({"path": "x", "bad": "skip"}, "option bad is 'skip': give fail or quarantine"),
        ({"path": "x", "bad": "quarantine"}, "go together"),
        ({"path": "x", "quarantine": "q"}, "go together"),
        ({"path": "s3://x/y"}, "is not a mounted path"),
        ({"address": "antecede://127.0.0.1:7400"}, "has no option address"),
    ],
)
def test_options_that_cannot_work_are_one_sentence(options: dict[str, str], words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        reading(options)
    assert "\n" not in str(caught.value)


def test_without_spark_a_stream_is_these_calls(tmp_path: Path) -> None:
    """What Spark does, by hand; also without the limits that Spark before 4.2 does not give."""
    write_stream(tmp_path / "n.arrow", 10, 10)
    source = AntecedeSource({"path": str(tmp_path), "max_rows": "15"})
    reader = source.streamReader(schema=source.schema())
    assert isinstance(reader, StreamReader) and reader.getDefaultReadLimit().max_rows == 15
    start = reader.initialOffset()
    end = reader.latestOffset(start, reader.getDefaultReadLimit())
    (work,) = reader.partitions(start, end)
    assert sum(batch.num_rows for batch in reader.read(work)) == 15
    assert reader.latestOffset()["files"]["n"]["rows"] == 20 == reader.reportLatestOffset()["files"]["n"]["rows"]
    assert reader.partitions(end, end) == []


def test_a_task_without_work_reads_nothing(tmp_path: Path) -> None:
    from pyspark.sql.datasource import InputPartition

    assert list(read_work(InputPartition(None), reading({"path": str(tmp_path)}), trace_schema())) == []


def test_a_folder_of_runs_is_read_as_it_is(spark: SparkSession, tmp_path: Path) -> None:
    write_parquet(tmp_path / "a", 250)
    write_parquet(tmp_path / "more" / "b", 30)
    write_stream(tmp_path / "c" / "n1.arrow", 10, 5)
    with (tmp_path / "c" / "n1.arrow").open("ab") as torn:
        torn.write(b"\xff\xff\xff\xff\x10\x01")
    frame = spark.read.format("antecede").option("split_rows", 100).load(str(tmp_path))
    assert frame.schema == trace_schema() and frame.rdd.getNumPartitions() == 3
    runs = (tmp_path / "a", tmp_path / "more" / "b", tmp_path / "c")
    assert as_tuples(frame) == sorted((tuple(row) for run in runs for row in read_rows(run)), key=repr)


def test_bad_input_is_our_sentence(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="gone does not exist: give a run directory"), plain_faults():
        spark.read.format("antecede").load(str(tmp_path / "gone"))
    good = write_parquet(tmp_path / "a", 50)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "records.parquet").write_bytes(good.read_bytes()[:-9])
    with pytest.raises(InputError, match=r"b/records\.parquet is a truncated Parquet file"), plain_faults():
        spark.read.format("antecede").load(str(tmp_path)).count()


def test_a_corrupt_file_among_others_is_listed_and_the_others_are_read(spark: SparkSession, tmp_path: Path) -> None:
    good = write_parquet(tmp_path / "runs" / "a", 50)
    for name, content in (("cut", good.read_bytes()[:-9]), ("empty", b""), ("other", b"id,parents\n")):
        (tmp_path / "runs" / name).mkdir()
        (tmp_path / "runs" / name / "records.parquet").write_bytes(content)
    reader = spark.read.format("antecede").option("bad", "quarantine").option("quarantine", str(tmp_path / "q"))
    assert reader.load(str(tmp_path / "runs")).count() == 50
    listed = {Path(bad.file).parent.name: bad.reason for bad in bad_files(tmp_path / "q")}
    assert listed.keys() == {"cut", "empty", "other"} and "truncated" in listed["cut"]


@pytest.fixture
def query(spark: SparkSession, tmp_path: Path) -> Iterator[Any]:
    """Starts a query from the runs to the table, and ends it."""
    started: list[Any] = []

    def start(trigger: dict[str, Any], **options: Any) -> Any:
        frame = spark.readStream.format("antecede").options(**options).load(str(tmp_path / "runs"))
        writer = frame.writeStream.format("antecede").option("checkpointLocation", str(tmp_path / "checkpoint"))
        started.append(writer.trigger(**trigger).start(str(tmp_path / "table")))
        return started[-1]

    yield start
    for one in started:
        one.stop()


def test_growing_traces_are_followed_across_restarts(spark: SparkSession, query: Any, tmp_path: Path) -> None:
    appender = write_stream(tmp_path / "runs" / "live" / "n.arrow", 70)
    write_parquet(tmp_path / "runs" / "old", 250)
    query({"availableNow": True}, max_rows=200).awaitTermination()
    assert list(sink.table_rows(tmp_path / "table").values()) == [200, 120]
    appender.append(rows("live", 30, 70))
    write_parquet(tmp_path / "runs" / "new", 10)
    running = query({"processingTime": "0 seconds"})  # the same checkpoint: it goes on where the other ended
    running.processAllAvailable()
    appender.append(rows("live", 5, 100))
    running.processAllAvailable()
    running.stop()
    assert list(sink.table_rows(tmp_path / "table").values())[2:] == [40, 5]
    wanted = sorted(
        (tuple(row) for name in ("live", "old", "new") for row in read_rows(tmp_path / "runs" / name)), key=repr
    )
    assert as_tuples(sink.read(spark, tmp_path / "table")) == wanted
    through = spark.read.format("antecede").load(str(tmp_path / "table"))
    assert as_tuples(through) == wanted and through.schema == trace_schema()


def test_a_table_can_be_followed_too(spark: SparkSession, tmp_path: Path) -> None:
    one = spark.range(10).selectExpr("id", "id % 3 as part")
    table, copy = str(tmp_path / "table"), str(tmp_path / "copy")

    def follow() -> None:
        frame = spark.readStream.format("antecede").option("max_rows", 10).load(table)
        writer = frame.writeStream.format("antecede").option("checkpointLocation", str(tmp_path / "checkpoint"))
        writer.trigger(availableNow=True).start(copy).awaitTermination()

    for _ in range(2):
        one.write.format("antecede").mode("append").option("partition_by", "part").save(table)
    follow()
    assert list(sink.table_rows(copy).values()) == [10, 10]
    one.write.format("antecede").mode("append").option("partition_by", "part").save(table)
    follow()
    assert list(sink.table_rows(copy).values()) == [10, 10, 10]
    assert as_tuples(sink.read(spark, copy)) == sorted([(n, n % 3) for n in range(10)] * 3, key=repr)
