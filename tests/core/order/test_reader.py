"""What lies behind, what blocks, what is missing: each rule by hand, then against sets that know every cause."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from antecede.core.interest import Interest
from antecede.core.message import Stamp
from antecede.core.order.reader import AHEAD, Reader
from antecede.core.order.vector import VectorWriter
from tests.core.kit import PLANS, World, flat, grouped


def everything(stream: str) -> bool:
    return True


def dense() -> Reader:
    return Reader(everything, dense=True)


def sparse() -> Reader:
    return Reader(everything, dense=False)


def needing(*needs: tuple[str, int], own: tuple[str, int] = ("Z", 1)) -> Stamp:
    return Stamp((own,), needs, dict(needs))


def test_nothing_lies_behind_at_first() -> None:
    reader = dense()
    assert reader.behind("A", 0) and not reader.behind("A", 1)
    assert reader.blocker(needing()) is None


def test_dense_streams_block_at_the_first_hole() -> None:
    reader = dense()
    reader.skipped((("A", 2),), None)
    assert reader.blocker(needing(("A", 4))) == ("A", 1)
    assert reader.missing(needing(("A", 4))) == [("A", 1), ("A", 3), ("A", 4)]
    reader.delivered(flat("A:1").stamp, forced=False)
    assert reader.front == {"A": 2} and not reader.above
    assert reader.blocker(needing(("A", 4))) == ("A", 3)
    reader.skipped((("A", 3),), None)
    reader.skipped((("A", 5),), None)
    assert reader.blocker(needing(("A", 4))) == ("A", 4)


def test_in_a_flat_group_all_that_is_covered_and_missing_is_asked_for() -> None:
    """T1: one answer brings m1 and m2, though m3 needs only m2."""
    reader = dense()
    reader.delivered(flat("C:1").stamp, forced=False)
    m3 = Stamp((("S", 1),), (("Q", 1),), {"P": 2, "Q": 1, "C": 1})
    assert reader.blocker(m3) == ("Q", 1) and reader.missing(m3) == [("Q", 1), ("P", 1), ("P", 2)]


def test_a_far_number_is_looked_at_in_pieces() -> None:
    """Whoever names 2^62 must not keep others waiting."""
    reader = dense()
    far = needing(("A", 2**62))
    assert (
        reader.missing(far) == [("A", n) for n in range(1, AHEAD + 1)] and list(reader.offered("A", 2**62))[-1] == AHEAD
    )
    many = needing(*((f"S{n}", 2**62) for n in range(100)))
    assert len(reader.missing(many)) == AHEAD + 99, "and of many, one each beyond that"
    reader.start_at({"A": AHEAD})
    assert reader.missing(far)[0] == ("A", AHEAD + 1)


def test_sparse_streams_name_what_blocks() -> None:
    reader = sparse()
    assert reader.blocker(needing(("A", 4))) == ("A", 4)
    assert reader.missing(needing(("A", 4), ("B", 2))) == [("A", 4), ("B", 2)]
    reader.skipped((("A", 4),), None)
    assert reader.blocker(needing(("A", 4))) is None
    assert reader.behind("A", 4) and not reader.behind("A", 3)


def test_only_streams_that_concern_the_reader_count() -> None:
    reader = Reader(Interest(("G1",)).concerns, dense=False)
    stamp = grouped("A:3", "G1", "G2", needs=[("B@G2", 7), ("B@G1", 5)]).stamp
    assert reader.blocker(stamp) == ("B@G1", 5) and reader.missing(stamp) == [("B@G1", 5)]
    reader.delivered(stamp, forced=True)
    assert reader.front == {"A@G1": 3, "B@G1": 5}
    reader.skipped((("C@G2", 1),), None)
    reader.start_at({"C@G2": 4})
    assert reader.front == {"A@G1": 3, "B@G1": 5} and not reader.skips and not reader.cut
    assert reader.stale(grouped("A:2", "G1", "G2").stamp) and not reader.stale(grouped("A:2", "G2").stamp)
    reader.look_at(Interest(("G2",)).concerns)
    assert reader.blocker(stamp) == ("B@G2", 7)


def test_stale_in_any_one_stream() -> None:
    reader = sparse()
    reader.delivered(grouped("A:4", "G1").stamp, forced=False)
    assert reader.stale(grouped("A:4", "G2", "G1").stamp) and reader.stale(grouped("A:3", "G1").stamp)
    assert not reader.stale(grouped("A:5", "G1").stamp) and not reader.stale(grouped("A:4", "G2").stamp)


def test_what_a_cut_takes_in_one_group_may_be_owed_in_another() -> None:
    reader = Reader(Interest(("G1", "G2")).concerns, dense=False)
    reader.start_at({"A@G1": 4})
    assert reader.stale(grouped("A:4", "G1").stamp) and reader.stale(grouped("A:4", "G1", "G3").stamp)
    both = grouped("A:4", "G1", "G2").stamp
    assert not reader.stale(both)
    reader.delivered(both, forced=False)
    assert reader.stale(both) and not reader.stale(grouped("A:5", "G1", "G2").stamp)


def test_precedes_reads_what_is_covered_up_to_and_with_the_mark() -> None:
    reader = Reader(Interest(("G1",)).concerns, dense=False)
    later = grouped("B:1", "G1", covers={"A@G1": 3, "A@G2": 9}).stamp
    assert reader.precedes(grouped("A:3", "G1").stamp, later) and reader.precedes(grouped("A:1", "G1").stamp, later)
    assert not reader.precedes(grouped("A:4", "G1").stamp, later)
    assert not reader.precedes(grouped("A:5", "G2").stamp, later)


def test_whoever_needs_a_skipped_message_needs_what_that_one_needed() -> None:
    """H7, through two of them."""
    reader = sparse()
    reader.skipped((("A", 3),), needing(("B", 2), own=("A", 3)))
    reader.skipped((("B", 2),), needing(("C", 1), own=("B", 2)))
    stamp = needing(("A", 3))
    assert reader.blocker(stamp) == ("C", 1) and reader.missing(stamp) == [("C", 1)]
    reader.delivered(needing(own=("C", 1)), forced=False)
    assert reader.blocker(stamp) is None


def test_in_dense_streams_what_a_skipped_message_needed_is_asked_for_too() -> None:
    reader = dense()
    reader.skipped((("A", 1),), needing(("B", 2), own=("A", 1)))
    stamp = needing(("A", 1), own=("C", 1))
    assert reader.blocker(stamp) == ("B", 1) and reader.missing(stamp) == [("B", 1), ("B", 2)]


def test_a_message_of_several_groups_is_asked_for_once_by_a_mark_that_is_missing() -> None:
    reader = sparse()
    stamp = needing(("A@G1", 1), ("A@G2", 1), ("B@G1", 1))
    assert reader.missing(stamp) == [("A@G1", 1), ("B@G1", 1)]
    reader.start_at({"A@G1": 1})
    assert reader.missing(stamp) == [("A@G2", 1), ("B@G1", 1)]


def test_a_skip_does_not_lie_behind_with_its_causes() -> None:
    reader = dense()
    reader.skipped((("A", 1),), needing(("B", 2), own=("A", 1)))
    assert reader.behind("A", 1) and not reader.behind("B", 1) and not reader.behind("B", 2)
    assert reader.front == {"A": 1}


def test_a_skip_with_nothing_missing_before_it_is_soon_forgotten() -> None:
    reader = dense()
    reader.delivered(needing(own=("B", 1)), forced=False)
    reader.skipped((("A", 1),), needing(("B", 1), own=("A", 1)))
    reader.delivered(needing(("A", 1), own=("A", 2)), forced=False)
    assert reader.front == {"A": 2, "B": 1} and not reader.skips


def test_of_what_is_gone_all_it_may_have_stood_for_is_needed() -> None:
    """Nothing is known of it: whoever needs it needs all it covers itself."""
    reader = sparse()
    reader.skipped((("A", 3),), None)
    stamp = Stamp((("Z", 1),), (("A", 3),), {"A": 3, "B": 2})
    assert reader.blocker(stamp) == ("B", 2) and reader.missing(stamp) == [("B", 2)]
    reader.delivered(needing(own=("B", 2)), forced=False)
    assert reader.blocker(stamp) is None


def test_also_what_stands_before_one_that_is_known_to_be_over() -> None:
    """A:3 is gone and may have followed B:2, which has expired; of that it is known that it followed C:1."""
    reader = sparse()
    reader.skipped((("B", 2),), needing(("C", 1), own=("B", 2)))
    reader.skipped((("A", 3),), None)
    stamp = Stamp((("Z", 1),), (("A", 3),), {"A": 3, "B": 2})
    assert reader.blocker(stamp) == ("C", 1) and reader.missing(stamp) == [("C", 1)]


def test_what_is_held_stands_before_what_was_given_up_of_the_same_sender() -> None:
    """A:5 is gone, and nothing is known of it but that A:4 came before: whatever follows A:5 follows A:4."""
    reader = sparse()
    reader.held["A"] = {4}
    reader.skipped((("A", 5),), None)
    reader.skipped((("B", 2),), None)
    later = Stamp((("B", 3),), (("B", 2),), {"A": 5, "B": 2})
    assert reader.blocker(later) == ("A", 4) == reader.blocker(needing(("A", 5)))
    reader.delivered(Stamp((("A", 4),)), forced=False)
    del reader.held["A"]
    assert reader.blocker(later) is None
    known = sparse()
    known.held["A"] = {4}
    known.skipped((("A", 5),), needing(("C", 1)))
    assert known.blocker(needing(("A", 5))) == ("C", 1), "of this one it is known what it needed"


def test_a_forced_delivery_puts_all_it_covers_behind() -> None:
    reader = dense()
    reader.skipped((("A", 4),), None)
    reader.delivered(Stamp((("C", 1),), (("B", 2),), {"A": 3, "B": 2}), forced=True)
    assert reader.front == {"A": 4, "B": 2, "C": 1} and not reader.above


def test_a_delivery_after_a_skip_or_a_cut_puts_all_it_covers_behind() -> None:
    """Its needs lie behind, but not by delivery: what they covered may not."""
    reader = dense()
    reader.skipped((("B", 1),), None)
    reader.delivered(Stamp((("C", 1),), (("B", 1),), {"A": 3, "B": 1}), forced=False)
    assert reader.behind("A", 3)
    reader = dense()
    reader.start_at({"B": 1})
    reader.delivered(Stamp((("C", 1),), (("B", 1),), {"A": 3, "B": 1}), forced=False)
    assert reader.behind("A", 3)


def test_a_cut_lies_behind_and_is_remembered() -> None:
    reader = dense()
    reader.delivered(flat("A:1").stamp, forced=False)
    reader.start_at({"A": 1, "B": 2})
    assert reader.cut == {"B": 2} and reader.behind("B", 2) and not reader.behind("B", 3)
    assert reader.cut_off(flat("B:2").stamp) and reader.cut_off(flat("B:1").stamp)
    assert not reader.cut_off(flat("B:3").stamp) and not reader.cut_off(flat("A:1").stamp)


def test_whoever_watches_is_freed_once_and_in_order() -> None:
    reader = dense()
    reader.watch(("A", 2), "late comer")
    reader.watch(("A", 1), "first")
    reader.watch(("A", 1), "second")
    reader.watch(("A", 4), "beyond")
    reader.delivered(needing(("A", 1), own=("A", 2)), forced=True)
    assert reader.freed == ["first", "second", "late comer"] and reader.watched == {"A": {4: ["beyond"]}}
    reader.skipped((("A", 4),), None)
    assert reader.freed[3:] == ["beyond"] and not reader.watched


def test_reaching_a_mark_also_frees_what_compacting_passes() -> None:
    reader = sparse()
    reader.skipped((("A", 3),), None)
    reader.skipped((("A", 2),), None)
    reader.watch(("A", 1), "x")
    reader.watch(("A", 3), "y")
    reader.delivered(needing(own=("A", 1)), forced=False)
    assert reader.freed == ["x", "y"] and reader.front == {"A": 3}


STEPS = st.lists(st.tuples(st.sampled_from(["deliver", "skip", "force", "gone"]), st.integers(0, 40)), max_size=25)


@settings(max_examples=200)
@given(PLANS, STEPS, st.booleans())
def test_agrees_with_sets_that_know_every_cause(plan, steps, one_group) -> None:
    world = World(plan, lambda name, interest: VectorWriter(name, flat=one_group), one=one_group)
    interest = Interest(("G1", "G2"))
    reader = Reader(interest.concerns, dense=one_group)
    wanted = {i: t for i, t in world.told.items() if interest.wants(t.envelope.message.topics)}
    past = {i: {p for p in t.past if p in wanted} for i, t in wanted.items()}
    behind: set[str] = set()
    for what, pick in steps:
        left = [i for i in wanted if i not in behind]
        if not left:
            break
        one = left[pick % len(left)]
        stamp = wanted[one].envelope.stamp
        ready = past[one] <= behind
        assert (reader.blocker(stamp) is None) == ready == (not reader.missing(stamp))
        if what in ("skip", "gone"):
            reader.skipped(stamp.own, stamp)
            behind.add(one)
        elif ready or what == "force":
            reader.delivered(stamp, forced=not ready)
            behind |= {one, *past[one]}
        for i, t in wanted.items():
            assert reader.stale(t.envelope.stamp) == (i in behind)
            blocked = {f"{s.partition('@')[0]}:{n}" for s, n in reader.missing(t.envelope.stamp)}
            lacking = past[i] - behind
            assert blocked <= {*lacking} and bool(blocked) == bool(lacking)
            for j, u in wanted.items():
                assert reader.precedes(u.envelope.stamp, t.envelope.stamp) == (j in past[i])


def test_what_several_unknown_ones_may_have_stood_for_is_looked_at_once() -> None:
    """Else one that needs n lost messages costs n times all that it covers, and those it follows as much again."""
    reader = sparse()
    lost = [("A", n) for n in range(1, 20)]
    for mark in lost:
        reader.skipped((mark,), None)
    both = Stamp((("Z", 1),), tuple(lost), {"A": 19, "B": 3})
    assert [one.needs for one in reader._skipped_by(both)] == [(("A", 19), ("B", 3))]


def test_what_is_retired_lies_behind_and_frees_who_waits_for_it() -> None:
    reader = Reader(everything, dense=False)
    reader.watch(("p@G1", 3), "token")
    reader.retire({"p@G1": 3, "q~@G1": 2})
    assert reader.behind("p@G1", 3) and reader.behind("q~@G1", 1) and reader.freed == ["token"]
    reader.forget(["p@G1"])
    assert not reader.behind("p@G1", 1) and reader.newest("p@G1") == 0


def test_the_newest_is_unknown_while_something_before_a_skipped_one_may_come() -> None:
    reader = Reader(everything, dense=False)
    reader.skipped((("p@G1", 2),), Stamp((("p@G1", 2),), (("q@G1", 1),)))
    assert reader.newest("p@G1") is None
    reader.delivered(Stamp((("q@G1", 1),)), forced=False)
    assert reader.newest("p@G1") == 2
