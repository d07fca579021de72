"""On Spark: batch and stream give what the fold gives alone, however the stream is cut; bad input is one sentence."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from antecede.core.fold.cuts import Reading
from antecede.errors import InputError
from tests.core.fold.cuts_twin import history, vector_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

GROUPS = {"g1": 1, "g2": 2, "g3": 3}
TOPICS = ("room/1", "room/2", "yard")
OPTIONS: dict[str, Any] = {
    "parents": "parents",
    "topic": "topic",
    "time": "time_us",
    "values": ["value"],
    "interests": {"room": "room/+", "all": None},
}


def table_of(rows: list[Reading], group: str) -> pa.Table:
    return pa.table(
        {
            "group": pa.array([group] * len(rows)),
            "causal_pos": pa.array([row.pos for row in rows], pa.int64()),
            "fate": ["delivered"] * len(rows),
            "id": [row.id for row in rows],
            "sender": [row.sender for row in rows],
            "parents": pa.array([list(row.parents) for row in rows], pa.list_(pa.string())),
            "missing": pa.array([list(row.missing) for row in rows], pa.list_(pa.string())),
            "topic": [TOPICS[len(row.interests)] for row in rows],
            "time_us": pa.array([row.time_us for row in rows], pa.int64()),
            "value": pa.array([row.values[0] for row in rows], pa.float64()),
        }
    )


@pytest.fixture(scope="module")
def tables() -> dict[str, pa.Table]:
    return {group: table_of(history(seed, messages=60, loss=0.3)[0], group) for group, seed in GROUPS.items()}


@pytest.fixture(scope="module")
def folder(tables: dict[str, pa.Table], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All rows in seven files, in no order at all; among them rows with other fates."""
    whole = pa.concat_tables(tables.values())
    others = whole.slice(0, 9).set_column(1, "causal_pos", pa.nulls(9, pa.int64()))
    others = others.set_column(2, "fate", pa.array(["late", "superseded", "duplicate"] * 3))
    whole = pa.concat_tables([whole, others])
    places = list(range(len(whole)))
    Random(5).shuffle(places)
    folder = tmp_path_factory.mktemp("ordered")
    for number in range(7):
        pq.write_table(whole.take(places[number::7]), folder / f"part-{number}.parquet")
    return folder


def by_place(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: (row["group"], row["cut"], row["interest"]))


def collected(df: DataFrame) -> list[dict[str, Any]]:
    return by_place([row.asDict(recursive=True) for row in df.collect()])


def alone(tables: dict[str, pa.Table], **more: Any) -> list[dict[str, Any]]:
    from antecede.spark.fusing import fuse_table

    return by_place(
        [{"group": group, **row} for group, table in tables.items() for row in fuse_table(table, **more).to_pylist()]
    )


@pytest.mark.parametrize("where", [{"every": 5}, {"every_us": 60}], ids=["rows", "time"])
def test_batch_and_stream_agree_with_the_fold_alone(
    spark: SparkSession, tables: dict[str, pa.Table], folder: Path, tmp_path: Path, where: dict[str, int]
) -> None:
    from antecede.spark.fusing import fuse

    step = fuse(group="group", **OPTIONS, **where)
    wanted = alone(tables, **OPTIONS, **where)
    assert len(wanted) > 20
    batch = spark.read.parquet(str(folder))
    assert collected(batch.transform(step)) == wanted

    stream = spark.readStream.schema(batch.schema).option("maxFilesPerTrigger", 2).parquet(str(folder))
    query = (
        stream.transform(step)
        .writeStream.format("parquet")
        .option("path", str(tmp_path / "out"))
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    assert collected(spark.read.parquet(str(tmp_path / "out"))) == wanted
    progress = [p["numInputRows"] for p in query.recentProgress]
    assert len(progress) >= 4, "the stream came in several batches"


def test_clocks_conditions_marks_functions_and_no_group(spark: SparkSession) -> None:
    import pyspark.sql.functions as F

    from antecede.spark.fusing import Function, Interest, fuse

    rows, past = history(7, messages=50, loss=0.3)
    table = table_of(rows, "g").append_column(
        "clock", pa.array([vector_of(r.id, past[r.id]) for r in rows], pa.map_(pa.string(), pa.int64()))
    )
    df = spark.createDataFrame(table).withColumn("at", F.timestamp_micros("time_us"))
    step = fuse(
        clock="clock",
        sender="sender",
        time="at",
        values=["value"],
        interests={"big": Interest(where="value > 50"), "all": None},
        marks="mark",
        functions={"spread": Function(lambda frame: frame["value"].max() - frame["value"].min())},
        last=True,
    )
    out = df.withColumn("mark", F.col("causal_pos") % 10 == 3).transform(step)
    assert "group" not in out.columns
    found = [row.asDict(recursive=True) for row in out.collect()]
    big = [row for row in found if row["interest"] == "big"]
    assert [row["cut_pos"] for row in big] == [*range(3, len(rows), 10), len(rows) - 1]
    assert min(row["value_min"] for row in big if row["value_count"]) > 50
    last = next(row for row in found if row["interest"] == "all" and row["cut_pos"] == len(rows) - 1)
    assert last["spread"] == pytest.approx(last["value_max"] - last["value_min"])
    assert last["cut_us"] == max(row.time_us for row in rows if row.time_us is not None)
    front = {sender: int(number) for sender, number in (name.split(":") for name in last["causes"])}
    for entry in last["latest"]:
        assert all(front[s] >= n for s, n in vector_of(entry["id"], past[entry["id"]]))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"every": 3, "id": "message"}, "no column 'message'; there are group"),
        ({"every": 3, "values": ["topic"]}, "'topic' is string, not a number"),
        ({"every": 3, "parents": "value"}, "'value' is double: it must be a list"),
        ({}, "where cuts fall"),
        ({"every": 3, "every_us": 3, "time": "time_us"}, "where cuts fall"),
        ({"every_us": 5}, "name its column"),
        ({"every": 3, "clock": "clock"}, "names the sender"),
        ({"every": 3, "hold": 0}, "at least 1"),
    ],
)
def test_bad_input_is_one_sentence(spark: SparkSession, folder: Path, options: dict[str, Any], said: str) -> None:
    from antecede.spark.fusing import fuse

    df = spark.read.parquet(str(folder))
    with pytest.raises(InputError, match=said):
        df.transform(fuse(**options))
    with pytest.raises(InputError, match="causal_order first"):
        df.drop("causal_pos").transform(fuse(every=3))


