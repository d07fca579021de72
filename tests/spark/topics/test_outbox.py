"""Batches on their way to live topics: the first complete attempt counts, and rows become messages."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest

from antecede.errors import InputError
from antecede.spark.topics.outbox import Doing, Journal, Outbox, as_messages, packed


def part(*payloads: str) -> bytes:
    return packed(as_messages(pa.table({"payload": list(payloads)}), "t"))


def test_a_batch_is_what_its_first_attempt_gave(tmp_path: Path) -> None:
    outbox = Outbox(tmp_path / "outbox")
    outbox.begin("meter", "q")
    outbox.put(0, [part("a", "b"), part(), part("c")])
    outbox.put(0, [part("other")])
    assert [row["payload"] for row in outbox.rows(0)] == [b"a", b"b", b"c"] and outbox.waiting() == [0]
    outbox.note(Journal("meter", "q", doing=Doing(0, "meter.1", 7, (0, 2))))
    assert outbox.journal().doing == Doing(0, "meter.1", 7, (0, 2))
    outbox.finish(0, 2, 1)
    outbox.put(0, [part("a", "b", "c")])  # run again after it was published
    assert outbox.waiting() == [] and outbox.journal() == Journal("meter", "q", 0, 2, 1)


def test_another_query_is_refused(tmp_path: Path) -> None:
    outbox = Outbox(tmp_path)
    assert outbox.begin(None, "q").name.startswith("spark-") and outbox.begin("other", "q").query == "q"
    with pytest.raises(InputError, match="holds batches of query q, not r: give another outbox"):
        outbox.begin(None, "r")


def test_a_fault_is_kept_until_somebody_begins_again(tmp_path: Path) -> None:
    outbox = Outbox(tmp_path)
    outbox.fail("no broker")
    assert outbox.failed() == "no broker"
    outbox.forgive()
    assert outbox.failed() is None


def test_columns_say_how_a_row_is_published() -> None:
    headers = pa.array([[("k", "v")], None], pa.map_(pa.string(), pa.string()))
    table = pa.table(
        {"payload": ["x", "y"], "topic": ["a", "b"], "headers": headers, "deadline_us": [5, None],
         "causes": [["ann:1"], None], "after": [["bob:2"], []], "n": [1, 2]}
    )  # fmt: skip
    first, second = as_messages(table, "ignored").to_pylist(maps_as_pydicts="strict")
    assert first == {
        "topic": "a", "payload": b"x", "headers": {"k": "v"}, "deadline_us": 5, "after": ["bob:2"],
    }  # fmt: skip
    assert second == {"topic": "b", "payload": b"y", "headers": None, "deadline_us": None, "after": []}
    (causes,) = as_messages(table.slice(0, 1).drop(["after"]), None)["after"].to_pylist()
    assert causes == ["ann:1"]


def test_without_a_payload_all_other_columns_are_it() -> None:
    table = pa.table({"room": ["a"], "mean": [2.5], "day": [date(2024, 5, 1)], "causes": [["ann:1"]]})
    (row,) = as_messages(table, "t").to_pylist()
    assert json.loads(row["payload"]) == {"room": "a", "mean": 2.5, "day": "2024-05-01"} and row["topic"] == "t"


@pytest.mark.parametrize("column", ["topic", "payload"])
def test_a_row_without_topic_or_payload_is_refused(column: str) -> None:
    with pytest.raises(InputError, match=f"has no {column}"):
        as_messages(pa.table({"topic": ["a"], "payload": ["x"], column: pa.array([None], pa.string())}), None)
