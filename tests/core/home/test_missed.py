"""What came too late is remembered for a while, and no more of it than can matter."""

from __future__ import annotations

from antecede.core.home.missed import Missed
from antecede.core.order.numbered import WINDOW


def test_for_as_long_as_a_home_may_have_it() -> None:
    missed = Missed(100)
    missed.note("p:1", 10)
    missed.note("p:2", 50)
    assert missed.ids(110) == ("p:1", "p:2") and missed.ids(111) == ("p:2",) and missed.ids(151) == ()
    assert "p:1" not in missed
    missed.note("p:3", 200)
    assert "p:3" in missed


def test_since_it_came_last() -> None:
    missed = Missed(100)
    for message_id, at in (("p:1", 10), ("p:2", 50), ("p:1", 90)):
        missed.note(message_id, at)
    assert missed.ids(111) == ("p:2", "p:1") and missed.ids(160) == ("p:1",)


def test_no_more_than_one_home_can_have_sent() -> None:
    missed = Missed(10**9)
    for n in range(WINDOW + 5):
        missed.note(f"p:{n}", n)
    assert missed.ids(WINDOW + 5) == tuple(f"p:{n}" for n in range(5, WINDOW + 5))
