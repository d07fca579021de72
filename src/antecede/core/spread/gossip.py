"""Gossip push (001 s2.2, 004 GB1-GB2 and GS1-GS2): each round what is new goes to `fanout` drawn peers of each tier.

A message of one's own leaves at once, for it is published at the beginning of a round; what came from others goes on
at the next beginning. Each is pushed in `times` rounds by everybody who has it: once is *forward once*, a whole
lifetime is *unlimited*. Rounds are those of the RoundClock, which the Order counts by too. Whoever chance leaves out
compares (`digest`) and asks (`solicit`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from antecede.core.effects import Send
from antecede.core.frames import Data
from antecede.core.message import Envelope
from antecede.core.spread.answer import in_time
from antecede.core.spread.chance import some_of
from antecede.core.spread.multicast import Multicast

if TYPE_CHECKING:
    from antecede.core.broker import Broker

__all__ = ["Gossip"]


class Gossip(Multicast):
    def __init__(self, broker: Broker, *, times: int = 1) -> None:
        super().__init__(broker)
        self.times = times
        self._hot: dict[str, tuple[Envelope, int]] = {}
        """What is still pushed, and in how many rounds."""

    def publish(self, envelope: Envelope, now_us: int) -> None:
        self._push(envelope)
        self._keep_hot(envelope, self.times - 1, now_us)

    def forward(self, envelope: Envelope, now_us: int) -> None:
        self._keep_hot(envelope, self.times, now_us)

    def _keep_hot(self, envelope: Envelope, times: int, now_us: int) -> None:
        if times > 0:
            self._hot[envelope.message.id] = (envelope, times)
            if self.at_us is None:
                self.at_us = self.broker.clock.next_us(now_us)

    def hold(self, now_us: int) -> None:
        self.at_us = None
        hot, self._hot = self._hot, {}
        for envelope, times in hot.values():
            if in_time(envelope, now_us):
                self._push(envelope)
                self._keep_hot(envelope, times - 1, now_us)

    def _push(self, envelope: Envelope) -> None:
        broker, message = self.broker, envelope.message
        assert broker.writer is not None
        fanout = broker.settings.fanout
        others = [name for name in broker.carriers_of(message.topics) if name != message.sender]
        to = tuple(broker.local.draw(broker.local.within(others), fanout))
        if to:
            broker.out.append(Send(to, Data((broker.writer.relay(envelope),))))
        routes = broker.routes(message.topics)
        drawn = set(some_of(broker.dice, [name for _, names in routes for name in names], fanout))
        for interest, names in routes:
            to = tuple(name for name in names if name in drawn)
            if to:
                broker.out.append(Send(to, Data((broker.writer.project(envelope, interest),))))
