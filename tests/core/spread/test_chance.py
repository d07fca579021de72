"""A few of many, evenly, from the dice alone."""

from __future__ import annotations

from collections import Counter
from random import Random

from antecede.core.spread.chance import some_of

NAMES = ("A", "B", "C", "D", "E")


def test_all_where_there_are_no_more_and_in_their_order() -> None:
    assert some_of(Random(1), NAMES, 5) == list(NAMES) and some_of(Random(1), (), 3) == []


def test_as_many_as_asked_for_each_once_and_the_names_are_left_alone() -> None:
    dice = Random(1)
    for _ in range(50):
        drawn = some_of(dice, NAMES, 3)
        assert len(set(drawn)) == 3 and set(drawn) <= set(NAMES)
    assert NAMES == ("A", "B", "C", "D", "E")


def test_everybody_is_drawn_equally_often() -> None:
    dice, count = Random(1), Counter[str]()
    for _ in range(3000):
        count.update(some_of(dice, NAMES, 2))
    assert all(1100 < count[name] < 1300 for name in NAMES)
