"""Every run of a small scenario: a bounded model checker over the real machines.

**The model.** A state is: the situation of every process (`memo`), the copies under way, and what may still go wrong.
From each state these things may happen, and all are tried:

- a process does its next step of the script (`small`);
- any copy under way arrives, in any order; a *duplicate* arrives and stays under way;
- the copies left under way turn out to be *lost* or *slow*, all of them at once. To say so no earlier loses nothing:
  a copy that will never come is one that has not come yet, until timers must decide;
- a timer goes off. Timers wait until nothing else can happen - nothing is under way but slow copies, no step of the
  script can be taken - except for `early` ones;
- a process *crashes*; what is under way to it vanishes, and word of the crash is under way to everybody else.

**Time.** Without deadlines every process has its own clock, which stands still but for its timers: when one goes off
the clock jumps to it. Only the earliest timer of a process can go off; which process's does is open, but nobody's goes
off a second time before everybody who waits for one had a turn. With deadlines (or `clock one`) there is one clock, and
timers go off exactly when they are due, in order; those of one instant in any order. Frames arrive at the instant of
the last timer or publication: times in between are not tried. Dice always show the same: jitter
and whom chance picks are not explored (by default everybody is picked).

**What is bounded.** Losses, duplicates, slow copies, early timers, crashes: each by its count. Within these bounds
coverage is complete: the search ends when there is no new state. Processes begin attached and at rest.

**Judgement.** Inversion, duplicate and overdue are seen at the step that makes them, and nothing behind such
a step is looked at. When nothing is left to happen, the oracle (`trace.check`) judges the whole run; a situation
includes the rows of its process that verdicts depend on, so runs that end in one state are judged alike. States are
visited in order of their distance, so the first violation has no shorter one. At last, from every state there must be a
way to an end.

**Reduction.** A step of one process leaves all others as they were, so steps of different processes commute, and both
orders end in the same state, which is visited once; the step itself is carried out once, whatever the others did.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from antecede.core.recipes import build
from antecede.sim.actor import Stub
from antecede.sim.driver import Build
from antecede.sim.memo import Flight, Memo
from antecede.sim.moves import Action, Moves, State
from antecede.sim.small import Small
from antecede.sim.theatre import Ledger, Theatre
from antecede.trace.check import check
from antecede.trace.report import Finding

__all__ = ["MAX_STATES", "Explored", "explore"]

MAX_STATES = 5_000_000
"""A search gives up beyond so many. Raising it costs about half a gigabyte per million."""


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
    max_states: int = MAX_STATES,
    watch: Callable[[Explored], None] | None = None,
) -> Explored:
    """Visit every state, nearest first, until a violation or the end. `watch` hears of progress now and then."""
    return _Search(small, make, max_states, watch).run()


class _Search:
    def __init__(self, small: Small, make: Build, max_states: int, watch: Callable[[Explored], None] | None) -> None:
        self.small = small
        self.theatre = Theatre(small, make)
        self.memo = Memo(self.theatre)
        self.moves = Moves(self.memo)
        self.result = Explored(small, flights=self.memo.flights)
        self.max_states = max_states
        self.watch = watch
        self.size = len(self.theatre.cast.names)
        self.known: dict[bytes, int] = {}
        self.parents = array("L")
        self.actions: list[Action] = []
        self._action_of: dict[Action, int] = {}
        self.by = array("L")
        self._from, self._to = array("I"), array("I")
        """Every transition."""
        self._rests = bytearray()
        """Per state: whether everything can come to rest from here."""
        self._judged: set[tuple[int, ...]] = set()
        self.prologue: list[tuple[int, tuple[Stub, ...]]] = []
        """Where each process begins, and its rows until then."""

    # -- states ----------------------------------------------------------------------------------------------------

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
        frontier = [self._pack(self._begin())]
        self.known[frontier[0]] = 0
        self.parents.append(0)
        self.by.append(0)
        self._rests.append(0)
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
        self._find_unrest()
        return self._sum_up()

    def _find_unrest(self) -> None:
        """From every state there must be a way to an end: timers that only beget timers are a violation too."""
        rests, edges = self._rests, range(len(self._from) - 1, -1, -1)
        sources, targets = self._from, self._to
        spreads = True
        while spreads:  # most ways lead to later states, so that going back once is nearly enough
            spreads = False
            for edge in edges:
                if rests[targets[edge]] and not rests[sources[edge]]:
                    rests[sources[edge]] = 1
                    spreads = True
        restless = rests.find(0)
        if restless >= 0:
            situations = self._unpack(next(islice(self.known, restless, None)))[0]
            names = [
                n for n, s in zip(self.theatre.cast.names, situations, strict=True) if self.memo.situations[s].due_us
            ]
            text = f"whatever happens from here on, not everybody comes to rest ({', '.join(names)} wait for timers)"
            self.result.findings = [Finding("unexplained", "", None, None, None, text)]
            self.result.actions = self._path(restless)

    def _sum_up(self) -> Explored:
        self.result.states = len(self.known)
        self.result.situations = len(self.memo.situations)
        self.result.steps = self.memo.steps
        return self.result

    def _visit(self, packed: bytes, coming: list[bytes]) -> bool:
        """Everything that may happen next; False: a violation was found, or there are too many states."""
        state, mine, result, known = self._unpack(packed), self.known[packed], self.result, self.known
        moved = False
        for action, following, findings in self.moves.following(state):
            moved = moved or action[0] != "crash"
            result.transitions += 1
            if findings:
                result.findings = list(findings)
                result.actions = [*self._path(mine), action]
                return False
            key = self._pack(following)
            place = known.get(key)
            self._from.append(mine)
            self._to.append(len(known) if place is None else place)
            if place is None:
                known[key] = len(known)
                self._rests.append(0)
                self.parents.append(mine)
                number = self._action_of.get(action)
                if number is None:
                    number = self._action_of[action] = len(self.actions)
                    self.actions.append(action)
                self.by.append(number)
                coming.append(key)
        if not moved:
            result.ends += 1
            self._rests[mine] = 1
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

    # -- the beginning and the end ---------------------------------------------------------------------------------

    def _begin(self) -> State:
        actors, rows = self.theatre.begin()
        numbers = []
        for actor, told in zip(actors, rows, strict=True):
            numbers.append(self.memo.save(actor, self.memo.story(0, told)))
            self.prologue.append((numbers[-1], tuple(told)))
        return self.moves.first(tuple(numbers))

    def _judge(self, state: State, number: int) -> bool:
        """The oracle's word on the run that led here; runs with the same rows are judged once."""
        key = tuple(self.memo.situations[n].story for n in state[0])
        if key in self._judged:
            return True
        self._judged.add(key)
        path = self._path(number)
        report = check(self.rows(path, "quiet"), scenario={"recipe": self.small.base})
        self.result.judged += 1
        if not report.clean:
            self.result.findings = list(report.findings)
            self.result.actions = path
            return False
        return True

    def rows(self, path: list[Action], end: str) -> list[tuple[Any, ...]]:
        """The rows of a run. With own clocks its only time is the order in which things happened."""
        memo, ledger = self.memo, Ledger(self.theatre)
        situations = []
        for place, (number, told) in enumerate(self.prologue):
            ledger.note(place, told, 0)
            situations.append(number)
        now_us = self.small.start_us
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
            ledger.note(place, outcome.rows, tick)
            situations[place] = outcome.situation
        for place, number in enumerate(situations):
            if memo.situations[number].actor.alive:
                ledger.end(place, end, len(path) + 1 if memo.own_clocks else now_us)
        return ledger.rows
