"""The client behind a live stream: what it takes is in the spool, and so is what it could not have."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from antecede.errors import EnvironmentFault, InputError
from antecede.live.inbox import Fate
from antecede.spark.topics import feed as module
from antecede.spark.topics.feed import Feed, undelivered
from antecede.spark.topics.places import Places
from antecede.spark.topics.spool import Spool, read_chunk
from tests.spark.topics.brokers import Brokers, brokers, until


def feed_of(there: Brokers, root: Path, where: str | None = None, most: int = 1000) -> Feed:
    return Feed(Spool(root), Places(tuple(there.urls.split(",")), name="meter"), ("t/#",), where, most)


def rows_of(root: Path) -> list[dict[str, Any]]:
    chunks = Spool(root).chunks()
    return [row for chunk in chunks for batch in read_chunk(str(chunk.path)) for row in batch.to_pylist()]


def test_messages_become_rows_with_their_causes(tmp_path: Path) -> None:
    with brokers("A") as there, there.connect("ann") as ann, there.connect("bob") as bob, bob.subscribe("t/#") as inbox:
        feed = feed_of(there, tmp_path)
        feed.start(None)
        ann.publish("t/q", b"where?", headers={"k": "v"}, within=30)
        bob.publish("t/a", b"here", after=inbox.get(5))
        ann.publish("other", b"not wanted")
        until(lambda: feed.row == 2)
        feed.stop()
        question, answer = rows_of(tmp_path)
        assert (question["id"], question["topic"], question["payload"]) == ("ann:1", "t/q", b"where?")
        assert question["headers"] == [("k", "v")] and question["sender"] == "ann" and question["causes"] == []
        assert question["deadline_us"] - question["sent_us"] == 30_000_000
        assert answer["causes"] == ["ann:1"] and answer["deadline_us"] is None
        assert [(row["causal_pos"], row["fate"], row["missing"]) for row in (question, answer)] == [
            (0, "delivered", []), (1, "delivered", []),
        ]  # fmt: skip


def test_another_life_goes_on_at_the_frontier(tmp_path: Path) -> None:
    with brokers("A") as there, there.connect("ann") as ann:
        for life in range(3):
            feed = feed_of(there, tmp_path, where="k == 'yes'")
            feed.start(Spool(tmp_path).after())
            ann.publish("t/1", b"%d while it runs" % life, headers={"k": "yes"})
            ann.publish("t/1", b"filtered", headers={"k": "no"})
            until(lambda feed=feed, life=life: feed.row == 2 * life + 1)  # type: ignore[misc]
            feed.stop()
            ann.publish("t/1", b"%d while nobody reads" % life, headers={"k": "yes"})
        said = [row["payload"].decode() for row in rows_of(tmp_path)]
        assert said == [f"{n} while {what}" for n in range(3) for what in ("it runs", "nobody reads")][:-1]
        assert [row["causal_pos"] for row in rows_of(tmp_path)] == [0, 1, 2, 3, 4]


def test_what_could_not_be_delivered_is_a_row_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the spool is full nobody takes: what has a deadline turns late."""
    monkeypatch.setattr(module, "FULL", 1)
    with brokers("A") as there, there.connect("ann") as ann:
        feed = feed_of(there, tmp_path)
        feed.start(None)
        ann.publish("t/1", b"first")
        until(lambda: feed.row == 1)
        ann.publish("t/1", b"short", within=0.2)
        ann.publish("t/1", b"long")
        time.sleep(0.3)
        feed.done_row = 10
        until(lambda: feed.row == 3)
        feed.stop()
        rows = {row["id"]: row for row in rows_of(tmp_path)}
        assert {name: (row["fate"], row["causal_pos"]) for name, row in rows.items()} == {
            "ann:1": ("delivered", 0), "ann:2": ("late", None), "ann:3": ("delivered", 1),
        }  # fmt: skip
        assert rows["ann:2"]["payload"] is None and rows["ann:2"]["sender"] == "ann"


def test_of_what_is_lost_only_its_name_is_known_and_what_has_none_is_no_row(tmp_path: Path) -> None:
    row = undelivered(Fate("ann~:3", "lost"))
    assert row == {"id": "ann~:3", "sender": "ann", "fate": "lost", "missing": []}
    with brokers("A") as there:
        feed = feed_of(there, tmp_path)
        for fate in (Fate("", "overflow", (), 3), Fate("ann:3", "delivered", ("bob:1",)), Fate("ann:4", "lost")):
            feed.note(fate)
        assert [fate.id for fate in feed._fates] == ["ann:4"]


def test_a_full_spool_stops_the_taking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FULL", 10)
    with brokers("A") as there, there.connect("ann") as ann:
        feed = feed_of(there, tmp_path, most=5)
        feed.start(None)
        for n in range(40):
            ann.publish("t/1", b"%d" % n)
        until(lambda: feed.row >= 10)
        assert feed.row < 20 and not feed.quiet_for(60)
        feed.done_row = 40
        until(lambda: feed.row == 40)
        feed.stop()
        assert [int(row["payload"]) for row in rows_of(tmp_path)] == list(range(40))
        assert max(chunk.rows for chunk in Spool(tmp_path).chunks()) == 5


def test_no_broker_and_no_carrier_are_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "OPEN_S", 0.5)
    with brokers() as there:
        there.start("A", table={"room/#": ["A"], "t/#": ["B"]})
        with pytest.raises(EnvironmentFault, match=r"no broker at antecede://127.0.0.1:\d+ carries t/#: start one"):
            feed_of(there, tmp_path / "a").start(None)
        place = there.urls
        with pytest.raises(InputError, match="hall"):
            Feed(Spool(tmp_path / "b"), Places((place,)), ("hall/#",), None, 10).start(None)
    monkeypatch.setattr("antecede.live.connection.FIRST_S", 0.3)
    with pytest.raises(EnvironmentFault, match="No broker answers at"):
        Feed(Spool(tmp_path / "c"), Places((place,)), ("t/#",), None, 10).start(None)
