"""Gossip in rounds: what is pushed how often, what is named, who asks, and when a message is let go of."""

from __future__ import annotations

from typing import Any

import pytest

from antecede.core.frames import Data, Request, Rumours
from antecede.core.machine import Peer
from antecede.core.message import Envelope, Message, Publication, Stamp
from antecede.core.spread.lpbcast import NAMED, lifetime
from tests.core.kit import frame_to, machine, sent, told

ROUND_US = 100


def member(recipe: str, name: str = "A", peers: str = "A B C D E", **knobs: Any) -> Any:
    one = machine(recipe, name, "member", "G1", **{"round_us": ROUND_US, "fanout": 2, **knobs})
    one.view({peer: Peer(peer, "member", ("G1",)) for peer in peers.split()}, 0)
    one.start(0)
    return one


def rounds(one: Any) -> list[list[tuple[tuple[str, ...], Rumours]]]:
    """What goes out in each round until it is quiet."""
    found = []
    while (at_us := one.next_wake()) is not None:
        found.append(sent(one.wake(at_us), Rumours))
    return found


@pytest.mark.parametrize(("recipe", "pushed"), [("lpbcast-once", 1), ("lpbcast-unlimited", 6), ("pbcast", 0)])
def test_how_often_a_message_is_pushed(recipe: str, pushed: int) -> None:
    one = member(recipe)
    first = told(one.publish(Publication(("G1",)), 0)[1])
    assert first == (["data to B,C,D,E: A~:1"] if recipe == "pbcast" else []), "bimodal: a multicast first"
    gossip = rounds(one)
    assert len(gossip) == lifetime(5) == 6
    with_message = [[frame for _, frame in told_ if frame.envelopes] for told_ in gossip]
    assert [len(frames) for frames in with_message] == [2] * pushed + [0] * (6 - pushed)


@pytest.mark.parametrize(("recipe", "named"), [("lpbcast-once", True), ("lpbcast-unlimited", False), ("pbcast", True)])
def test_names_go_out_as_long_as_it_is_kept(recipe: str, named: bool) -> None:
    one = member(recipe)
    one.publish(Publication(("G1",)), 0)
    for frames in rounds(one):
        assert all(frame.digest == ((("A~", 0, 1),) if named else ()) for _, frame in frames)
        assert len(frames) == 2 and len({to for to, _ in frames}) == 2


def test_afterwards_it_is_let_go_of_and_said_so() -> None:
    one = member("lpbcast-once")
    one.publish(Publication(("G1",)), 0)
    lines: list[str] = []
    while (at_us := one.next_wake()) is not None:
        lines = told(one.wake(at_us))
    assert lines[-1] == "collect A~:1" and not one.store.by_id
    assert told(one.receive(Request((("A~", 0, 1),)), "B", 9_999)) == []


def test_what_came_is_gossiped_about_like_ones_own_and_once_only() -> None:
    a, b = member("lpbcast-once"), member("lpbcast-once", "B")
    a.publish(Publication(("G1",)), 0)
    frame = Rumours(tuple(a.store.by_id.values()))
    assert told(b.receive(frame, "A", 1)) == ["deliver A~:1 causes"]
    assert told(b.receive(frame, "C", 2)) == ["discard A~:1 duplicate"]
    assert len(rounds(b)) == lifetime(5)


def test_who_lacks_what_is_named_asks_a_round_later_and_whoever_named_it_first() -> None:
    a, b = member("lpbcast-once"), member("lpbcast-once", "B")
    a.publish(Publication(("G1",)), 0)
    assert told(b.receive(Rumours((), (("A~", 0, 1),)), "C", 0)) == []
    assert b.next_wake() == ROUND_US
    effects = b.wake(ROUND_US)
    assert told(effects) == ["ask C for A~:1", "request to C"]
    answer = frame_to(a.receive(frame_to(effects, "C", Request), "B", 0), "B", Data)
    assert told(b.receive(answer, "A", ROUND_US + 1))[0] == "deliver A~:1 causes"


def test_of_what_is_named_only_so_much_is_looked_at_and_the_newest() -> None:
    b = member("lpbcast-once", "B")
    b.receive(Rumours((), (("A~", 5, 2**40),)), "C", 0)
    assert len(b.wants.wants) == NAMED and ("A~", 2**40) in b.wants.wants
    b = member("lpbcast-once", "B")
    b.receive(Rumours((), tuple((f"x{i}~", i, i + 1000) for i in range(100))), "C", 0)
    assert len(b.wants.wants) == NAMED, "of all ranges together"


def test_what_has_expired_need_not_be_let_go_of() -> None:
    b = member("lpbcast-once", "B")
    one = Message("A", 1, ("G1",), b"", 60, None, None, "none")
    b.receive(Rumours((Envelope(one, Stamp((("A~", 1),))),)), "A", 1)
    assert len(rounds(b)) >= lifetime(5) and not b.store.by_id


def test_without_digests_nobody_asks() -> None:
    b = member("lpbcast-unlimited", "B")
    b.receive(Rumours((), (("A~", 0, 1),)), "C", 0)
    assert b.next_wake() is None


def test_the_chain_goes_by_the_clock_and_reaches_each_other_one_by_itself() -> None:
    """What the analysis assumes: rounds in step, each process reached with probability fanout / (n - 1)."""
    one = member("lpbcast-chain", fanout=2)
    one.publish(Publication(("G1",)), 250)
    assert one.next_wake() == 300
    counts = []
    for _ in range(400):
        one = member("lpbcast-chain", fanout=2)
        one.dice.seed(len(counts))
        one.publish(Publication(("G1",)), 250)
        counts.append(len(sent(one.wake(300), Rumours)))
    assert {0, 4} <= set(counts), "not a fixed number"
    assert 1.8 < sum(counts) / len(counts) < 2.2


def test_much_gossip_is_sent_in_several_frames() -> None:
    one = member("lpbcast-once", peers="A B", fanout=1)
    for _ in range(70):
        one.publish(Publication(("G1",)), 0)
    frames = [frame for _, frame in rounds(one)[0]]
    assert [len(frame.envelopes) for frame in frames] == [32, 32, 6]
    assert [frame.digest for frame in frames] == [(("A~", 0, 70),), (), ()]


def test_names_of_members_are_taken_in_and_what_makes_room_is_passed_on() -> None:
    one = member("lpbcast-once", view=2, fanout=2)
    before = set(one.local.names)
    new = next(name for name in "BCDE" if name not in before)
    one.receive(Rumours((), (), (new,)), "B", 0)
    assert new in one.local.names and len(one.local.names) == 2
    one.publish(Publication(("G1",)), 0)
    said = [name for frames in rounds(one) for _, frame in frames for name in frame.names if name != "A"]
    assert said == [*before.difference(one.local.names)]
