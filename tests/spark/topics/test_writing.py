"""Writing to live topics: batches and streams, and what is refused before anything is published."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from antecede.errors import InputError
from antecede.spark.source import AntecedeSource
from antecede.spark.topics.writing import LiveStreamWriter, live_target
from tests.spark.topics.brokers import brokers, until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PLACE = {"brokers": "antecede://127.0.0.1:1", "topic": "out"}


def schema(**columns: Any) -> Any:
    from pyspark.sql.types import StructField, StructType

    return StructType([StructField(name, kind) for name, kind in columns.items()])


def test_what_cannot_be_published_is_one_sentence() -> None:
    from pyspark.sql.types import ArrayType, IntegerType, StringType

    text = schema(payload=StringType())
    for options, columns, words in (
        ({"topic": "a/#"}, text, "is a filter"),
        ({"topics": "t"}, text, "has no option topics; it has brokers"),
        ({}, schema(payload=IntegerType()), "column payload is int, not string or binary: cast it"),
        ({}, schema(headers=StringType()), "column headers is string, not map<string,string>"),
        ({}, schema(payload=StringType(), causes=ArrayType(StringType())), "say in option read_spool"),
    ):
        with pytest.raises(InputError, match=words) as caught:
            AntecedeSource({**PLACE, **options}).writer(columns, False)
        assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="give option topic, or a column topic"):
        live_target({"brokers": PLACE["brokers"]}, text, False)
    with pytest.raises(InputError, match="cannot be overwritten"):
        live_target(PLACE, text, True)
    with pytest.raises(InputError, match="give checkpointLocation as an option of the writer, or option outbox"):
        AntecedeSource(PLACE).streamWriter(text, False)


def test_the_outbox_is_in_the_checkpoint_unless_another_is_named(tmp_path: Path) -> None:
    from pyspark.sql.types import StringType

    writer = AntecedeSource({**PLACE, "checkpointLocation": f"{tmp_path}/ck/"}).streamWriter(
        schema(payload=StringType()), False
    )
    assert isinstance(writer, LiveStreamWriter) and writer.target.outbox == f"{tmp_path}/ck/antecede-outbox"
    assert live_target({**PLACE, "outbox": f"{tmp_path}/o"}, schema(x=StringType()), False).outbox == f"{tmp_path}/o"


@pytest.mark.slow
def test_results_go_back_to_live_topics_after_their_cuts(spark: SparkSession, tmp_path: Path) -> None:
    from pyspark.sql import functions as f

    from antecede.spark import fuse

    with brokers("A") as there, there.connect("ann") as ann, there.connect("bob") as bob, bob.subscribe("out/#") as box:
        batch = spark.createDataFrame([("a", "out/x"), ("b", "out/y")], "payload string, topic string").coalesce(1)
        batch.write.format("antecede").option("brokers", there.urls).mode("append").save()
        assert [(one.topic, one.text) for one in (box.get(20), box.get(5))] == [("out/x", "a"), ("out/y", "b")]
        spool, checkpoint = tmp_path / "spool", tmp_path / "ck"
        live = spark.readStream.format("antecede").option("brokers", there.urls).option("topics", "t/#")
        readings = live.option("spool", str(spool)).load().withColumn("temp", f.expr("cast(string(payload) as double)"))
        fused = readings.transform(fuse(parents="causes", topic="topic", time="sent_us", values=["temp"], every=5))
        results = fused.select("cut", "temp_mean", "causes").writeStream.format("antecede")
        results = results.option("brokers", there.urls).option("topic", "out/mean").option("read_spool", str(spool))
        running = results.option("checkpointLocation", str(checkpoint)).start()
        until(lambda: running.exception() or list(spool.glob("*.arrow")))
        for n in range(10):
            ann.publish("t/1", b"%d" % n)
        got = [box.get(60) for _ in range(2)]
        running.stop()
        assert [json.loads(one.payload) for one in got] == [
            {"cut": 0, "temp_mean": 4.0}, {"cut": 1, "temp_mean": 9.0},
        ]  # fmt: skip
        assert "ann:5" in got[0].causes and "ann:10" in got[1].causes
        os.kill(int((checkpoint / "antecede-outbox" / "publisher.pid").read_text()), signal.SIGTERM)
