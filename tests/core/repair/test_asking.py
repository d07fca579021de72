"""Asking: whom first, whom next, how often, and when no longer."""

from __future__ import annotations

from itertools import pairwise

from antecede.core.machine import Settings
from antecede.core.message import Mark
from antecede.core.repair.asking import TRIES_UNTIMED, Solicitation, open_ranges, ranges_of

A1, A2 = ("A", 1), ("A", 2)


class Asker:
    def __init__(self, peers: str = "A B C", **knobs: object) -> None:
        self.wants = Solicitation(Settings(retry_us=10, trip_us=4, **knobs))  # type: ignore[arg-type]
        self.peers = peers.split()
        self.here: set[Mark] = set()
        self.again_us: int | None = None

    def want(
        self, mark: Mark, until_us: int | None, now_us: int = 0, patience_us: int = 0, backed: bool = True
    ) -> None:
        hint = self.peers[0] if self.peers else "A"
        self.wants.want(mark, hint, until_us, now_us, patience_us=patience_us, backed=backed)

    def due(self, now_us: int) -> dict[str, list[Mark]]:
        return self.wants.due(
            now_us, lambda mark: mark not in self.here, lambda mark, hint: self.peers, lambda mark, now: self.again_us
        )


def test_asks_after_patience_then_once_a_round_trip_each_peer_in_turn() -> None:
    asker = Asker()
    asker.want(A1, 1000, patience_us=5)
    assert asker.wants.next_ask() == 5 and asker.due(4) == {}
    assert [asker.due(now) for now in (5, 14, 15, 25, 35)] == [{"A": [A1]}, {}, {"B": [A1]}, {"C": [A1]}, {"A": [A1]}]


def test_one_request_holds_all_that_is_due_of_a_peer() -> None:
    asker = Asker()
    asker.want(A2, 1000)
    asker.want(A1, 1000)
    assert asker.due(0) == {"A": [A2, A1]}


def test_no_request_leaves_whose_answer_could_not_come_in_time() -> None:
    asker = Asker()
    asker.want(A1, 14)
    assert asker.due(0) == {"A": [A1]} and asker.due(10) == {"B": [A1]}
    assert asker.due(20) == {} and not asker.wants.wants
    asker = Asker()
    asker.want(A1, 13)
    assert asker.due(0) == {"A": [A1]} and asker.due(10) == {}


def test_the_last_message_that_needs_it_decides_how_long() -> None:
    asker = Asker()
    asker.want(A1, 14)
    asker.want(A1, 40)
    asker.want(A1, 20)
    assert asker.wants.wants[A1].until_us == 40
    asker.want(A1, None)
    assert asker.wants.wants[A1].until_us == 40
    asker.want(A2, None)
    asker.want(A2, 30)
    assert asker.wants.wants[A2].until_us == 30, "a known time bounds what a digest only offered"


def test_what_came_in_the_meantime_is_forgotten() -> None:
    asker = Asker()
    asker.want(A1, 1000)
    asker.here.add(A1)
    assert asker.due(0) == {} and not asker.wants.wants and asker.wants.next_ask() is None


def test_what_was_dropped_is_not_asked_for() -> None:
    asker = Asker()
    asker.want(A1, 1000)
    asker.wants.drop(A1)
    asker.wants.drop(A2)
    assert asker.due(0) == {}


def asked(asker: Asker, until_us: int) -> list[int]:
    return [now for now in range(until_us) if asker.due(now)]


def test_without_a_time_it_is_asked_for_a_bounded_number_of_times() -> None:
    asker = Asker()
    asker.want(A1, None, backed=False)
    assert len(asked(asker, 1000)) == TRIES_UNTIMED and not asker.wants.wants
    asker.want(A1, None, 1000, backed=False)
    assert asker.due(1000) == {"A": [A1]}, "whoever offers it again wakes it again"


def test_what_something_without_a_deadline_needs_is_asked_for_whoever_else_needs_it() -> None:
    """Messages with deadlines and without mix: neither the time of one nor a mere offer ends the other's wait."""
    for first, second in ((None, 20), (20, None)):
        asker = Asker()
        asker.want(A1, first)
        asker.want(A1, second)
        asker.wants.offered(A1, "B", 0, patience_us=0)
        assert len(asked(asker, 1000)) > TRIES_UNTIMED and asker.wants.any_endless([A1])
    asker = Asker()
    asker.want(A1, 20)
    asker.wants.offered(A1, "B", 0, patience_us=0)
    assert asked(asker, 1000)[-1] < 20 and not asker.wants.any_endless([A1])


def test_without_deadlines_it_is_asked_for_as_long_as_it_takes_ever_more_rarely() -> None:
    asker = Asker(deadlines=False)
    asker.want(A1, None)
    times = asked(asker, 1000)
    gaps = [b - a for a, b in pairwise(times)]
    assert gaps[:6] == [10, 10, 10, 10, 20, 30] and gaps[-1] == max(gaps) == 80


def test_in_a_hurry_the_next_one_is_asked_at_once_and_once() -> None:
    asker = Asker(deadlines=False)
    asker.want(A1, None)
    assert asker.due(0) == {"A": [A1]}
    asker.wants.hurry(A1, 3)
    asker.wants.hurry(A2, 3)
    assert asker.due(3) == {"B": [A1]} and asker.due(10) == {}, "the time it was to be asked at is over"
    assert asker.due(13) == {"C": [A1]}


def test_with_nobody_to_ask_its_owner_says_when_to_look_again() -> None:
    asker = Asker(peers="")
    asker.want(A1, None)
    asker.again_us = 50
    assert asker.due(0) == {} and asker.wants.next_ask() == 50
    asker.again_us = None
    assert asker.due(50) == {} and not asker.wants.wants


def test_neighbours_become_one_range() -> None:
    marks = [("B", 4), ("A", 3), ("A", 2), ("A", 7), ("B", 5), ("C", 6)]
    assert ranges_of(marks) == (("A", 1, 3), ("A", 6, 7), ("B", 3, 5), ("C", 5, 6))


def test_whoever_offers_it_is_asked_from_then_on_and_first() -> None:
    asker = Asker()
    asker.want(A1, 1000)
    asker.due(0)
    asker.due(10)
    asker.wants.offered(A1, "C", 15, patience_us=0)
    want = asker.wants.wants[A1]
    assert (want.hint, want.tries, want.until_us) == ("C", 0, 1000)
    asker.due(20)
    asker.wants.offered(A1, "C", 25, patience_us=0)
    assert want.tries == 1, "nothing new"


def test_where_streams_have_holes_all_between_is_asked_for_except_what_is_held() -> None:
    assert open_ranges([("A", 7)], {}, {}) == (("A", 0, 7),)
    assert open_ranges([("A", 7), ("B", 3)], {"A": 2, "B": 2}, {"A": {4, 5, 9}}) == (
        ("A", 2, 3),
        ("A", 5, 7),
        ("B", 2, 3),
    )
    assert open_ranges([("A", 3)], {"A": 1}, {"A": {2}}) == (("A", 2, 3),)
