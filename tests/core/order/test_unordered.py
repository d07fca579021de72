"""Unordered messages: numbers of their own, a name for the one before, and a Reader that neither leads astray."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from antecede.core.message import UNORDERED, Publication, Stamp
from antecede.core.order.reader import Reader
from antecede.core.order.unordered import LooseWriter


def writer(*, flat: bool = True, slack_us: int = 0) -> LooseWriter:
    return LooseWriter("A", flat=flat, slack_us=slack_us)


def test_they_are_numbered_apart_and_follow_nothing() -> None:
    one = writer()
    first, second = (one.envelope(Publication(("G1",)), 0) for _ in range(2))
    assert (first.message.id, second.message.id) == ("A~:1", "A~:2")
    assert first.message.sender == "A" and first.message.after == UNORDERED and first.message.order == "none"
    assert first.stamp.own == (("A~", 1),) and second.stamp.needs == ()


def test_each_names_the_one_before_it_in_each_of_its_streams() -> None:
    one = writer(flat=False)
    assert one.envelope(Publication(("G1", "G2")), 0).stamp.covers == {}
    assert one.envelope(Publication(("G1",)), 0).stamp.covers == {"A~@G1": 1}
    third = one.envelope(Publication(("G1", "G2")), 0).stamp
    assert third.own == (("A~@G1", 3), ("A~@G2", 3)) and third.covers == {"A~@G1": 2, "A~@G2": 1}


def test_what_has_expired_is_not_named_but_what_lives_behind_it_is() -> None:
    one = writer(slack_us=5)
    one.envelope(Publication(("G1",), b"", 100), 0)
    one.envelope(Publication(("G1",), b"", 50), 0)
    assert one.envelope(Publication(("G1",), b"", 55), 55).stamp.covers == {"A~": 2}, "other clocks may be behind"
    assert one.envelope(Publication(("G1",), b"", 500), 61).stamp.covers == {"A~": 1}
    assert one.envelope(Publication(("G1",)), 506).stamp.covers == {}
    assert one.envelope(Publication(("G1",)), 9_999).stamp.covers == {"A~": 5}


# -- the Reader's end ------------------------------------------------------------------------------------------------


def reader() -> Reader:
    return Reader(lambda stream: True, dense=True)


def loose(n: int, before: int = 0) -> Stamp:
    return Stamp((("A~", n),), (), {"A~": before} if before else {})


def test_one_lies_behind_by_itself_and_the_front_waits_for_what_is_named() -> None:
    one = reader()
    one.delivered(loose(4, 3), forced=False)
    assert one.behind("A~", 4) and not one.behind("A~", 3) and one.front.get("A~", 0) == 0
    assert one.offered("A~", 6) == [3, 6]
    one.delivered(loose(3, 2), forced=False)
    one.delivered(loose(2), forced=False)
    assert one.front == {"A~": 4} and not one.above


def test_what_names_nothing_puts_all_before_it_behind() -> None:
    one = reader()
    one.delivered(loose(4, 3), forced=False)
    one.delivered(loose(6), forced=False)
    assert one.front == {"A~": 6} and not one.above, "what came before it has expired"


def test_a_skipped_one_lies_behind_too_and_a_cut_hides_all_up_to_it() -> None:
    one = reader()
    one.skipped((("A~", 2),), loose(2, 1))
    one.skipped((("A~", 1),), None)
    assert one.front == {"A~": 2}
    one.delivered(loose(9, 8), forced=False)
    one.start_at({"A~": 8})
    assert one.front == {"A~": 9} and one.cut == {"A~": 8} and one.stale(loose(7)) and not one.above


def test_the_ordered_stream_of_the_same_sender_is_another() -> None:
    one = reader()
    one.delivered(loose(5), forced=False)
    ordered = Stamp((("A", 2),), (("A", 1),), {"A": 1})
    assert one.blocker(ordered) == ("A", 1) and not one.behind("A", 1)


@given(st.lists(st.booleans(), min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_the_front_reaches_the_end_in_any_order_and_never_too_soon(alive: list[bool], dice: object) -> None:
    """`alive`: which ones still live when the next is published; the others need not come at all."""
    one = reader()
    stamps, before = {}, 0
    for n, lives in enumerate(alive, 1):
        stamps[n] = loose(n, before)
        before = n if lives else before
    order = list(stamps)
    dice.shuffle(order)  # type: ignore[attr-defined]
    came: set[int] = set()
    for n in order:
        one.delivered(stamps[n], forced=False)
        came.add(n)
        front = one.front.get("A~", 0)
        assert all(k in came for k in range(1, front + 1) if alive[k - 1] or k == front)
        assert all(one.behind("A~", k) for k in came)
    assert one.front["A~"] == len(alive) and not one.above
