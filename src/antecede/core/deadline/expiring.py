"""The decisions of `delta` (Baldoni, Mostefaoui, Raynal 1996): the Inbox where it is known when a cause expires.

A held message is looked at again whenever one of its missing causes can no longer come in time: that cause is then
past, and if no other is missing the message goes out, well before its own deadline. Example: q:1 expires at 9 s and
needs p:1, which expires at 4 s and never comes: q:1 goes out at 4 s.
"""

from __future__ import annotations

from heapq import heappush

from antecede.core.deadline.inbox import Held, Inbox
from antecede.core.effects import Discard
from antecede.core.message import Envelope, Mark, Stamp, id_of_mark

__all__ = ["DeltaInbox"]


def says_when(envelope: Envelope) -> bool:
    """Whether it expires, and says of all its causes when they do. An unordered one has no causes."""
    message, stamp, until = envelope.message, envelope.stamp, envelope.stamp.extra
    if message.order == "none":
        return not stamp.needs
    named = {*stamp.covers, *dict(stamp.needs)}
    return message.deadline_us is not None and isinstance(until, dict) and named <= until.keys()


class DeltaInbox(Inbox):
    def accept(self, envelope: Envelope, now_us: int) -> None:
        if says_when(envelope):
            super().accept(envelope, now_us)
        else:
            self.out.append(Discard(envelope.message.id, "foreign"))

    def _due_us(self, stamp: Stamp, deadline_us: int) -> int:
        """When the first of its missing causes has expired, or it must go out itself."""
        return min([deadline_us, *(until_us + 1 for _, until_us in self._awaited(stamp))]) - self.guard_us

    def _awaited(self, stamp: Stamp) -> list[tuple[Mark, int]]:
        """The causes of a message that have not come, and when each of them expires. A cause that is held goes out by
        itself, and not later than the message: both may be due at once, when a driver overslept."""
        until, held = stamp.extra, self.marks
        assert isinstance(until, dict)
        return [(mark, until[mark[0]]) for mark in self.reader.missing(stamp) if mark[1] not in held.get(mark[0], ())]

    def _release(self, held: Held, now_us: int) -> None:
        deadline_us, stamp = held.envelope.message.deadline_us, held.envelope.stamp
        if deadline_us is None or now_us >= deadline_us - self.guard_us:
            super()._release(held, now_us)
            return
        for mark, until_us in self._awaited(stamp):
            if now_us > until_us - self.guard_us:
                self.out.append(Discard(id_of_mark(mark), "expired"))
                self.reader.skipped((mark,), None)
        self.deliver_ready(now_us)
        if not held.gone:
            self._tick += 1
            heappush(self._due, (self._due_us(stamp, deadline_us), self._tick, held))
