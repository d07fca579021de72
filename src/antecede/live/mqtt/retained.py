"""Retained messages: the last one of each topic, the same at every broker that carries it.

Decided here: of all messages of a topic that were published to be kept, the one with the greatest (rank, id) is kept,
in whichever order they come, so all brokers agree; rank grows along causality, so none is followed by one that it
caused. An empty message is a tombstone: it is kept like any other, for what it outranks may still come, and let go of
when nothing can. What has expired is not kept.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from antecede.core.message import Envelope
from antecede.core.topics import matches
from antecede.live.mqtt.mapping import Told, told

__all__ = ["MAX_RETAINED", "TOMBSTONE_US", "Kept", "Retained"]

log = logging.getLogger("antecede.mqtt")

MAX_RETAINED = 100_000
"""Topics of which a message is kept. Costs memory; beyond it new topics are not kept, and the log says so."""
TOMBSTONE_US = 120_000_000
"""How long a tombstone stays: longer than a message can be on its way, or kept by a broker to be sent again."""


class Kept(NamedTuple):
    envelope: Envelope
    told: Told
    kept_us: int
    """When this broker began to keep it."""

    @property
    def key(self) -> tuple[int, str]:
        return self.envelope.stamp.rank, self.envelope.message.id

    @property
    def is_tombstone(self) -> bool:
        return not self.told.body


class Retained:
    def __init__(self) -> None:
        self.by_topic: dict[str, Kept] = {}
        self.refused = 0
        """Not kept, because there were too many topics."""
        self._swept_us = 0

    def __len__(self) -> int:
        return sum(1 for one in self.by_topic.values() if not one.is_tombstone)

    def delivered(self, envelope: Envelope, one: Told, now_us: int) -> bool:
        """A message that is to be kept was delivered at this broker, or another broker says that it keeps it."""
        topic, new = one.topic, Kept(envelope, one, now_us)
        before = self.by_topic.get(topic)
        if before is not None and new.key <= before.key:
            return False
        if before is None and len(self.by_topic) >= MAX_RETAINED:
            self._sweep(now_us)
            if len(self.by_topic) >= MAX_RETAINED:
                self.refused += 1
                log.warning("%d topics have a retained message: that of %s is not kept", MAX_RETAINED, topic)
                return False
        self.by_topic[topic] = new
        if now_us > self._swept_us + TOMBSTONE_US:
            self._sweep(now_us)
        return True

    def learned(self, envelope: Envelope, now_us: int) -> bool:
        return self.delivered(envelope, told(envelope.message), now_us)

    def matching(self, filters: Iterable[str], now_us: int) -> Iterator[Kept]:
        """What a new subscriber to these is sent, each topic once."""
        filters = list(filters)
        if any("+" in one or "#" in one for one in filters):
            topics = [topic for topic in self.by_topic if any(matches(one, topic) for one in filters)]
        else:
            topics = list(dict.fromkeys(one for one in filters if one in self.by_topic))
        for topic in topics:
            one = self.by_topic[topic]
            due_us = one.envelope.message.deadline_us
            if due_us is not None and due_us < now_us:
                del self.by_topic[topic]
            elif not one.is_tombstone:
                yield one

    def _sweep(self, now_us: int) -> None:
        self._swept_us = now_us
        for topic, one in list(self.by_topic.items()):
            due_us = one.envelope.message.deadline_us
            if (one.is_tombstone and one.kept_us + TOMBSTONE_US < now_us) or (due_us is not None and due_us < now_us):
                del self.by_topic[topic]
