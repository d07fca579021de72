"""000 and 002 as printed (002 Fig 6): B-SEND, B-RECV, CHECK-MSGs, SOLICIT-RECV, RPY-RECV, letter by letter.

Vectors hold times. DLVD_Q holds what was delivered, not what was sent. A duplicate of what waits is queued again. An
answer is delivered as it comes. Deadlines are compared with `=` every time interval, which is a tick of the clock, so
each is met. Nobody is asked twice, and only the sender.

Two readings: to the letter `e.MVector[i] < MVector_upper[i]` for all i; or charitably `e.MVector < MVector_upper` as
vectors are usually compared: no entry greater and one smaller.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from antecede.core.effects import Answer, Ask, Deliver, Discard, Effect, Join, Send
from antecede.core.frames import Data, Frame, Request
from antecede.core.machine import Dice, Peer, Settings
from antecede.core.message import Envelope, Message, Publication, Stamp

__all__ = ["READINGS", "PrintedMember"]

READINGS = {"printed": "every entry", "charitable": "vector"}


class PrintedMember:
    role = "member"

    def __init__(
        self, name: str, groups: tuple[str, ...], settings: Settings, dice: Dice, *, below: str = "every entry"
    ) -> None:
        self.name, self.groups, self.settings = name, groups, settings
        self.below = below
        """What `<` means between two vectors."""
        self.vector: dict[str, int] = {}
        """MVector."""
        self.waiting: list[Envelope] = []
        """RMSG_Q, in the order of sending times."""
        self.kept: list[Envelope] = []
        """DLVD_Q, likewise."""
        self.others: tuple[str, ...] = ()
        self._seq = 0
        self._tick_us: int | None = None
        self._out: list[Effect] = []
        self._seen: set[str] = set()

    # -- no part of the papers -------------------------------------------------------------------------------------

    def start(self, now_us: int, *, joining: bool = False) -> list[Effect]:
        return [Join(self.groups, None, (), 0)]

    def view(self, members: Mapping[str, Peer], now_us: int) -> list[Effect]:
        self.others = tuple(sorted(name for name in members if name != self.name))
        return []

    def subscribe(self, filters: Sequence[str], at: Sequence[str], now_us: int) -> list[Effect]:
        return []

    def unsubscribe(self, now_us: int) -> list[Effect]:
        return []

    def move(self, to: Sequence[str], now_us: int) -> list[Effect]:
        return []

    def receive(self, frame: Frame, sender: str, now_us: int) -> list[Effect]:
        if isinstance(frame, Data):
            if frame.answer:
                self._reply_received(frame.envelopes)
            else:
                self._received(frame.envelopes[0], sender, now_us)
        elif isinstance(frame, Request):
            self._solicited(frame, sender)
        return self._said(now_us)

    def wake(self, now_us: int) -> list[Effect]:
        self._check(now_us)
        return self._said(now_us)

    def next_wake(self) -> int | None:
        return self._tick_us

    def _said(self, now_us: int) -> list[Effect]:
        ends = [e.message.deadline_us for e in self.waiting if e.message.deadline_us is not None]
        self._tick_us = min((end_us for end_us in ends if end_us > now_us), default=None)  # between, nothing changes
        said, self._out = self._out, []
        return said

    # -- the modules -----------------------------------------------------------------------------------------------

    def publish(self, publication: Publication, now_us: int) -> tuple[Message, list[Effect]]:
        """B-SEND. The paper has one order."""
        self._seq += 1
        message = Message(self.name, self._seq, tuple(publication.topics), publication.payload, publication.deadline_us)
        self.vector[self.name] = now_us
        envelope = Envelope(message, Stamp(((self.name, now_us),), (), dict(self.vector)))
        if self.others:
            self._out.append(Send(self.others, Data((envelope,))))
        return message, self._said(now_us)

    def _received(self, envelope: Envelope, sender: str, now_us: int) -> None:
        """B-RECV."""
        message, theirs, mine = envelope.message, envelope.stamp.covers, self.vector
        late = message.deadline_us is not None and message.deadline_us < now_us
        if late or theirs[sender] <= mine.get(sender, 0):
            reason = "late" if late else "duplicate" if message.id in self._seen else "superseded"
            self._out.append(Discard(message.id, reason))
        elif self._ready(envelope, sender):
            self._deliver(envelope, "causes")
            self._check(now_us)
        else:
            _insert(self.waiting, envelope)
            self._out.append(Ask(sender, ()))
            self._out.append(Send((sender,), Request(tuple((s, mine.get(s, 0), n) for s, n in theirs.items()))))
        self._seen.add(message.id)

    def _ready(self, envelope: Envelope, sender: str) -> bool:
        theirs, mine = envelope.stamp.covers, self.vector
        return theirs[sender] > mine.get(sender, 0) and all(
            n <= mine.get(other, 0) for other, n in theirs.items() if other != sender
        )

    def _deliver(self, envelope: Envelope, reason: str) -> None:
        for other, n in envelope.stamp.covers.items():
            self.vector[other] = max(n, self.vector.get(other, 0))
        self._out.append(Deliver(envelope.message, reason))
        _insert(self.kept, envelope)

    def _check(self, now_us: int) -> None:
        """CHECK-MSGs: one pass in the order of the queue."""
        for one in list(self.waiting):
            if one not in self.waiting:
                continue
            if self._ready(one, one.message.sender):
                self._deliver(one, "causes")
                self.waiting.remove(one)
            elif one.message.deadline_us == now_us:
                upper = one.stamp.covers
                for other in list(self.waiting):
                    if all(n <= upper.get(s, 0) for s, n in other.stamp.covers.items()):
                        self._deliver(other, "deadline")
                        self.waiting.remove(other)

    def _solicited(self, frame: Request, sender: str) -> None:
        """SOLICIT-RECV: what is kept and below the upper vector, unless the asker has it."""
        upper = {stream: high for stream, _, high in frame.ranges}
        has = {stream: low for stream, low, _ in frame.ranges}
        found = []
        for one in self.kept:
            vector = one.stamp.covers
            if self._is_below(vector, upper) and not all(n <= has.get(s, 0) for s, n in vector.items()):
                found.append(one)
        self._out.append(Answer(sender, tuple(e.message.id for e in found)))
        self._out.append(Send((sender,), Data(tuple(found), answer=True)))

    def _is_below(self, vector: Mapping[str, int], upper: Mapping[str, int]) -> bool:
        if self.below == "every entry":
            return all(vector.get(s, 0) < n for s, n in upper.items())
        return all(n <= upper.get(s, 0) for s, n in vector.items()) and vector != upper

    def _reply_received(self, envelopes: Sequence[Envelope]) -> None:
        """RPY-RECV: deliver every one."""
        for one in envelopes:
            self._seen.add(one.message.id)
            self._deliver(one, "causes")
            self.waiting = [w for w in self.waiting if w.message.id != one.message.id]


def _insert(queue: list[Envelope], envelope: Envelope) -> None:
    """In the order of sending times."""
    queue.append(envelope)
    queue.sort(key=lambda e: e.stamp.own[0][1])
