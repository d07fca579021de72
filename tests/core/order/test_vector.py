"""The vector's Writer: stamps say what happened before, and `needs` says enough with few marks."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from antecede.core.frames import Publish
from antecede.core.home.retiring import strip
from antecede.core.interest import Interest
from antecede.core.message import Envelope, Message, Stamp
from antecede.core.order.reader import Reader
from antecede.core.order.vector import HIGHEST, LEAP, VectorWriter
from antecede.wire import encode
from antecede.wire.limits import MAX_RANK
from tests.core.kit import PLANS, World, message


def publish(writer: VectorWriter, name: str, *topics: str, after: list[Stamp] | None = None) -> Envelope:
    told = message(name, *topics)
    return Envelope(told, writer.stamp(told, after))


def test_a_flat_group_counts_per_sender_and_groups_count_apart() -> None:
    flat, grouped = VectorWriter("A", flat=True), VectorWriter("A", flat=False)
    assert flat.dense and not grouped.dense
    assert publish(flat, "A:1", "G1", "G2").stamp.own == (("A", 1),)
    assert publish(grouped, "A:1", "G1", "G2").stamp.own == (("A@G1", 1), ("A@G2", 1))


def test_a_rank_that_nobody_can_have_counted_to_is_not_followed() -> None:
    """Eve's message is delivered, and what its receivers publish then travels."""
    writer = VectorWriter("A", flat=True)
    for n, rank in enumerate((LEAP + 1, 2**61, MAX_RANK), 1):
        writer.learn(Envelope(message(f"Eve:{n}"), Stamp((("Eve", n),), rank=rank)))
    assert publish(writer, "A:1").stamp.rank == 1
    writer.rank = HIGHEST - 1  # as far as Eve gets a leap at a time
    for n, rank in enumerate((HIGHEST, HIGHEST + 1, MAX_RANK), 4):
        writer.learn(Envelope(message(f"Eve:{n}"), Stamp((("Eve", n),), rank=rank)))
    assert writer.rank == HIGHEST
    assert encode(Publish((publish(writer, "A:2"),)))


def test_the_next_message_needs_the_one_before_and_covers_it() -> None:
    writer = VectorWriter("A", flat=True)
    first, second = publish(writer, "A:1"), publish(writer, "A:2")
    assert first.stamp.needs == () and not first.stamp.covers
    assert second.stamp.needs == (("A", 1),) and second.stamp.covers == {"A": 1}
    assert second.stamp.rank > first.stamp.rank


def test_needs_are_what_rose_since_the_previous_message_and_that_message() -> None:
    a, b, c = (VectorWriter(name, flat=True) for name in "ABC")
    a.learn(publish(b, "B:1"))
    a.learn(publish(c, "C:1"))
    assert set(publish(a, "A:1").stamp.needs) == {("B", 1), ("C", 1)}
    a.learn(publish(b, "B:2"))
    second = publish(a, "A:2").stamp
    assert set(second.needs) == {("A", 1), ("B", 2)} and second.covers == {"A": 1, "B": 2, "C": 1}
    assert publish(a, "A:3").stamp.needs == (("A", 2),)


def test_needs_are_the_leaves_of_each_group() -> None:
    a, b, c = (VectorWriter(name, flat=False) for name in "ABC")
    a.learn(publish(b, "B:1", "G1"))
    publish(a, "A:1", "G2")
    a.learn(publish(c, "C:1", "G2"))
    assert set(publish(a, "A:2", "G1").stamp.needs) == {("B@G1", 1), ("A@G2", 1), ("C@G2", 1)}
    third = publish(a, "A:3", "G1", "G2").stamp
    assert set(third.needs) == {("A@G1", 2), ("A@G2", 1), ("C@G2", 1)}
    assert third.covers == {"B@G1": 1, "A@G1": 2, "A@G2": 1, "C@G2": 1}
    assert set(publish(a, "A:4", "G2").stamp.needs) == {("A@G1", 3), ("A@G2", 3)}


def test_causes_that_were_only_heard_of_are_leaves_until_something_newer_is() -> None:
    a, b, c, d = (VectorWriter(name, flat=False) for name in "ABCD")
    old, new = publish(a, "A:1", "G1"), publish(a, "A:2", "G1")
    b.learn(old)
    c.learn(old)
    c.learn(new)
    d.learn(publish(c, "C:1", "G2"))
    d.learn(publish(b, "B:1", "G2"))
    assert set(publish(d, "D:1", "G1").stamp.needs) == {("A@G1", 2), ("B@G2", 1), ("C@G2", 1)}


