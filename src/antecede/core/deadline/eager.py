"""The decisions of `colour-eager` (004 RMS1-RMS4; PROTOCOLS s3.5): the Inbox where one scalar must do.

A message that is ready takes with it, before itself, every held message that may precede it: left behind, that one
could never go out again. A message that waits for a round that never comes goes out when that round has expired, for
then no predecessor of it can still come. A message that came too late to be told from a predecessor of one that is out
is kept to its end and then let go of: to call it superseded would be to claim what nobody knows. Example: q, of round
7, names round 5, of which nothing came; when round 5 has expired q goes out, and p, of round 4 and held, before it.
"""

from __future__ import annotations

from heapq import heappush

from antecede.core.deadline.inbox import Held, Inbox, by_rank
from antecede.core.message import Envelope, Stamp
from antecede.core.order.colour import ColourReader, newest_before

__all__ = ["EagerInbox"]


class EagerInbox(Inbox):
    reader: ColourReader

    def _due_us(self, stamp: Stamp, deadline_us: int) -> int:
        """When the round it waits for is no longer in time; if it may not go out at all, when it itself is not."""
        if not self.reader.barred(stamp):
            deadline_us = min(deadline_us, self.reader.clock.end_us(newest_before(stamp)))
        return deadline_us - self.guard_us + 1

    def _release(self, held: Held, now_us: int) -> None:
        message = held.envelope.message
        if not self.reader.barred(held.envelope.stamp):
            self._remove(held)
            self._deliver(held.envelope, "causes", now_us)
        elif message.deadline_us is not None and now_us > message.deadline_us - self.guard_us:
            self._give_up(held, now_us)
        else:  # barred since it came: it stays to its end
            self._tick += 1
            heappush(self._due, (self._due_us(held.envelope.stamp, message.deadline_us or now_us), self._tick, held))

    def _deliver(self, envelope: Envelope, reason: str, now_us: int) -> None:
        newest = newest_before(envelope.stamp)
        before = [h for h in self.held.values() if h.envelope.stamp.rank <= newest]
        for held in sorted(before, key=by_rank):
            if not self.reader.barred(held.envelope.stamp):
                self._remove(held)
                super()._deliver(held.envelope, "causes", now_us)
        super()._deliver(envelope, "causes", now_us)
