"""Time that neither leaps nor runs back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from antecede.core.membership.steady_clock import Steady


def test_it_goes_with_the_clock() -> None:
    steady = Steady(100)
    assert [steady.look(now) for now in (1000, 1050, 1150)] == [0, 50, 150]
    assert steady.local(200) == 1200


def test_a_leap_counts_as_the_limit_at_most() -> None:
    steady = Steady(100)
    steady.look(1000)
    assert steady.look(9_000_000) == 100
    assert steady.local(150) == 9_000_050


def test_a_clock_set_back_stops_nothing() -> None:
    steady = Steady(100)
    steady.look(1000)
    assert steady.look(10) == 0
    assert steady.local(30) == 40
    assert steady.look(50) == 40


@given(st.lists(st.integers(0, 10**9), min_size=2))
def test_it_never_runs_back(looks: list[int]) -> None:
    steady = Steady(100)
    times = [steady.look(now) for now in looks]
    assert times == sorted(times) and times[-1] <= 100 * (len(looks) - 1)