def test_marks_of_foreign_groups_are_learned_too() -> None:
    """Without them order through a third group is lost."""
    a, b, c = (VectorWriter(name, flat=False) for name in "ABC")
    x = publish(a, "A:1", "G1")
    b.learn(x)
    y = publish(b, "B:1", "G2")
    c.learn(y)
    assert publish(c, "C:1", "G1").stamp.covers == {"A@G1": 1, "B@G2": 1}


def test_after_a_hole_in_its_senders_stream_the_whole_stamp_is_learned() -> None:
    a, b, c = (VectorWriter(name, flat=True) for name in "ABC")
    b.learn(publish(a, "A:1"))
    publish(b, "B:1")
    second = publish(b, "B:2")
    assert second.stamp.needs == (("B", 1),)
    c.learn(second)
    assert c.past() == {"A": 1, "B": 2}


def test_learning_an_older_message_lowers_nothing() -> None:
    a, b = VectorWriter("A", flat=True), VectorWriter("B", flat=True)
    first, second = publish(a, "A:1"), publish(a, "A:2")
    b.learn(second)
    b.learn(first)
    assert b.past() == {"A": 2} and b.rank == second.stamp.rank
    assert publish(b, "B:1").stamp.rank > second.stamp.rank


def test_declared_causes_are_closed_and_include_ones_own_previous_message() -> None:
    a, b, c = (VectorWriter(name, flat=True) for name in "ABC")
    one = publish(a, "A:1")
    b.learn(one)
    two = publish(b, "B:1")
    other = publish(VectorWriter("D", flat=True), "D:1")
    for envelope in (one, two, other):
        c.learn(envelope)
    first = publish(c, "C:1", after=[two.stamp]).stamp
    assert first.covers == {"A": 1, "B": 1} and dict(first.needs) == first.covers
    second = publish(c, "C:2", after=[other.stamp]).stamp
    assert second.covers == {"A": 1, "B": 1, "C": 1, "D": 1}


def test_after_a_declared_message_the_next_still_needs_what_it_left_out() -> None:
    a, b = VectorWriter("A", flat=True), VectorWriter("B", flat=True)
    a.learn(publish(b, "B:1"))
    publish(a, "A:1", after=[])
    assert set(publish(a, "A:2").stamp.needs) == {("A", 1), ("B", 1)}


def test_a_chain_names_several_own_messages() -> None:
    writer = VectorWriter("A", flat=False, chain=3)
    for n in (1, 2, 3, 4):
        publish(writer, f"A:{n}", "G1")
    publish(writer, "A:5", "G2")
    needs = publish(writer, "A:6", "G1").stamp.needs
    assert needs == (("A@G1", 4), ("A@G1", 3), ("A@G1", 2), ("A@G2", 5)), "newest first"


@settings(max_examples=200)
@given(PLANS)
def test_stamps_agree_with_the_transitive_closure(plan) -> None:
    for one in (True, False):
        world = World(plan, lambda name, interest, one=one: VectorWriter(name, flat=one), one=one)
        reader = Reader(Interest(("#",)).concerns, dense=one)
        for b, later in world.told.items():
            stamp = later.envelope.stamp
            for a, earlier in world.told.items():
                assert reader.precedes(earlier.envelope.stamp, stamp) == (a in later.past)
            assert all(world.told[a].envelope.stamp.rank < stamp.rank for a in later.past), b
            for stream, n in stamp.needs:
                assert f"{stream.partition('@')[0]}:{n}" in later.past


