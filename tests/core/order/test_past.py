"""What lies behind a process, and why, as whoever does not write it asks."""

from __future__ import annotations

from antecede.core.message import Stamp
from antecede.core.order.reader import Reader, everything
from tests.core.kit import message


def past() -> Reader:
    """It began behind q:2, delivered p:1 to p:3, skipped p:5, and holds p:7."""
    one = Reader(everything, dense=True)
    one.start_at({"q": 2})
    for n in (1, 2, 3):
        one.delivered(Stamp((("p", n),), (), {"p": n - 1}), forced=False)
        one.note(message(f"p:{n}"))
    one.skipped((("p", 5),), Stamp((("p", 5),), (("p", 4),), {"p": 4}))
    one.held["p"] = {7}
    return one


def test_what_was_delivered_skipped_or_cut_off_lies_behind() -> None:
    one = past()
    assert one.front == {"q": 2, "p": 3} and one.above == {"p": {5}} and one.cut == {"q": 2} and one.tops == {"p": 3}
    assert [one.behind("p", n) for n in (3, 4, 5, 6)] == [True, False, True, False]
    assert one.reached(("p", "r")) == {"p": 3, "r": 0}


def test_what_is_held_is_neither_behind_nor_lacking() -> None:
    one = past()
    assert [one.lacks(("p", n)) for n in (3, 4, 5, 6, 7)] == [False, True, False, True, False]
    assert one.with_held({"p": 3}, {"p": 7}) == {"p": 7} and one.with_held({"p": 3}, {"p": 6}) == {"p": 3}


def test_the_newest_is_not_known_while_something_before_a_skipped_one_may_come() -> None:
    one = past()
    assert one.newest("p") is None and one.newest("q") == 2
    one.delivered(Stamp((("p", 4),), (), {"p": 3}), forced=False)
    assert one.newest("p") == 5


def test_a_message_that_needs_a_skipped_one_needs_what_that_one_needed() -> None:
    one = past()
    assert one.blocker(Stamp((("r", 1),), (("p", 5),), {"p": 5})) == ("p", 4)


def test_what_was_given_up_is_remembered_until_it_is_settled() -> None:
    one = past()
    one.give_up((("q", 3),), None)
    assert one.given_up == {("q", 3)} and one.behind("q", 3)
    one.settled({"q": 3})
    assert not one.given_up and one.behind("q", 3)
