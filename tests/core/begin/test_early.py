"""What comes before a process knows where it begins is kept, up to a bound, and taken in the order in which it came."""

from __future__ import annotations

from typing import Any

from antecede.core.begin import early
from antecede.core.frames import Data, Digest, Publish, Rumours, Snapshot
from antecede.core.machine import Peer
from antecede.core.message import Publication
from tests.core.kit import flat, grouped, machine, told, view_of


def newcomer(recipe: str = "solicit") -> Any:
    one = machine(recipe, "C", "member", "G1")
    one.view({name: Peer(name, "member", ("G1",)) for name in "ABC"}, 0)
    one.start(0, joining=True)
    return one


def test_messages_wait_for_the_cut_and_nothing_else_does() -> None:
    one = newcomer()
    assert told(one.receive(Data((flat("A:2", {"A": 1}),)), "A", 1)) == []
    assert told(one.receive(Digest({"A": 9}, {}), "A", 1)) == []
    assert told(one.receive(Snapshot({"A": 1}, ("A:1",)), "B", 2)) == ["join at B cut A:1", "deliver A:2 causes"]


def test_gossip_is_kept_too() -> None:
    one, other = newcomer("lpbcast-once"), machine("lpbcast-once", "A", "member", "G1")
    other.view({name: Peer(name, "member", ("G1",)) for name in "ABC"}, 0)
    other.start(0)
    other.publish(Publication(("G1",)), 0)
    envelope = next(iter(other.store.by_id.values()))
    one.receive(Rumours((envelope,)), "A", 1)
    assert told(one.receive(Snapshot({}, ()), "B", 2)) == ["join at B cut ", "deliver A~:1 causes"]


def test_what_clients_publish_through_a_broker_that_is_joining_is_kept() -> None:
    """A client that leaves will not publish it again."""
    one = machine("home", "H", "broker", "G1")
    one.view(view_of({"H": "G1", "B": "G1"}, "S1"), 0)
    one.start(0, joining=True)
    assert told(one.receive(Publish((grouped("S1:1", "G1"),)), "S1", 1)) == []
    assert told(one.receive(Publish((grouped("S1:1", "G1"),)), "S1", 2)) == ["discard S1:1 duplicate"]
    one.view(view_of({"H": "G1", "B": "G1"}), 2)
    said = told(one.receive(Snapshot({}, ()), "B", 3))
    assert said[:3] == ["join at B cut ", "data to B: S1:1", "deliver S1:1 causes"]


def test_there_is_a_bound_and_what_is_beyond_is_said(monkeypatch: Any) -> None:
    monkeypatch.setattr(early, "MAX_EARLY", 1)
    one = newcomer()
    one.receive(Data((flat("A:1"),)), "A", 1)
    assert told(one.receive(Data((flat("A:2", {"A": 1}),)), "A", 1)) == ["discard A:2 overflow"]
    assert told(one.receive(Data((flat("A:1"),)), "A", 1)) == ["discard A:1 duplicate"], "the first copy is kept"