def test_a_stream_has_no_last_cut(spark: SparkSession, folder: Path) -> None:
    from antecede.spark.fusing import fuse

    stream = spark.readStream.schema(spark.read.parquet(str(folder)).schema).parquet(str(folder))
    with pytest.raises(InputError, match="leave out last"):
        stream.transform(fuse(every=3, last=True))


def test_names_with_dots_and_spaces_and_a_group_called_like_anything(spark: SparkSession, tmp_path: Path) -> None:
    from antecede.spark.fusing import fuse

    rows = [(n, f"x{n}", "ab"[n % 2], ["t/1"], float(n), "delivered", []) for n in range(4)]
    names = ["causal_pos", "the id", "sender", "my.topic", "value.in C", "fate", "missing"]
    df = spark.createDataFrame(
        rows, "a bigint, b string, c string, d array<string>, e double, f string, g array<string>"
    )
    df = df.toDF(*names)
    options = {"id": "the id", "sender": "sender", "topic": "my.topic", "values": ["value.in C"], "every": 2}
    out = df.transform(fuse(group=None, **options))  # type: ignore[arg-type]
    assert [row["value.in C_max"] for row in out.orderBy("cut").collect()] == [1.0, 3.0]
    by_sender = df.withColumn("causal_pos", df.causal_pos.cast("int") / 2).withColumnRenamed("sender", "who.ever")
    by_sender = by_sender.withColumn("causal_pos", by_sender.causal_pos.cast("bigint"))
    grouped = by_sender.transform(fuse(group="who.ever", **(options | {"sender": "who.ever"})))  # type: ignore[arg-type]
    found = {row["who.ever"]: (row["value.in C_mean"], row["latest"][0]["value.in C"]) for row in grouped.collect()}
    assert found == {"a": (2.0, 2.0), "b": (3.0, 3.0)}
    with pytest.raises(InputError, match="'cut', which results have a column of too"):
        df.withColumnRenamed("sender", "cut").transform(fuse(group="cut", **(options | {"sender": "cut"})))  # type: ignore[arg-type]


def test_opaque_ids_go_on_after_a_loss_and_say_what_is_left_out(spark: SparkSession) -> None:
    import uuid

    from antecede.spark.fusing import fuse
    from antecede.spark.order import causal_order

    names = [str(uuid.UUID(int=n)) for n in range(40)]
    rows = [(names[n], [names[n - 1]] if n else [], "abcd"[n % 4], n, float(n)) for n in range(40) if n != 9]
    df = spark.createDataFrame(rows, "id string, parents array<string>, who string, at bigint, value double")
    ordered = df.transform(causal_order(id="id", parents="parents", arrived="at", unknown="skip"))
    fused = ordered.transform(fuse(parents="parents", sender="who", values=["value"], every=4, last=True))
    found = fused.orderBy("cut").collect()
    assert [row["completeness"] for row in found] == [1.0, 1.0, 0.25, *[1.0] * 7]
    assert [row["missing"] for row in found] == [[], [], [names[9]], [names[9]], *[[]] * 6]
    assert [row["given_up"] for row in found] == [0, 0, 0, *[1] * 7]
    assert found[-1]["value_max"] == 39.0 and found[2]["value_max"] == 8.0
