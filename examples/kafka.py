"""Causal order between two topics of Kafka: events in as they come, events out after whatever they come after.

    spark-submit --packages org.apache.spark:spark-sql-kafka-0-10_2.13:4.3.0 examples/kafka.py \\
        --brokers HOST:9092 --from events --to ordered --checkpoint /shared/checkpoint

(the version is that of your Spark). An event is a JSON object in the value of a record: its id, the ids it comes after,
the room in which order holds, and whatever else, which passes through. What comes out has the room as its key, so that
one partition holds a room whole, and its place and fate in its headers; what is late or was overtaken comes out too,
with that fate: who reads it decides.

The query between the topics is tested on files whose rows have the shape of Kafka's records, in
tests/spark/test_kafka.py; it has not been tried on a broker.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

RECORD = (
    "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp, timestampType int, "
    "headers array<struct<key: string, value: binary>>"
)
"""What Spark reads from Kafka (with `includeHeaders`)."""

EVENT = "id string, parents array<string>, room string"
"""What is looked at in a value. The value itself is passed on as it came."""

WAIT_US = 5_000_000
"""How long an event may wait for what it comes after; then it goes out without, and says so in its headers."""


def events(records: DataFrame) -> DataFrame:
    """Records of Kafka as rows that can be ordered. The broker's time is when an event arrived."""
    from pyspark.sql import functions as f

    told = f.from_json(f.col("value").cast("string"), EVENT)
    return records.select(told.alias("e"), "value", f.col("timestamp").alias("arrived")).select(
        "e.*", "value", "arrived"
    )


def ordered(rows: DataFrame) -> DataFrame:
    """Each event with its place in its room."""
    from antecede.spark.order import causal_order

    return rows.transform(
        causal_order(
            id="id", parents="parents", group="room", arrived="arrived", wait_us=WAIT_US, remember_us=20 * WAIT_US
        )
    )


def records_of(rows: DataFrame) -> DataFrame:
    """Ordered events as records for Kafka: place, fate and what was missing are headers."""
    from pyspark.sql import functions as f

    def header(name: str, value: str) -> object:
        return f.struct(f.lit(name).alias("key"), f.expr(value).cast("string").cast("binary").alias("value"))

    headers = [header(name, name) for name in ("fate", "causal_pos", "released_by")]
    headers.append(header("missing", "to_json(missing)"))
    known = f.filter(f.array(*headers), lambda one: one["value"].isNotNull())  # what is not delivered has no place
    return rows.select(f.col("room").cast("binary").alias("key"), "value", known.alias("headers"))


def main() -> None:
    parser = argparse.ArgumentParser(description="Causal order between two topics of Kafka.")
    parser.add_argument("--brokers", required=True, help="HOST:PORT, several by commas")
    parser.add_argument("--from", dest="source", required=True, metavar="TOPIC")
    parser.add_argument("--to", dest="target", required=True, metavar="TOPIC")
    parser.add_argument("--checkpoint", required=True, metavar="DIR", help="a folder that all workers see")
    given = parser.parse_args()
    from antecede.spark import session

    spark = session(app="kafka in causal order")
    where = {"kafka.bootstrap.servers": given.brokers}
    reader = spark.readStream.format("kafka").options(**where, subscribe=given.source, includeHeaders="true")
    records = reader.option("startingOffsets", "earliest").option("maxOffsetsPerTrigger", 100_000).load()
    out = records.transform(events).transform(ordered).transform(records_of)
    writer = out.writeStream.format("kafka").options(**where, topic=given.target, includeHeaders="true")
    writer.option("checkpointLocation", given.checkpoint).start().awaitTermination()


if __name__ == "__main__":
    main()
