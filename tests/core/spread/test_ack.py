"""Acknowledgements: whoever has not said that it has a message gets it again; whoever is gone is not waited for."""

from __future__ import annotations

from typing import Any

from antecede.core.frames import Data, Digest, Received
from antecede.core.machine import Peer
from antecede.core.message import Publication
from tests.core.kit import carry, frame_to, machine, sent, told


def members(names: str = "A B C", **knobs: Any) -> dict[str, Any]:
    found = {name: machine("ackcast", name, "member", "G1", retry_us=100, **knobs) for name in names.split()}
    see(found, names)
    for one in found.values():
        one.start(0)
    return found


def see(found: dict[str, Any], names: str, now_us: int = 0) -> None:
    view = {name: Peer(name, "member", ("G1",)) for name in names.split()}
    for one in found.values():
        one.view(view, now_us)


def test_what_comes_is_acknowledged_each_time_it_comes() -> None:
    found = members()
    data = frame_to(found["A"].publish(Publication(("G1",)), 0)[1], "B", Data)
    first, again = (found["B"].receive(data, "A", 10) for _ in range(2))
    assert told(first) == ["deliver A~:1 causes", "received to A"]
    assert told(again) == ["discard A~:1 duplicate", "received to A"]


def test_only_those_who_have_not_said_so_get_it_again_later_and_later() -> None:
    a = members()["A"]
    a.publish(Publication(("G1",)), 0)
    assert a.next_wake() == 100
    a.receive(Received(("A~:1",)), "B", 50)
    assert told(a.wake(100)) == ["data to C: A~:1"] and a.next_wake() == 300
    assert told(a.wake(300)) == ["data to C: A~:1"] and a.next_wake() == 700
    a.receive(Received(("A~:1",)), "C", 750)
    assert a.next_wake() is None and told(a.wake(900)) == []


def test_an_acknowledgement_of_something_else_settles_nothing() -> None:
    a = members()["A"]
    a.publish(Publication(("G1",)), 0)
    a.receive(Received(("A~:7", "Z~:1")), "B", 50)
    assert told(a.wake(100)) == ["data to B,C: A~:1"]


def test_nobody_waits_for_those_who_are_gone() -> None:
    found = members()
    found["A"].publish(Publication(("G1",)), 0)
    see({"A": found["A"]}, "A", 50)
    assert found["A"].spread.at_us is None


def test_answers_of_others_are_not_acknowledged() -> None:
    found = members()
    data = frame_to(found["A"].publish(Publication(("G1",)), 0)[1], "B", Data)
    assert sent(found["B"].receive(data, "C", 10), Received) == [], "C did not publish it and waits for nothing"


def test_members_compare_when_the_view_changes_and_not_before() -> None:
    found = members(round_us=1000)
    data = frame_to(found["A"].publish(Publication(("G1",)), 0)[1], "B", Data)
    found["B"].receive(data, "A", 10)
    assert found["B"].rounds.at_us is None
    del found["A"]
    see(found, "B C", 500)
    at_us = found["B"].rounds.at_us
    assert 1000 <= at_us < 2000
    effects = found["B"].wake(at_us)
    assert frame_to(effects, "C", Digest).offer == {"A~": 1}
    lines = carry(effects, "B", found, at_us)
    due_us = found["C"].next_wake()
    lines += carry(found["C"].wake(due_us), "C", found, due_us)
    assert "C: deliver A~:1 causes" in lines


def test_what_comes_from_one_that_is_gone_is_compared_too() -> None:
    found = members()
    data = frame_to(found["A"].publish(Publication(("G1",)), 0)[1], "B", Data)
    del found["A"]
    see(found, "B C", 500)
    assert found["B"].rounds.at_us is None, "there was nothing to compare"
    found["B"].receive(data, "A", 600)
    assert found["B"].rounds.at_us is not None


def test_only_what_there_was_at_the_change_of_view_is_compared() -> None:
    found = members(round_us=1000)
    b = found["B"]
    b.receive(frame_to(found["A"].publish(Publication(("G1",)), 0)[1], "B", Data), "A", 10)
    see(found, "A B C D", 500)
    b.receive(frame_to(found["A"].publish(Publication(("G1",)), 600)[1], "B", Data), "A", 610)
    for name in "ACD":
        b.receive(Digest({}, {"A~": 2}), name, 700)
    b.receive(frame_to(found["A"].publish(Publication(("G1",)), 800)[1], "B", Data), "A", 810)
    assert sent(b.wake(b.rounds.at_us), Digest) == [] and b.rounds.at_us is None, "newer ones are acknowledged instead"


def test_no_more_than_a_window_is_on_its_way_unheard() -> None:
    a = machine("ackcast", "A", "member", "G1", deadlines=False, window=2)
    a.view({name: Peer(name, "member", ("G1",)) for name in "AB"}, 0)
    a.start(0)
    said = [a.publish(Publication(("G1",)), now) for now in range(4)]
    one, two, three, four = (message.id for message, _ in said)
    assert [len(sent(effects, Data)) for _, effects in said] == [1, 1, 0, 0]
    effects = a.receive(Received((one,)), "B", 10)
    assert [m.id for _, frame in sent(effects, Data) for m in frame.messages()] == [three]
    effects = a.receive(Received((two, three)), "B", 20)
    assert [m.id for _, frame in sent(effects, Data) for m in frame.messages()] == [four]
    assert not sent(a.receive(Received((four,)), "B", 30), Data)
