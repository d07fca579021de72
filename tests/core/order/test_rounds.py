"""The vector of round colours: what is projected, what is decoded, and that both say what happened before."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from antecede.core.interest import Interest
from antecede.core.message import Envelope
from antecede.core.order.reader import Reader
from antecede.core.order.round_clock import RoundClock
from antecede.core.order.rounds import ColoursReader, RoundsWriter
from tests.core.kit import EVENTS, PLANS, World, agree, message

G1, G2, BOTH = Interest(("G1",)), Interest(("G2",)), Interest(("G1", "G2"))


def publish(writer: RoundsWriter, name: str, *topics: str) -> Envelope:
    told = message(name, *topics)
    return Envelope(told, writer.stamp(told, None))


def test_entries_are_rounds_and_the_clock_hears_of_them() -> None:
    clock = RoundClock(10, 5)
    a, b = RoundsWriter("A", RoundClock(10, 5)), RoundsWriter("B", clock)
    first = publish(a, "A:4", "G1", "G2")
    assert first.stamp.own == (("A@G1", 4), ("A@G2", 4))
    b.learn(first)
    assert clock.newest == 4 and b.past() == {"A@G1": 4, "A@G2": 4}


def test_one_colour_per_broker_of_the_newest_round_addressed_to_the_subscriber() -> None:
    a, clock = RoundsWriter("A", RoundClock(10, 5)), RoundClock(10, 5)
    publish(a, "A:3", "G1")
    publish(a, "A:4", "G2")
    b = RoundsWriter("B", clock)
    b.learn(publish(a, "A:5", "G1", "G2"))
    last = publish(b, "B:7", "G1")
    colour = clock.colour_of(5, 7)
    assert b.project(last, G1).stamp.covers == b.project(last, G2).stamp.covers == {"A": colour}
    other = publish(a, "A:6", "G2")
    assert a.project(other, G1).stamp.covers == {"A": clock.colour_of(5, 6)}
    assert a.project(publish(a, "A:7", "G1"), G1).stamp.covers == {"A": clock.colour_of(5, 7)}, "A:6 is not for G1"


def test_what_has_expired_is_left_out() -> None:
    a = RoundsWriter("A", RoundClock(10, 3))
    publish(a, "A:1", "G1")
    second = publish(a, "A:4", "G1")
    assert a.project(second, G1).stamp.covers == {"A": a.clock.colour_of(1, 4)}, "a clock may lag: it still counts"
    third = publish(a, "A:8", "G1")
    assert a.project(third, G1).stamp.covers == {}


def test_a_colour_is_read_as_the_newest_round_below() -> None:
    clock = RoundClock(10, 3)
    a, reader = RoundsWriter("A", clock), ColoursReader(clock)
    publish(a, "A:5", "G1")
    seen = reader.arrived(a.project(publish(a, "A:7", "G1"), G1)).stamp
    assert seen.own == (("A", 7),) and seen.needs == (("A", 5),) and seen.covers == {"A": 5} and seen.rank == 7


@settings(max_examples=150)
@given(PLANS, st.sampled_from([("G1",), ("G2", "G3"), ("G1", "G2", "G3")]))
def test_colours_agree_with_the_transitive_closure(plan, groups) -> None:
    clock = RoundClock(10, 40)  # nothing expires
    world = World(plan, lambda name, interest: RoundsWriter(name, clock), one=False, end_us=clock.end_us)
    interest, reader = Interest(groups), ColoursReader(clock)
    have = [e for e in world.catch_up("A") if interest.wants(e.message.topics)]
    read = {e.message.id: reader.arrived(world.writers["A"].project(e, interest)).stamp for e in have}
    for one, stamp in read.items():
        for other, earlier in read.items():
            assert reader.precedes(earlier, stamp) == (other in world.told[one].past)


@settings(max_examples=150)
@given(PLANS, EVENTS, st.integers(0, 4), st.sampled_from([("G1",), ("G2", "G3"), ("G1", "G2", "G3")]))
def test_the_inbox_agrees_with_its_twin(plan, events, guard, groups) -> None:
    clock = RoundClock(7, 40)
    world = World(plan, lambda name, interest: RoundsWriter(name, clock), one=False, end_us=clock.end_us)
    interest, reader = Interest(groups), ColoursReader(clock)
    have = [e for e in world.catch_up("A") if interest.wants(e.message.topics)]
    projected = [reader.arrived(world.writers["A"].project(e, interest)) for e in have]
    past = {one: told.past for one, told in world.told.items()}
    agree(projected, past, reader, events, guard)
    came = [told.envelope for told in world.told.values() if interest.wants(told.envelope.message.topics)]
    agree(came, past, Reader(interest.concerns, dense=False), events, guard)
