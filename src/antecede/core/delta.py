"""The decisions of `delta` (Baldoni, Mostefaoui, Raynal 1996): the Inbox where it is known when a cause expires.

A held message is looked at again whenever one of its missing causes can no longer come in time: that one is then past,
and if nothing else is missing the message goes out, well before its own deadline.
"""

from __future__ import annotations

from heapq import heappush

from antecede.core.effects import Discard
from antecede.core.inbox import Held, Inbox
from antecede.core.message import Stamp, id_of_mark

__all__ = ["DeltaInbox"]


class DeltaInbox(Inbox):
    def _due_us(self, stamp: Stamp, deadline_us: int) -> int:
        """When the first of its missing causes has expired, or it must go out itself."""
        until = _deadlines(stamp)
        return min([deadline_us, *(until[stream] + 1 for stream, _ in self.reader.missing(stamp))]) - self.guard_us

    def _release(self, held: Held, now_us: int) -> None:
        deadline_us = held.envelope.message.deadline_us
        if deadline_us is None or now_us >= deadline_us - self.guard_us:
            super()._release(held, now_us)
            return
        until = _deadlines(held.envelope.stamp)
        for mark in self.reader.missing(held.envelope.stamp):  # one that is held went out at its own deadline, before
            if now_us > until[mark[0]] - self.guard_us:
                self.out.append(Discard(id_of_mark(mark), "expired"))
                self.reader.skipped((mark,), None)
        self._settle(now_us)
        if not held.gone:
            self._tick += 1
            heappush(self._due, (self._due_us(held.envelope.stamp, deadline_us), self._tick, held))


def _deadlines(stamp: Stamp) -> dict[str, int]:
    assert isinstance(stamp.extra, dict)
    return stamp.extra
