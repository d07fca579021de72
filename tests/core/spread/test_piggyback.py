"""Predecessors in tow: what travels inside a message, and what need no longer."""

from __future__ import annotations

from typing import Any

from antecede.core.frames import Data, Digest
from antecede.core.machine import Peer
from antecede.core.message import Publication
from antecede.core.spread import piggyback
from tests.core.kit import frame_to, machine, told


def members(names: str = "A B C", **knobs: Any) -> dict[str, Any]:
    found = {name: machine("piggyback", name, "member", "G1", **knobs) for name in names.split()}
    for one in found.values():
        one.view({name: Peer(name, "member", ("G1",)) for name in names.split()}, 0)
        one.start(0)
    return found


def ids(frame: Data) -> list[str]:
    return [message.id for message in frame.messages()]


def test_a_message_brings_what_precedes_it_so_nobody_waits_for_what_was_lost() -> None:
    """002 s3A: m1 and m2 are lost to r, and come with m3."""
    p, q, r = (members("p q r")[name] for name in "pqr")
    first = frame_to(p.publish(Publication(("G1",)), 0)[1], "q", Data)
    q.receive(first, "p", 1)
    second = frame_to(q.publish(Publication(("G1",)), 2)[1], "r", Data)
    assert ids(second) == ["p:1", "q:1"]
    p.receive(second, "q", 3)
    third = frame_to(p.publish(Publication(("G1",)), 4)[1], "r", Data)
    assert ids(third) == ["p:1", "q:1", "p:2"]
    assert told(r.receive(third, "p", 5))[:3] == ["deliver p:1 causes", "deliver q:1 causes", "deliver p:2 causes"]


def test_what_everybody_is_known_to_have_stays_at_home() -> None:
    a = members()["A"]
    a.publish(Publication(("G1",)), 0)
    a.receive(Digest({}, {"A": 1}), "B", 1)
    assert ids(frame_to(a.publish(Publication(("G1",)), 2)[1], "B", Data)) == ["A:1", "A:2"], "C may lack it"
    a.receive(Digest({}, {"A": 2}), "B", 3)
    a.receive(Digest({}, {"A": 2}, {"A": 1}), "C", 3)
    assert ids(frame_to(a.publish(Publication(("G1",)), 4)[1], "B", Data)) == ["A:2", "A:3"], "held is not delivered"


def test_a_stamp_says_what_its_sender_has() -> None:
    found = members("A B")
    data = frame_to(found["A"].publish(Publication(("G1",)), 0)[1], "B", Data)
    found["B"].receive(data, "A", 1)
    answer = frame_to(found["B"].publish(Publication(("G1",)), 2)[1], "A", Data)
    assert ids(answer) == ["B:1"], "A has its own"
    found["A"].receive(answer, "B", 3)
    assert ids(frame_to(found["A"].publish(Publication(("G1",)), 4)[1], "B", Data)) == ["A:2"], "B has A:1 and its own"


def test_what_has_expired_does_not_travel() -> None:
    a = members()["A"]
    a.publish(Publication(("G1",), b"", deadline_us=100), 0)
    assert ids(frame_to(a.publish(Publication(("G1",), b"", deadline_us=150), 100)[1], "B", Data)) == ["A:1", "A:2"]
    assert ids(frame_to(a.publish(Publication(("G1",), b"", deadline_us=200), 101)[1], "B", Data)) == ["A:2", "A:3"]


def test_the_newest_come_along_as_many_as_fit(monkeypatch: Any) -> None:
    monkeypatch.setattr(piggyback, "CARGO", 2)
    a = members()["A"]
    for _ in range(4):
        last = frame_to(a.publish(Publication(("G1",)), 0)[1], "B", Data)
    assert ids(last) == ["A:2", "A:3", "A:4"]


def test_what_nobody_waits_for_neither_tows_nor_is_towed() -> None:
    a = members()["A"]
    a.publish(Publication(("G1",)), 0)
    assert ids(frame_to(a.publish(Publication(("G1",), b"", order="none"), 0)[1], "B", Data)) == ["A~:1"]
    assert ids(frame_to(a.publish(Publication(("G1",)), 0)[1], "B", Data)) == ["A:1", "A:2"]


def test_who_is_gone_holds_nothing_back() -> None:
    a = members()["A"]
    a.publish(Publication(("G1",)), 0)
    a.receive(Digest({}, {"A": 1}), "B", 1)
    a.view({name: Peer(name, "member", ("G1",)) for name in "AB"}, 2)
    assert ids(frame_to(a.publish(Publication(("G1",)), 3)[1], "B", Data)) == ["A:2"]
