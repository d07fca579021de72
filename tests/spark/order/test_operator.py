"""causal_order through Spark: the same rows, fates and places in batch, as a stream however cut, and from the twin."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from antecede.errors import InputError
from antecede.spark.order import causal_order, drain, held, quarantine, reconcile
from tests.spark.order.tables import history, in_sequence
from tests.spark.order.twin import NEVER, Outcome, Twin

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data"
SCHEMA = "number bigint, room string, id string, parents array<string>, at bigint, due bigint"
USED = {"id": "id", "parents": "parents", "group": "room", "arrived": "at", "deadline": "due", "foreign": "none"}


def lines_of(rooms: int) -> list[tuple[Any, ...]]:
    """Many small histories as one table, in the order of arrival."""
    rows = []
    for room in range(rooms):
        for line in history(500_000 + room):
            rows.append((f"room {room}", line.name, line.needs, line.at, None if line.late == NEVER else line.late))
    rows.sort(key=lambda row: row[3])
    return [(number, *row) for number, row in enumerate(rows)]


def twins(rows: list[tuple[Any, ...]]) -> list[str]:
    rooms: dict[str, list[Any]] = {}
    for _, room, name, needs, at, due in rows:
        late = NEVER if due is None else due
        from tests.spark.order.twin import Line

        rooms.setdefault(room, []).append(Line(name, needs, at, late, late))
    found = []
    for room, lines in rooms.items():
        mine = in_sequence(lines)
        found += [told(room, mine[i].name, mine[i].at, outcome) for i, outcome in Twin(mine).run().items()]
    return sorted(found)


def told(room: str, name: str | None, at: int, outcome: Outcome) -> str:
    return f"{room} {name} {at} {outcome}"


def collected(ordered: DataFrame) -> list[str]:
    found = []
    for row in ordered.collect():
        outcome = Outcome(row.fate, row.causal_pos, row.released_by, tuple(row.missing), row.revealed)
        found.append(told(row.room, row.id, row.at, outcome))
    return sorted(found)


def stream_of(spark: SparkSession, place: Path, rows: list[tuple[Any, ...]], cuts: list[int]) -> DataFrame:
    """A stream that reads one file for each cut."""
    edges = [0, *sorted(cuts), len(rows)]
    for number, (start, end) in enumerate(pairwise(edges)):
        part = Random(number).sample(rows[start:end], end - start)
        written = spark.createDataFrame(part, SCHEMA).coalesce(1)
        written.write.parquet(str(place / "in" / f"{number:03}"))
    source = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).option("recursiveFileLookup", True)
    return source.parquet(str(place / "in"))


def run_to_end(ordered: DataFrame, place: Path) -> None:
    query = (
        ordered.writeStream.format("parquet")
        .option("path", str(place / "out"))
        .option("checkpointLocation", str(place / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()


def test_batch_is_stream_is_twin(spark: SparkSession, tmp_path: Path) -> None:
    rows = lines_of(40)
    expected = twins(rows)
    table = spark.createDataFrame(rows, SCHEMA).repartition(3)
    assert collected(table.transform(causal_order(**USED))) == expected
    # Cuts between two times of arrival, so that `at` respects them.
    edges = [n for n in range(1, len(rows)) if rows[n][4] != rows[n - 1][4]]
    ordered = stream_of(spark, tmp_path, rows, Random(5).sample(edges, 3)).transform(causal_order(**USED))
    run_to_end(ordered, tmp_path)
    written = spark.read.parquet(str(tmp_path / "out"))
    rest = drain(spark, str(tmp_path / "checkpoint"), ordered.schema)
    assert written.count() < len(rows)
    assert collected(written.unionByName(rest)) == expected
    waiting = held(spark, str(tmp_path / "checkpoint"))
    assert waiting.groupBy().sum("waiting").first()[0] == rest.count() > 0
    counts = {row.fate: row.rows for row in reconcile(written.unionByName(rest)).collect()}
    assert sum(counts.values()) == len(rows) and {"delivered", "late", "superseded", "duplicate"} <= set(counts)


def test_a_stream_stopped_and_started_again_goes_on(spark: SparkSession, tmp_path: Path) -> None:
    rows = lines_of(8)
    edges = [n for n in range(1, len(rows)) if rows[n][4] != rows[n - 1][4]]
    source = stream_of(spark, tmp_path, rows, [edges[len(edges) // 2]])
    (tmp_path / "in" / "001").rename(tmp_path / "later")
    run_to_end(source.transform(causal_order(**USED)), tmp_path)
    (tmp_path / "later").rename(tmp_path / "in" / "001")
    ordered = source.transform(causal_order(**USED))
    run_to_end(ordered, tmp_path)
    rest = drain(spark, str(tmp_path / "checkpoint"), ordered.schema)
    assert collected(spark.read.parquet(str(tmp_path / "out")).unionByName(rest)) == twins(rows)


def test_the_watermark_lets_time_pass_where_nothing_arrives(spark: SparkSession, tmp_path: Path) -> None:
    second = 1_000_000
    rows = [
        (0, "quiet", "b", ["a"], 1 * second, 2 * second),
        (1, "busy", "x", [], 5 * second, None),
        (2, "busy", "late", [], 4 * second, 9 * second),  # behind the watermark, and kept all the same
        (3, "busy", "y", [], 6 * second, None),
    ]
    ordered = stream_of(spark, tmp_path, rows, [1, 2]).transform(causal_order(**USED))
    run_to_end(ordered, tmp_path)
    found = {row.id: (row.fate, row.released_by) for row in spark.read.parquet(str(tmp_path / "out")).collect()}
    assert found == {
        "b": ("delivered", "deadline"),
        "x": ("delivered", "causes"),
        "late": ("delivered", "causes"),
        "y": ("delivered", "causes"),
    }


def test_parents_in_other_groups(spark: SparkSession, tmp_path: Path) -> None:
    rows = [
        (0, "x", "x:b", ["y:m"], 3, 99),
        (1, "x", "x:a", [], 4, 99),
        (2, "y", "y:m", ["x:a"], 5, 99),
    ]
    table = spark.createDataFrame(rows, SCHEMA)
    look = {name: column for name, column in USED.items() if name != "foreign"}
    found = {row.id: (row.causal_pos, row.missing) for row in table.transform(causal_order(**look)).collect()}
    assert found == {"x:a": (0, []), "x:b": (1, []), "y:m": (0, [])}
    ordered = stream_of(spark, tmp_path, rows, []).transform(
        causal_order(**USED, group_of="split_part(parent, ':', 1)")
    )
    run_to_end(ordered, tmp_path)
    out = spark.read.parquet(str(tmp_path / "out"))
    found = {row.id: (row.causal_pos, row.missing) for row in out.collect()}
    assert found == {"x:b": (0, ["foreign:y:m"]), "x:a": (1, []), "y:m": (0, ["foreign:x:a"])}
    told = {row.room: (row.rows, row.missing, row.foreign) for row in reconcile(out, "room").collect()}
    assert told == {"x": (2, 0, 1), "y": (1, 0, 1)}


def test_bad_rows_come_out_with_a_reason(spark: SparkSession) -> None:
    rows = [
        (0, "x", None, [], 1, None),
        (1, "x", "self", ["self"], 2, None),
        (2, "x", "a", ["b"], 3, None),
        (3, "x", "b", ["a"], 4, None),
        (4, "x", "c", ["b", None], 5, None),
        (5, None, "d", None, 6, None),
        (6, "x", "c", ["d"], 7, None),
    ]
    table = spark.createDataFrame(rows, SCHEMA)
    ordered = table.transform(causal_order(id="id", parents="parents", group="room", unknown="skip", foreign="none"))
    found = {row.number: (row.fate, row.causal_pos, row.missing) for row in ordered.collect()}
    assert found == {
        0: ("invalid", None, []),
        1: ("cycle", None, []),
        2: ("cycle", None, []),
        3: ("cycle", None, []),
        4: ("delivered", 0, ["b"]),
        5: ("delivered", 0, []),
        6: ("duplicate", None, []),
    }
    reasons = {row.number: row.reason for row in quarantine(ordered).collect()}
    assert set(reasons) == {0, 1, 2, 3} and reasons[0] == "id is null" and "ancestors" in reasons[1]


def test_what_must_be_named_is_named(spark: SparkSession, tmp_path: Path) -> None:
    rows = [(0, "x", "b", ["a"], 1, None)]
    with pytest.raises(InputError, match="a stream cannot know whether a parent will come"):
        stream_of(spark, tmp_path, rows, []).transform(causal_order(id="id", parents="parents"))
    with pytest.raises(InputError, match="a stream cannot look into other groups"):
        stream_of(spark, tmp_path / "2", rows, []).transform(
            causal_order(id="id", parents="parents", group="room", unknown="skip", foreign="project")
        )
    with pytest.raises(Exception, match="b comes after a, which is not in the table: say unknown='skip'"):
        spark.createDataFrame(rows, SCHEMA).transform(causal_order(id="id", parents="parents")).collect()


def test_columns_of_every_type_come_out_as_they_went_in(spark: SparkSession, tmp_path: Path) -> None:
    table = spark.sql(
        """select 'a' id, array('z') parents, cast('nan' as double) d, cast(null as double) e, 9223372036854775807 l,
        timestamp'9999-12-31 23:59:59.999999' t, date'0001-01-01' y, map(1, array(1.5)) m, struct(1 x, 'q' z) s,
        cast(1.25 as decimal(20,5)) c, binary('b') b, true f, cast(null as string) `a.b`"""
    )
    table.write.parquet(str(tmp_path / "in"))
    source = spark.readStream.schema(table.schema).parquet(str(tmp_path / "in"))
    ordered = source.transform(causal_order(id="id", parents="parents", unknown="skip"))
    run_to_end(ordered, tmp_path)
    assert spark.read.parquet(str(tmp_path / "out")).count() == 0
    (row,) = (
        drain(spark, str(tmp_path / "checkpoint"), ordered.schema).select(*(f"`{c}`" for c in table.columns)).collect()
    )
    assert repr(row) == repr(table.collect()[0])


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data sets are not on this machine")
def test_the_history_of_git_shuffled(spark: SparkSession, tmp_path: Path) -> None:
    from pyspark.sql import functions as f

    names = {"id": "message", "parents": "parents", "sender": "sender", "seq": "seq"}
    whole = spark.read.parquet(str(SHARED / "git_history.parquet"))
    whole.where("seq <= 40").orderBy(f.xxhash64("message")).repartition(10).write.parquet(str(tmp_path / "in"))
    table = spark.read.parquet(str(tmp_path / "in"))
    batch = table.transform(causal_order(**names, unknown="skip"))
    source = spark.readStream.schema(table.schema).option("maxFilesPerTrigger", 4).parquet(str(tmp_path / "in"))
    ordered = source.transform(causal_order(**names, unknown="skip"))
    run_to_end(ordered, tmp_path)
    rest = drain(spark, str(tmp_path / "checkpoint"), ordered.schema)
    stream = spark.read.parquet(str(tmp_path / "out")).unionByName(rest)
    assert stream.count() == table.count() > 5000
    for found in (batch, stream):
        assert [row.fate for row in found.select("fate").distinct().collect()] == ["delivered"]
        place = found.select("message", "causal_pos")
        edges = found.select("causal_pos", f.explode("parents").alias("parent")).join(
            place.withColumnRenamed("message", "parent").withColumnRenamed("causal_pos", "above"), "parent"
        )
        assert edges.where("above >= causal_pos").count() == 0
        assert place.agg(f.max("causal_pos"), f.countDistinct("causal_pos")).first() == (
            table.count() - 1,
            table.count(),
        )
