"""Publications that really happened: a recorded causal history, replayed through a protocol that loses and delays.

Decided here: recorded senders are folded onto the publishing processes in order of appearance; a message is published
once all its recorded parents have been delivered or published at its process, so deliveries set the pace; parents
become `after=`. A parent that cannot come any more (not addressed to this process, publisher gone, deadline passed) is
no longer waited for and not declared; each is counted in the run's notes.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from antecede.core.message import Message
from antecede.errors import InputError
from antecede.sim.dice import stream
from antecede.sim.driver import Driver
from antecede.sim.process import NEVER, Process
from antecede.sim.workload import topics_for

__all__ = ["Recorded", "Replay", "order_history", "read_history"]

COLUMNS = ("message", "sender", "seq", "sent_at_us", "parents")


@dataclass(frozen=True, slots=True)
class Recorded:
    """One message of a history; parents as positions in it, all before its own."""

    id: str
    sender: str
    parents: tuple[int, ...]


def read_history(path: Path, limit: int | None = None) -> list[Recorded]:
    """The history in an order that respects causality, the first `limit` messages of it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
        missing = [name for name in COLUMNS if name not in file.schema_arrow.names]
        if missing:
            raise InputError(f"{path} is no recorded history: it lacks the column {missing[0]}.")
        table = file.read(columns=["message", "sender", "parents"])
        ids, senders, parents = (table.column(name).to_pylist() for name in ("message", "sender", "parents"))
    except FileNotFoundError:
        raise InputError(f"The workload {path} does not exist.") from None
    except (OSError, pa.ArrowException):
        raise InputError(f"{path} cannot be read as Parquet: it is truncated or something else.") from None
    return order_history(ids, senders, parents, limit, str(path))


def order_history(
    ids: list[Any], senders: list[Any], parents: list[Any], limit: int | None, where: str
) -> list[Recorded]:
    """Positions instead of names; refuses what is no history: unknown parents, repeated ids, cycles."""
    row_of: dict[str, int] = {}
    for row, message in enumerate(ids):
        if message is None or senders[row] is None:
            raise InputError(f"{where} row {row} has no message id or no sender.")
        if message in row_of:
            raise InputError(f"{where} holds message {message} twice (rows {row_of[message]} and {row}).")
        row_of[message] = row
    causes: list[list[int]] = []
    effects: list[list[int]] = [[] for _ in ids]
    for row, listed in enumerate(parents):
        known = []
        for parent in dict.fromkeys(listed or ()):
            if parent not in row_of:
                raise InputError(f"{where} row {row}: message {ids[row]} names the unknown parent {parent}.")
            known.append(row_of[parent])
            effects[row_of[parent]].append(row)
        causes.append(known)
    # Kahn's order, lowest row first: a file that respects causality keeps its order.
    open_causes = [len(known) for known in causes]
    ready = [row for row, count in enumerate(open_causes) if not count]
    heapq.heapify(ready)
    place: dict[int, int] = {}
    history: list[Recorded] = []
    while ready:
        row = heapq.heappop(ready)
        place[row] = len(history)
        history.append(Recorded(ids[row], senders[row], tuple(place[cause] for cause in causes[row])))
        for effect in effects[row]:
            open_causes[effect] -= 1
            if not open_causes[effect]:
                heapq.heappush(ready, effect)
    if len(history) < len(ids):
        stuck = next(row for row in range(len(ids)) if row not in place)
        raise InputError(f"{where} is cyclic: message {ids[stuck]} (row {stuck}) is among its own causes.")
    return history if limit is None else history[:limit]


