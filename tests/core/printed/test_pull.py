"""Three meanings of `>` between vectors, and what each lets through."""

from __future__ import annotations

import pytest

from antecede.core.message import Stamp
from antecede.core.printed.pull import READINGS, PrintedPullReader


def stamp(own: dict[str, int], covers: dict[str, int] | None = None) -> Stamp:
    return Stamp(tuple(own.items()), (), covers or {})


FIRST = stamp({"A@G1": 1})
SECOND = stamp({"A@G1": 2}, {"A@G1": 1})
AFTER = stamp({"B@G1": 1}, {"A@G1": 1})


@pytest.mark.parametrize(
    ("greater", "first", "second", "after"),
    [("any", False, False, False), ("dominates", False, False, False), ("others", True, True, False)],
)
def test_at_the_beginning(greater: str, first: bool, second: bool, after: bool) -> None:
    reader = PrintedPullReader(lambda stream: stream.endswith("G1"), greater)
    assert [reader.ready(one) for one in (FIRST, SECOND, AFTER)] == [first, second, after]


def test_dominance_lets_through_what_is_concurrent_to_something() -> None:
    reader = PrintedPullReader(lambda stream: True, "dominates")
    reader.delivered(stamp({"C@G1": 1}), forced=False)
    assert reader.ready(SECOND), "without A:1"


def test_any_entry_still_greater_after_all_others_are_reached() -> None:
    reader = PrintedPullReader(lambda stream: True, "any")
    reader.delivered(FIRST, forced=False)
    assert reader.vector == {"A@G1": 1} and not reader.ready(AFTER) and reader.ready(FIRST), "what was had, again"


def test_only_vectors_of_the_groups_of_interest_count() -> None:
    reader = PrintedPullReader(lambda stream: stream.endswith("G1"), "others")
    assert reader.ready(stamp({"B@G1": 1}, {"A@G2": 7}))


def test_each_reading_has_its_name() -> None:
    assert list(READINGS.values()) == ["any", "dominates", "others"]
