"""One inbox of an application, as far as a client knows it: its filters, its size, and the messages that wait in it.

Decided here: what is known of a message that waits to be taken, and which place it takes among the others.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from antecede.core.content import Seen
from antecede.core.interest import Interest
from antecede.core.message import Envelope, Mark
from antecede.errors import InputError

__all__ = ["POLICIES", "Queue", "Ready", "insert"]

POLICIES = ("drop_oldest", "drop_newest", "block")
"""What a full queue does."""


class Ready:
    """One message that waits to be taken."""

    __slots__ = ("delivered", "envelope", "index", "missing", "put_us", "queues", "reason", "settled")

    def __init__(self, envelope: Envelope, reason: str, now_us: int, index: int = 0) -> None:
        self.envelope = envelope
        """The message as it was published."""
        self.reason = reason
        self.put_us = now_us
        self.index = index
        """The number of the message in the attachment; 0: the client published it itself."""
        self.queues: tuple[str, ...] = ()
        """The queues that the message waits in."""
        self.settled = False
        """Whether its fate is known: it is delivered, or no queue has it any more."""
        self.delivered = False
        self.missing: tuple[str, ...] = ()
        """What it was delivered without."""

    def enter(self, queue: Queue) -> None:
        queue.entries.append(self)
        self.enters(queue)

    def enters(self, queue: Queue) -> None:
        """The message has a place in a queue."""
        queue.waiting += 1
        self.queues = (*self.queues, queue.name) if self.queues else queue.alone

    def leave(self, queue: Queue) -> None:
        """The message waits in a queue no more; its place there may still be to be passed over."""
        queue.waiting -= 1
        self.queues = () if len(self.queues) == 1 else tuple([name for name in self.queues if name != queue.name])

    def follows(self, own: tuple[Mark, ...]) -> bool:
        """Whether the message with these marks is a cause of it."""
        covers = self.envelope.stamp.covers
        return any(n <= covers.get(stream, 0) for stream, n in own)


class Queue:
    """One inbox of the application."""

    __slots__ = ("alone", "entries", "interest", "name", "own", "policy", "seen", "size", "stopped", "waiting")

    def __init__(
        self, name: str, filters: Sequence[str], size: int, policy: str, own: bool, seen: Seen | None = None
    ) -> None:
        if policy not in POLICIES:
            raise InputError(f"There is no policy {policy!r} for a full queue: choose among {', '.join(POLICIES)}.")
        if size < 1:
            raise InputError(f"A queue of {size} messages can hand over nothing: give it room for one at least.")
        self.name = name
        self.alone = (name,)
        """Of a message that waits in this queue only: where it waits."""
        self.interest = Interest(filters)
        self.size = size
        self.policy = policy
        self.own = own
        self.seen = seen or Seen()
        self.entries: deque[Ready] = deque()
        """In the machine's order; some wait here no more."""
        self.waiting = 0
        self.stopped = False
        """Whether it lets nothing in any more; what waits in it can still be taken."""

    def wants(self, ready: Ready) -> bool:
        if self.stopped or (ready.reason == "own" and not self.own):
            return False
        return self.interest.takes(ready.envelope.message, self.seen)

    @property
    def full(self) -> bool:
        return self.waiting >= self.size


def insert(entries: deque[Ready], ready: Ready, own: tuple[Mark, ...]) -> None:
    """Put a message before the first one that follows it."""
    for place, one in enumerate(entries):
        if not one.settled and one.follows(own):
            entries.insert(place, ready)
            return
    entries.append(ready)
