"""Reliable multicast by acknowledgements (Pingali, Towsley, Kurose 1994, the sender-initiated class; RMP, RMTP): ACKs.

Whoever gets a message says so to the one it came from; whoever published it sends it again to those who have not said
so, waiting longer each time; `window`: no more of its messages than that are on their way unheard, others wait. That
holds while the publisher lives and has everybody in view. At a change of view, and
when a message of somebody comes who is gone, members compare once what they have, as a view-synchronous system does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

from antecede.core.frames import Data, Frame, Received
from antecede.core.message import Envelope
from antecede.core.spread.flat import Flat

if TYPE_CHECKING:
    from antecede.core.roles.member import Member

__all__ = ["Acks"]

LONGEST = 5
"""Resending stops to slow down at 2**5 round trips."""


class Unheard:
    """A message of one's own, and who has not acknowledged it yet."""

    __slots__ = ("at_us", "envelope", "tries", "who")

    def __init__(self, envelope: Envelope, who: Sequence[str], at_us: int) -> None:
        self.envelope = envelope
        self.who = set(who)
        self.at_us = at_us
        self.tries = 0

    def heard_by(self, peer: str) -> bool:
        """Whether everybody has acknowledged it, now that `peer` has."""
        self.who.discard(peer)
        return not self.who


class Acks(Flat):
    def __init__(self, member: Member) -> None:
        super().__init__(member)
        self.rounds = member.rounds
        self.rounds.steady = False
        self._unheard: dict[str, Unheard] = {}
        self._waiting: deque[Envelope] = deque()
        """Messages that were published, and wait until all members have heard of the one that is on its way."""

    def publish(self, envelope: Envelope, now_us: int) -> None:
        window = self.member.settings.window
        if window and len(self._unheard) >= window:
            self._waiting.append(envelope)
            return
        super().publish(envelope, now_us)
        if self.member.others:
            at_us = now_us + self.member.settings.retry_us
            self._unheard[envelope.message.id] = Unheard(envelope, self.member.others, at_us)
            self._next()

    def forward(self, envelope: Envelope, now_us: int) -> None:
        """A message of a sender that is gone: no other member will send it to those that lack it."""
        if envelope.message.sender not in self.member.members:
            self.rounds.begin(now_us)

    def arrived(self, envelopes: Sequence[Envelope], sender: str, now_us: int) -> None:
        """Repeats are acknowledged too: the first acknowledgement may have been lost."""
        ids = tuple(e.message.id for e in envelopes if e.message.sender == sender)
        if ids:
            self.member.send((sender,), Received(ids))

    def took(self, frame: Frame, sender: str, now_us: int) -> bool:
        if not isinstance(frame, Received):
            return False
        for message_id in frame.ids:
            self._heard(message_id, sender)
        self._send_waiting(now_us)
        return True

    def _send_waiting(self, now_us: int) -> None:
        while self._waiting and len(self._unheard) < self.member.settings.window:
            self.publish(self._waiting.popleft(), now_us)
        self._next()

    def _heard(self, message_id: str, peer: str) -> None:
        unheard = self._unheard.get(message_id)
        if unheard is not None and unheard.heard_by(peer):
            del self._unheard[message_id]

    def viewed(self, now_us: int) -> None:
        """The view changed: no message waits for members that are gone; newcomers began at a cut, and compare."""
        for message_id, unheard in list(self._unheard.items()):
            for peer in [peer for peer in unheard.who if peer not in self.member.members]:
                self._heard(message_id, peer)
        self._send_waiting(now_us)

    def wake(self, now_us: int) -> None:
        due = [unheard for unheard in self._unheard.values() if unheard.at_us <= now_us]
        for unheard in due:
            unheard.tries += 1
            unheard.at_us = now_us + (self.member.settings.retry_us << min(unheard.tries, LONGEST))
            self.member.send(tuple(sorted(unheard.who)), Data((unheard.envelope,), answer=True))
        self._next()

    def _next(self) -> None:
        self.at_us = min((unheard.at_us for unheard in self._unheard.values()), default=None)
