"""Predecessors travel inside each message (002 s3A, the second approach; Birman, Joseph 1987): no waiting, many bytes.

A message leaves together with all that precedes it, was delivered here, and is not known to be everybody's: *unstable*.
What another member has is read from the stamps of what it publishes and from its digests. So whoever gets a message
gets its causes with it, whatever was lost before; only the last messages of all, which nothing follows, and what did
not fit are found by comparing and asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from antecede.core.frames import Digest
from antecede.core.marks import join
from antecede.core.message import Envelope, in_time
from antecede.core.spread.flat import Flat

if TYPE_CHECKING:
    from antecede.core.roles.member import Member

__all__ = ["CARGO", "Piggyback"]

CARGO = 32
"""Predecessors per message, the newest: fits a datagram with small payloads. Raising it costs bytes, saves requests."""


class Piggyback(Flat):
    def __init__(self, member: Member) -> None:
        super().__init__(member)
        self._unstable: dict[str, Envelope] = {}
        """In the order of delivery, which is a causal one."""
        self._had: dict[str, dict[str, int]] = {}
        """Member -> what it is known to have, per stream."""

    def publish(self, envelope: Envelope, now_us: int) -> None:
        if envelope.message.order == "none":
            super().publish(envelope, now_us)
            return
        self._forget(now_us)
        self._to_all((*list(self._unstable.values())[-CARGO:], envelope))
        self._unstable[envelope.message.id] = envelope

    def forward(self, envelope: Envelope, now_us: int) -> None:
        if envelope.message.order != "none":
            self._unstable[envelope.message.id] = envelope
            self._note(envelope.message.sender, envelope.stamp.covers)
            self._note(envelope.message.sender, dict(envelope.stamp.own))

    def compared(self, frame: Digest, sender: str) -> None:
        self._note(sender, frame.done or frame.have)

    def viewed(self, now_us: int) -> None:
        self._had = {peer: had for peer, had in self._had.items() if peer in self.member.members}

    def _note(self, peer: str, has: Mapping[str, int]) -> None:
        join(self._had.setdefault(peer, {}), has)

    def _forget(self, now_us: int) -> None:
        """Forget messages that everybody has, and those that have expired."""
        others = [self._had.get(peer, {}) for peer in self.member.others]
        streams = {stream for envelope in self._unstable.values() for stream, _ in envelope.stamp.own}
        stable = {stream: min((had.get(stream, 0) for had in others), default=0) for stream in streams}
        for message_id, envelope in list(self._unstable.items()):
            everywhere = all(n <= stable[stream] for stream, n in envelope.stamp.own)
            if everywhere or not in_time(envelope, now_us):
                del self._unstable[message_id]
