"""Every run of a small scenario: a bounded model checker over the real machines.

**The model.** A state is: the situation of every process (`memo`), the copies under way, and what may still go wrong.
From each state these things may happen, and all are tried:

- a process does its next step of the script (`small`);
- any copy under way arrives, in any order; a *duplicate* arrives and stays under way;
- when copies are left under way and everybody else's has arrived, they turn out to be *lost* or *slow*. To say so no
  earlier loses nothing: a copy that will not come is one that has not come yet, until somebody stops waiting for it;
- a timer goes off. Timers wait until nothing is under way but slow copies, except for `early` ones;
- a process *crashes*; what is under way to it vanishes, and word of the crash is under way to everybody else.

**Time.** Without deadlines every process has its own clock, which stands still but for its timers: when one goes off
the clock jumps to it. Only the earliest timer of a process can go off; which process's does is open, but nobody's goes
off a second time before everybody who waits for one had a turn. With deadlines (or `clock one`) there is one clock, and
timers go off exactly when they are due, in order; those of one instant in any order. Frames arrive at the instant of
the last timer or publication: times in between are not tried. Dice always show the same (fan-outs cover everybody).

**What is bounded.** Losses, duplicates, slow copies, early timers, crashes: each by its count. Within these bounds
coverage is complete: the search ends when there is no new state. Processes begin attached and at rest.

**Judgement.** Inversions, duplicates and late deliveries are seen at the step that makes them, and nothing behind such
a step is looked at. When nothing is left to happen, the oracle (`trace.check`) judges the whole run; a situation
includes the rows of its process that verdicts depend on, so runs that end in one state are judged alike. States are
visited in order of their distance, so the first violation has no shorter one.

**Reduction.** A step of one process leaves all others as they were, so steps of different processes commute, and both
orders end in the same state, which is visited once; the step itself is carried out once, whatever the others did.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from antecede.core.frozen import EPOCH_US
from antecede.core.recipes import build
from antecede.sim.actor import Said, Theatre
from antecede.sim.driver import Build
from antecede.sim.memo import Flight, Memo, Outcome
from antecede.sim.small import Small
from antecede.trace.check import check
from antecede.trace.report import Finding

__all__ = ["Action", "Explored", "explore"]

Action = tuple[Any, ...]
"""("step", p), ("wake", p), ("get", flight), ("again", flight), ("lose", flights, slow flights), ("crash", p)."""

State = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], int, int, int]
"""Situations, copies under way, slow copies, what may still go wrong, who had a turn, now."""

BITS = 6
LOSSES, DUPLICATES, SLOW, EARLY, CRASHES = (1 << BITS * i for i in range(5))
"""Places in the number that says what may still go wrong."""


@dataclass(slots=True)
class Explored:
    """What was found."""

    small: Small
    states: int = 0
    transitions: int = 0
    ends: int = 0
    """States in which nothing is left to happen."""
    judged: int = 0
    """Different runs the oracle judged."""
    depth: int = 0
    situations: int = 0
    steps: int = 0
    """Calls into machines."""
    complete: bool = True
    """False: there were more states than were asked for."""
    findings: list[Finding] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    """How to get to the violation."""
    flights: list[Flight] = field(default_factory=list)


def explore(
    small: Small,
    *,
    make: Build = build,
    max_states: int = 20_000_000,
    watch: Callable[[Explored], None] | None = None,
) -> Explored:
    """Visit every state, nearest first, until a violation or the end. `watch` hears of progress now and then."""
    return _Search(small, make, max_states, watch).run()


class _Search:
    def __init__(
        self, small: Small, make: Build, max_states: int, watch: Callable[[Explored], None] | None
    ) -> None:
        self.small = small
        self.theatre = Theatre(small, make)
        self.memo = Memo(self.theatre)
        self.result = Explored(small, flights=self.memo.flights)
        self.max_states = max_states
        self.watch = watch
        self.size = len(self.theatre.cast.names)
        self.nows: list[int] = []
        self._now_of: dict[int, int] = {}
        self.known: dict[bytes, int] = {}
        self.parents = array("L")
        self.actions: list[Action] = []
        self._action_of: dict[Action, int] = {}
        self.by = array("L")
        self._judged: set[tuple[int, ...]] = set()
        self.prologue: list[tuple[int, Outcome]] = []

    # -- states ----------------------------------------------------------------------------------------------------

    def _now(self, now_us: int) -> int:
        number = self._now_of.get(now_us)
        if number is None:
            number = self._now_of[now_us] = len(self.nows)
            self.nows.append(now_us)
        return number

    def _pack(self, state: State) -> bytes:
        situations, flights, slow, left, turns, now = state
        return array("I", (*situations, left, turns, now, len(flights), *flights, *slow)).tobytes()

    def _unpack(self, packed: bytes) -> State:
        numbers = array("I")
        numbers.frombytes(packed)
        n = self.size
        left, turns, now, count = numbers[n : n + 4]
        rest = numbers[n + 4 :]
        return tuple(numbers[:n]), tuple(rest[:count]), tuple(rest[count:]), left, turns, now

    # -- the search ------------------------------------------------------------------------------------------------

    def run(self) -> Explored:
        result = self.result
        first = self._begin()
        if first is None:
            return result
        frontier = [self._pack(first)]
        self.known[frontier[0]] = 0
        self.parents.append(0)
        self.by.append(0)
        while frontier:
            coming: list[bytes] = []
            for packed in frontier:
                if not self._visit(packed, coming):
                    return self._sum_up()
            frontier = coming
            result.depth += 1
            self._sum_up()
            if self.watch is not None:
                self.watch(result)
        return self._sum_up()

    def _sum_up(self) -> Explored:
        self.result.states = len(self.known)
        self.result.situations = len(self.memo.situations)
        self.result.steps = self.memo.steps
        return self.result

    def _visit(self, packed: bytes, coming: list[bytes]) -> bool:
        """Everything that may happen next; False: a violation was found, or there are too many states."""
        state, mine, result, known = self._unpack(packed), self.known[packed], self.result, self.known
        moved = False
        for action, following, findings in self._following(state):
            moved = moved or action[0] != "crash"
            result.transitions += 1
            if findings:
                result.findings = list(findings)
                result.actions = [*self._path(mine), action]
                return False
            key = self._pack(following)
            if key not in known:
                known[key] = len(known)
                self.parents.append(mine)
                number = self._action_of.get(action)
                if number is None:
                    number = self._action_of[action] = len(self.actions)
                    self.actions.append(action)
                self.by.append(number)
                coming.append(key)
        if not moved:
            result.ends += 1
            if not self._judge(state, mine):
                return False
        if len(known) > self.max_states:
            result.complete = False
            return False
        if self.watch is not None and mine % 65_536 == 65_535:
            self.watch(self._sum_up())
        return True

    def _path(self, number: int) -> list[Action]:
        path = []
        while number:
            path.append(self.actions[self.by[number]])
            number = self.parents[number]
        return path[::-1]

    # -- what may happen -------------------------------------------------------------------------------------------

    def _following(self, state: State) -> Iterator[tuple[Action, State, tuple[Finding, ...]]]:
        situations, flights, slow, left, turns, now = state
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
    ) -> Iterator[tuple[Action, State, tuple[Finding, ...]]]:
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

    def _timers(
        self, state: State, left: int, now_us: int, *, early: bool
    ) -> Iterator[tuple[Action, State, tuple[Finding, ...]]]:
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

    def _stragglers(self, state: State) -> Iterator[tuple[Action, State, tuple[Finding, ...]]]:
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

    def _crashes(self, state: State, now_us: int) -> Iterator[tuple[Action, State, tuple[Finding, ...]]]:
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

    # -- the beginning and the end ---------------------------------------------------------------------------------

    def _begin(self) -> State | None:
        """Everybody starts and attaches, in order, with nothing going wrong: that is not explored."""
        memo = self.memo
        actors = self.theatre.actors()
        stories = [0] * self.size
        queue: list[int] = []
        told = [self.theatre.beginnings(actor) for actor in actors]
        rows: list[list[Any]] = [[] for _ in actors]

        def heard(place: int, said: Said) -> None:
            queue.extend(memo.sent(place, said))
            rows[place] += said.rows

        for which in range(max(map(len, told))):
            for actor, mine in zip(actors, told, strict=True):
                if which < len(mine):
                    heard(actor.place, actor.begin(mine[which]))
        from antecede import wire

        while queue:
            sender, to, data = memo.flights[queue.pop(0)]
            assert data is not None
            heard(to, actors[to].act(("get", self.theatre.cast.names[sender], wire.decode(data)), EPOCH_US))
        numbers = []
        for actor in actors:
            stories[actor.place] = memo.story(0, rows[actor.place])
            numbers.append(memo.save(actor, stories[actor.place]))
            self.prologue.append((actor.place, Outcome(numbers[-1], (), tuple(rows[actor.place]), ())))
        small = self.small
        counts = ((small.losses, LOSSES), (small.duplicates, DUPLICATES), (small.slow, SLOW), (small.early, EARLY),
                  (small.crashes, CRASHES))  # fmt: skip
        left = sum(count * place for count, place in counts)
        return tuple(numbers), (), (), left, 0, self._now(EPOCH_US)

    def _judge(self, state: State, number: int) -> bool:
        """The oracle's word on the run that led here; runs with the same rows are judged once."""
        key = tuple(self.memo.situations[n].story for n in state[0])
        if key in self._judged:
            return True
        self._judged.add(key)
        path = self._path(number)
        report = check(self.rows(path, "quiet"), scenario={"recipe": self.small.recipe})
        self.result.judged += 1
        if not report.clean:
            self.result.findings = list(report.findings)
            self.result.actions = path
            return False
        return True

    def rows(self, path: list[Action], end: str) -> list[tuple[Any, ...]]:
        """The rows of a run. With own clocks its only time is the order in which things happened."""
        cast, memo = self.theatre.cast, self.memo
        rows: list[tuple[Any, ...]] = []
        steps = [0] * self.size
        run = f"{self.small.recipe}-{self.small.reading}"

        def note(place: int, outcome: Outcome | None, tick: int) -> None:
            stubs = outcome.rows if outcome is not None else (("end", None, None, None, None, end, None, None, None, None),)
            for kind, at_us, message, groups, deadline_us, reason, cut, guard_us, peer, expires_us in stubs:
                at = tick if at_us is None else at_us
                rows.append((run, cast.names[place], cast.roles[place], steps[place], at, kind, message, groups,
                             deadline_us, reason, None, cut, guard_us, expires_us, at, peer, None, None))  # fmt: skip
                steps[place] += 1

        for place, outcome in self.prologue:
            note(place, outcome, 0)
        situations = [outcome.situation for _, outcome in self.prologue]
        now_us = EPOCH_US
        for tick, action in enumerate(path, 1):
            if action[0] == "lose":
                continue
            if action[0] in ("get", "again"):
                place, kind, flight = memo.flights[action[1]].to, "get", action[1]
            else:
                place, kind, flight = action[1], action[0], -1
            if kind == "wake" and not memo.own_clocks:
                due_us = memo.situations[situations[place]].due_us
                now_us = max(now_us, due_us if due_us is not None else now_us)
            outcome = memo.outcome(situations[place], kind, flight, 0 if memo.own_clocks else now_us)
            note(place, outcome, tick)
            situations[place] = outcome.situation
        for place, number in enumerate(situations):
            if memo.situations[number].actor.alive:
                note(place, None, len(path) + 1 if memo.own_clocks else now_us)
        return rows


def _without(flights: tuple[int, ...], one: int) -> tuple[int, ...]:
    at = flights.index(one)
    return flights[:at] + flights[at + 1 :]


def _but(flights: tuple[int, ...], some: tuple[int, ...]) -> tuple[int, ...]:
    for one in some:
        flights = _without(flights, one)
    return flights
