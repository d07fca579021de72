"""A carrier's halves together: one timer, one view. It keeps messages until their time is over."""

from __future__ import annotations

import pytest

from antecede.core.frames import Data
from antecede.core.machine import Peer
from antecede.core.message import Publication, Stamp
from antecede.core.order.vector import VectorWriter
from antecede.errors import InputError
from tests.core.kit import flat, told
from tests.core.roles.test_receiver import member


def test_a_view_with_somebody_new_looks_at_all_that_is_held_again() -> None:
    one = member("A B", deadlines=True)
    one.receive(Data((flat("B:1", {"D": 1}, deadline_us=9_000_000),)), "B", 0)
    one.view({"A": Peer("A", "member", ("G1",))}, 10)
    for now in range(10, 1_000, 10):
        one.wake(now)
    assert not one.wants.wants, "nobody is there who could have it"
    assert "request to B" in told(one.view({name: Peer(name, "member", ("G1",)) for name in "ABD"}, 1_000))


def test_the_earliest_timer_is_the_next_wake() -> None:
    one = member(patience_us=50, round_us=10**9)
    assert one.next_wake() is None
    one.receive(Data((flat("B:2", {"B": 1}, deadline_us=90),)), "B", 0)
    assert one.next_wake() == 50
    one.receive(Data((flat("C:2", {"C": 1}, deadline_us=30),)), "C", 0)
    assert one.next_wake() == 30
    assert told(one.wake(30)) == ["deliver C:2 deadline"]


def test_what_expires_is_collected_in_whole_rounds() -> None:
    one = member("A", round_us=100, clock_bound_us=5)
    one.publish(Publication(("G1",), b"", deadline_us=120), 0)
    one.rounds.at_us = None
    assert one.next_wake() == 200
    assert told(one.wake(199)) == [] and told(one.wake(200)) == ["collect A:1"]
    assert one.next_wake() is None


def test_a_declared_cause_that_is_kept_no_more_widens_to_everything() -> None:
    one = member("A")
    first, _ = one.publish(Publication(("G1",), b"", deadline_us=120), 0)
    assert one.stamps((first.id,)) is not None and one.stamps((first.id, "B:1")) is None


class Nowhere(VectorWriter):
    def stamp(self, message: object, after: object) -> Stamp:
        return Stamp(())


def test_a_stamp_without_a_place_is_refused_and_its_writer_named() -> None:
    one = member("A")
    one.writer = Nowhere("A", flat=True)
    with pytest.raises(InputError, match=r"Nowhere stamped A:1 without an own mark, such as \('A', 1\)"):
        one.publish(Publication(("G1",)), 0)
