"""The 2-D vector: columns, places, and the one colour that is left of it for subscribers."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from antecede.core.interest import Interest
from antecede.core.message import Envelope, Stamp, split_id
from antecede.core.order.matrix import ColumnInterest, MatrixWriter, place_of
from antecede.core.order.reader import Reader
from antecede.core.order.round_clock import RoundClock
from tests.core.kit import CARRIED, EVENTS, PLANS, World, agree, message

CARRIERS = {"A": ("G1", "G2"), "B": ("G1", "G2"), "C": ("G1",), "D": ("G2",)}


def writer(name: str, carriers: dict[str, tuple[str, ...]] = CARRIERS, colours: int = 9) -> MatrixWriter:
    made = MatrixWriter(name, ColumnInterest(carriers[place_of(name)], place_of(name)), RoundClock(10, colours))
    for other, groups in carriers.items():
        made.meet(other, groups)
    return made


def publish(by: MatrixWriter, name: str, *topics: str, after: list[Stamp] | None = None) -> Envelope:
    told = message(name, *topics)
    told.expires_us = by.clock.end_us(told.seq)
    return Envelope(told, by.stamp(told, after))


def give(envelope: Envelope, frm: MatrixWriter, to: MatrixWriter) -> Envelope:
    local = to.arrived(frm.relay(envelope))
    to.learn(local)
    return local


def test_a_message_has_an_entry_for_each_place_it_goes_to() -> None:
    a = writer("A")
    assert publish(a, "A:1", "G1").stamp.own == (("A@A", 1), ("A@B", 1), ("A@C", 1))
    second = publish(a, "A:2", "G1", "G2").stamp
    assert second.own == (("A@A", 2), ("A@B", 2), ("A@C", 2), ("A@D", 2))
    assert second.covers == {"A@A": 1, "A@B": 1, "A@C": 1}, "as it was before the send"


def test_what_went_before_a_place_was_known_precedes_what_it_is_sent() -> None:
    a, late = writer("A"), MatrixWriter("E", ColumnInterest(("G1",), "E"), RoundClock(10, 9))
    publish(a, "A:1", "G1")
    publish(a, "A:2", "G2")
    a.meet("E", ("G1",))
    third = publish(a, "A:3", "G1")
    assert late.arrived(a.relay(third)).stamp.needs == (("A@E", 1),)
    a.meet("E", ("G1",))
    assert a.matrix["A@E"] == 3, "once is enough"
    a.meet("F", ("G1",))
    assert publish(a, "A:4", "G1", after=[]).stamp.covers["A@F"] == 3, "whatever else it follows"


def test_what_its_sender_did_not_know_goes_here_is_addressed_here_all_the_same() -> None:
    """A stamped A:1 before it knew of E, and it left for E after: B's answer must not overtake it there."""
    a, b, late = writer("A"), writer("B"), MatrixWriter("E", ColumnInterest(("G1",), "E"), RoundClock(10, 9))
    first = publish(a, "A:1", "G1")
    b.meet("E", ("G1",))
    give(first, a, b)
    answer = late.arrived(b.relay(publish(b, "B:2", "G1")))
    assert answer.stamp.needs == (("A@E", 1),)
    assert ("A@E", 1) in late.arrived(a.relay(first)).stamp.own
    second = late.arrived(a.relay(publish(a, "A:2", "G1")))
    assert second.stamp.needs == (("A@E", 1),), "as it does elsewhere"
    assert ("A@E", 3) not in late.arrived(a.relay(publish(a, "A:3", "G2"))).stamp.own, "not for it"


def test_needs_are_the_receivers_own_column() -> None:
    a, b, c = writer("A"), writer("B"), writer("C")
    give(publish(a, "A:1", "G1"), a, b)
    give(publish(a, "A:2", "G2"), a, b)
    local = c.arrived(b.relay(publish(b, "B:3", "G1")))
    assert local.stamp.needs == (("A@C", 1),) and local.stamp.rank == 3
    assert local.stamp.covers["A@D"] == 2, "other columns travel too: they are causes of what C sends on"


def test_a_broker_that_came_back_is_in_its_old_column() -> None:
    a, back = writer("A"), writer("C.1")
    assert (
        place_of("C.1") == "C"
        and ColumnInterest(("G1",), "C").concerns("A@C")
        and not ColumnInterest(("G1",), "C").concerns("A@D")
    )
    assert back.arrived(a.relay(publish(a, "A:1", "G1"))).stamp.own[2] == ("A@C", 1)
    assert publish(back, "C.1:2", "G1").stamp.own == (("C.1@A", 2), ("C.1@B", 2), ("C.1@C", 2))


def test_a_newcomer_is_told_of_places_whose_broker_is_gone() -> None:
    new = MatrixWriter("B.1", ColumnInterest(("G1", "G2"), "B"), RoundClock(10, 9))
    new.adopt(writer("A").nodes(), {})
    assert new.carriers == writer("A").carriers


def test_what_travels_holds_nothing_of_its_senders_own() -> None:
    a = writer("A")
    sent = a.relay(publish(a, "A:1", "G1")).stamp
    assert sent.extra is None and sent.needs == () and sent.rank == 0


