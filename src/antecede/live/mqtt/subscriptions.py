"""What one MQTT session wants: its filters, their options and identifiers, and what they mean for a message.

Decided here: a filter that is subscribed to again replaces its options; a message that several filters match is sent
once, with the highest quality of service among them and all their identifiers; one's own message is left out where
all that match it say no local; and what is refused: a shared subscription, a filter that is too long. (One with
misplaced wildcards does not get this far.)
"""

from __future__ import annotations

from typing import NamedTuple

import mqtt5

from antecede.core.content import Content, fields_of
from antecede.core.interest import Remembered
from antecede.core.names import MAX_TOPIC
from antecede.core.topics import matches, selected
from antecede.core.where import parse_where
from antecede.live.mqtt.mapping import Told

__all__ = ["MAX_SUBSCRIPTIONS", "Subscription", "Subscriptions", "Wanted", "refusal_of"]

MAX_SUBSCRIPTIONS = 1_000
"""Filters of one session: each costs the broker time with every message. Beyond it: quota exceeded."""


class Subscription(NamedTuple):
    filter: str
    qos: int
    no_local: bool = False
    as_published: bool = False
    """Whether the retain flag of a live message is what its publisher said."""
    identifier: int | None = None
    where: str | None = None
    """A predicate over headers and payload, if it selects by content."""

    @property
    def selecting(self) -> str:
        """The filter as machines take it."""
        return selected(self.filter, self.where)


class Wanted(NamedTuple):
    """What all filters that match one topic say together."""

    qos: int
    as_published: bool
    own: bool
    """Whether one's own messages are wanted too."""
    identifiers: tuple[int, ...]


class Subscriptions:
    def __init__(self) -> None:
        self.by_filter: dict[str, Subscription] = {}
        self._matching: Remembered[str, list[Subscription]] = Remembered(self._look, about_topics=True)
        self._plain: Remembered[str, Wanted | None] = Remembered(
            lambda topic: _together(self._matching[topic]), about_topics=True
        )

    def __len__(self) -> int:
        return len(self.by_filter)

    @property
    def filters(self) -> tuple[str, ...]:
        """As machines take them."""
        return tuple(one.selecting for one in self.by_filter.values())

    @property
    def any_own(self) -> bool:
        return any(not one.no_local for one in self.by_filter.values())

    def add(self, subscription: Subscription) -> bool:
        """Whether there was none for this filter."""
        new = subscription.filter not in self.by_filter
        self.by_filter[subscription.filter] = subscription
        self._forget()
        return new

    def remove(self, filter: str) -> bool:
        self._forget()
        return self.by_filter.pop(filter, None) is not None

    def wanted(self, told: Told) -> Wanted | None:
        """What a message is sent with; None: no filter matches it."""
        found = self._matching[told.topic]
        if all(one.where is None for one in found):
            return self._plain[told.topic]
        fields = fields_of(Content(told.headers, told.body))
        return _together([one for one in found if one.where is None or parse_where(one.where).holds(fields)])

    def _look(self, topic: str) -> list[Subscription]:
        return [one for one in self.by_filter.values() if matches(one.filter, topic)]

    def _forget(self) -> None:
        self._matching.clear()
        self._plain.clear()


def _together(found: list[Subscription]) -> Wanted | None:
    if not found:
        return None
    return Wanted(
        max(one.qos for one in found), any(one.as_published for one in found),
        any(not one.no_local for one in found),
        tuple(dict.fromkeys(one.identifier for one in found if one.identifier is not None)),
    )  # fmt: skip


def refusal_of(filter: str) -> mqtt5.SubAckReasonCode | None:
    """Why no session may have this filter; None: it may."""
    codes = mqtt5.SubAckReasonCode
    if filter.startswith("$share/"):
        return codes.SHARED_SUBSCRIPTIONS_NOT_SUPPORTED
    if len(filter) > MAX_TOPIC:
        return codes.TOPIC_FILTER_INVALID
    return None
