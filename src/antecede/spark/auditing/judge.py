"""The verdicts at one process: inversion, gap, overdue, duplicate, stuck; those of `trace/check.py`, vectorised.

Decided in this file: each verdict starts from a column of candidates (what was covered before it was out, what came and
never went out), and only what remains of them is looked at one by one. What another process must say first - a broker
in which order it had two messages out, or when - becomes a question; who has that broker's steps answers it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from antecede.spark.auditing.attendance import Attendance, Debts
from antecede.spark.auditing.cover import NEVER
from antecede.spark.auditing.messages import NONE_US, Messages
from antecede.trace.report import ms

__all__ = ["ARRIVE", "DELIVER", "DISCARD", "NO_TIME", "PUBLISH", "Events", "Found", "Judge", "Question", "places_of"]

Ints = NDArray[Any]

PUBLISH, ARRIVE, DELIVER, DISCARD = range(4)
PLAIN, DUPLICATE, FOREIGN, OVERFLOW = range(4)
"""Reasons of a discard, as far as they matter here. One that names a peer tells of a queue: `overflow` of the client's
at its broker, any other (`late`) of this process's own application."""
OWN = 1
"""Of a delivery: the application asked for what this process publishes, too."""

NO_TIME = np.int64(-(2**63))
"""The simulator's clock where there is none."""


@dataclass
class Events:
    """The `publish`, `arrive`, `deliver` and `discard` rows of one process that name a known message, by step."""

    step: Ints
    at_us: Ints
    true_us: Ints
    kind: Ints
    reason: Ints
    message: Ints
    peer: Ints
    """Number among `peers`; -1: none."""
    peers: Sequence[str] = ()
    last_at_us: int = 0
    """The clock at the last row of any kind."""


class Found(NamedTuple):
    verdict: str
    message: int
    other: int
    """-1: none."""
    step: int
    text: str
    """With {m} and {o} for the names."""
    doubt: bool = False


class Question(NamedTuple):
    """The finding holds if `peer` had `first` out before `then`, or (where `then` is -1) later than `after_us`.

    Of several for one message the first by `turn` that holds is the finding.
    """

    found: Found
    turn: int
    peer: str | None
    """None: nobody needs to be asked."""
    first: int
    then: int
    after_us: int


@dataclass
class Verdicts:
    found: list[Found] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)


def places_of(events: Events, count: int) -> Ints:
    """Message -> the step at which it was first out (delivered or published) here."""
    out = np.full(count, NEVER, np.int32)
    delivered = (events.kind == DELIVER) & (events.reason != OWN)
    rows = np.flatnonzero(delivered | (events.kind == PUBLISH))[::-1]
    out[events.message[rows]] = events.step[rows]  # backwards: the first one stays
    return out


