"""Gossip-pull (003 s2, SEND_GOSSIP and RECEIVE_GOSSIP; PROTOCOLS s3.2): a few get the message, the others a digest.

Brokers multicast to brokers. Of its subscribers a broker sends a message to `fanout` drawn ones only; everybody else
hears of it in the rounds of `digest`, `fanout` peers at a time, and asks whoever said so last. A payload then travels
to few who have it already: that is what pulling is for. It costs the time of a round and a round trip.
"""

from __future__ import annotations

from antecede.core.message import Envelope
from antecede.core.spread.multicast import Multicast

__all__ = ["Pull"]


class Pull(Multicast):
    def forward(self, envelope: Envelope, now_us: int) -> None:
        for interest, names in self.drawn_below(envelope.message.topics):
            self.broker.project(names, envelope, interest)
