"""Each part does what its repaired twin does, but for the one thing that is taken away."""

from __future__ import annotations

from random import Random
from typing import Any

from antecede.core.frames import Data, Request
from antecede.core.interest import Interest
from antecede.core.machine import Peer, Settings
from antecede.core.message import Envelope, Publication
from antecede.core.order.graph import GraphWriter
from antecede.core.order.matrix import ColumnInterest, MatrixWriter
from antecede.core.order.round_clock import RoundClock
from antecede.core.order.rounds import RoundsWriter
from antecede.core.order.vector import VectorWriter
from antecede.core.printed.pieces import (
    CarelessRounds,
    EdgelessGraph,
    ForgetfulVector,
    GaplessVector,
    ImmediateGraph,
    LateMatrix,
    NearGraph,
    OneAsk,
    OwnColour,
    WaitingGraph,
)
from antecede.core.recipes import build
from tests.core.kit import message, sent, told

VIEW = {name: Peer(name, "member", ("G1",)) for name in "pqr"}
BOTH, G1 = Interest(("G1", "G2")), Interest(("G1",))


def member(name: str, repair: str = "") -> Any:
    reading = f"without-{repair}" if repair else "repaired"
    made = build(
        "solicit", reading, name=name, role="member", groups=("G1",), settings=Settings(), dice=Random(1)
    )  # fmt: skip
    made.view(VIEW, 0)
    made.start(0)
    return made


def said(by: Any, now_us: int, deadline_us: int = 90_000) -> Data:
    _, effects = by.publish(Publication(("G1",), b"", deadline_us=deadline_us), now_us)
    return sent(effects, Data)[0][1]  # type: ignore[no-any-return]


def answered(repair: str, low: int, high: int) -> list[str]:
    p = member("p", repair)
    for now_us in (1, 2):
        said(p, now_us)
    data = sent(p.receive(Request((("p", low, high),)), "q", 3), Data)
    return [m.id for _, frame in data for m in frame.messages()]


def test_an_answer_stays_below_the_bound() -> None:
    assert answered("", 0, 2) == ["p:1", "p:2"] and answered("bound", 0, 2) == ["p:1"]
    assert answered("bound", 1, 2) == []


def test_what_was_sent_is_not_kept() -> None:
    assert answered("own-kept", 0, 2) == []
    p = member("p", "own-kept")
    p.receive(said(member("q"), 1), "q", 2)
    assert list(p.store.by_id) == ["q:1"]


def test_an_answer_is_delivered_whatever_it_is() -> None:
    p, r = member("p"), member("r", "checks")
    first, second = said(p, 1), said(p, 2)
    assert told(r.receive(second, "p", 3)) == ["ask p for p:1", "request to p"]
    held = Data(second.envelopes, answer=True)
    assert told(r.receive(held, "q", 4)) == ["deliver p:2 causes"] and not r.inbox.held
    late = Data(first.envelopes, answer=True)
    assert told(r.receive(late, "q", 95_000)) == ["deliver p:1 causes"], "late and out of order"


def test_one_ask_and_no_more() -> None:
    wants = OneAsk(Settings(retry_us=10))
    wants.want(("p", 1), "q", None, 0, patience_us=0)
    asks = [wants.due(now, lambda mark: True, lambda mark, want: ["q", "r"], lambda m, n: None) for now in (0, 10, 20)]
    assert asks == [{"q": [("p", 1)]}, {}, {}]


def test_gaps_in_a_senders_own_stream_are_not_seen() -> None:
    for kind, needs in ((VectorWriter, (("p", 1),)), (GaplessVector, ())):
        writer = kind("p", flat=True)
        for name in ("p:1", "p:2"):
            one = message(name)
            envelope = Envelope(one, writer.stamp(one, None))
        assert kind("q", flat=True).arrived(envelope).stamp.needs == needs


