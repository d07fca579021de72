"""Who held which message when, from rows alone: a process holds what it published, got or delivered until it lets go.

Decided in this file: letting go is a `collect`, a discard of what it never delivered, or a crash. Only members and
brokers answer for others; a publishing client counts while nobody else has it, since it repeats until it is heard.
"""

from __future__ import annotations

from dataclasses import dataclass

from antecede.trace.history import History, time_of
from antecede.trace.pairs import Receiver

__all__ = ["Holders", "Partition"]


@dataclass(slots=True, frozen=True)
class Partition:
    """From `start_us` to `end_us` the sides cannot reach each other; who is on no side reaches everyone."""

    sides: tuple[frozenset[str], ...]
    start_us: int
    end_us: int

    def parts(self, a: str, b: str, at_us: int) -> bool:
        if not self.start_us <= at_us < self.end_us:
            return False
        one, other = self._side(a), self._side(b)
        return None not in (one, other) and one != other

    def _side(self, name: str) -> int | None:
        """The number of the side that names it; else of the one that names the process it is an incarnation of."""
        for known in (name, name.rpartition(".")[0]):
            for number, side in enumerate(self.sides):
                if known in side:
                    return number
        return None


class Holders:
    def __init__(
        self, history: History, receivers: dict[str, Receiver], partitions: tuple[Partition, ...] = ()
    ) -> None:
        self.history = history
        self.receivers = receivers
        self.partitions = partitions
        self._spans: list[dict[str, tuple[int, int | None]]] = [{} for _ in history.messages]
        """message -> process -> (since, until), until None: to the end."""
        self._relays = [n for n, r in receivers.items() if r.correct and r.role != "subscriber"]
        self.end_us = max(time_of(r.rows[-1]) for r in receivers.values())
        for name, receiver in receivers.items():
            self._note(name, receiver)

    def _note(self, name: str, receiver: Receiver) -> None:
        serves = receiver.role != "subscriber"
        since: dict[int, int] = {}
        until: dict[int, int] = {}
        kept: set[int] = set()
        for row in receiver.rows:
            if row.kind == "crash" and receiver.crashed:
                for index in since:
                    until.setdefault(index, time_of(row))
            index_or_none = self.history.index.get(row.message) if row.message is not None else None
            if index_or_none is None:
                continue
            index = index_or_none
            if row.kind == "publish" or (serves and row.kind in ("arrive", "deliver")):
                since.setdefault(index, time_of(row))
                if row.kind != "arrive":
                    kept.add(index)
                    until.pop(index, None)
                continue
            dropped = row.kind == "discard" and row.reason != "duplicate" and index not in kept
            if index in since and (dropped or row.kind == "collect"):
                until.setdefault(index, time_of(row))
        for index, start in since.items():
            self._spans[index][name] = (start, until.get(index))

    def until(self, index: int, at_us: int, slack_us: int) -> bool:
        """Whether somebody held the message up to `at_us`: a member, a broker, or a client that published it and had
        not been heard by then (who has been may let go, and no row says so). Who publishes later held it all the time.
        """
        publisher = self.history.messages[index].publisher
        heard = any(since <= at_us for name, (since, _) in self._spans[index].items() if name != publisher)
        for name, (since, end) in self._spans[index].items():
            receiver = self.receivers[name]
            if (receiver.role == "subscriber" and heard) or (since > at_us and name != publisher):
                continue
            if end is None or end >= at_us - slack_us - receiver.guard_at(len(receiver.rows)):
                return True
        return False

    def serving(self, index: int, at_us: int, asker: str) -> str | None:
        """A correct member or broker in reach of `asker` that holds the message at that instant."""
        for name, (since, end) in self._spans[index].items():
            receiver = self.receivers[name]
            if receiver.role == "subscriber" or not receiver.correct or name == asker:
                continue
            if since < at_us and (end is None or end > at_us) and self.in_reach(name, asker, at_us):
                return name
        return None

    def surviving(self, index: int) -> bool:
        """Whether some correct member or broker holds it at the end."""
        return any(end is None and name in self._relays for name, (_, end) in self._spans[index].items())

    def served(self, index: int, asker: str) -> bool:
        """Whether a correct process that answers others holds it at the end, in reach of `asker` (or is it itself)."""
        return any(
            end is None and name in self._relays and self.in_reach(name, asker, self.end_us)
            for name, (_, end) in self._spans[index].items()
        )

    def kept_to(self, index: int, publisher: str) -> bool:
        """Whether nobody else ever held it, and its publisher holds it still."""
        spans = self._spans[index]
        return spans.keys() == {publisher} and spans[publisher][1] is None

    def in_reach(self, a: str, b: str, at_us: int) -> bool:
        """Whether a chain of correct members or brokers leads from one to the other past the partitions that stand."""
        standing = [p for p in self.partitions if p.start_us <= at_us < p.end_us]
        left, new = {*self._relays, b}, [a]
        while standing and new and b in left:
            last = new.pop()
            near = [name for name in left if not any(p.parts(last, name, at_us) for p in standing)]
            left.difference_update(near)
            new += near
        return not standing or b not in left

    def apart(self, a: str, b: str) -> bool:
        """Whether a partition stands between the two at the end."""
        return any(p.parts(a, b, self.end_us) for p in self.partitions)
