"""Lazy push (Carvalho et al. 2007, after 003's pull): a few get the message, the others at once its name.

As `pull`, but nobody waits for a round to hear of a message: whoever does not get it is told that it is there, and
asks. It costs a small frame for each who is told and a round trip, and saves the payloads of all who have it already.
"""

from __future__ import annotations

from antecede.core.frames import Digest
from antecede.core.message import Envelope
from antecede.core.spread.chance import some_of
from antecede.core.spread.multicast import Multicast

__all__ = ["Lazy"]


class Lazy(Multicast):
    def publish(self, envelope: Envelope, now_us: int) -> None:
        broker = self.broker
        others = broker.carriers_of(envelope.message.topics)
        drawn = some_of(broker.dice, others, broker.settings.fanout)
        if drawn:
            broker.relay(tuple(drawn), envelope)
        self._announce(envelope, [name for name in others if name not in drawn])
        self.forward(envelope, now_us)

    def forward(self, envelope: Envelope, now_us: int) -> None:
        broker, topics = self.broker, envelope.message.topics
        reached = self.drawn_below(topics)
        for interest, names in reached:
            broker.project(names, envelope, interest)
        drawn = {name for _, names in reached for name in names}
        self._announce(envelope, [name for _, names in broker.routes(topics) for name in names if name not in drawn])

    def _announce(self, envelope: Envelope, names: list[str]) -> None:
        """A digest of this one message, for each in the names of streams that it knows."""
        for name in names:
            offer = self.broker.offer_of(envelope, name)
            if offer:
                self.broker.send((name,), Digest(offer, {}))