def test_groups_one_is_not_in_are_forgotten() -> None:
    a = VectorWriter("A", flat=False)
    first = message("A:1", "G2")
    a.stamp(first, None)
    second = message("A:2", "G1")
    came = Envelope(second, a.stamp(second, None))
    whole, forgets = VectorWriter("B", flat=False), ForgetfulVector("B", flat=False)
    forgets.mine = G1
    for writer in (whole, forgets):
        writer.learn(came)
    reply = message("B:3", "G1")
    assert "A@G2" in whole.stamp(reply, None).covers and "A@G2" not in forgets.stamp(reply, None).covers


def graph(kind: type[GraphWriter], *, deadlines: bool = False) -> tuple[GraphWriter, Envelope]:
    """x(G1) -> y(G2) -> z(G1), all of one writer; z."""
    writer = kind("A", BOTH, deadlines=deadlines, slack_us=0, grace_us=0)
    for name, topic in (("A:1", "G1"), ("A:2", "G2"), ("A:3", "G1")):
        one = message(name, topic, deadline_us=100 if deadlines else None)
        envelope = Envelope(one, writer.stamp(one, None))
    return writer, envelope


def test_only_immediate_predecessors_go_below() -> None:
    for kind, needs in ((GraphWriter, (("A@G1", 1),)), (ImmediateGraph, ())):
        writer, last = graph(kind)
        assert writer.project(last, G1).stamp.needs == needs
        assert writer.project(last, BOTH).stamp.needs == (("A@G2", 2),)


def test_a_broker_waits_for_what_is_not_for_it() -> None:
    writer, last = graph(GraphWriter)
    for kind, needs in ((GraphWriter, (("A@G1", 1),)), (WaitingGraph, (("A@G2", 2),))):
        broker = kind("C", G1, deadlines=False, slack_us=0, grace_us=0)
        assert broker.arrived(writer.relay(last)).stamp.needs == needs


def test_the_newest_of_each_sender_is_not_named() -> None:
    for kind, covers in ((GraphWriter, {"A@G1": 1}), (NearGraph, {})):
        writer, last = graph(kind, deadlines=True)
        assert writer.project(last, G1).stamp.covers == covers


def test_an_expired_node_takes_its_edges_along() -> None:
    """H7: x1 lives on, x2 after it has expired, j follows x2."""
    for kind, needs in ((GraphWriter, (("A@G1", 1), ("A@G1", 2))), (EdgelessGraph, ())):
        writer = kind("A", G1, deadlines=True, slack_us=0, grace_us=0)
        for name, deadline_us in (("A:1", 100), ("A:2", 10)):
            one = message(name, "G1", deadline_us=deadline_us)
            writer.stamp(one, None)
        writer.expire(50)
        last = message("A:3", "G1", deadline_us=100)
        envelope = Envelope(last, writer.stamp(last, None))
        assert set(writer.project(envelope, G1).stamp.needs) <= set(needs)
        assert ("A:2" in writer.graph) == bool(needs)


def test_a_round_may_be_that_of_what_was_delivered() -> None:
    for kind, upcoming in ((RoundsWriter, 3), (CarelessRounds, 2)):
        clock = RoundClock(10, 5)
        writer, other = kind("A", clock), RoundsWriter("B", RoundClock(10, 5))
        one = message("B:2", "G1")
        writer.learn(Envelope(one, other.stamp(one, None)))
        assert clock.upcoming(15) == upcoming


def matrix(kind: type[MatrixWriter]) -> Any:
    writer = kind("A", ColumnInterest(("G1",), "A"), RoundClock(10, 3))
    for name in "AB":
        writer.meet(name, ("G1",))
    return writer


def test_a_message_names_itself() -> None:
    one = message("A:1", "G1")
    relayed = matrix(MatrixWriter)
    sent_ = relayed.relay(Envelope(one, relayed.stamp(one, None)))
    for kind, needs in ((MatrixWriter, ()), (LateMatrix, (("A@B", 1),))):
        b = kind("B", ColumnInterest(("G1",), "B"), RoundClock(10, 3))
        assert b.arrived(sent_).stamp.needs == needs


def test_the_own_colour_travels() -> None:
    for kind, colour in ((MatrixWriter, 0), (OwnColour, 1)):
        writer = matrix(kind)
        one = message("A:4", "G1")
        assert writer.project(Envelope(one, writer.stamp(one, None)), G1).stamp.rank == colour
