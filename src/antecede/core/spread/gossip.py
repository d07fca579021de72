"""Gossip push (001 s2.2, 004 GB1-GB2, GS1-GS2): each round news goes to `fanout` brokers and as many subscribers.

A message of one's own leaves at once, for it is published at the beginning of a round; what came from others goes on
at the next beginning. Each is pushed in `times` rounds by everybody who has it: once is *forward once*, a whole
lifetime is *unlimited*. Rounds are those of the RoundClock, which the Order counts by too. Of the subscribers `fanout`
attached ones are drawn, or (`view_below`) members of a view of all there are. Whoever chance leaves out compares
(`digest`) and asks (`solicit`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from antecede.core.interest import Interest, by_interest
from antecede.core.message import Envelope, Message, in_time
from antecede.core.spread.multicast import Multicast
from antecede.core.spread.view_below import view_below

if TYPE_CHECKING:
    from antecede.core.roles.broker import Broker

__all__ = ["Gossip"]


class Gossip(Multicast):
    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)
        settings = broker.settings
        self.clock, self.local = broker.clock, broker.local
        self.times = settings.times
        self.below = view_below(broker.dice, settings)
        self._hot: dict[str, tuple[Envelope, int]] = {}
        """What is still pushed, and in how many rounds."""

    def publish(self, envelope: Envelope, now_us: int) -> None:
        self._push(envelope, now_us)
        self._keep_hot(envelope, self.times - 1, now_us)

    def forward(self, envelope: Envelope, now_us: int) -> None:
        self._keep_hot(envelope, self.times, now_us)

    def _keep_hot(self, envelope: Envelope, times: int, now_us: int) -> None:
        if times > 0:
            self._hot[envelope.message.id] = (envelope, times)
            if self.at_us is None:
                self.at_us = self.clock.next_us(now_us)

    def wake(self, now_us: int) -> None:
        self.at_us = None
        hot, self._hot = self._hot, {}
        for envelope, times in hot.values():
            if in_time(envelope, now_us):
                self._push(envelope, now_us)
                self._keep_hot(envelope, times - 1, now_us)

    def _push(self, envelope: Envelope, now_us: int) -> None:
        broker, message = self.broker, envelope.message
        fanout = broker.settings.fanout
        others = [name for name in broker.carriers_of(message.topics) if name != message.sender]
        to = tuple(self.local.draw(self.local.within(others), fanout))
        if to:
            broker.relay(to, envelope)
        for interest, names in self._below(message, now_us):
            broker.project(names, envelope, interest)

    def _below(self, message: Message, now_us: int) -> list[tuple[Interest, tuple[str, ...]]]:
        """The subscribers that this round of a message goes to, those of one interest together."""
        broker = self.broker
        if self.below is None:
            return self.drawn_below(message.topics)
        self.below.update(broker.subscribers())
        names = self.below.draw(broker.settings.fanout, self.clock.round_at(now_us))
        said = ((name, broker.links[name][1] if name in broker.links else self._said_of(name)) for name in names)
        return by_interest(said, message.topics)

    def _said_of(self, name: str) -> Interest:
        """What the view says that a subscriber of others wants; one that has changed its mind takes nothing of this."""
        return self.broker.interest_below(self.broker.members[name].groups)
