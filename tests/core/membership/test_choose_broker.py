"""Where a subscriber attaches."""

from __future__ import annotations

from random import Random

from antecede.core.entries import EACH
from antecede.core.membership.choose_broker import choose

BROKERS = {"A": ("G1", "G2"), "B": ("G1",), "C": ("G2",), "D": ("G1", "G2")}


def test_a_carrier_carries_all_that_is_wanted() -> None:
    assert EACH.carrying(BROKERS, ("G1",)) == ["A", "B", "D"]
    assert EACH.carrying(BROKERS, ("G1", "G2")) == ["A", "D"]
    assert EACH.carrying(BROKERS, ("G3",)) == []


def test_a_filter_wants_every_group_it_matches() -> None:
    rooms = {"A": ("room/1",), "B": ("room/1", "room/2")}
    assert EACH.carrying(rooms, ("room/#",)) == ["B"]


def test_what_is_left_is_kept() -> None:
    dice = Random(1)
    assert choose(BROKERS, ("G1",), ("B",), dice, single=True) == ("B",)
    assert choose(BROKERS, ("G1",), ("C", "B"), dice, single=False) == ("B", "C")
    assert choose(BROKERS, ("G1",), ("C", "B"), dice, single=True) == ("B",)


def test_a_new_first_place_is_drawn_evenly_among_all_that_will_do() -> None:
    dice = Random(1)
    drawn = [choose(BROKERS, ("G1", "G2"), ("C",), dice, single=False) for _ in range(200)]
    assert set(drawn) == {("A", "C"), ("D", "C")}
    assert 70 < drawn.count(("A", "C")) < 130


def test_nobody_will_do() -> None:
    assert choose(BROKERS, ("G9",), ("A",), Random(1), single=False) == ()