class Eager(VectorWriter):
    """The dumb twin: looks at every message at once."""

    def learn(self, envelope: Envelope) -> None:
        super().learn(envelope)
        self.catch_up()


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from([("G1",), ("G2",), ("G1", "G2")]), st.integers(0, 31)),
        max_size=40,
    ),
    st.booleans(),
)
def test_reading_late_makes_no_difference(steps: list[tuple[int, tuple[str, ...], int]], flat: bool) -> None:
    """Whoever reads only the newest of each stream, when it publishes, stamps as one that reads all of them at once."""
    writers = [VectorWriter(name, flat=flat, chain=4) for name in "pqrs"]
    lazy, eager = VectorWriter("me", flat=flat), Eager("me", flat=flat)
    for seq, (who, topics, hearers) in enumerate(steps, 1):
        told = Message(writers[who].name, seq, topics)
        envelope = Envelope(told, writers[who].stamp(told, None))
        lazy.learn(envelope)
        eager.learn(envelope)
        for place, writer in enumerate(writers):
            if place != who and hearers >> place & 1:
                writer.learn(envelope)
        if hearers & 16:
            own = Message("me", seq, topics)
            late, soon = lazy.stamp(own, None), eager.stamp(own, None)
            assert (late.own, set(late.needs), late.rank) == (soon.own, set(soon.needs), soon.rank)
            assert late.covers == soon.covers
    assert lazy.past() == eager.past()


def test_what_is_retired_is_named_no_more_and_what_it_stood_for_is_named_itself() -> None:
    a, b, c = (VectorWriter(name, flat=False) for name in "ABC")
    first = publish(a, "A:1", "G1")
    b.learn(first)
    second = publish(b, "B:1", "G1")
    c.learn(second)
    c.retire({"B@G1": 1})
    third = publish(c, "C:1", "G1").stamp
    assert third.covers == {"A@G1": 1} and third.needs == (("A@G1", 1),)
    c.retire({"A@G1": 1, "C@G1": 1})
    assert not c.past() and publish(c, "C:2", "G1").stamp.needs == ()


def test_a_message_in_two_groups_is_named_by_the_one_that_is_not_over() -> None:
    a, b = VectorWriter("A", flat=False), VectorWriter("B", flat=False)
    b.learn(publish(a, "A:1", "G1", "G2"))
    b.retire({"A@G1": 1})
    assert b.past() == {"A@G2": 1}
    stamp = publish(b, "B:1", "G1").stamp
    assert stamp.covers == {"A@G2": 1} and stamp.needs == (("A@G2", 1),)


def test_one_s_own_messages_that_are_over_are_in_no_chain() -> None:
    writer = VectorWriter("A", flat=False, chain=8)
    for n in (1, 2, 3):
        publish(writer, f"A:{n}", "G1")
    writer.retire({"A@G1": 2})
    assert publish(writer, "A:4", "G1").stamp.needs == (("A@G1", 3),)
    writer.retire({"A@G1": 4})
    assert publish(writer, "A:5", "G1", after=[]).stamp.needs == ()


def test_what_is_over_stays_away_though_the_past_lost_it_first() -> None:
    """S delivers a message whose stamp was passed on without p:1, before it is told that p:1 is over: the past of S has
    lost p:1 then, but leaves remember it. (`antecede simulate --recipe home --seed 3 --draw 8 --leavers`)"""
    p, q, s = (VectorWriter(name, flat=False) for name in "PQS")
    first = publish(p, "P:1", "G2")
    q.learn(first)
    s.learn(first)
    between = publish(q, "Q:1", "G2")
    s.learn(between)
    mine = publish(s, "S:1", "G1")
    q.learn(mine)
    s.learn(strip(publish(q, "Q:2", "G1"), {"P@G2": 1}))
    assert "P@G2" not in s.past()
    told = publish(s, "S:2", "G1").stamp
    assert told.covers.keys() >= {stream for stream, _ in told.needs} and "P@G2" not in told.covers
    s.retire({"P@G2": 1})
    s.retire({"Q@G2": 1})
    told = publish(s, "S:3", "G1").stamp
    assert {stream for stream, _ in told.needs} == {"S@G1"} and told.covers == {"S@G1": 2, "Q@G1": 2}


def test_needs_name_nothing_that_is_not_covered() -> None:
    """A leaf that the past has lost is over everywhere: nobody is made to wait for it."""
    p, q, s = (VectorWriter(name, flat=False) for name in "PQS")
    first = publish(p, "P:1", "G2")
    q.learn(first)
    s.learn(first)
    mine = publish(s, "S:1", "G1")
    assert ("P@G2", 1) in mine.stamp.needs
    q.learn(mine)
    s.learn(strip(publish(q, "Q:1", "G1"), {"P@G2": 1}))
    assert publish(s, "S:2", "G1").stamp.needs == (("Q@G1", 1),)
