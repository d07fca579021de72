"""The hand-over to the application: what is ready waits here until it is taken, and only then has been delivered.

Decided here: when a message counts as delivered (its row is written, the frontier moves, it is a cause of what this
client publishes), what becomes of one that is not taken (`late`, `overflow`), and in which order the inboxes of one
node are filled. Without a queue, as in the simulator, all that is ready is delivered at once. With queues:

    put     the Inbox of the machine has found it ready: it enters every queue that wants it, in the machine's order
    take    the application takes the next ones of its queue: those are delivered now

A queue that is full drops its oldest message or the new one, or (`block`) lets nobody in: then what is ready stands at
the door, in order, whichever queue it is for, and its number is not acknowledged: so the home sends no more than its
window, and what that leaves out is for the home to bound. An inbox that blocks and is not read stops its whole node.

One row per message and node. A message that several queues want is delivered when the first of them hands it over, and
dropped when the last of them drops it. Rows keep causal order across queues: before a message is delivered, those
among its causes that still wait in another queue are; they stay there to be taken. Example: Ann asks `q` in `room`, Ben
answers `a` in `alerts` after `q`. Carl's node reads `alerts` in one task and `room`, which lags, in another. He takes
`a`: the rows are `q`, then `a`; all he publishes follows both; his frontier covers both. `q` still waits in `room`, and
that queue may still drop it: then no row says so (the node has had it), but the fates of that inbox do (`Dropped`).
Would `a` wait until `q` is taken, a task that asks a question and awaits the answer would wait for itself.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from antecede.core.deadline.inbox import Held, Inbox, by_rank
from antecede.core.effects import Deliver, Discard, Dropped
from antecede.core.home.queue import Queue, Ready, insert
from antecede.core.message import Envelope, Message, Stamp, is_loose
from antecede.core.order.numbered import INDEX, WINDOW, IndexReader
from antecede.errors import InputError

if TYPE_CHECKING:
    from antecede.core.home.application import Application

__all__ = ["Handover", "QueuedInbox", "as_published"]


class QueuedInbox(Inbox):
    """What is ready is put here or there; its row is not written yet."""

    application: Application
    handover: Handover

    def is_next(self, index: int) -> bool:
        """Whether all numbers before this one lie behind, and nobody waits for any."""
        reader = self.reader
        return not self.held and not reader.above and not reader.watched and index == reader.front.get(INDEX, 0) + 1

    def pass_next(self, index: int) -> None:
        """All messages up to this number came, in turn, and lie behind."""
        self.reader.front[INDEX] = index

    def _give_up(self, held: Held, now_us: int) -> None:
        super()._give_up(held, now_us)
        self.application.dropped(held.envelope, now_us)

    def _deliver(self, envelope: Envelope, reason: str, now_us: int) -> None:
        self.reader.delivered(envelope.stamp, forced=reason == "deadline")
        self.handover.put(envelope, reason, now_us)

    def _comes_after_all(self, envelope: Envelope, now_us: int) -> bool:
        return self.application.put_back(envelope, now_us)

    def _missing(self, envelope: Envelope, reason: str) -> tuple[str, ...]:
        return self.application.missing(as_published(envelope), reason)

    def never_came(self, index: int) -> int:
        """How many of the numbers up to here have not come."""
        assert isinstance(self.reader, IndexReader)
        return self.reader.lacking(index) - len(self._held_up_to(index))

    def _held_up_to(self, index: int) -> list[Held]:
        return [one for one in self.held.values() if one.envelope.stamp.own[0][1] <= index]

    def pass_to(self, index: int, now_us: int) -> None:
        """No number up to here can be had any more. What is held of them waits for nothing else, so it is ready, in
        the order of the numbers, before whatever else this frees."""
        assert isinstance(self.reader, IndexReader)
        held = self._held_up_to(index)
        self.reader.pass_to(index)
        for one in sorted(held, key=by_rank):
            self._remove(one)
            self._deliver(one.envelope, "causes", now_us)
        self.deliver_ready(now_us)


def as_published(envelope: Envelope) -> Envelope:
    """An item of the attachment with the stamp that its publisher gave it."""
    stamp = envelope.stamp.extra
    assert isinstance(stamp, Stamp)
    return Envelope(envelope.message, stamp)


class Handover:
    def __init__(self, application: Application) -> None:
        client, self.application = application.client, application
        self.name, self.out, self.content = client.name, client.out, client.content
        self.margin_us = min(client.guard_us, client.settings.clock_bound_us)
        """So long before its deadline a message is too late to be taken: by so much this clock may be behind."""
        self.memory_us = client.settings.grace_us
        """A message that was put so long before another counts as its cause: stamps need not name it any more."""
        self.queues: dict[str, Queue] = {}
        self._order: deque[Ready] = deque()
        """All that entered a queue, in the machine's order; the settled ones leave it when they come first."""
        self._door: deque[Ready] = deque()
        """What is ready and must wait for room in a queue that blocks, and all that came after."""
        self._carried: list[Ready] = []
        """What waited when this attachment began: the home may not know it, and send what goes before it."""
        self._due: list[tuple[int, int, Ready]] = []
        self._tick = 0
        self.without: dict[str, tuple[str, ...]] = {}
        """Of the messages taken last: what they were delivered without, where that is something."""

    # -- queues ----------------------------------------------------------------------------------------------------

    def open(self, name: str, filters: Sequence[str], size: int, policy: str, own: bool) -> None:
        if name in self.queues:
            raise InputError(f"There is a queue {name!r} already: choose another name, or close it first.")
        self.queues[name] = Queue(name, filters, size, policy, own, self.content)

    def stop(self, name: str) -> None:
        """A queue lets nothing in from now on; what waits there stays, also when its filters are given up."""
        self.queues[name].stopped = True

    def close(self, name: str, now_us: int) -> None:
        """What still waited there is dropped: its application wanted no more."""
        queue = self.queues.pop(name)
        for ready in [one for one in queue.entries if name in one.queues]:
            self._drop(ready, queue, "overflow", now_us)
        self._let_in(now_us)

    def clear(self) -> None:
        """Let go of everything: the client has left."""
        for queue in self.queues.values():
            queue.entries.clear()
            queue.waiting = 0
        self._order.clear()
        self._door.clear()
        self._due.clear()

    # -- in --------------------------------------------------------------------------------------------------------

    def put(self, envelope: Envelope, reason: str, now_us: int) -> None:
        """A message is ready. One that no queue wants is delivered at once, after its causes."""
        original = as_published(envelope)
        if self.queues:
            self.put_next(original, reason, envelope.stamp.own[0][1], now_us)
        else:
            self.application.admitted(original)
            self._say(original, reason, now_us)

    def put_next(self, envelope: Envelope, reason: str, index: int, now_us: int) -> None:
        """The same, for a message as it was published, with its number, where there is a queue."""
        ready = Ready(envelope, reason, now_us, index)
        if self._carried:
            own = envelope.stamp.own
            after = [one for one in self._carried if one.follows(own)]
            if any(one.delivered for one in after):
                self.out.append(Discard(envelope.message.id, "superseded"))
                return
            if any(not one.settled for one in after):
                self.put_before(envelope, index, now_us)
                return
        if envelope.message.deadline_us is not None:
            self._watch(ready)
        if self._door or self._blocked(ready):
            self._door.append(ready)
        else:
            self._admit(ready, now_us)

    def put_before(self, envelope: Envelope, index: int, now_us: int) -> None:
        """A message comes when one that follows it waits already, or was dropped, and none that follows it is
        delivered: it takes its place before that one, wherever there is room."""
        ready = Ready(envelope, "causes", now_us, index)
        own = envelope.stamp.own
        self._watch(ready)
        self.application.admitted(envelope)
        wanted = [queue for queue in self.queues.values() if queue.wants(ready)]
        for queue in wanted:
            if queue.full:
                self.out.append(Dropped(queue.name, envelope.message.id, "overflow"))
            else:
                insert(queue.entries, ready, own)
                ready.enters(queue)
        if wanted and not ready.queues:
            self._lose(ready, "overflow", now_us)
            return
        insert(self._order, ready, own)
        if not wanted:
            self._hand(ready, now_us)

    def put_own(self, envelope: Envelope, now_us: int) -> None:
        """A message of this client's own, for the queues that asked for those. It never stands at the door: all
        messages before it are delivered, and none there can follow it yet. A queue that blocks and is full does not
        take it."""
        if not self.queues:
            return
        ready = Ready(envelope, "own", now_us)
        if any(queue.wants(ready) for queue in self.queues.values()):
            self._watch(ready)
            self._admit(ready, now_us)

    def _watch(self, ready: Ready) -> None:
        deadline_us = ready.envelope.message.deadline_us
        if deadline_us is not None:
            self._tick += 1
            heappush(self._due, (deadline_us - self.margin_us, self._tick, ready))

    def _blocked(self, ready: Ready) -> bool:
        for queue in self.queues.values():
            if queue.policy == "block" and queue.full and queue.wants(ready):
                return True
        return False

    def _admit(self, ready: Ready, now_us: int) -> None:
        if ready.reason != "own":
            self.application.admitted(ready.envelope)
        wanted = [queue for queue in self.queues.values() if queue.wants(ready)]
        for queue in wanted:
            if queue.full:
                if queue.policy != "drop_oldest":
                    self.out.append(Dropped(queue.name, ready.envelope.message.id, "overflow"))
                    continue
                self._drop_oldest(queue, now_us)
            ready.enter(queue)
        if ready.queues:
            self._order.append(ready)
        elif wanted:
            self._lose(ready, "overflow", now_us)
        else:
            self._order.append(ready)
            self._hand(ready, now_us)

    def _drop_oldest(self, queue: Queue, now_us: int) -> None:
        oldest = queue.entries.popleft()
        while queue.name not in oldest.queues:
            oldest = queue.entries.popleft()
        self._drop(oldest, queue, "overflow", now_us)

    def _let_in(self, now_us: int) -> None:
        """As many as there is room for now."""
        while self._door and not self._blocked(self._door[0]):
            ready = self._door.popleft()
            if not ready.settled:
                self._admit(ready, now_us)

    @property
    def blocks(self) -> bool:
        """Whether something waits for room: its number is not acknowledged."""
        return bool(self._door)

    # -- out -------------------------------------------------------------------------------------------------------

    def ready(self, name: str) -> int:
        """How many the application may take now."""
        return self.queues[name].waiting

    def take(self, name: str, limit: int, now_us: int) -> list[Message]:
        """The next messages of one queue, at most `limit`: they are delivered."""
        self.wake(now_us)
        self.without.clear()
        queue, taken = self.queues[name], list[Message]()
        while queue.waiting and len(taken) < limit:
            ready = queue.entries.popleft()
            if name in ready.queues:
                ready.leave(queue)
                if not ready.settled:
                    self._hand(ready, now_us)
                taken.append(ready.envelope.message)
                if ready.missing:
                    self.without[ready.envelope.message.id] = ready.missing
        self._let_in(now_us)
        return taken

    def _hand(self, ready: Ready, now_us: int) -> None:
        """Deliver it, after its causes that still wait in other queues."""
        order, stamp = self._order, ready.envelope.stamp
        others: list[Ready] = []
        while (one := order.popleft()) is not ready:
            if one.settled or not one.queues:
                continue
            if self._precedes(one, ready, stamp):
                self._deliver(one, now_us)
            else:
                others.append(one)
        order.extendleft(reversed(others))
        self._deliver(ready, now_us)

    def _precedes(self, one: Ready, other: Ready, stamp: Stamp) -> bool:
        own = one.envelope.stamp.own
        if is_loose(own[0][0]) or is_loose(stamp.own[0][0]):
            return False
        return one.put_us + self.memory_us <= other.put_us or other.follows(own)

    def _deliver(self, ready: Ready, now_us: int) -> None:
        ready.settled = ready.delivered = True
        if ready.reason == "own":
            self.out.append(Deliver(ready.envelope.message, "own"))
        else:
            ready.missing = self._say(ready.envelope, ready.reason, now_us)

    def _say(self, envelope: Envelope, reason: str, now_us: int) -> tuple[str, ...]:
        """Deliver it; returns what it is delivered without."""
        if reason == "deadline":
            missing = self.application.missing(envelope, reason)
        else:
            missing = self.application.client.never_came(envelope) if self.queues else ()
        self.out.append(Deliver(envelope.message, reason, missing))
        self.application.delivered(envelope, now_us)
        return missing

    def _drop(self, ready: Ready, queue: Queue, reason: str, now_us: int) -> None:
        ready.leave(queue)
        self.out.append(Dropped(queue.name, ready.envelope.message.id, reason))
        if not ready.queues and not ready.settled:
            self._lose(ready, reason, now_us)

    def _lose(self, ready: Ready, reason: str, now_us: int) -> None:
        ready.settled = True
        if ready.reason != "own":  # it owes itself nothing: there is no row
            peer = self.name if reason == "late" else None
            self.out.append(Discard(ready.envelope.message.id, reason, peer))
            self.application.dropped(ready.envelope, now_us)
        while self._order and self._order[0].settled:
            self._order.popleft()

    # -- time ------------------------------------------------------------------------------------------------------

    def next_us(self) -> int | None:
        """When something that waits turns late."""
        due = self._due
        while due and self._is_over(due[0][2]):
            heappop(due)
        return due[0][0] + 1 if due else None

    def wake(self, now_us: int) -> None:
        """What could not be handed over by its deadline is late, in whichever queue, or at the door."""
        due = self._due
        if not due or due[0][0] >= now_us:
            return
        while due and due[0][0] < now_us:
            ready = heappop(due)[2]
            for name in sorted(ready.queues):
                self._drop(ready, self.queues[name], "late", now_us)
            if not ready.settled:
                self._lose(ready, "late", now_us)
        self._let_in(now_us)

    @staticmethod
    def _is_over(ready: Ready) -> bool:
        return ready.settled and not ready.queues

    # -- what the client asks --------------------------------------------------------------------------------------

    def lowest_at_door(self) -> int | None:
        """The lowest number of the attachment that is not to be acknowledged yet."""
        if not self._door:
            return None
        return min((one.index for one in self._door if not one.settled), default=None)

    def waiting(self) -> list[Ready]:
        """All that is ready and not delivered, in order."""
        return [one for one in (*self._order, *self._door) if not one.settled]

    def attach(self) -> list[str]:
        """Another attachment begins. What stands at the door is let go of, as if it had never come (those ids are
        returned); the next home sends it again. What waits in a queue need not be sent again, but what goes before it
        may still be: it is not delivered yet."""
        ids = [one.envelope.message.id for one in self._door if not one.settled]
        for ready in self._door:
            ready.settled = True
        self._door.clear()
        self._carried = [one for one in self._order if not one.settled and one.reason != "own"]
        return ids

    def carried(self) -> tuple[list[Ready], list[Ready]]:
        """What waited then: the newest, of which a home can be told one by one, and before them the others."""
        return self._carried[-WINDOW:], self._carried[:-WINDOW]

    def dismiss(self, wants: Callable[[Message], bool], now_us: int) -> list[Ready]:
        """The client left some groups: what waits and is no longer wanted is dropped, and may come again some day; what
        waits in a queue that stopped stays."""
        unwanted, queues = [], self.queues
        for ready in (*self._order, *self._door):
            if ready.settled or ready.reason == "own" or any(queues[name].stopped for name in ready.queues):
                continue
            if not wants(ready.envelope.message):
                ready.settled = True
                for name in ready.queues:
                    ready.leave(queues[name])
                self.out.append(Discard(ready.envelope.message.id, "foreign"))
                unwanted.append(ready)
        self._let_in(now_us)
        return unwanted