def test_declared_causes_and_ones_own_previous_message() -> None:
    a, b = writer("A"), writer("B")
    one, two = give(publish(a, "A:1", "G1"), a, b), give(publish(a, "A:2", "G1"), a, b)
    assert publish(b, "B:3", "G1", after=[one.stamp]).stamp.covers == {"A@A": 1, "A@B": 1, "A@C": 1}
    last = publish(b, "B:4", "G1", after=[two.stamp]).stamp
    assert last.covers == {"A@A": 2, "A@B": 2, "A@C": 2, "B@A": 3, "B@B": 3, "B@C": 3}


# -- the colour --------------------------------------------------------------------------------------------------------


def colour(by: MatrixWriter, envelope: Envelope, *groups: str) -> int:
    """The round that a subscriber reads."""
    return by.clock.round_of(by.project(envelope, Interest(groups)).stamp.rank, envelope.message.seq)


def test_the_colour_is_of_the_newest_predecessor_addressed_to_the_groups() -> None:
    a, b = writer("A"), writer("B")
    give(publish(a, "A:1", "G1"), a, b)
    give(publish(a, "A:2", "G2"), a, b)
    last = publish(b, "B:4", "G1", "G2")
    assert (colour(b, last, "G1"), colour(b, last, "G2"), colour(b, last, "G1", "G2")) == (1, 2, 2)
    assert colour(b, publish(b, "B:5", "G1"), "G2") == 4


def test_of_what_never_came_nobody_knows_the_groups() -> None:
    a, b, d = writer("A"), writer("B"), writer("D")
    give(publish(a, "A:1", "G2"), a, b)
    lost = publish(a, "A:2", "G1")
    assert lost.stamp.own[1] == ("A@B", 2)
    third = publish(a, "A:3", "G2")
    assert colour(b, b.arrived(a.relay(third)), "G2") == 2, "it may have been for G2"
    assert colour(d, give(third, a, d), "G2") == 1, "D knows that it was not for D"


def test_of_groups_that_are_not_carried_here_the_columns_of_others_speak() -> None:
    a, b, c = writer("A"), writer("B"), writer("C")
    give(publish(a, "A:1", "G2"), a, b)
    local = give(publish(b, "B:3", "G1"), b, c)
    assert colour(c, local, "G1") == 0 and colour(c, local, "G1", "G2") == 1


def test_what_has_expired_is_not_named() -> None:
    a = writer("A", colours=3)
    publish(a, "A:1", "G1")
    assert colour(a, publish(a, "A:4", "G1"), "G1") == 1 and colour(a, publish(a, "A:8", "G1"), "G1") == 0


def test_notes_are_forgotten_when_nothing_that_lives_can_follow() -> None:
    a = writer("A", colours=3)
    for name in ("A:1", "A:2", "A:7"):
        publish(a, name, "G1")
    a.forget(a.clock.start_us(9))
    assert set(a._notes) == {"A:2", "A:7"}, "a message of round 5 may come until round 7 has ended"
    assert colour(a, publish(a, "A:9", "G1"), "G1") == 7


def test_towards_subscribers_a_message_ends_with_its_lifetime() -> None:
    a = writer("A", colours=3)
    told = message("A:1", "G1", deadline_us=900)
    told.expires_us = 29
    assert a.project(Envelope(told, a.stamp(told, None)), Interest(("G1",))).message.deadline_us == 29


# -- against the definition --------------------------------------------------------------------------------------------


def world_of(plan: list[tuple[int, int, int]], clock: RoundClock) -> World:
    def made(name: str, interest: Interest) -> MatrixWriter:
        writer = MatrixWriter(name, ColumnInterest(interest.filters, name), clock)
        for other, groups in CARRIED.items():
            writer.meet(other, groups)
        return writer

    return World(plan, made, one=False, end_us=clock.end_us)


@settings(max_examples=150)
@given(PLANS, EVENTS, st.integers(0, 4), st.sampled_from("ABCD"))
def test_the_inbox_agrees_with_its_twin(plan, events, guard, name) -> None:
    world = world_of(plan, RoundClock(7, 40))
    column, writer = ColumnInterest(CARRIED[name], name), world.writers[name]
    here = [t.envelope for t in world.told.values() if column.wants(t.envelope.message.topics)]
    past = {one: told.past for one, told in world.told.items()}
    agree([writer.arrived(e) for e in here], past, Reader(column.concerns, dense=False), events, guard)


@settings(max_examples=150)
@given(PLANS, st.sampled_from([("G1",), ("G2", "G3"), ("G1", "G2", "G3")]), st.sampled_from("AC"))
def test_nothing_that_precedes_is_newer_than_the_colour(plan, groups, at) -> None:
    world = world_of(plan, RoundClock(10, 40))
    interest, writer = Interest(groups), world.writers[at]
    exact = set(groups) <= set(CARRIED[at])
    for envelope in world.catch_up(at):
        one = envelope.message.id
        before = [i for i in world.told[one].past if interest.wants(world.told[i].envelope.message.topics)]
        newest = max((split_id(i)[1] for i in before), default=0)
        read = writer.clock.round_of(writer.project(envelope, interest).stamp.rank, envelope.message.seq)
        assert read == newest if exact else read >= newest
