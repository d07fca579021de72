"""Clocks of live processes: taken over exactly on one machine, within a bound elsewhere."""

from __future__ import annotations

from antecede.live.node import Clock
from antecede.live.timing import PROBING, SETTINGS, adopt, machine_id, run_name


def test_a_clock_is_taken_over_within_half_a_round_trip() -> None:
    clock = Clock(base_us=0)
    asked_us = clock.now_us()
    bound_us = adopt(clock, asked_us + 3_600_000_000 + 100, asked_us, asked_us + 200, None)
    assert bound_us == 100 and clock.base_us == 3_600_000_000


def test_on_one_machine_it_is_taken_over_exactly() -> None:
    clock, other = Clock(base_us=5), Clock(base_us=1_000)
    assert adopt(clock, 0, 0, 9, other.base_us) == 0
    assert clock.base_us == other.base_us


def test_names_of_executions_differ_and_the_machine_does_not() -> None:
    assert run_name() != run_name()
    assert machine_id() == machine_id()


def test_what_is_kept_outlasts_finding_a_crash() -> None:
    assert SETTINGS.grace_us > PROBING.found_us(16)
    assert PROBING.timeout_us <= PROBING.period_us // 2
