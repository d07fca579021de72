"""Topics fall under entries; brokers are concerned with what they carry, clients with what their filters meet."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from antecede.core import interest as interests
from antecede.core.entries import EACH, Entries
from antecede.core.frames import Attach, Data, Publish
from antecede.core.machine import Peer, Settings
from antecede.core.message import Publication
from antecede.core.recipes import build
from antecede.core.state.freeze import freeze, thaw
from antecede.errors import InputError
from tests.core.kit import carry, frame_to, told

TABLE = Entries({"a/+": ("A", "B"), "+/b": ("B", "C"), "$SYS/#": ()})
"""Entries 0 ($SYS), 1 (+/b) and 2 (a/+): a/b falls under two."""


def process(name: str, role: str, table: Entries = TABLE) -> Any:
    groups = table.carried_by(name) if role == "broker" else ()
    one = build(
        "home", "repaired", name=name, role=role, groups=groups, settings=Settings(deadlines=False, round_us=100),
        dice=Random(1), table=table,
    )  # fmt: skip
    one.view({n: Peer(n, "broker", table.carried_by(n)) for n in "ABC"} | {"S": Peer("S", "subscriber", ())}, 0)
    one.start(0)
    return one


def test_names_do_not_depend_on_how_a_table_was_written_down() -> None:
    same = Entries({"+/b": ["C", "B", "C"], "$SYS/#": [], "a/+": ["B", "A"]})
    assert same.of(("a/b",)) == TABLE.of(("a/b",)) == ("1", "2") and same.filters(("2",)) == ("a/+",)
    assert list(same.table) == list(TABLE.table)


def test_no_table_is_one_entry_for_everything() -> None:
    table = Entries()
    for topic in ("a", "a/b/c", "$SYS/x"):
        assert table.of((topic,)) == ("0",)
    assert table.carried_by("anybody") == ("0",) and table.filters(("0",)) == ("$#",)
    table.check_filters(("#", "$SYS/+", "a/b"))


def test_a_million_topics_are_not_remembered_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interests, "MOST_TOPICS", 10)
    table, one = Entries({"room/#": ()}), process("S", "subscriber", Entries({"room/#": ()}))
    wants = table.wanted(("room/+",)).wants
    for n in range(100):
        assert table.of((f"room/{n}",)) == ("0",) and wants((f"room/{n}",))
        message, _ = one.publish(Publication((f"room/{n}",)), n)
    assert message.topics == ("room/99",)
    assert list(one.upper.past()) == ["S@0"], "and its stamps name one stream"
    assert len(table._groups.__self__) <= 10 and len(wants.__self__) <= 10  # type: ignore[attr-defined]


def test_what_falls_under_no_entry_is_refused_in_one_sentence() -> None:
    one = process("S", "subscriber")
    with pytest.raises(InputError, match=r"^No entry of the cluster's table matches 'c': publish to another topic, or"):
        one.publish(Publication(("c",)), 0)
    with pytest.raises(InputError, match=r"^'a/\+' is a filter: a message has a topic without \+ or #\.$"):
        one.publish(Publication(("a/+",)), 0)
    assert one.publish(Publication(("a/b",)), 0)[0].id == "S:1"


def test_filters_that_no_single_broker_carries_are_refused_in_one_sentence() -> None:
    one = process("S", "subscriber")
    with pytest.raises(InputError, match=r"^No entry of the cluster's table covers 'a/#': subscribe to less, or widen"):
        one.subscribe(("a/#",), ("A",), 0)
    with pytest.raises(InputError, match=r"^'a/b\+' is no filter: write it like room/1"):
        one.subscribe(("a/b+",), ("A",), 0)
    table = Entries({"a/+": ("A",), "+/b": ("C",), "$SYS/#": ()})
    with pytest.raises(InputError, match=r"^No broker carries all of 'a/\+', 'x/b': subscribe with fewer filters, or"):
        table.check_filters(("a/+", "x/b"))
    table.check_filters(("a/b", "a/c", "$SYS/x"))
    assert told(one.subscribe(("a/b", "x/b"), ("B",), 0)) == ["attach to B"]
    for table_ in ({}, {"a/#/b": ()}, {"": ()}):
        with pytest.raises(InputError):
            Entries(table_)


def test_a_broker_carries_a_filter_that_one_of_its_entries_covers() -> None:
    brokers = {name: TABLE.carried_by(name) for name in "ABC"}
    assert brokers == {"A": ("0", "2"), "B": ("0", "1", "2"), "C": ("0", "1")}
    assert TABLE.carrying(brokers, ("a/b",)) == ["A", "B", "C"]
    assert TABLE.carrying(brokers, ("a/c", "x/b")) == ["B"]
    assert TABLE.carrying(brokers, ("+/+",)) == [], "together they would, but not one alone"
    assert TABLE.carrying({"X": ("7",)}, ("a/b",)) == [], "an entry nobody knows"
    assert EACH.carrying({"A": ("a", "b"), "B": ("a",)}, ("a",)) == ["A", "B"]


def test_a_broker_is_concerned_with_what_it_carries_a_client_with_what_its_filters_meet() -> None:
    broker, client = TABLE.carried(("2",)), TABLE.wanted(("a/b",))
    assert broker.wants(("a/b",)) and not broker.wants(("x/b",))
    assert broker.concerns("p@2") and not broker.concerns("p@1"), "though they share a/b"
    assert client.concerns("p@1") and client.concerns("p@2") and not client.concerns("p@0")
    assert not client.concerns("p@7"), "an entry nobody knows"
    assert broker.key != TABLE.wanted(("2",)).key


def test_a_message_goes_to_all_who_carry_one_of_its_entries_and_waits_for_none_of_the_others() -> None:
    """S publishes x/b (C's and B's), then a/c (A's and B's): A never waits for the first, which it does not carry."""
    machines = {name: process(name, "broker") for name in "ABC"}
    machines["S"] = one = process("S", "subscriber")
    carry(one.subscribe(("a/b",), ("A",), 0), "S", machines, 0)
    assert machines["A"].carriers_of(("a/b",)) == ("B", "C") and machines["A"].carriers_of(("x/b",)) == ("B", "C")
    first = carry(one.publish(Publication(("x/b",)), 1)[1], "S", machines, 1)
    assert "A: discard S:1 foreign" in first and "A: deliver S:1 causes" not in first
    assert {"B: deliver S:1 causes", "C: deliver S:1 causes"} <= set(first)
    second = carry(one.publish(Publication(("a/c",)), 2)[1], "S", machines, 2)
    assert {"A: deliver S:2 causes", "B: deliver S:2 causes"} <= set(second) and "C: deliver S:2 causes" not in second
    _, effects = one.publish(Publication(("a/b",)), 3)
    stamp = frame_to(effects, "A", Publish).envelopes[0].stamp
    assert stamp.own == (("S@1", 3), ("S@2", 3)) and stamp.covers == {"S@1": 1, "S@2": 2}
    said = carry(effects, "S", machines, 3)
    assert {f"{name}: deliver S:3 causes" for name in "ABC"} <= set(said)
    late = process("A", "broker")
    assert "deliver S:3 causes" not in told(late.receive(Data(frame_to(effects, "A", Publish).envelopes), "B", 4)), (
        "it lacks S:2, of an entry it carries"
    )


def test_a_client_begins_behind_what_its_filter_meets_and_grows_within_an_entry() -> None:
    """Filter room/1 over one entry: a message to room/2 before one it delivered is never sent when it grows (H8)."""
    table = Entries({"room/#": ()})
    machines = {name: process(name, "broker", table) for name in "AB"}
    machines["S"] = one = process("S", "subscriber", table)
    machines["T"] = other = process("T", "subscriber", table)
    for name in "AB":
        view = {n: Peer(n, "broker", ("0",)) for n in "AB"} | {n: Peer(n, "subscriber", ()) for n in "ST"}
        machines[name].view(view, 0)
    carry(one.subscribe(("room/1",), ("A",), 0), "S", machines, 0)
    carry(other.subscribe(("room/9",), ("B",), 0), "T", machines, 0)
    carry(other.publish(Publication(("room/2",)), 1)[1], "T", machines, 1)
    said = carry(other.publish(Publication(("room/1",)), 2)[1], "T", machines, 2)
    assert "S: deliver T:2 causes" in said and "S: deliver T:1 causes" not in said
    carry(other.publish(Publication(("room/2",)), 3)[1], "T", machines, 3)
    said = carry(one.subscribe(("room/#",), ("A",), 4), "S", machines, 4)
    assert [line for line in said if "deliver" in line] == ["S: deliver T:3 causes"]
    attach = frame_to(one.move(("B",), 5), "B", Attach)
    assert attach.frontier == {"T@0": 3}


def test_machines_with_a_table_can_be_saved() -> None:
    one = process("S", "subscriber")
    one.publish(Publication(("a/b",)), 0)
    again = thaw(freeze(one), Random(1))
    assert freeze(again) == freeze(one)
    assert again.publish(Publication(("a/b",)), 1)[0].id == "S:2" and again.upper.groups is again.groups


def test_only_home_has_a_table() -> None:
    with pytest.raises(InputError, match="In recipe 'graph' each topic is a group"):
        build(
            "graph", "repaired", name="A", role="broker", groups=("0",), settings=Settings(), dice=Random(1),
            table=TABLE,
        )  # fmt: skip
