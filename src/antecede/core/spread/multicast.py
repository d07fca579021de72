"""Unreliable multicast (001, 003 SEND_MULTICAST): what is published or delivered goes at once to all who want it.

Decided here: to whom a message goes by itself. Whatever is lost on the way, or not sent by itself at all, is found by
comparing (`digest`) and asked for (`solicit`). Other ways to spread are other files beside this one: they send to fewer
(`pull`, `lazy`) or later (`gossip`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from antecede.core.message import Envelope

if TYPE_CHECKING:
    from antecede.core.roles.broker import Broker

__all__ = ["Multicast"]


class Multicast:
    at_us: int | None = None
    """When `hold` wants to be called; None: never."""

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

    def hold(self, now_us: int) -> None:
        """A round of this way to spread."""
