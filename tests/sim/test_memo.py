"""Each situation once, each step once; and what is looked up is what would have happened."""

from __future__ import annotations

from typing import Any

from antecede.core.state.freeze import freeze
from antecede.sim.memo import Flight, Memo
from antecede.sim.small import Small
from antecede.sim.theatre import Theatre


def begun(**knobs: Any) -> tuple[Memo, list[int]]:
    theatre = Theatre(Small(**knobs))
    memo = Memo(theatre)
    actors, rows = theatre.begin()
    return memo, [memo.save(actor, memo.story(0, told)) for actor, told in zip(actors, rows, strict=True)]


def test_a_step_is_carried_out_once() -> None:
    memo, (a, *_) = begun()
    first = memo.outcome(a, "step", -1, 0)
    assert memo.outcome(a, "step", -1, 0) is first and memo.steps == 1
    assert [memo.flights[f].to for f in first.flights] == [1, 2]
    assert memo.situations[a].may_step and not memo.situations[first.situation].may_step


def test_two_ways_to_the_same_situation_are_one() -> None:
    memo, (a, _, c) = begun(script="A G1; B G1")
    (_, data) = memo.outcome(a, "step", -1, 0).flights
    once = memo.outcome(c, "get", data, 0).situation
    twice = memo.outcome(once, "get", data, 0).situation
    assert once != twice  # its story is longer
    assert memo.outcome(twice, "get", data, 0).situation != twice
    assert memo.story(3, []) == 3
    assert memo.story(3, [("ask", None, "A:1", None, None, None, None, None, "A", None, None)]) == 3


def test_what_is_woken_is_what_was_saved() -> None:
    memo, (a, *_) = begun()
    after = memo.outcome(a, "step", -1, 0).situation
    actor = memo.wake(after)
    assert actor.out == ("A:1",) and actor.step == 1
    assert freeze(actor.machine) == memo.situations[after].plain
    assert memo.save(actor, memo.situations[after].story) == after


def test_with_own_clocks_only_what_is_still_to_come_counts() -> None:
    memo, (a, *_) = begun()
    after = memo.outcome(a, "step", -1, 0).situation
    woken = memo.outcome(after, "wake", -1, 0)
    assert len(woken.flights) == 2  # digests, to be answered
    assert woken.situation == after  # the next round is as far away as this one was


def test_with_one_clock_the_instant_counts() -> None:
    memo, (a, *_) = begun(clock="one")
    after = memo.outcome(a, "step", -1, 0).situation
    due_us = memo.situations[after].due_us
    assert due_us == 50_000
    woken = memo.outcome(after, "wake", -1, due_us).situation
    assert woken != after and memo.situations[woken].due_us == 100_000


def test_word_of_a_crash_is_a_flight_without_bytes() -> None:
    memo, (a, *_) = begun()
    flight = memo.fly(Flight(2, 0, None))
    assert memo.fly(Flight(2, 0, None)) == flight
    assert memo.situations[memo.outcome(a, "get", flight, 0).situation].actor.gone == {"C"}
