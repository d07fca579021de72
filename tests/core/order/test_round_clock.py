"""Rounds, colours and lifetimes: what is one number in each of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antecede.core.machine import Settings
from antecede.core.order.round_clock import RoundClock, colours_for
from antecede.errors import InputError


def test_rounds_are_numbered_from_one_and_have_no_gaps() -> None:
    clock = RoundClock(10, 3)
    assert [clock.round_at(t) for t in (0, 9, 10, 19, 20)] == [1, 1, 2, 2, 3]
    assert clock.start_us(1) == 0 and clock.start_us(3) == 20
    assert [clock.next_us(t) for t in (0, 9, 10)] == [10, 10, 20]


def test_a_message_lives_as_many_rounds_as_there_are_colours() -> None:
    clock = RoundClock(10, 3)
    end_us = clock.end_us(2)
    assert clock.round_at(end_us) - 2 < 3 <= clock.round_at(end_us + 1) - 2


def test_a_message_gets_a_round_greater_than_all_before() -> None:
    clock = RoundClock(10, 3)
    assert [clock.take(25), clock.take(25), clock.take(100)] == [3, 4, 11]
    clock.saw(14)
    clock.saw(2)
    assert clock.take(100) == 15


@given(st.integers(1, 9), st.integers(1, 50), st.integers(0, 60), st.integers(0, 100), st.integers(0, 999))
def test_wherever_clocks_are_what_was_sent_may_be(
    colours: int, round_us: int, bound_us: int, guard_us: int, now_us: int
) -> None:
    clock, settings = RoundClock(round_us, colours), Settings(clock_bound_us=bound_us, guard_us=guard_us)
    try:
        clock.check("x", settings)
    except InputError:
        return
    assert clock.may_be(clock.round_at(now_us + settings.slack_us), now_us), "its sender's clock is ahead by all it may"


def test_a_round_that_no_clock_can_have_reached_is_known() -> None:
    clock = RoundClock(10, 3)
    clock.check("x", Settings(clock_bound_us=19, guard_us=29))
    assert clock.round_at(9 + 38) == 5 and clock.may_be(5, 9)
    assert [clock.may_be(n, 9) for n in (5, 6, 2**40)] == [True, False, False]


@given(st.integers(1, 9), st.integers(1, 10_000), st.integers(1, 30))
def test_a_colour_is_the_newest_round_that_has_it(colours: int, below: int, back: int) -> None:
    clock, number = RoundClock(10, colours), below - back
    colour = clock.colour_of(number, below)
    if number > 0 and back <= colours:
        assert 1 <= colour <= colours and clock.round_of(colour, below) == number
    else:
        assert colour == 0 and clock.round_of(colour, below) == 0


def test_colours_for_so_many_processes() -> None:
    assert [colours_for(n, 0) for n in (1, 2, 3, 4, 5, 8, 9, 1024)] == [0, 1, 2, 2, 3, 3, 4, 10]
    assert colours_for(4, 1) == 3  # 001 Fig 2, 004 Fig 2


@pytest.mark.parametrize(
    ("knobs", "refused"),
    [
        ({"clock_bound_us": 10, "guard_us": 10}, ""),
        ({"clock_bound_us": 10, "guard_us": 9}, "rounds of 0.011 ms apart: clocks and guard leave 0.011 ms"),
        ({"guard_us": 1, "hop_us": 31}, ""),
        ({"guard_us": 2, "hop_us": 31}, "guard and last hop take 0.033 ms of them"),
    ],
)
def test_what_cannot_work_is_refused_in_one_sentence(knobs: dict[str, int], refused: str) -> None:
    clock, settings = RoundClock(11, 3), Settings(**knobs)  # type: ignore[arg-type]
    if refused:
        with pytest.raises(InputError, match=refused):
            clock.check("rounds", settings)
    else:
        clock.check("rounds", settings)


def test_in_its_turn_only() -> None:  # 004 s1: "only one member can generate and send a message"
    clocks = [RoundClock(10, 5) for _ in range(3)]
    for place, clock in enumerate(clocks):
        clock.turn = (place, 3)
    taken = [[clock.take(0) for _ in range(3)] for clock in clocks]
    assert taken == [[3, 6, 9], [1, 4, 7], [2, 5, 8]]
    assert clocks[0].upcoming(95) == 12 and clocks[0].take(130) == 15
