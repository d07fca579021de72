"""Subscribers that gossip too (001 s3, as lpbcast does it): each forwards a message once, and pulls each round.

Decided here: to whom, when, and for how long. At the beginning of the round after a message came, its subscriber sends
it to `fanout` members of a view of its own: other subscribers that asked for the same filters, for a stamp is made for
what its receiver wants. The view holds `view_below` of them (0: all there are) and evolves as a broker's does. As long
as anything that came may live, a round also goes to one of its brokers in turn, whose answer says what is missing here.
Example: S1 wants G1 and gets A:7 in round 12. In round 13 it sends A:7 to S4 and S9, who want G1 too, and asks B what
there is; S2, who wants G1 and G2, gets nothing from it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from antecede.core.frames import Data, Digest
from antecede.core.message import Envelope, in_time
from antecede.core.order.round_clock import RoundClock
from antecede.core.spread.chance import some_of
from antecede.core.spread.view_below import view_below

if TYPE_CHECKING:
    from antecede.core.roles.subscriber import Subscriber

__all__ = ["Forwarding"]


class Forwarding:
    def __init__(self, subscriber: Subscriber) -> None:
        settings = subscriber.settings
        self.subscriber = subscriber
        self.clock = RoundClock(settings.round_us, settings.colours)
        self.view = view_below(subscriber.dice, settings)
        self._same_filters: list[str] = []
        """The subscribers in view that asked for the same filters."""
        self.at_us: int | None = None
        """When its next round begins; None: nothing that came can live any more."""
        self._came: list[Envelope] = []
        """What goes on with the next round."""
        self._until = 0
        """The last round in which something that came may live."""
        self._asked = 0

    def came(self, envelopes: Iterable[Envelope], now_us: int) -> None:
        """Messages came that are new here."""
        for envelope in envelopes:
            self._came.append(envelope)
            self._until = max(self._until, envelope.message.seq + self.clock.colours)
        if self._came and self.at_us is None:
            self.at_us = self.clock.next_us(now_us)

    def viewed(self) -> None:
        one = self.subscriber
        mine = one.members.get(one.name)
        self._same_filters = [] if mine is None else [
            name for name, peer in one.members.items()
            if peer.role == "subscriber" and peer.groups == mine.groups and name != one.name
        ]  # fmt: skip
        if self.view is not None:
            self.view.update(self._same_filters)

    def wake(self, now_us: int) -> None:
        came, self._came = self._came, []
        number = self.clock.round_at(now_us)
        for envelope in came:
            to = tuple(self._drawn(number))
            if to and in_time(envelope, now_us):
                self.subscriber.send(to, Data((envelope,)))
        self._pull()
        self.at_us = self.clock.next_us(now_us) if number < self._until else None

    def _drawn(self, number: int) -> list[str]:
        one = self.subscriber
        if self.view is None:
            return some_of(one.dice, self._same_filters, one.settings.fanout)
        return self.view.draw(one.settings.fanout, number)

    def _pull(self) -> None:
        one = self.subscriber
        brokers = one.others_to_ask()
        if brokers:
            broker = brokers[self._asked % len(brokers)]
            self._asked += 1
            one.send((broker,), Digest({}, {}, reply=True))  # a subscriber has nothing to offer
