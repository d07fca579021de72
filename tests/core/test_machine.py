"""Settings: what follows from what was set."""

from __future__ import annotations

from antecede.core.machine import Settings


def test_two_clocks_differ_by_twice_what_each_is_off() -> None:
    assert Settings(clock_bound_us=7).slack_us == 14 and Settings().slack_us == 0
