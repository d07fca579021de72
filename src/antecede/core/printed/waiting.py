"""The waiting list as the papers print it: a queue, walked through once in the order of arrival.

Decided here: what a specimen does with what arrives. Nothing is late, nothing is stale, nothing is released by time; a
second copy is noticed only while the first one waits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from antecede.core.deadline.inbox import Held, Inbox
from antecede.core.effects import Discard
from antecede.core.message import Envelope, Stamp
from antecede.core.order.reader import Reader

__all__ = ["LiteralReader", "WaitingList"]


class LiteralReader(Reader, ABC):
    @abstractmethod
    def ready(self, stamp: Stamp) -> bool:
        """The delivery condition, letter by letter."""


class WaitingList(Inbox):
    reader: LiteralReader

    def accept(self, envelope: Envelope, now_us: int) -> None:
        message = envelope.message
        if message.id in self.held:
            self.out.append(Discard(message.id, "duplicate"))
            return
        self.seen[message.id] = now_us
        held = self.held[message.id] = Held(envelope)
        for stream, n in envelope.stamp.own:
            self.marks.setdefault(stream, set()).add(n)
        self._check(now_us)
        if not held.gone:
            self.blocked.append(held)

    def _check(self, now_us: int) -> None:
        for held in list(self.held.values()):
            if not held.gone and self.reader.ready(held.envelope.stamp):
                self._remove(held)
                self._deliver(held.envelope, "causes", now_us)

    def skip(self, envelope: Envelope, reason: str, now_us: int) -> None:
        """There is no such thing in the papers."""

    def deliver_ready(self, now_us: int) -> None:
        self._check(now_us)
