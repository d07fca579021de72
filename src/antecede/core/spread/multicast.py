"""Unreliable multicast (001, 003 SEND_MULTICAST): what is published or delivered goes at once to all who want it.

Decided here: to whom a message goes by itself. Whatever is lost on the way, or not sent by itself at all, is found by
comparing (`digest`) and asked for (`solicit`). Other ways to spread are other files beside this one: they send to fewer
(`pull`, `lazy`) or later (`gossip`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from antecede.core.interest import Interest
from antecede.core.message import Envelope
from antecede.core.spread.chance import some_of

if TYPE_CHECKING:
    from antecede.core.roles.broker import Broker

__all__ = ["Multicast"]


class Multicast:
    at_us: int | None = None
    """When `wake` wants to be called; None: never."""

    def __init__(self, broker: Broker) -> None:
        self.broker = broker

    def publish(self, envelope: Envelope, now_us: int) -> None:
        """A message of this broker's own leaves."""
        broker = self.broker
        others = broker.carriers_of(envelope.message.topics)
        if others:
            broker.relay(others, envelope)
        self.forward(envelope, now_us)

    def forward(self, envelope: Envelope, now_us: int) -> None:
        """A message was delivered or published here: it goes on to the subscribers that want it, as the Order projects
        it."""
        broker = self.broker
        for interest, names in broker.routes(envelope.message.topics):
            broker.project(names, envelope, interest)

    def drawn_below(self, topics: tuple[str, ...]) -> list[tuple[Interest, tuple[str, ...]]]:
        """So many of the subscribers that want such a message as a round goes to, those of one interest together."""
        broker = self.broker
        routes = broker.routes(topics)
        drawn = set(some_of(broker.dice, [name for _, names in routes for name in names], broker.settings.fanout))
        reached = [(interest, tuple(name for name in names if name in drawn)) for interest, names in routes]
        return [(interest, names) for interest, names in reached if names]

    def wake(self, now_us: int) -> None:
        """A round of this way to spread."""
