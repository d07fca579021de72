"""Columns to readings and cuts to results: interests, aggregates, completeness and one's own functions."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
import pytest

from antecede.errors import InputError
from antecede.spark.readings import Function, Interest, fuse_table, interest_of, named, plan_of


def ordered(*rows: tuple[Any, ...]) -> pa.Table:
    """(id, topics, parents, missing, temperature) in their causal order."""
    names = ("id", "topics", "parents", "missing", "temperature")
    body = [dict(zip(names, row, strict=True)) | {"causal_pos": pos} for pos, row in enumerate(rows)]
    schema = pa.schema(
        [
            ("id", pa.string()),
            ("topics", pa.list_(pa.string())),
            ("parents", pa.list_(pa.string())),
            ("missing", pa.list_(pa.string())),
            ("temperature", pa.float64()),
            ("causal_pos", pa.int64()),
        ]
    )
    return pa.Table.from_pylist(body, schema)


MOTES = ordered(
    ("m1:1", ["room/1"], [], [], 20.0),
    ("m2:1", ["room/2"], ["m1:1"], [], 22.0),
    ("m1:2", ["room/1"], ["m1:1"], [], None),
    ("m3:1", ["yard/3"], ["m2:2"], ["m2:2"], 10.0),
    ("m1:3", ["room/1"], ["m1:2"], [], 26.0),
    ("m2:3", ["room/2", "alarm"], ["m2:2"], ["m2:2"], math.nan),
)


def fused(**more: Any) -> list[dict[str, Any]]:
    options: dict[str, Any] = {
        "parents": "parents",
        "topic": "topics",
        "values": ["temperature"],
        "interests": {"room": "room/+", "yard": "yard/#"},
        "every": 2,
    }
    return fuse_table(MOTES, **options | more).to_pylist()


def test_the_latest_of_each_sender_is_aggregated_per_interest_and_cut() -> None:
    rows = [row for row in fused() if row["interest"] == "room"]
    assert [row["count"] for row in rows] == [2, 2, 2]
    assert [row["temperature_count"] for row in rows] == [2, 1, 1]
    assert [(row["temperature_mean"], row["temperature_min"], row["temperature_max"]) for row in rows] == [
        (21.0, 20.0, 22.0),
        (22.0, 22.0, 22.0),  # a null is no reading
        (26.0, 26.0, 26.0),  # neither is what is no number
    ]
    assert [entry["id"] for entry in rows[2]["latest"]] == ["m1:3", "m2:3"]
    assert rows[2]["latest"][0] == {
        "sender": "m1",
        "id": "m1:3",
        "causal_pos": 4,
        "time_us": None,
        "temperature": 26.0,
    }


def test_what_is_missing_is_said() -> None:
    yard = [row for row in fused(senders={"yard": ["m3", "m4"]}) if row["interest"] == "yard"]
    assert [row["count"] for row in yard] == [0, 0, 1]
    assert [row["incomplete"] for row in yard] == [[], ["m3:1"], []]
    assert [row["missing"] for row in yard] == [[], ["m2:2"], []]
    assert [row["absent"] for row in yard] == [["m3", "m4"], ["m3", "m4"], ["m4"]]
    assert [row["completeness"] for row in yard] == [0.0, 0.0, 0.5]
    assert yard[2]["causes"] == ["m1:3", "m2:3", "m3:1"]
    heard = [row["completeness"] for row in fused() if row["interest"] == "yard"]
    assert heard == [None, 0.0, 1.0], "nobody expected: whoever was heard is"


def test_new_rows_count_once_over_all_cuts() -> None:
    rows = fused(interests=None, over="new")
    assert [row["count"] for row in rows] == [2, 1, 3]
    assert [row["temperature_mean"] for row in rows] == [21.0, None, 18.0]


def test_ones_own_functions_see_the_counted_readings() -> None:
    functions = {
        "spread": Function(lambda frame: frame["temperature"].max() - frame["temperature"].min()),
        "who": Function(lambda table: ",".join(table["sender"].to_pylist()), "string", frame="arrow"),
        "many": Function(lambda frame: len(frame), "int64"),
    }
    first = fused(functions=functions)[0]
    assert (first["spread"], first["who"], first["many"]) == (2.0, "m1,m2", 2)


def test_only_delivered_rows_count() -> None:
    table = MOTES.append_column("fate", pa.array(["delivered"] * 4 + ["late", "superseded"]))
    assert fuse_table(table, every=1, parents="parents").column("cut_pos").to_pylist() == [0, 1, 2, 3]


def test_the_last_cut_only_when_asked() -> None:
    assert [row["cut_pos"] for row in fused(every=4, interests=None)] == [3]
    assert [row["cut_pos"] for row in fused(every=4, interests=None, last=True)] == [3, 5]


def test_a_column_may_say_who_sent_a_row() -> None:
    table = MOTES.append_column("who", pa.array(["x", "y", "x", "z", "x", "y"]))
    row = fuse_table(table, sender="who", every=6, parents="parents", values=["temperature"]).to_pylist()[0]
    assert row["causes"] == ["m1:3", "m2:1"], "ids say nothing now: what a skipped cause left behind stays out"
    assert row["incomplete"] == ["m2:3", "m3:1"] and row["held"] == 2


def test_ids_that_are_not_of_the_form_are_refused_in_a_sentence() -> None:
    table = MOTES.set_column(0, "id", pa.array(list("abcdef")))
    with pytest.raises(InputError, match="'a' is not sender:seq: name the column"):
        fuse_table(table, every=1)


def test_names() -> None:
    assert [named(name) for name in ("a:1", "a:b:12", "a", ":1", "a:", "a:-1", "a:²")] == [
        ("a", 1),
        ("a:b", 12),
        None,
        None,
        None,
        None,
        None,
    ]


def test_interests_come_in_several_forms() -> None:
    assert interest_of("a/+") == Interest(("a/+",)) and interest_of(["a", "b"]) == Interest(("a", "b"))
    assert interest_of(None).filters == ("#",) and interest_of(Interest(where="x > 1")).where == "x > 1"
    for wrong in (5, [], [""], ""):
        with pytest.raises(InputError, match="topic filter"):
            interest_of(wrong)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"over": "all"}, "latest or new"),
        ({"values": "temperature"}, "list of columns"),
        ({"senders": {"attic": ["a"]}}, "'attic', which is no interest"),
        ({"functions": {"count": Function(len)}}, "two columns 'count'"),
        ({"interests": {"hot": Interest(where="temperature > 30")}}, "needs Spark"),
    ],
)
def test_what_cannot_work_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        fused(**options)


def test_functions_say_what_they_take_and_give() -> None:
    with pytest.raises(InputError, match="pandas or arrow"):
        Function(len, frame="polars")
    with pytest.raises(InputError, match="no Arrow type"):
        Function(len, returns="number")


def test_the_schema_is_that_of_the_results() -> None:
    plan = plan_of({"all": None}, ["t"], {"f": Function(len, "int64")}, None, "latest", True)
    assert plan.results([]).schema == plan.schema()
    assert {"t_mean", "t_min", "t_max", "t_count", "f", "causes", "completeness"} <= set(plan.schema().names)


def test_a_column_divides_an_interest_into_places_of_their_own() -> None:
    table = pa.table(
        {
            "id": ["a:1", "b:1", "a:2", "b:2", "c:1", "a:3"],
            "causal_pos": range(6),
            "room": ["x", "x", "y", "x", None, "x"],
            "t": [1.0, 3.0, 10.0, 5.0, 7.0, 2.0],
        }
    )
    rows = fuse_table(table, values=["t"], by="room", every=3).to_pylist()
    said = [(row["cut"], row["room"], row["count"], row["t_mean"], row["absent"]) for row in rows]
    assert said == [
        (0, "x", 2, 2.0, []), (0, "y", 1, 10.0, []),
        (1, "x", 2, 3.5, []), (1, "y", 1, 10.0, []), (1, None, 1, 7.0, []),
    ]  # fmt: skip
    assert [row["causes"] for row in rows[::4]] == [["a:2", "b:1"], ["a:3", "b:2", "c:1"]]
    with pytest.raises(InputError, match="leave out senders="):
        fuse_table(table, values=["t"], by="room", every=3, senders=["a"])
    with pytest.raises(InputError, match="two columns 'count'"):
        fuse_table(table.rename_columns(["id", "causal_pos", "count", "t"]), values=["t"], by="count", every=3)