class Replay:
    def __init__(self, history: list[Recorded]) -> None:
        self.history = history
        self.left = len(history)
        self._actual: list[str | None] = [None] * len(history)
        """Recorded message -> the id it was published under; None: not yet, or never."""
        self._over_us: dict[int, int] = {}
        """Recorded message -> when it can no longer arrive anywhere (true time)."""
        self._had: list[set[int]] = []
        """Per line: which recorded messages its process has delivered or published."""
        self._by_id: dict[str, int] = {}
        self._lines: list[list[int]] = []
        """Per line (publishing process): what it has still to publish, the next one last."""
        self._alarm_us: list[int] = []
        """Per line: the next time it is tried, so that many deliveries at once are one try."""

    def begin(self, driver: Driver) -> None:
        self.driver = driver
        self.dice = stream(driver.scenario.seed, "workload")
        self._step_us = 1_000_000 / driver.scenario.rate
        self._slack_us = driver.settings.slack_us + driver.settings.retry_us
        names = [p.base for p in driver.publishers()]
        if not names:
            driver.notes["unpublished"] = self.left
            return
        self._line_of = {name: line for line, name in enumerate(names)}
        self._process: list[Process | None] = list(driver.publishers())
        self._topics = [set(p.groups) for p in driver.publishers()]
        folded: dict[str, int] = {}
        self._lines = [[] for _ in names]
        self._home = [folded.setdefault(r.sender, len(folded)) % len(names) for r in self.history]
        for position in reversed(range(len(self.history))):
            self._lines[self._home[position]].append(position)
        self._had = [set() for _ in names]
        self._sent_to: dict[int, frozenset[str]] = {}
        driver.listener = self.delivered
        self._alarm_us = [NEVER] * len(names)
        for line in range(len(names)):
            self._later(line, driver.scenario.first_us)

    def _later(self, line: int, when_us: int) -> None:
        if when_us < self._alarm_us[line]:
            self._alarm_us[line] = when_us
            self.driver.at(when_us, partial(self._try, line))

    def delivered(self, process: Process, message: Message, now_us: int) -> None:
        line = self._line_of.get(process.base)
        if line is None or process is not self._current(line):
            return
        position = self._by_id[message.id]
        self._had[line].add(position)
        if self._lines[line] and position in self.history[self._lines[line][-1]].parents:
            self._later(line, now_us)

    def _try(self, line: int, now_us: int) -> None:
        """Publish what may be published; what waits is tried again when a parent comes, or no longer can."""
        if now_us != self._alarm_us[line]:
            return  # an earlier try took its place
        self._alarm_us[line] = NEVER
        process = self._current(line)
        if process is not None and process.off_until_us > now_us:  # whoever sleeps publishes when it wakes up
            self._later(line, process.off_until_us)
            return
        queue = self._lines[line]
        while queue:
            position = queue[-1]
            due_us = self.driver.scenario.first_us + int(position * self._step_us)
            if now_us < due_us:
                self._later(line, due_us)
                return
            if process is None:
                self._skip(queue.pop(), now_us)
                continue
            again_us = self._wait_until(line, position, now_us)
            if again_us is not None:
                if again_us > now_us:
                    self._later(line, again_us)
                return
            queue.pop()
            self._publish(line, process, position, now_us)

    def _current(self, line: int) -> Process | None:
        """The living process of a line; a restarted one has forgotten everything."""
        known = self._process[line]
        if known is not None and known.alive:
            return known
        base = next(name for name, number in self._line_of.items() if number == line)
        known = next((p for p in self.driver.publishers() if p.base == base), None)
        if known is not None:
            self._process[line] = known
            self._had[line] = set()
        return known

    def _wait_until(self, line: int, position: int, now_us: int) -> int | None:
        """None: nothing to wait for. Else when to look again (now: only a delivery will change anything)."""
        again_us: int | None = None
        for parent in self.history[position].parents:
            if parent in self._had[line] or self._hopeless(line, parent, now_us):
                continue
            over_us = self._over_us.get(parent)
            if over_us is None:
                again_us = again_us or now_us
            else:
                again_us = over_us if not again_us or again_us == now_us else min(again_us, over_us)
        return again_us

    def _hopeless(self, line: int, parent: int, now_us: int) -> bool:
        if self._actual[parent] is None:  # not published yet, or never
            return parent in self._over_us
        if self._over_us.get(parent, now_us + 1) <= now_us:
            return True
        return self._topics[line].isdisjoint(self._sent_to[parent])

    def _publish(self, line: int, process: Process, position: int, now_us: int) -> None:
        driver, had = self.driver, self._had[line]
        parents = self.history[position].parents
        after = tuple(str(self._actual[parent]) for parent in parents if parent in had)
        for _ in range(len(parents) - len(after)):
            driver.count("causes given up")
        if driver.facts.clients_publish:
            topics = driver.layout.groups
        else:
            topics = topics_for(driver, process, self.dice, "all")
        message = driver.publish(process, topics, now_us, after)
        self.left -= 1
        self._actual[position] = message.id
        self._by_id[message.id] = position
        self._sent_to[position] = frozenset(topics)
        had.add(position)
        if message.deadline_us is not None:
            self._over_us[position] = message.deadline_us + self._slack_us

    def _skip(self, position: int, now_us: int) -> None:
        """Its publisher is gone: it will never be published, and who waits for it need not."""
        self.driver.count("unpublished")
        self.left -= 1
        self._over_us[position] = 0
        for line, queue in enumerate(self._lines):
            if queue and position in self.history[queue[-1]].parents:
                self._later(line, now_us)

    def idle(self, now_us: int) -> bool:
        """Nothing will be delivered any more: whoever is first in the history publishes without what is missing."""
        waiting = [(queue[-1], line) for line, queue in enumerate(self._lines) if queue]
        if not waiting:
            return False
        position, line = min(waiting)
        process = self._current(line)
        self._lines[line].pop()
        if process is None:
            self._skip(position, now_us)
        else:
            self._publish(line, process, position, now_us)
        self._later(line, now_us)
        return True
