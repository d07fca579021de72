"""What an actor notes, and what it sees for itself at each delivery."""

from __future__ import annotations

from typing import Any

import pytest

from antecede.core.effects import Deliver
from antecede.core.message import Message
from antecede.sim.actor import Actor
from antecede.sim.small import Small
from antecede.sim.theatre import Theatre
from antecede.trace.witness import seen_payload


def actors(**knobs: Any) -> list[Actor]:
    return Theatre(Small(**knobs)).begin()[0]


def deliver(actor: Actor, name: str, *saw: str, deadline_us: int | None = None) -> list[str]:
    """As if its machine had delivered it now."""
    sender, _, seq = name.partition(":")
    message = Message(sender, int(seq), ("G1",), seen_payload(saw), deadline_us)
    actor.machine = Says([Deliver(message, "causes")])
    return [finding.verdict for finding in actor.act(("wake",), actor.now_us).findings]


class Says:
    def __init__(self, effects: list[Any]) -> None:
        self.effects = effects

    def wake(self, now_us: int) -> list[Any]:
        return self.effects

    def next_wake(self) -> None:
        return None


def test_payloads_name_all_that_was_seen() -> None:
    a, b, c = actors()
    first = a.act(("step",), a.now_us)
    (to, frame), _ = first.sends
    assert to == "B" and [row[0] for row in first.rows] == ["publish"]
    b.act(("get", "A", frame), b.now_us)
    answer = b.act(("step",), b.now_us).sends[0][1]
    assert answer.messages()[0].payload == b"saw A:1"
    said = c.act(("get", "B", answer), c.now_us)
    assert [row[0] for row in said.rows] == ["arrive"] and not c.out


def test_an_inversion_a_duplicate_and_lateness_are_seen_at_once() -> None:
    actor = actors()[2]
    assert deliver(actor, "B:1", "A:1", "A:2") == []
    assert deliver(actor, "D:1") == []
    assert deliver(actor, "A:2", "A:1") == ["inversion"]
    assert deliver(actor, "B:1") == ["duplicate"]
    assert deliver(actor, "E:1", deadline_us=actor.now_us) == []
    assert deliver(actor, "E:2", deadline_us=actor.now_us - 1) == ["overdue"]


def test_a_machine_that_breaks_is_a_finding() -> None:
    actor = actors()[0]
    actor.machine = None
    (finding,) = actor.act(("wake",), actor.now_us).findings
    assert finding.verdict == "unexplained" and "AttributeError" in finding.text


def test_a_step_waits_for_what_it_comes_after() -> None:
    _, b, _ = actors(script="B G1 after A:1")
    assert not b.may_step()
    deliver(b, "A:1")
    assert b.may_step()


@pytest.mark.parametrize(("at", "moves"), [("S1=G1@B", ("A",)), ("S1=G1@A", ("A",))])
def test_whose_broker_crashed_goes_elsewhere(at: str, moves: tuple[str, ...]) -> None:
    subscriber = actors(recipe="graph", at=at)[2]
    said = subscriber.act(("learn", "B"), subscriber.now_us)
    assert subscriber.at == moves and subscriber.gone == {"B"}
    assert ("leave" in [row[0] for row in said.rows]) == (at == "S1=G1@B")


def test_the_crashed_say_nothing_more() -> None:
    actor = actors()[0]
    assert [row[0] for row in actor.act(("crash",), actor.now_us).rows] == ["crash"]
    assert not actor.alive and actor.next_wake() is None and not actor.may_step()
