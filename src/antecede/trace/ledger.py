"""What one process has done so far, at any step of its rows: plain bookkeeping, no judgement.

The verdicts look at the ledger as it stands *before* a row and judge the row by it; then the ledger takes the row in.
Decided in this file: which arrivals count (after the `join` that owes them; at a subscriber from a broker it is
attached to at that moment; not before a later `move`, or `restart` after a crash), and what the logical deadline is.
A subscriber that came back to a broker it had left may still meet frames of the first attachment, which it must ignore
and which look like any other: there an arrival counts only if the broker had the message out after the return.
"""

from __future__ import annotations

from antecede.trace.history import History, bits, sheds, time_of
from antecede.trace.pairs import Receiver
from antecede.trace.record import Row

__all__ = ["Ledger"]

HEARSAY = ("expired", "gone")
"""Discarded because others said that it will not come: no copy of it has had its outcome thereby."""


class Ledger:
    def __init__(self, receiver: Receiver, history: History) -> None:
        self.receiver = receiver
        self.history = history
        self.delivered = 0
        """Delivered or published here."""
        self.past = 0
        """The causal past of all that: whatever has a successor that is out here."""
        self.past_when_left = 0
        """Of what an ended membership owed: what had a successor out by then."""
        self.discarded = 0
        """Discarded here with any reason but `duplicate` and `foreign` (they speak of a copy, not of the message)."""
        self.settled = 0
        """Delivered, published, or discarded with a reason that is final (not `foreign`, not `duplicate`)."""
        self.overflowed = 0
        self.outlasted = 0
        """What its application left in its queue beyond the deadline."""
        self.shed = 0
        """What brokers it was attached to had no more room for: overflow, too, but nothing of it is here."""
        for broker, mask in history.shed.get(receiver.name, {}).items():
            if any(row.peer == broker for row in receiver.rows if row.kind in ("join", "move")):
                self.shed |= mask
        self.asked_for = 0
        """Its own messages that its application asked for and was handed."""
        self.gone = 0
        self.arrived = 0
        """Every arrival, counted or not: the logical deadline takes them all, also those with which a `join` came."""
        self.here = 0
        """Arrivals since the first `join`, counted or not."""
        self.came = 0
        """Arrivals that count."""
        self.in_time = 0
        """Of those, the ones that came in time."""
        self.must: dict[int, int] = {}
        """message -> step: came in time with no successor out: nothing but overflow excuses its absence."""
        self.moved_away = 0
        """In `must` when a `move` or a crash dropped what was held."""
        self.copies: dict[int, int] = {}
        """message -> arrivals, counted or not; one more if published here."""
        self.heeded: dict[int, int] = {}
        """message -> arrivals it had to heed, since the first `join`, and undelivered ones since the last `move`;
        one more if published here."""
        self.outcomes: dict[int, int] = {}
        """message -> deliveries and discards (neither `duplicate` nor `foreign`) that had an arrival before them."""
        self.senders: dict[int, list[tuple[int, str | None]]] = {}
        """message -> (step, peer) of its arrivals from brokers it was attached to."""
        self.early: dict[int, list[tuple[int, str | None]]] = {}
        """message -> the same from others: a frame may bring what makes this process join, and messages with it."""
        self.peers: set[str] = set()
        """Brokers it is attached to now."""
        self.all_peers: set[str] = set()
        self.last_from: dict[int, str | None] = {}
        """message -> the peer its last copy came from."""
        self.last_at: dict[int, int] = {}
        """message -> the step at which its last copy came."""
        self.behind = 0
        """Mask of what any cut of a `join` put behind it so far."""
        self._returned: dict[str, Row] = {}
        """Broker it came back to -> the row of its return."""
        self.fresh_from = 0
        """Step of the last `move`, or `restart` after a crash."""
        self.owed = 0
        """Mask of what the memberships that hold now owe."""
        self.guard_us = receiver.guard_at(0)
        self._joined = False
        self._down = False

    def in_time_at(self, index: int, at_us: int) -> bool:
        """By this process's clock, less its guard."""
        due_us = self.history.messages[index].due_us(self.receiver.role)
        return due_us is None or at_us <= due_us - self.guard_us

    def logical_deadline_us(self, index: int) -> int | None:
        """The earliest deadline among the message and its successors that have arrived here so far."""
        messages, role = self.history.messages, self.receiver.role
        earliest = messages[index].due_us(role)
        bit = 1 << index
        for above in bits(self.arrived >> (index + 1)):  # a successor has a higher number
            other = messages[index + 1 + above]
            if other.ancestors & bit:
                due_us = other.due_us(role)
                if due_us is not None and (earliest is None or due_us < earliest):
                    earliest = due_us
        return earliest

    def attached(self, peer: str | None) -> bool:
        """At a subscriber: whether `peer` is a broker of its own now. Others listen to everyone."""
        return self.receiver.role != "subscriber" or peer is None or not self.all_peers or peer in self.peers

    def may_ignore(self, index: int) -> bool:
        """Whether its last copy may be of an attachment that is over: not held, but not excused from coming again."""
        if index not in self.last_from:
            return False
        if self.receiver.role != "subscriber":
            return False
        return not self.attached(self.last_from[index]) or self.fresh_from > 0

    def last_copy_binds(self, index: int) -> bool:
        """Whether it is its last copy, and not an earlier one, that must be delivered."""
        return index in self.last_at and self.must.get(index) == self.last_at[index]

    def heeds(self, peer: str | None, index: int) -> bool:
        """Whether this process must heed a copy of the message from `peer`."""
        if not self.attached(peer):
            return False
        back = self._returned.get(peer) if peer is not None else None
        if back is None or peer is None:
            return True
        step = self.history.out.get(peer, {}).get(index)
        return step is not None and time_of(self.history.processes[peer][step]) > time_of(back)

    def take(self, row: Row) -> None:
        """Let the row have happened."""
        kind = row.kind
        if kind == "join":
            if not self._joined:
                self._joined = True
                self.here = self._came_with(row)
                self.heeded.clear()
                self.outcomes.clear()
                self.senders.clear()
                self.early.clear()
            if row.peer is not None and row.peer not in self.peers:
                self._attach(row.peer, row)
            self.behind |= self.history.closure(row.cut or ())
            self._bounds(row)
        elif kind == "crash":
            self._down = True
            self.past_when_left |= self.owed & self.past
        elif kind == "leave":
            before = self.owed
            self._bounds(row)
            self.past_when_left |= before & ~self.owed & self.past
            still = self.receiver.active_at(row.step + 1)
            if not still:
                self.fresh_from = row.step  # outside `home` a move is a leave and a join
                self.heeded.clear()
                self.outcomes.clear()
                self.peers.clear()
            elif row.peer is not None and all(m.peer != row.peer for m in still):
                self.peers.discard(row.peer)
            for dropped in [i for i in self.must if not self.owed >> i & 1]:
                del self.must[dropped]
        elif kind == "move" or (kind == "restart" and self._down):
            self._down = False
            self.fresh_from = row.step
            for held in self.must:
                self.moved_away |= (1 << held) & ~self.settled
            self.must.clear()
            for forgotten in [i for i in self.heeded if not self.delivered >> i & 1]:
                del self.heeded[forgotten]
            if kind == "move" and row.peer is not None:
                self.peers.clear()
                self._attach(row.peer, row)
        elif row.message is not None:
            index = self.history.index.get(row.message)
            if index is not None:
                self._message(row, kind, index)

    def _came_with(self, join: Row) -> int:
        """What came from the broker it joins at in that instant: the frame that made it join may have brought it."""
        mask = 0
        for index, peer in self.last_from.items():
            if peer is not None and peer == join.peer:
                last = self.receiver.rows[self.last_at[index]]
                mask |= (time_of(last) == time_of(join)) << index
        return mask

    def _attach(self, peer: str, row: Row) -> None:
        if peer in self.all_peers:
            self._returned[peer] = row
        self.peers.add(peer)
        self.all_peers.add(peer)

    def _bounds(self, row: Row) -> None:
        self.owed = self.receiver.owed_at(row.step + 1)
        self.guard_us = self.receiver.guard_at(row.step + 1)

    def _message(self, row: Row, kind: str, index: int) -> None:
        told = self.history.messages[index]
        if kind == "arrive":
            self.arrived |= told.bit
            self.here |= told.bit
            self.copies[index] = self.copies.get(index, 0) + 1
            heeds = self.heeds(row.peer, index)
            self.last_from[index] = row.peer
            self.last_at[index] = row.step
            if heeds:
                self.heeded[index] = self.heeded.get(index, 0) + 1
            known = self.senders if self.attached(row.peer) else self.early
            known.setdefault(index, []).append((row.step, row.peer))
            if self.owed & told.bit:
                self.came |= told.bit
                if self.in_time_at(index, row.at_us):
                    self.in_time |= told.bit
                    if heeds and not self.past & told.bit:
                        self.must.setdefault(index, row.step)
        elif kind == "deliver" and row.reason == "own":
            self.asked_for |= told.bit
        elif kind in ("deliver", "publish"):
            self.delivered |= told.bit
            self.settled |= told.bit
            self.past |= told.ancestors
            self._count(index, kind)
        elif kind == "discard" and row.reason != "duplicate" and not sheds(row):
            if row.reason == "foreign":
                if self.may_ignore(index) and self.last_copy_binds(index):
                    self.must.pop(index, None)  # this copy binds nobody; the next one does
                return
            self.discarded |= told.bit
            self.settled |= told.bit
            if row.reason not in HEARSAY:
                self._count(index, kind)
            if row.reason == "overflow":
                self.overflowed |= told.bit
            elif row.reason == "gone":
                self.gone |= told.bit
            elif row.reason == "late" and row.peer is not None:
                self.outlasted |= told.bit

    def _count(self, index: int, kind: str) -> None:
        if kind == "publish":
            self.copies[index] = self.copies.get(index, 0) + 1
            self.heeded[index] = self.heeded.get(index, 0) + 1
        if self.heeded.get(index):
            self.outcomes[index] = self.outcomes.get(index, 0) + 1
