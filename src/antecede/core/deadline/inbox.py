"""Every decision to deliver, hold or discard a message is taken here, for all Orders, all roles and all drivers.

A message that arrives is, in this order: a repeat (`duplicate`), too late (`late`), behind already (`superseded`; a
late one and a superseded one are then skipped, alone, in all their streams), ready (delivered, and then the messages
that waited for it), or held. A held message watches one cause that is missing; when that cause lies behind, the message
is looked at again, so nothing is scanned. Example: q:1 needs p:1 and p:2. It comes first and watches p:1; p:1 comes,
and q:1 watches p:2; p:2 comes, and both go out.

The *logical deadline* of a message is the earliest deadline among itself and its successors that have arrived. Only the
message whose own deadline comes first needs a timer: when the timer fires, every held message that precedes it goes out
before it, in causal order, and messages still missing before those are past from then on. Example: q:1, due at 10 s, is
held for p:1, and so is r:1, due at 5 s, which follows q:1. At 5 s q:1 goes out, then r:1; p:1 is superseded if it comes
later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import heappop, heappush

from antecede.core.effects import Deliver, Discard, Effect
from antecede.core.message import Envelope, Message, Stamp
from antecede.core.order.reader import Reader

__all__ = ["Held", "Inbox", "by_rank"]


class Held:
    """One message that waits."""

    __slots__ = ("envelope", "gone")

    def __init__(self, envelope: Envelope) -> None:
        self.envelope = envelope
        self.gone = False


class Inbox:
    def __init__(
        self,
        reader: Reader,
        out: list[Effect],
        on_deliver: Callable[[Envelope, int], None],
        *,
        guard_us: int,
        memory_us: int,
    ) -> None:
        self.reader = reader
        self.out = out
        self.on_deliver = on_deliver
        """Called right after its Deliver effect."""
        self.guard_us = guard_us
        self.memory_us = memory_us
        self.held: dict[str, Held] = {}
        self.marks = reader.held
        """The marks of what is held: not to be asked for."""
        self.blocked: list[Held] = []
        """Held messages that `take_blocked` gives."""
        self.seen: dict[str, int] = {}
        self._due: list[tuple[int, int, Held]] = []
        self._tick = 0
        self._forget_at = 4096

    # -- arrivals --------------------------------------------------------------------------------------------------

    def accept(self, envelope: Envelope, now_us: int) -> None:
        message, stamp, reader, seen = envelope.message, envelope.stamp, self.reader, self.seen
        if message.id in seen:
            self.out.append(Discard(message.id, "duplicate"))
            return
        self.note(message.id, now_us)
        deadline = message.deadline_us
        late = self.is_late(message, now_us)
        if late or reader.stale(stamp):
            if not late and self._comes_after_all(envelope, now_us):
                return
            reason = "late" if late else "foreign" if reader.cut_off(stamp) else "superseded"
            self.out.append(Discard(message.id, reason, None, self._missing(envelope, reason)))
            reader.skipped(stamp.own, stamp)  # behind in one of its streams, it lies behind in all
            if reader.freed:
                self.deliver_ready(now_us)
            return
        blocker = reader.blocker(stamp)
        if blocker is None:
            self._deliver(envelope, "causes", now_us)
            if reader.freed:
                self.deliver_ready(now_us)
            return
        held = Held(envelope)
        self.held[message.id] = held
        for stream, n in stamp.own:
            self.marks.setdefault(stream, set()).add(n)
        reader.watch(blocker, held)
        if deadline is not None:
            self._tick += 1
            heappush(self._due, (self._due_us(stamp, deadline), self._tick, held))
        self.blocked.append(held)

    def room(self) -> int:
        """So many messages may come before some that came long ago are forgotten: those are simply put into `seen`."""
        return max(0, self._forget_at - len(self.seen))

    def note(self, message_id: str, now_us: int) -> None:
        """Note that a message came: another copy of it is a duplicate."""
        self.seen[message_id] = now_us
        if len(self.seen) > self._forget_at:
            self._forget(now_us)

    def _comes_after_all(self, envelope: Envelope, now_us: int) -> bool:
        """Whether a message that was given up is taken now that it came: not where a message that follows it is out."""
        return False

    def _missing(self, envelope: Envelope, reason: str) -> tuple[str, ...]:
        """Ids that a discard, or a delivery by deadline, says beside its row, where somebody wants to hear them."""
        return ()

    def is_late(self, message: Message, now_us: int) -> bool:
        """By this process's clock, and with its guard."""
        deadline = message.deadline_us
        return deadline is not None and now_us > deadline - self.guard_us

    def skip(self, envelope: Envelope, reason: str, now_us: int) -> None:
        """A message that will never come (a header said so): it alone lies behind."""
        message, stamp = envelope.message, envelope.stamp
        if message.id in self.seen or message.id in self.held:
            return
        if not self.reader.stale(stamp):
            self.out.append(Discard(message.id, reason))
        self.reader.skipped(stamp.own, stamp)
        self.deliver_ready(now_us)

    def take_blocked(self) -> list[Held]:
        """Held messages that began to wait for something since they were last taken: what to ask for."""
        blocked, self.blocked = self.blocked, []
        return blocked

    def look_again(self) -> None:
        """Look at all held messages as if they had just begun to wait."""
        self.blocked.extend(self.held.values())

    def envelopes(self) -> list[Envelope]:
        """The held messages, in the order in which they came."""
        return [held.envelope for held in self.held.values()]

    def holds_of(self, stream: str) -> bool:
        return stream in self.marks

    def held_within(self, ranges: Iterable[tuple[str, int, int]]) -> list[Envelope]:
        """Messages that are held and have a mark in one of these ranges."""
        if not self.held:
            return []
        wanted = {(stream, n) for stream, low, high in ranges for n in self.marks.get(stream, ()) if low < n <= high}
        if not wanted:
            return []
        return [held.envelope for held in self.held.values() if any(mark in wanted for mark in held.envelope.stamp.own)]

    def clear(self) -> None:
        """Let go of what is held, as if it had never come (its stream ended; it may come again by another)."""
        for message_id, held in self.held.items():
            held.gone = True
            del self.seen[message_id]
        self.held.clear()
        self.marks.clear()
        self._due.clear()

    def forget(self, ids: Iterable[str]) -> None:
        """Messages with these ids may come again, as if they had never come."""
        for message_id in ids:
            self.seen.pop(message_id, None)

    def dismiss(self, wants: Callable[[Message], bool], now_us: int) -> list[Envelope]:
        """The client left some groups: held messages that it wants no more lie behind, and may come again some day."""
        unwanted = [one for one in self.held.values() if not wants(one.envelope.message)]
        for held in unwanted:
            message_id, stamp = held.envelope.message.id, held.envelope.stamp
            self._remove(held)
            self.seen.pop(message_id)
            self.out.append(Discard(message_id, "foreign"))
            self.reader.skipped(stamp.own, stamp)
        self.deliver_ready(now_us)
        return [held.envelope for held in unwanted]

    def _due_us(self, stamp: Stamp, deadline_us: int) -> int:
        """When a held message goes out whatever is missing before it."""
        return deadline_us - self.guard_us

    # -- time ------------------------------------------------------------------------------------------------------

    def next_due(self) -> int | None:
        due = self._due
        while due and due[0][2].gone:
            heappop(due)
        return due[0][0] if due else None

    def wake(self, now_us: int) -> None:
        """Release every message that is due, each after all held messages that precede it."""
        due = self._due
        while due and due[0][0] <= now_us:
            held = heappop(due)[2]
            if held.gone:
                continue
            deadline = held.envelope.message.deadline_us
            if deadline is not None and now_us > deadline:
                self._give_up(held, now_us)  # the driver overslept: too late to hand it over
            else:
                self._release(held, now_us)
            if self.reader.freed:
                self.deliver_ready(now_us)

    def _forget(self, now_us: int) -> None:
        """Arrivals longer ago than `memory_us` can no longer be told from new ones. Done when the number doubled."""
        seen, limit = self.seen, now_us - self.memory_us
        old = []
        for message_id, at_us in seen.items():
            if at_us > limit:
                break
            old.append(message_id)
        for message_id in old:
            if message_id not in self.held:
                del seen[message_id]
        self._forget_at = max(4096, 2 * len(seen))

    # -- the three ways out ----------------------------------------------------------------------------------------

    def _release(self, held: Held, now_us: int) -> None:
        stamp, precedes = held.envelope.stamp, self.reader.precedes
        before = [h for h in self.held.values() if h is not held and precedes(h.envelope.stamp, stamp)]
        before.sort(key=by_rank)
        for one in (*before, held):
            if not one.gone:
                ready = self.reader.blocker(one.envelope.stamp) is None
                self._remove(one)
                self._deliver(one.envelope, "causes" if ready else "deadline", now_us)

    def deliver_ready(self, now_us: int) -> None:
        """Look at messages whose cause lies behind now. (Whoever puts marks behind from outside calls this.)"""
        reader = self.reader
        freed = reader.freed
        place = 0
        while place < len(freed):
            held: Held = freed[place]
            place += 1
            if held.gone:
                continue
            blocker = reader.blocker(held.envelope.stamp)
            if blocker is not None:
                reader.watch(blocker, held)
                self.blocked.append(held)
                continue
            self._remove(held)
            self._deliver(held.envelope, "causes", now_us)
        freed.clear()

    def _give_up(self, held: Held, now_us: int) -> None:
        self._remove(held)
        self.out.append(Discard(held.envelope.message.id, "late", None, self._missing(held.envelope, "late")))
        self.reader.skipped(held.envelope.stamp.own, held.envelope.stamp)

    def _remove(self, held: Held) -> None:
        held.gone = True
        del self.held[held.envelope.message.id]
        for stream, n in held.envelope.stamp.own:
            here = self.marks.get(stream, set())
            here.discard(n)
            if not here:
                self.marks.pop(stream, None)

    def _deliver(self, envelope: Envelope, reason: str, now_us: int) -> None:
        missing = self._missing(envelope, reason) if reason == "deadline" else ()
        self.reader.delivered(envelope.stamp, forced=reason == "deadline")
        self.out.append(Deliver(envelope.message, reason, missing))
        self.on_deliver(envelope, now_us)


def by_rank(held: Held) -> tuple[int, str, int]:
    message = held.envelope.message
    return (held.envelope.stamp.rank, message.sender, message.seq)
