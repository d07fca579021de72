"""The query of examples/kafka.py, on files whose rows have the shape of Kafka's records: the same columns and types."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from examples.kafka import RECORD, events, ordered, records_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SAID: list[tuple[str, list[str], str, int]] = [  # id, parents, room, second of arrival
    ("answer", ["question"], "den", 1),
    ("question", [], "den", 2),
    ("hello", [], "hall", 2),
    ("thanks", ["answer", "lost"], "den", 3),
    ("later", [], "den", 30),  # the others have waited long enough
    ("lost", [], "den", 31),
]


def write_records(spark: SparkSession, folder: Path) -> None:
    rows: list[Any] = []
    for offset, (name, parents, room, second) in enumerate(SAID):
        value = json.dumps({"id": name, "parents": parents, "room": room, "more": {"n": offset}}).encode()
        rows.append((None, bytearray(value), "events", 0, offset, second))
    frame = spark.createDataFrame(
        rows, "key binary, value binary, topic string, partition int, offset bigint, s bigint"
    )
    shaped = frame.selectExpr(
        "key", "value", "topic", "partition", "offset", "timestamp_seconds(s) as timestamp", "0 as timestampType",
        "cast(null as array<struct<key: string, value: binary>>) as headers",
    )  # fmt: skip
    for offset in range(len(SAID)):
        shaped.where(f"offset = {offset}").coalesce(1).write.mode("append").parquet(str(folder))


def test_records_go_from_topic_to_topic_in_causal_order(spark: SparkSession, tmp_path: Path) -> None:
    write_records(spark, tmp_path / "events")
    records = spark.readStream.schema(RECORD).option("maxFilesPerTrigger", 2).parquet(str(tmp_path / "events"))
    out = records.transform(events).transform(ordered).transform(records_of)
    assert out.columns == ["key", "value", "headers"], "what Spark's Kafka sink takes"
    writer = out.writeStream.format("parquet").option("checkpointLocation", str(tmp_path / "checkpoint"))
    writer.trigger(availableNow=True).start(str(tmp_path / "ordered")).awaitTermination()
    found = {}
    for row in spark.read.parquet(str(tmp_path / "ordered")).collect():
        body = json.loads(bytes(row["value"]))
        headers = {header["key"]: bytes(header["value"]).decode() for header in row["headers"]}
        assert bytes(row["key"]).decode() == body["room"] and body["more"]["n"] >= 0
        found[body["id"]] = (headers["fate"], headers.get("causal_pos"), headers.get("missing"))
    assert found == {
        "question": ("delivered", "0", "[]"),
        "answer": ("delivered", "1", "[]"),
        "hello": ("delivered", "0", "[]"),
        "thanks": ("delivered", "2", '["lost"]'),
        "later": ("delivered", "3", "[]"),
        "lost": ("superseded", None, "[]"),
    }
