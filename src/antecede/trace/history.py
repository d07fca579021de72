"""Happened-before, from rows alone: who published and delivered what, in which local order. No stamp is ever read.

Decided in this file: the causes of a message are its sender's previous message, always, and - as its `publish` row
says - everything that process had delivered or published so far (`after` null) or exactly `after`; transitively
closed. A message that was published unordered (`after` is `-`) has no causes and is none: not of its sender's next
message, not of what follows its delivery. Sets of messages are Python integers used as bit masks: bit i stands for the
i-th message of a causal order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from typing import Any

from antecede.core.content import read_fields
from antecede.core.message import COLLECTED, UNORDERED
from antecede.core.topics import matches, selected, split_filter
from antecede.core.where import parse_where
from antecede.errors import InputError
from antecede.trace.record import KINDS, ROLES, Row, is_copy, odd_reason
from antecede.trace.report import Finding

__all__ = ["History", "Told", "bits", "filters_of", "sheds", "time_of"]

NAMES_A_MESSAGE = frozenset(("publish", "arrive", "deliver", "discard", "collect"))


def bits(mask: int) -> Iterator[int]:
    """The members of a set, smallest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def time_of(row: Row) -> int:
    """The simulator's clock where there is one, else the process's own."""
    return row.at_us if row.true_us is None else row.true_us


def filters_of(row: Row) -> list[str]:
    """The filters of a `join` or `leave`, with their predicate."""
    return [selected(filter, row.where) for filter in row.groups or ()]


def sheds(row: Row) -> bool:
    """Whether it tells of what a client did not get, at the broker that had no more room for it."""
    return row.kind == "discard" and row.reason == "overflow" and row.peer not in (None, row.process)


def _understood(rows: list[Row]) -> None:
    """Refuse rows of one process, by step, that say what no process can say."""
    process, role, over = rows[0].process, rows[0].role, None
    if role not in ROLES:
        raise InputError(f"process {process} has the role {role!r}: a process is a {', '.join(ROLES)}")
    for place, row in enumerate(rows):
        where = f"process {process}, step {row.step}"
        if row.kind not in KINDS:
            raise InputError(f"{where}: there is no kind of row called {row.kind!r}")
        if row.message is None and row.kind in NAMES_A_MESSAGE:
            raise InputError(f"{where}: {row.kind} names no message")
        if row.step != place:
            if row.step < place:
                who = "clients" if role == "subscriber" else "processes"
                why = f"two {who} called {process} ran at once, or the same rows were given twice"
                raise InputError(f"process {process}: step {row.step} comes twice: {why}")
            raise InputError(
                f"process {process}: step {row.step} comes after step {place - 1}; steps must run from 0 on"
            )
        if odd_reason(row.kind, row.reason):
            raise InputError(f"{where}: {row.kind} never has the reason {row.reason!r}")
        if row.kind == "join" and row.peer == process:
            raise InputError(f"{where}: it joins at itself; the peer of a join is the broker or another member")
        if row.role != role:
            raise InputError(f"{where}: the role is {row.role!r} and was {role!r}; a process keeps its role")
        if over is not None and not (over == "crash" and row.kind == "restart"):
            raise InputError(f"{where}: {row.kind} comes after {over}; that is the last row of a process")
        over = row.kind if row.kind in ("end", "crash") else None


class Told:
    """A message, as its `publish` row tells of it."""

    __slots__ = (
        "ancestors",
        "before",
        "bit",
        "deadline_us",
        "expires_us",
        "headers",
        "id",
        "index",
        "publisher",
        "step",
        "topics",
    )

    def __init__(self, row: Row, index: int, ancestors: int) -> None:
        assert row.message is not None
        self.id = row.message
        self.index = index
        self.bit = 1 << index
        self.ancestors = ancestors
        self.before = 0
        """Of an unordered message: what its sender published unordered before it. A cut that names it hides them."""
        self.publisher = row.process
        self.step = row.step
        self.topics = tuple(row.groups or ())
        self.deadline_us = row.deadline_us
        self.expires_us = row.expires_us
        self.headers = row.headers

    def due_us(self, role: str) -> int | None:
        """After this it is of no use to a process of that role: the deadline, at subscribers also the lifetime."""
        if role == "subscriber" and self.expires_us is not None:
            return self.expires_us if self.deadline_us is None else min(self.deadline_us, self.expires_us)
        return self.deadline_us


