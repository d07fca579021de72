"""What may happen next in a state of a small scenario: the transitions of the model that `explore` describes.

Decided here: what a state is, what is possible in it, and what is left of the bounds afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from antecede.sim.memo import Flight, Memo, Outcome
from antecede.trace.report import Finding

__all__ = ["Action", "Moves", "State"]

Action = tuple[Any, ...]
"""("step", p), ("wake", p), ("get", flight), ("again", flight), ("lose", flights, slow flights), ("crash", p)."""

State = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], int, int, int]
"""Situations, copies under way, slow copies, what may still go wrong, who had a turn, now."""

Move = tuple[Action, State, tuple[Finding, ...]]

BITS = 6
LOSSES, DUPLICATES, SLOW, EARLY, CRASHES = (1 << BITS * i for i in range(5))
"""Places in the number that says what may still go wrong."""


class Moves:
    def __init__(self, memo: Memo) -> None:
        self.memo = memo
        self.nows: list[int] = []
        """Instants of the one clock, in the order in which they came up."""
        self._now_of: dict[int, int] = {}

    def first(self, situations: tuple[int, ...]) -> State:
        """Nothing has happened yet."""
        small = self.memo.theatre.small
        left = small.losses * LOSSES + small.duplicates * DUPLICATES + small.slow * SLOW
        left += small.early * EARLY + small.crashes * CRASHES
        return situations, (), (), left, 0, self._now(small.start_us)

    def _now(self, now_us: int) -> int:
        number = self._now_of.get(now_us)
        if number is None:
            number = self._now_of[now_us] = len(self.nows)
            self.nows.append(now_us)
        return number

    def following(self, state: State) -> Iterator[Move]:
        situations, flights, slow, left, _, now = state
        memo, told = self.memo, self.memo.situations
        one_clock = not memo.own_clocks
        now_us = self.nows[now] if one_clock else 0
        for place, number in enumerate(situations):
            if told[number].may_step:
                outcome = memo.outcome(number, "step", -1, now_us)
                yield ("step", place), self._after(state, place, outcome, flights, slow), outcome.findings
        last = -1
        for flight in flights:
            if flight != last:
                last = flight
                yield from self._arrivals(state, flight, _without(flights, flight), slow, now_us)
        last = -1
        for flight in slow:
            if flight != last:
                last = flight
                yield from self._arrivals(state, flight, flights, _without(slow, flight), now_us)
        if not flights and not any(told[number].may_step for number in situations):
            yield from self._timers(state, left, now_us, early=False)
        elif left // EARLY % (1 << BITS):
            yield from self._timers(state, left - EARLY, now_us, early=True)
        if flights:
            yield from self._stragglers(state)
        if left // CRASHES:
            yield from self._crashes(state, now_us)

    def _after(
        self, state: State, place: int, outcome: Outcome, flights: tuple[int, ...], slow: tuple[int, ...],
        left: int | None = None, turns: int | None = None, now: int | None = None,
    ) -> State:  # fmt: skip
        situations = (*state[0][:place], outcome.situation, *state[0][place + 1 :])
        if outcome.flights:
            alive, of = self.memo.situations, self.memo.flights
            sent = [f for f in outcome.flights if alive[situations[of[f].to]].actor.alive]
            flights = tuple(sorted((*flights, *sent)))
        turns = state[4] if turns is None else turns
        if turns:  # whoever waits for nothing is not in line
            told = self.memo.situations
            turns &= sum(1 << p for p, n in enumerate(situations) if told[n].due_us is not None)
        return situations, flights, slow, state[3] if left is None else left, turns, state[5] if now is None else now

    def _arrivals(
        self, state: State, flight: int, flights: tuple[int, ...], slow: tuple[int, ...], now_us: int
    ) -> Iterator[Move]:
        copy = self.memo.flights[flight]
        outcome = self.memo.outcome(state[0][copy.to], "get", flight, now_us)
        yield ("get", flight), self._after(state, copy.to, outcome, flights, slow), outcome.findings
        if state[3] // DUPLICATES % (1 << BITS) and copy.data is not None:
            left = state[3] - DUPLICATES
            yield (
                ("again", flight),
                self._after(state, copy.to, outcome, state[1], state[2], left),
                outcome.findings,
            )

    def _timers(self, state: State, left: int, now_us: int, *, early: bool) -> Iterator[Move]:
        situations, flights, slow, _, turns, _ = state
        memo = self.memo
        due = [(p, at) for p, n in enumerate(situations) if (at := memo.situations[n].due_us) is not None]
        if not due:
            return
        if memo.own_clocks:
            waiting = [p for p, _ in due if not turns >> p & 1]
            if early:  # out of turn
                ready = [p for p, _ in due]
            elif waiting:
                ready = waiting
            else:
                ready, turns = [p for p, _ in due], 0
        else:
            soonest = max(now_us, min(at for _, at in due))
            ready = [p for p, at in due if at <= soonest]
            now_us = soonest
        for place in ready:
            outcome = memo.outcome(situations[place], "wake", -1, now_us)
            if memo.own_clocks:
                had = turns if early else turns | 1 << place
                following = self._after(state, place, outcome, flights, slow, left, had)
            else:
                following = self._after(state, place, outcome, flights, slow, left, now=self._now(now_us))
            yield ("wake", place), following, outcome.findings

    def _stragglers(self, state: State) -> Iterator[Move]:
        """What is left under way turns out to be lost or slow, all of it."""
        situations, flights, slow, left, turns, now = state
        losses, slows = left // LOSSES % (1 << BITS), left // SLOW % (1 << BITS)
        if len(flights) > losses + slows or any(self.memo.flights[f].data is None for f in flights):
            return
        splits = {tuple(f for i, f in enumerate(flights) if mask >> i & 1) for mask in range(1 << len(flights))}
        for lost in sorted(splits):
            late = _but(flights, lost)
            if len(lost) <= losses and len(late) <= slows:
                spent = left - len(lost) * LOSSES - len(late) * SLOW
                yield ("lose", lost, late), (situations, (), tuple(sorted((*slow, *late))), spent, turns, now), ()

    def _crashes(self, state: State, now_us: int) -> Iterator[Move]:
        memo, of = self.memo, self.memo.flights
        for place, number in enumerate(state[0]):
            if memo.situations[number].actor.alive:
                outcome = memo.outcome(number, "crash", -1, now_us)
                word = [
                    memo.fly(Flight(place, other, None))
                    for other, n in enumerate(state[0])
                    if other != place and memo.situations[n].actor.alive
                ]
                flights = tuple(sorted((*(f for f in state[1] if of[f].to != place), *word)))
                slow = tuple(f for f in state[2] if of[f].to != place)
                yield (
                    ("crash", place),
                    self._after(state, place, outcome, flights, slow, state[3] - CRASHES),
                    outcome.findings,
                )


def _without(flights: tuple[int, ...], one: int) -> tuple[int, ...]:
    at = flights.index(one)
    return flights[:at] + flights[at + 1 :]


def _but(flights: tuple[int, ...], some: tuple[int, ...]) -> tuple[int, ...]:
    for one in some:
        flights = _without(flights, one)
    return flights