class Judge:
    def __init__(
        self,
        events: Events,
        mine: Attendance,
        messages: Messages,
        out: Ints,
        cover: Ints,
        *,
        skew_us: int = 0,
        quiet: bool = False,
        cache: dict[Any, Any] | None = None,
    ) -> None:
        self.events = events
        self.mine = mine
        self.messages = messages
        self.out = out
        self.cover = cover
        self.skew_us = skew_us
        self.quiet = quiet
        self.cache = {} if cache is None else cache
        key = ("due", mine.role)
        if key not in self.cache:
            self.cache[key] = messages.due_us(mine.role)
        self.due_us: Ints = self.cache[key]
        own = np.zeros(messages.count, bool)
        own[events.message[events.kind == PUBLISH]] = True
        self.debts = Debts(mine, messages, own, self.cache)
        self.result = Verdicts()

    def judge(self) -> Verdicts:
        events = self.events
        self._own()
        rows = np.flatnonzero((events.kind == DELIVER) & (events.reason != OWN))
        messages, steps = events.message[rows], events.step[rows]
        again = self.out[messages] != steps
        if again.any():
            self._duplicates(rows[again])
            rows, messages, steps = (column[~again] for column in (rows, messages, steps))
        self._inversions(rows[self.cover[messages] < steps])
        self._late(rows, messages)
        self._gaps()
        self._stuck()
        return self.result

    def _find(self, verdict: str, message: int, other: int, step: int, text: str, doubt: bool = False) -> None:
        self.result.found.append(Found(verdict, int(message), int(other), int(step), text, doubt))

    def _at_step(self, steps: Ints) -> Ints:
        """The rows at these steps."""
        return np.searchsorted(self.events.step, steps)

    def _duplicates(self, rows: Ints) -> None:
        events = self.events
        for row in rows:
            message = events.message[row]
            own = " (it is its own)" if self.debts.own[message] else ""
            self._find("duplicate", message, -1, events.step[row], f"delivered {{m}} a second time{own}")

    def _own(self) -> None:
        """What its application asked for of its own: once each, and in time."""
        events = self.events
        rows = np.flatnonzero((events.kind == DELIVER) & (events.reason == OWN))
        if not len(rows):
            return
        self._late(rows, events.message[rows])
        rows = rows[self.out[events.message[rows]] < events.step[rows]]
        rows = rows[self.debts.own[events.message[rows]]]
        _, first = np.unique(events.message[rows], return_index=True)
        for row in np.delete(rows, first):
            self._find("duplicate", events.message[row], -1, events.step[row], "was handed its own {m} a second time")

    def _inversions(self, rows: Ints) -> None:
        events = self.events
        messages = events.message[rows]
        others = events.message[self._at_step(self.cover[messages])]
        for message, other, step in zip(messages, others, events.step[rows], strict=True):
            self._find("inversion", message, other, step, "delivered {m} after {o}, although {m} -> {o}")

    def _late(self, rows: Ints, messages: Ints) -> None:
        events = self.events
        if not len(rows):
            return
        due = self.due_us[messages]
        # Most are in time by any clock: the rest is looked at more closely.
        latest = np.maximum(events.true_us[rows], events.at_us[rows] + self.skew_us)
        close = np.flatnonzero(latest > due)
        rows, due = rows[close], due[close]
        true_us, at_us = events.true_us[rows], events.at_us[rows]
        known = true_us != NO_TIME
        over = np.where(known, true_us, at_us) - due
        slack = np.where(known, 0, self.skew_us)
        for which in np.flatnonzero(over + slack > 0):
            row, certain = rows[which], over[which] - slack[which] > 0
            text = f"delivered {{m}} {ms(int(over[which]))} after its deadline"
            if not certain:
                text = f"delivered {{m}} within {ms(self.skew_us)} of its deadline, which is the skew of the clocks"
            self._find("overdue", events.message[row], -1, events.step[row], text, doubt=not certain)

    # --- gap -----------------------------------------------------------------------------------------------------

    def _gaps(self) -> None:
        """What was covered here before it was out, by a delivery that should have waited for it."""
        events, due_us = self.events, self.due_us
        missing = np.flatnonzero((self.cover < self.out) & (self.cover != NEVER))
        if not len(missing) or not self.mine.memberships:
            return
        rows = self._at_step(self.cover[missing])
        missing, rows = keep(events.kind[rows] == DELIVER, missing, rows)
        missing, rows = keep(self.debts.at(missing, events.step[rows]), missing, rows)
        missing, rows = keep(self.debts.at(events.message[rows], events.step[rows]), missing, rows)
        missing, rows = keep(self.discarded[missing] > events.step[rows], missing, rows)
        guard, now = self.mine.guard_us(events.step[rows]), events.at_us[rows]
        in_time = (due_us[missing] == NONE_US) | (now <= due_us[missing] - guard)
        own_due = due_us[events.message[rows]]
        waiting = (own_due == NONE_US) | (now < own_due - guard)
        missing, rows, guard = keep(in_time & waiting, missing, rows, guard)
        released: dict[int, bool] = {}
        for predecessor, row, ahead_us in zip(missing.tolist(), rows.tolist(), guard.tolist(), strict=True):
            if row not in released:
                released[row] = self._successor_due(row, ahead_us)
            if not released[row]:
                self._gap(predecessor, row)

    @property
    def discarded(self) -> Ints:
        """Message -> step of its first discard here that is final."""
        if not hasattr(self, "_discarded"):
            events = self.events
            mine = (events.reason == PLAIN) | ((events.reason == OVERFLOW) & (events.peer < 0))
            rows = np.flatnonzero((events.kind == DISCARD) & mine)[::-1]
            self._discarded = np.full(self.messages.count, NEVER, np.int32)
            self._discarded[events.message[rows]] = events.step[rows]
        return self._discarded

    @property
    def arrived(self) -> Ints:
        """Message -> step of its first arrival."""
        if not hasattr(self, "_arrived"):
            events = self.events
            rows = np.flatnonzero(events.kind == ARRIVE)
            self._arrived = np.full(self.messages.count, NEVER, np.int32)
            self._arrived[events.message[rows[::-1]]] = events.step[rows[::-1]]
            self._arrivals = rows
            self._highest = np.maximum.accumulate(events.message[rows]) if len(rows) else rows
        return self._arrived

    def _successor_due(self, row: int, guard_us: int) -> bool:
        """Whether a successor of the message delivered in this row had arrived that could wait no longer."""
        arrived, due_us = self.arrived, self.due_us
        step, limit_us = int(self.events.step[row]), int(self.events.at_us[row]) + guard_us
        message = int(self.events.message[row])
        before = int(np.searchsorted(self._arrivals, row))
        highest = int(self._highest[before - 1]) if before else -1  # a successor has a higher number
        window = slice(message + 1, highest + 1)
        hits = np.flatnonzero((arrived[window] < step) & (due_us[window] <= limit_us)) + message + 1
        if not len(hits):
            return False
        wanted, last = set(hits.tolist()), int(hits[-1])
        at, child = self.messages.graph.child_at, self.messages.graph.child
        seen, stack = {message}, [message]
        while stack:
            top = stack.pop()
            for below in child[at[top] : at[top + 1]].tolist():
                if below in wanted:
                    return True
                if below <= last and below not in seen:
                    seen.add(below)
                    stack.append(below)
        return False

    def _gap(self, predecessor: int, row: int) -> None:
        events = self.events
        message, step = int(events.message[row]), int(events.step[row])
        at = ms(int(events.at_us[row]))
        deadline = "before the logical deadline of {m}, if it has any, less the guard"
        text = f"delivered {{m}} at {at} without {{o}}, {deadline}"
        found = Found("gap", message, predecessor, step, text)
        if self.mine.role != "subscriber":
            self.result.found.append(found)
            return
        peers = self._senders(message, row, step)
        if not peers or None in peers:
            self.result.found.append(found)
            return
        for turn, peer in enumerate(peers):
            self.result.questions.append(Question(found, turn, peer, predecessor, message, 0))

    def _senders(self, message: int, row: int, step: int) -> list[str | None]:
        """The brokers its copies came from, the first of these that there are: since it was last attached anew, those
        that it was attached to then; since then, those it is attached to now; ever, those it was attached to then."""
        events, mine = self.events, self.mine
        rows = self._rows_of(message, ARRIVE)
        rows = rows[(rows < row) & (events.step[rows] > mine.first_join)]
        fresh_from = mine.segments[int(mine.segment(np.array([step]))[0])].fresh_from
        fresh = rows[events.step[rows] >= fresh_from]
        early = fresh[mine.listens(np.full(len(fresh), step), events.peer[fresh], events.peers)]
        rows = rows[mine.listens(events.step[rows], events.peer[rows], events.peers)]
        recent = rows[events.step[rows] >= fresh_from]
        rows = recent if len(recent) else early if len(early) else rows
        return list(dict.fromkeys(self._peer(r) for r in rows))

    def _peer(self, row: int) -> str | None:
        number = int(self.events.peer[row])
        return None if number < 0 else self.events.peers[number]

    def _rows_of(self, message: int, kind: int) -> Ints:
        """Rows of one kind that name a message."""
        if not hasattr(self, "_by_message"):
            self._by_message = np.argsort(self.events.message, kind="stable")
            self._sorted = self.events.message[self._by_message]
        start, stop = np.searchsorted(self._sorted, (message, message + 1))
        rows = self._by_message[start:stop]
        return np.asarray(rows[self.events.kind[rows] == kind])

    # --- stuck ---------------------------------------------------------------------------------------------------

    def _stuck(self) -> None:
        """Came in time with no successor out, never went out, and nothing excuses it."""
        events, mine = self.events, self.mine
        if not mine.memberships:
            return
        rows = np.flatnonzero(events.kind == ARRIVE)
        rows = rows[self.out[events.message[rows]] == NEVER]
        rows = rows[self.cover[events.message[rows]] > events.step[rows]]
        rows = rows[self.debts.to_the_end(events.message[rows])]
        steps, messages = events.step[rows], events.message[rows]
        due = self.due_us[messages]
        in_time = (due == NONE_US) | (events.at_us[rows] <= due - mine.guard_us(steps))
        rows = rows[in_time & self.debts.at(messages, steps)]
        rows = rows[mine.listens(events.step[rows], events.peer[rows], events.peers)]
        by_its_application = np.where(
            events.reason == OVERFLOW, events.peer < 0, (events.reason == PLAIN) & (events.peer >= 0)
        )
        excused = events.message[(events.kind == DISCARD) & by_its_application]
        rows = rows[~np.isin(events.message[rows], excused)]
        order = np.argsort(events.message[rows], kind="stable")
        rows = rows[order]
        for mine_only in np.split(rows, np.flatnonzero(np.diff(events.message[rows])) + 1):
            if len(mine_only):
                self._stuck_one(int(events.message[mine_only[0]]), mine_only)

    def _stuck_one(self, message: int, arrivals: Ints) -> None:
        mine = self.mine
        settled = self.cover[message] != NEVER or self.discarded[message] != NEVER
        if not settled:
            due_us = int(self.due_us[message])
            never = due_us == NONE_US
            passed = not never and (self.quiet or self.events.last_at_us > due_us - mine.last_guard_us)
            if mine.tail_unknown or not passed:
                return  # still waiting, and rightly so
        held: list[tuple[int, str | None, int]] = []
        for step, row, copy in self._story(message, arrivals):
            if row is None:
                held = [one for one in held if copy is not None and one[0] != copy]
            elif not held or held[-1][1] is not None:  # one that is certain ends the list
                peer = self._peer(row)
                segment = mine.segments[int(mine.segment(np.array([step]))[0])]
                back_us = segment.returned.get(peer) if peer is not None else None
                held.append((step, None, 0) if back_us is None else (step, peer, back_us))
        text = "{{m}} arrived in time at step {}, with no successor delivered by then, and was never delivered"
        for turn, (step, peer, back_us) in enumerate(held):
            found = Found("stuck", message, -1, step, text.format(step))
            if len(held) == 1 and peer is None:
                self.result.found.append(found)
            else:
                self.result.questions.append(Question(found, turn, peer, message, -1, back_us))

    def _story(self, message: int, arrivals: Ints) -> Iterator[tuple[int, int | None, int | None]]:
        """In order: (step, row, -) of arrivals it had to keep; (step, None, -) where it may have dropped what it held,
        (step, None, copy) where only the copy that came at that step."""
        events, mine = self.events, self.mine
        story: list[tuple[int, int | None, int | None]] = [(int(events.step[r]), int(r), None) for r in arrivals]
        story += [(step, None, None) for step in mine.clears]
        one = np.array([message])
        story += [(step, None, None) for step in mine.leaves if not self.debts.at(one, np.array([step + 1]))[0]]
        if mine.role == "subscriber":
            for row in self._rows_of(message, DISCARD):
                copy = self._ignored(message, int(row)) if events.reason[row] == FOREIGN else None
                if copy is not None:
                    story.append((int(events.step[row]), None, copy))
        return iter(sorted(story, key=lambda entry: entry[0]))

    def _ignored(self, message: int, row: int) -> int | None:
        """The step of the last copy, if it may be of an attachment that is over: discarding it as foreign drops it."""
        events, mine = self.events, self.mine
        before = self._rows_of(message, ARRIVE)
        before = before[before < row]
        if not len(before):
            return None
        step = np.array([events.step[row]])
        listens = mine.listens(step, events.peer[before[-1:]], events.peers)[0]
        over = not listens or mine.segments[int(mine.segment(step)[0])].fresh_from > 0
        return int(events.step[before[-1]]) if over else None


def keep(mask: Ints, *columns: Ints) -> tuple[Ints, ...]:
    return tuple(column[mask] for column in columns)
