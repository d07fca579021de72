"""The receiving half: what is missing, and whom it asks for that."""

from __future__ import annotations

from typing import Any

from antecede.core.entries import INTERESTS
from antecede.core.frames import Data, Request
from antecede.core.machine import Peer
from tests.core.kit import flat, frame_to, grouped, machine, sent, told, view_of


def member(peers: str = "A B C D", **knobs: Any) -> Any:
    one = machine("solicit", "A", "member", "G1", retry_us=10, trip_us=4, **knobs)
    one.view({name: Peer(name, "member", ("G1",)) for name in peers.split()}, 0)
    one.start(0)
    return one


def test_whoever_sent_what_needs_it_is_asked_first_then_the_others() -> None:
    one = member(deadlines=False)
    effects = one.receive(Data((flat("B:1", {"D": 2}),)), "C", 0)
    assert told(effects) == ["ask C for D:1,D:2", "request to C"]
    assert frame_to(effects, "C", Request).ranges == (("D", 0, 2),)
    assert [told(one.wake(now))[0] for now in (10, 20)] == ["ask D for D:1,D:2", "ask B for D:1,D:2"]


def test_what_is_held_is_not_asked_for() -> None:
    one = member(patience_us=5)
    one.receive(Data((flat("D:2", {"D": 1}), flat("B:1", {"D": 2}))), "D", 0)
    assert told(one.wake(5)) == ["ask D for D:1", "request to D"]


def test_what_comes_within_patience_is_never_asked_for() -> None:
    one = member(patience_us=5)
    one.receive(Data((flat("B:1", {"D": 1}),)), "B", 0)
    assert one.next_wake() == 5
    one.receive(Data((flat("D:1"),)), "D", 4)
    assert told(one.wake(5)) == []


def test_the_budget_is_the_deadline_less_the_guard() -> None:
    for deadline_us, asked in ((34, True), (33, False)):
        one = member(guard_us=20, round_us=10**9)
        one.receive(Data((flat("B:1", {"D": 1}, deadline_us=deadline_us),)), "B", 0)
        assert bool(sent(one.wake(10), Request)) == asked, "a trip takes 4"


def test_sparse_requests_are_open_between_what_lies_behind_and_what_is_held() -> None:
    broker = machine("cbcast", "A", "broker", "G1")
    broker.view(view_of({"A": "G1", "B": "G1"}), 0)
    broker.start(0)
    broker.receive(Data((grouped("C:2"),)), "B", 0)
    effects = broker.receive(Data((grouped("C:5", needs=[("C@G1", 4)]), grouped("C:9", needs=[("C@G1", 8)]))), "B", 0)
    ranges = {r for _, frame in sent(effects, Request) for r in frame.ranges}
    assert ranges == {("C@G1", 2, 4), ("C@G1", 5, 8)}


def test_a_message_is_asked_for_once_though_it_has_a_mark_in_each_group() -> None:
    broker = machine("cbcast", "A", "broker", "G1 G2")
    broker.view(view_of({"A": "G1 G2", "B": "G1 G2"}), 0)
    broker.start(0)
    needs = [("C@G1", 1), ("C@G2", 1)]
    assert told(broker.receive(Data((grouped("C:2", needs=needs),)), "B", 0))[0] == "ask B for C:1"


def test_whoever_leaves_is_remembered_until_it_is_back() -> None:
    one = member("A B")
    everybody = dict(one.members)
    one.view({"A": everybody["A"]}, 70)
    assert one.departed == {"B": 70}
    one.view(everybody, 80)
    assert one.departed == {}


def test_the_cut_names_the_newest_delivered_per_sender() -> None:
    one = member()
    one.receive(Data((flat("C:1"), flat("B:1"), flat("B:2", {"B": 1}), flat("D:2", {"D": 1}))), "B", 0)
    assert one.cut() == ("B:2", "C:1")


def test_filters_of_those_who_left_are_forgotten() -> None:
    one = member("A B")
    for n in range(3 * INTERESTS):
        one.known_interest((f"room/{n}",))
    assert (
        one.known_interest(("room/1",)) is one.known_interest(("room/1",)) and len(one._interests._known) <= INTERESTS
    )
