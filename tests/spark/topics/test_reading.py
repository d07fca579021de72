"""Reading live topics with Spark, by the calls that Spark makes, and through restarts of the query and of a broker."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from antecede.errors import EnvironmentFault, InputError
from antecede.spark.faults import plain_faults
from antecede.spark.manifest import is_table
from antecede.spark.sink import table_rows
from antecede.spark.source import AntecedeSource
from antecede.spark.topics.reading import LiveReader, live_schema
from tests.spark.topics.brokers import Brokers, brokers, until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PLACE = {"brokers": "antecede://127.0.0.1:1", "topics": "t/#", "spool": "x"}


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"topics": ""}, "needs option topics"),
        ({"topics": "t/#/x"}, "is no filter"),
        ({"where": "temp >"}, "temp >"),
        ({"spool": ""}, "needs a folder for rows whose batch is not done"),
        ({"max_rows": "0"}, "give a whole number"),
        ({"topic": "t"}, "has no option topic; it has brokers"),
        ({"path": "x"}, "has no option path"),
    ],
)
def test_options_that_cannot_work_are_one_sentence(changed: dict[str, str], words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        AntecedeSource({**PLACE, **changed}).schema()
    assert "\n" not in str(caught.value)


def test_live_topics_are_read_as_a_stream_only() -> None:
    with pytest.raises(InputError, match=r"with spark\.readStream"):
        AntecedeSource(PLACE).reader(live_schema())


def reader_of(there: Brokers, spool: Path, **options: str) -> LiveReader:
    source = AntecedeSource({"brokers": there.urls, "topics": "t/#", "spool": str(spool), **options})
    reader = source.streamReader(schema=source.schema())
    assert isinstance(reader, LiveReader)
    return reader


def read(reader: LiveReader, start: dict[str, Any], end: dict[str, Any]) -> list[int]:
    """What the tasks of a batch read; they get a reader that has travelled."""
    there = pickle.loads(pickle.dumps(reader))
    batches = [batch for work in reader.partitions(start, end) for batch in there.read(work)]
    assert all(batch.schema.names == live_schema().names for batch in batches)
    return [int(payload) for batch in batches for payload in batch.column("payload").to_pylist()]


def test_a_batch_that_is_run_again_is_the_same_batch(tmp_path: Path) -> None:
    with brokers("A") as there, there.connect("ann") as ann:
        reader = reader_of(there, tmp_path, max_rows="4")
        start = reader.initialOffset()
        for n in range(10):
            ann.publish("t/1", b"%d" % n)
        until(lambda: reader.feed(start).row == 10)
        end = reader.latestOffset(start, reader.getDefaultReadLimit())
        first = read(reader, start, end)
        assert first == list(range(len(first))) and 1 <= len(first) <= 4
        reader.stop()  # and Spark had not committed it

        later = reader_of(there, tmp_path, max_rows="4")
        assert read(later, start, end) == first
        later.commit(end)
        seen = list(first)
        while len(seen) < 10:
            start, end = end, later.latestOffset(end, later.getDefaultReadLimit())
            seen += read(later, start, end)
        assert seen == list(range(10)) and later.latestOffset(end, None) == end
        later.commit(end)
        assert len(later.spool.chunks()) == 1 and read(later, end, end) == []
        later.stop()


def test_without_its_spool_a_reader_goes_on_at_the_frontier_of_the_offset(tmp_path: Path) -> None:
    with brokers("A") as there, there.connect("ann") as ann:
        reader = reader_of(there, tmp_path / "a", name="meter")
        start = reader.initialOffset()
        ann.publish("t/1", b"0")
        until(lambda: reader.feed(start).row == 1)
        end = reader.latestOffset(start)
        reader.stop()
        ann.publish("t/1", b"1")
        other = reader_of(there, tmp_path / "b", name="meter")
        other.prepareForTriggerAvailableNow()
        now = other.latestOffset(end)
        assert now["row"] == 2 and read(other, end, now) == [1]
        with pytest.raises(EnvironmentFault, match="does not hold rows 0 to 1 any more"):
            other.partitions(start, end)
        other.stop()


def counted(spark: SparkSession, path: Path) -> list[int]:
    return sorted(int(row.payload) for row in spark.read.format("antecede").load(str(path)).collect())


@pytest.mark.slow
def test_counts_reconcile_through_restarts_of_the_query_and_of_a_broker(spark: SparkSession, tmp_path: Path) -> None:
    table = tmp_path / "table"

    def query(there: Brokers) -> Any:
        live = spark.readStream.format("antecede").option("brokers", there.urls).option("topics", "t/#")
        frame = live.option("spool", str(tmp_path / "spool")).option("max_rows", 30).load()
        writer = frame.writeStream.format("antecede").option("checkpointLocation", str(tmp_path / "ck"))
        return writer.trigger(processingTime="100 milliseconds").start(str(table))

    def publish(numbers: range) -> None:
        for n in numbers:
            ann.publish("t/1", b"%d" % n)

    def rows(running: Any, least: int) -> None:
        """Until Spark has as many of them in its table."""
        until(lambda: running.exception() or (is_table(table) and sum(table_rows(table).values()) >= least))
        assert running.exception() is None

    with brokers("A", "B") as there, there.connect("ann") as ann:
        running = query(there)
        until(lambda: running.exception() or list((tmp_path / "spool").glob("*.arrow")))
        publish(range(40))
        rows(running, 10)
        running.stop()
        publish(range(40, 80))  # while no query runs
        running = query(there)
        there.end("A")
        publish(range(80, 100))
        there.start("A")
        publish(range(100, 120))
        rows(running, 120)
        running.stop()
    assert counted(spark, table) == list(range(120))


@pytest.mark.slow
def test_no_broker_is_our_sentence_in_spark_too(spark: SparkSession, tmp_path: Path) -> None:
    live = spark.readStream.format("antecede").options(**{**PLACE, "spool": str(tmp_path / "spool")}).load()
    query = live.writeStream.format("noop").option("checkpointLocation", str(tmp_path / "ck")).start()
    with pytest.raises(EnvironmentFault, match=r"No broker answers at 127\.0\.0\.1:1: start one"), plain_faults():
        query.awaitTermination(60)
