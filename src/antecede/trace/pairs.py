"""Who is owed what. Decided in this file: memberships, cuts, guards, and which (message, receiver) pairs exist.

A membership is one filter of one `join` row, with the predicate of that row, until a `leave` of both (or a crash that
nothing followed) ends it. It owes every message its filter matches and its predicate holds for, except the receiver's
own and what lies behind the cut of that join. A message is a pair where a standing membership owes it; where only
ended ones do (the receiver left or crashed), it is a pair if some row there names it. A `move` cut excuses nothing,
so it does not appear here.
"""

from __future__ import annotations

from dataclasses import dataclass

from antecede.trace.history import History, filters_of
from antecede.trace.record import Row

__all__ = ["Membership", "Receiver"]


@dataclass(slots=True)
class Membership:
    filter: str
    peer: str | None
    """The broker it was joined at, or the one it moved to since."""
    joined: int
    """Step of the `join` row: arrivals before it do not count."""
    owes: int
    """Mask of messages."""
    ended: Row | None = None
    """The `leave` or `crash` row, if one ended it."""


class Receiver:
    """One process as a receiver: what is fixed by its `join`, `leave`, `crash` and `end` rows."""

    def __init__(self, name: str, history: History) -> None:
        self.name = name
        self.rows = history.processes[name]
        self.role = self.rows[0].role
        self.memberships: list[Membership] = []
        self.own = 0
        """Mask of what it published itself."""
        self.named = 0
        """Mask of what any of its rows names."""
        self.guards: list[tuple[int, int]] = []
        """(step, guard) of each `join` that declares one."""
        self.end = next((r for r in reversed(self.rows) if r.kind == "end"), None)
        crash: Row | None = None
        for row in self.rows:
            if row.message is not None:
                index = history.index.get(row.message)
                if index is not None:
                    self.named |= history.messages[index].bit
                    if row.kind == "publish":
                        self.own |= history.messages[index].bit
            if row.kind == "join":
                self._join(row, history)
            elif row.kind == "leave":
                self._leave(row)
            elif row.kind == "move":
                for membership in self.memberships:
                    if membership.ended is None:
                        membership.peer = row.peer
            elif row.kind == "crash":
                crash = row
            elif row.kind == "restart":
                crash = None
        self.crashed = crash is not None
        for membership in self.memberships:
            membership.owes &= ~self.own
            if crash is not None and membership.ended is None:
                membership.ended = crash
        self.left = bool(self.memberships) and all(m.ended is not None for m in self.memberships)
        self.correct = not self.crashed and not self.left
        self.tail_unknown = self.rows[-1].kind not in ("end", "crash")
        self.standing = self._owed(ended=False)
        """Mask of what it is owed to the end."""
        self.ever = self.standing | self._owed(ended=True)
        """Mask of what any membership ever owed it."""
        self.pairs = self.standing | (self.ever & self.named)

    def _join(self, row: Row, history: History) -> None:
        behind = history.closure(row.cut or ())
        for filter in filters_of(row):
            self.memberships.append(Membership(filter, row.peer, row.step, history.matching(filter) & ~behind))
        if row.guard_us is not None:
            self.guards.append((row.step, row.guard_us))

    def _leave(self, row: Row) -> None:
        filters = filters_of(row)
        for membership in self.memberships:
            named = row.groups is None or membership.filter in filters
            if named and membership.ended is None and row.peer in (None, membership.peer):
                membership.ended = row

    def _owed(self, *, ended: bool) -> int:
        mask = 0
        for membership in self.memberships:
            if (membership.ended is not None) == ended:
                mask |= membership.owes
        return mask

    def active_at(self, step: int) -> list[Membership]:
        """The memberships that hold just before the row at `step`."""
        return [m for m in self.memberships if m.joined < step and (m.ended is None or m.ended.step >= step)]

    def owed_at(self, step: int) -> int:
        """Mask of what the memberships that hold just before the row at `step` owe."""
        mask = 0
        for membership in self.active_at(step):
            mask |= membership.owes
        return mask

    def homes(self, bit: int) -> set[str]:
        """The brokers that were to forward this message to the end: those of the memberships that still owe it."""
        return {m.peer for m in self.memberships if m.ended is None and m.owes & bit and m.peer is not None}

    def guard_at(self, step: int) -> int:
        """The guard declared by the last `join` before `step`; before the first one, that one's; none: 0."""
        declared = [guard for joined, guard in self.guards if joined < step] or [g for _, g in self.guards[:1]]
        return declared[-1] if declared else 0

    def ended_at_us(self, bit: int) -> int:
        """When, by its own clock, the last membership that owed this message ended."""
        times = [m.ended.at_us for m in self.memberships if m.ended is not None and m.owes & bit]
        return max(times, default=self.rows[-1].at_us)
