"""One process from `join` to `end`: what it is owed when, which brokers it listens to, and how it ended.

Decided in this file: the rows that are few (`join`, `leave`, `move`, `crash`, `restart`, `end`) are walked one by one,
as `trace/pairs.py` and `trace/ledger.py` do; what they mean for the many is asked for arrays of messages and steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from antecede.core.content import read_fields
from antecede.core.message import split_id
from antecede.core.topics import matches, split_filter
from antecede.core.where import parse_where
from antecede.spark.auditing.cover import closure
from antecede.spark.auditing.messages import Messages

__all__ = ["CONTROL", "Attendance", "Control", "Debts"]

Ints = NDArray[Any]

CONTROL = ("join", "leave", "move", "crash", "restart", "end")
"""Kinds of rows that this file reads."""


class Control(NamedTuple):
    """One such row; `cut` as keys."""

    step: int
    at_us: int
    time_us: int
    kind: str
    groups: Sequence[str] | None = None
    cut: Sequence[int] | None = None
    guard_us: int | None = None
    peer: str | None = None
    reason: str | None = None
    let_go: Sequence[str] | None = None
    """What else its cut says: `A@:17`, the first 17 messages that broker A let go of."""


@dataclass(slots=True)
class Membership:
    filter: str
    peer: str | None
    joined: int
    cut: tuple[int, ...]
    let_go: tuple[str, ...] = ()
    ended: int | None = None
    """Step of the `leave` or `crash` that ended it."""

    def holds(self, step: int) -> bool:
        """Just before the row at `step`."""
        return self.joined < step and (self.ended is None or self.ended >= step)


@dataclass(slots=True)
class Segment:
    """From just after the row at `step` on: the brokers it listens to, and those it came back to, since when."""

    step: int
    peers: frozenset[str]
    any_peer: bool
    """No broker was ever named: it listens to everyone."""
    returned: dict[str, int]
    fresh_from: int


@dataclass
class Attendance:
    role: str
    memberships: list[Membership] = field(default_factory=list)
    guards: list[tuple[int, int]] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)
    bounds: list[int] = field(default_factory=list)
    """Steps of `join` and `leave`: where what is owed changes."""
    clears: list[int] = field(default_factory=list)
    """Steps of `move`, and of `restart` after a crash: what was held is dropped."""
    leaves: list[int] = field(default_factory=list)
    first_join: int = -1
    end_reason: str | None = None
    ended: bool = False
    """There is an `end` row."""
    tail_unknown: bool = True
    """Its last row is neither `end` nor `crash`."""
    lasts: list[int] = field(default_factory=list)
    """Steps of `end`, and of `crash` where no `restart` follows: nothing may come after them."""
    crashed: bool = False
    left: bool = False

    @property
    def correct(self) -> bool:
        return not self.crashed and not self.left

    @classmethod
    def of(cls, role: str, rows: Iterable[Control]) -> Attendance:
        """From the rows of one process, by step."""
        rows = list(rows)
        mine = cls(role)
        crash: int | None = None
        for row in rows:
            if row.kind == "join":
                mine.first_join = row.step if mine.first_join < 0 else mine.first_join
                mine.bounds.append(row.step)
                cut, let_go = tuple(row.cut or ()), tuple(row.let_go or ())
                mine.memberships += [Membership(f, row.peer, row.step, cut, let_go) for f in row.groups or ()]
                if row.guard_us is not None:
                    mine.guards.append((row.step, row.guard_us))
            elif row.kind == "leave":
                mine.bounds.append(row.step)
                mine.leaves.append(row.step)
                for member in mine.memberships:
                    named = row.groups is None or member.filter in row.groups
                    if named and member.ended is None and row.peer in (None, member.peer):
                        member.ended = row.step
            elif row.kind == "move":
                mine.clears.append(row.step)
                for member in mine.memberships:
                    if member.ended is None:
                        member.peer = row.peer
            elif row.kind == "crash":
                crash = row.step
            elif row.kind == "restart" and crash is not None:
                mine.clears.append(row.step)
                crash = None
            elif row.kind == "end":
                mine.ended, mine.end_reason = True, row.reason
        mine.tail_unknown = not rows or rows[-1].kind not in ("end", "crash")
        back = {row.step - 1 for row in rows if row.kind == "restart"}
        mine.lasts = [r.step for r in rows if r.kind == "end" or (r.kind == "crash" and r.step not in back)]
        mine.crashed = crash is not None
        for member in mine.memberships:
            if crash is not None and member.ended is None:
                member.ended = crash
        mine.left = bool(mine.memberships) and all(m.ended is not None for m in mine.memberships)
        mine._attach(rows)
        return mine

    def _attach(self, rows: list[Control]) -> None:
        peers: set[str] = set()
        ever: set[str] = set()
        returned: dict[str, int] = {}
        fresh_from = 0

        def attach(peer: str, row: Control) -> None:
            if peer in ever:
                returned[peer] = row.time_us
            peers.add(peer)
            ever.add(peer)

        self.segments = [Segment(-1, frozenset(), True, {}, 0)]
        for row in rows:
            if row.kind == "join" and row.peer is not None and row.peer not in peers:
                attach(row.peer, row)
            elif row.kind == "leave":
                still = [m for m in self.memberships if m.holds(row.step + 1)]
                if not still:
                    fresh_from = row.step
                    peers.clear()
                elif row.peer is not None and all(m.peer != row.peer for m in still):
                    peers.discard(row.peer)
            elif row.step in self.clears:
                fresh_from = row.step
                if row.kind == "move" and row.peer is not None:
                    peers.clear()
                    attach(row.peer, row)
            else:
                continue
            self.segments.append(Segment(row.step, frozenset(peers), not ever, dict(returned), fresh_from))

    # --- what holds just before a row at these steps -------------------------------------------------------------

    def guard_us(self, steps: Ints) -> Ints:
        if not self.guards:
            return np.zeros(len(steps), np.int64)
        declared = np.array([g for _, g in self.guards], np.int64)
        place = np.searchsorted(np.array([s for s, _ in self.guards]), steps, side="left")
        return declared[np.maximum(place - 1, 0)]

    @property
    def last_guard_us(self) -> int:
        return self.guards[-1][1] if self.guards else 0

    def segment(self, steps: Ints) -> Ints:
        """The number of the segment that holds."""
        return np.searchsorted(np.array([s.step for s in self.segments]), steps, side="left") - 1

    def listens(self, steps: Ints, peer: Ints, names: Sequence[str]) -> Ints:
        """Whether it is attached to the peer (a number among `names`; -1: none) at that moment."""
        if self.role != "subscriber":
            return np.ones(len(steps), bool)
        which = self.segment(steps)
        result = np.zeros(len(steps), bool)
        for number in np.unique(which):
            segment = self.segments[number]
            known = np.array([segment.any_peer or n in segment.peers for n in names] + [True])
            mine = which == number
            result[mine] = known[peer[mine]]
        return result


class Debts:
    """What is owed to one process, for arrays of messages (by number)."""

    def __init__(self, mine: Attendance, messages: Messages, own: Ints, cache: dict[Any, Any]) -> None:
        self.mine = mine
        self.messages = messages
        self.own = own
        """Which messages it published itself."""
        self._cache = cache
        """Shared by the processes of a run: what a filter matches, what lies behind a cut."""
        self._bounds = np.array(mine.bounds, np.int64)

    def _shared(self, key: Any, make: Callable[[], Ints]) -> Ints:
        found: Ints | None = self._cache.get(key)
        if found is None:
            found = self._cache[key] = make()
        return found

    def _matching(self, filter: str) -> Ints:
        """Set of topics (and headers) -> whether the filter matches one of them, and its predicate holds."""
        sets, where = self.messages.sets, split_filter(filter)[1]

        def make() -> Ints:
            matched = np.array([any(matches(filter, t) for t in s) for s in sets], bool)
            if where is not None:
                holds, headers = parse_where(where).holds, self.messages.about["headers"]
                for place in np.flatnonzero(matched):
                    matched[place] = holds(read_fields(headers[place]))
            return matched

        return self._shared(("filter", filter), make)

    def _behind(self, cut: tuple[int, ...], let_go: tuple[str, ...]) -> Ints:
        def make() -> Ints:
            members = self.messages.find(np.array(cut, np.int64).view(np.uint64))
            behind = closure(self.messages.graph, members[members >= 0])
            loose = self.messages.extra.get("loose", members[:0])
            publisher = self.messages.publisher[loose]
            # A cut that names one hides its sender's earlier ones.
            for place in np.flatnonzero(np.isin(loose, members)):
                behind[loose[np.searchsorted(publisher, publisher[place]) : place]] = True
            for name in let_go:
                broker, count = split_id(name)
                first = np.array(self.messages.about.get("collected", {}).get(broker, ())[:count], np.int64)
                behind[first[first >= 0]] = True
            return behind

        return self._shared(("cut", cut, let_go), make)

    def _owes(self, member: Membership, messages: Ints) -> Ints:
        owed = self._matching(member.filter)[self.messages.set[messages]] & ~self.own[messages]
        if member.cut:
            owed &= ~self._behind(member.cut, member.let_go)[messages]
        return np.asarray(owed)

    def at(self, messages: Ints, steps: Ints) -> Ints:
        """Whether a membership that holds just before that step owes that message."""
        place = np.searchsorted(self._bounds, steps, side="left") - 1
        result = np.zeros(len(messages), bool)
        since = np.where(place >= 0, self._bounds[np.maximum(place, 0)], -1) if len(self._bounds) else np.full(1, -1)
        for member in self.mine.memberships:
            ended = np.inf if member.ended is None else member.ended
            rows = np.flatnonzero((member.joined <= since) & (since < ended) & ~result)
            if len(rows):
                result[rows] = self._owes(member, messages[rows])
        return result

    def to_the_end(self, messages: Ints) -> Ints:
        """Whether a membership that nothing ended owes it."""
        result = np.zeros(len(messages), bool)
        for member in self.mine.memberships:
            if member.ended is None:
                result |= self._owes(member, messages)
        return result

    def ever(self, messages: Ints) -> Ints:
        """Whether any membership ever owed it."""
        result = np.zeros(len(messages), bool)
        for member in self.mine.memberships:
            result |= self._owes(member, messages)
        return result