class History:
    """All rows by process and step, and every message with its ancestors."""

    def __init__(self, rows: Iterable[Sequence[Any]]) -> None:
        self.processes: dict[str, list[Row]] = {}
        self.findings: list[Finding] = []
        self.messages: list[Told] = []
        self.index: dict[str, int] = {}
        self.out: dict[str, dict[int, int]] = {}
        """process -> message -> the step at which it first delivered or published it."""
        self.shed: dict[str, dict[str, int]] = {}
        """client -> broker -> mask of what that broker says it had no more room for, for that client."""
        self._unordered_by: dict[str, int] = {}
        self.unordered = 0
        """Mask of what was published to follow nothing and be followed by nothing."""
        self._last_own: dict[str, Told] = {}
        self.has_true_time = True
        self._topics: dict[str, int] = {}
        self._filters: dict[str, int] = {}
        self._collected: dict[str, list[int]] = {}
        """Broker -> masks of the first none, one, two ... that it let go of."""
        self.row_count = self._sort(rows)
        self._order()
        for told in self.messages:
            for topic in told.topics:
                self._topics[topic] = self._topics.get(topic, 0) | told.bit
        for row in (row for mine in self.processes.values() for row in mine if sheds(row)):
            index = self.index.get(row.message or "")
            if index is not None and row.peer is not None:
                mine_of = self.shed.setdefault(row.peer, {})
                mine_of[row.process] = mine_of.get(row.process, 0) | self.messages[index].bit

    def _sort(self, rows: Iterable[Sequence[Any]]) -> int:
        runs: set[str] = set()
        for values in rows:
            row = values if isinstance(values, Row) else Row._make(values)
            self.processes.setdefault(row.process, []).append(row)
            runs.add(row.run)
            if row.true_us is None:
                self.has_true_time = False
        if len(runs) > 1:
            raise InputError(f"these records hold {len(runs)} runs ({', '.join(sorted(runs)[:3])} ...): check one")
        if not runs:
            raise InputError("these records hold no row: nothing to check")
        for mine in self.processes.values():
            mine.sort(key=lambda row: row.step)
            _understood(mine)
        return sum(map(len, self.processes.values()))

    def _order(self) -> None:
        """Number the messages in a causal order, near the order of time; a delivery waits for its publication."""
        published: dict[str, Row] = {}
        relevant: dict[str, list[Row]] = {}
        for process, mine in self.processes.items():
            told = [r for r in mine if r.kind in ("publish", "deliver") and r.message is not None]
            relevant[process] = [r for r in told if not is_copy(r)]
            self.out[process] = {}
            for row in relevant[process]:
                if row.kind == "publish":
                    assert row.message is not None
                    first = published.setdefault(row.message, row)
                    if first is not row:
                        self._contradiction(row, f"{row.message} is published again (first by {first.process})")
        place = dict.fromkeys(relevant, 0)
        past = dict.fromkeys(relevant, 0)
        waiting: dict[str, list[str]] = {}
        ready = [(time_of(rows[0]), process) for process, rows in relevant.items() if rows]
        heapify(ready)
        while ready:
            _, process = heappop(ready)
            row = relevant[process][place[process]]
            assert row.message is not None
            if row.kind == "deliver":
                needs: Sequence[str] = (row.message,)
            else:
                needs = row.after or ()
            blocker = next((m for m in needs if m in published and m not in self.index), None)
            if blocker is not None:
                waiting.setdefault(blocker, []).append(process)
                continue
            if row.kind == "deliver":
                self._delivered(row, past)
            elif published[row.message] is row:
                self._published(row, past)
                for other in waiting.pop(row.message, ()):
                    heappush(ready, (time_of(relevant[other][place[other]]), other))
            place[process] += 1
            if place[process] < len(relevant[process]):
                heappush(ready, (time_of(relevant[process][place[process]]), process))
        for message, processes in waiting.items():
            row = relevant[processes[0]][place[processes[0]]]
            raise InputError(
                f"the records contradict themselves: {message} is its own cause "
                f"(process {row.process}, step {row.step}, needs it before it is published)"
            )

    def _delivered(self, row: Row, past: dict[str, int]) -> None:
        index = self.index.get(row.message or "")
        if index is None:
            return  # nobody published it: the walk through this process says so
        self.out[row.process].setdefault(index, row.step)
        past[row.process] |= (self.messages[index].ancestors | self.messages[index].bit) & ~self.unordered

    def _published(self, row: Row, past: dict[str, int]) -> None:
        assert row.message is not None
        unordered = row.after is not None and tuple(row.after) == UNORDERED
        if unordered:
            causes = 0
        elif row.after is None:
            causes = past[row.process]
        else:
            causes = self.closure(row.after) & ~self.unordered
            previous = self._last_own.get(row.process)
            if previous is not None:
                causes |= previous.ancestors | previous.bit
            for unknown in (m for m in row.after if m not in self.index):
                self._contradiction(row, f"{row.message} names the cause {unknown}, which nobody published")
        told = Told(row, len(self.messages), causes)
        self.index[told.id] = told.index
        self.messages.append(told)
        self.out[row.process].setdefault(told.index, row.step)
        if unordered:
            self.unordered |= told.bit
            told.before = self._unordered_by.get(row.process, 0)
            self._unordered_by[row.process] = told.before | told.bit
        else:
            self._last_own[row.process] = told
            past[row.process] |= causes | told.bit

    def _contradiction(self, row: Row, text: str) -> None:
        self.findings.append(Finding("unexplained", row.process, row.message, None, row.step, text))

    def closure(self, ids: Iterable[str]) -> int:
        """These messages and their whole past (ids that nobody published add nothing). `A@:17`: the first 17 that
        broker A let go of, and nothing else."""
        mask = 0
        for name in ids:
            index = self.index.get(name)
            if index is None:
                mask |= self.let_go(name) or 0
            if index is not None:
                told = self.messages[index]
                mask |= told.ancestors | told.bit | told.before
        return mask

    def let_go(self, name: str) -> int | None:
        """The first so many messages that a broker collected; None: a cut cannot say so."""
        process, _, count = name.rpartition(":")
        if not process.endswith(COLLECTED) or not count.isdecimal():
            return None
        collected = self._collected.get(process)
        if collected is None:
            collected = self._collected[process] = [0]
            for row in self.processes.get(process.removesuffix(COLLECTED), ()):
                if row.kind == "collect":
                    index = self.index.get(row.message or "")
                    collected.append(collected[-1] | (0 if index is None else self.messages[index].bit))
        return collected[int(count)] if int(count) < len(collected) else None

    def matching(self, filter: str) -> int:
        """Every message one of whose topics the filter matches, and of which its predicate is true."""
        mask = self._filters.get(filter)
        if mask is None:
            mask = 0
            for topic, members in self._topics.items():
                if matches(filter, topic):
                    mask |= members
            where = split_filter(filter)[1]
            if where is not None:
                holds = parse_where(where).holds
                told = [self.messages[index] for index in bits(mask)]
                mask = sum(one.bit for one in told if holds(read_fields(one.headers)))
            self._filters[filter] = mask
        return mask
