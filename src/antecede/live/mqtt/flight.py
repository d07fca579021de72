"""Messages of quality 1 and 2 on their way, in both directions: packet identifiers, and who waits for which packet.

Decided here: at most as many are on their way to a client as it allows, and from it as this broker allows (one more
closes the connection); what a client has not acknowledged is sent again when it comes back, as a repeat, unless it has
expired; and a repeat from the client is not published a second time, for as long as the session remembers the first.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import mqtt5

from antecede.live.mqtt.mapping import Told
from antecede.live.mqtt.packets import Breach

__all__ = ["RECEIVE_MAX", "Arrivals", "Arrived", "Departures", "Sent"]

RECEIVE_MAX = 1_024
"""Publications of one client that are not settled. Raising it costs memory; lowering it, throughput over long lines,
and clients that do not heed it, as mqtt.js, are closed in the midst of a burst."""
TOO_MANY = 0x93


class Sent:
    """One message on its way to the client."""

    __slots__ = ("identifiers", "qos", "received", "retain", "told")

    def __init__(self, told: Told, qos: int, retain: bool, identifiers: tuple[int, ...]) -> None:
        self.told, self.qos, self.retain, self.identifiers = told, qos, retain, identifiers
        self.received = False
        """Quality 2: PUBREC has come, and PUBREL has gone."""


class Departures:
    def __init__(self) -> None:
        self.sent: dict[int, Sent] = {}
        self.limit = 65_535
        """How many the client takes at once."""
        self._last = 0
        self._unreleased = 0

    @property
    def room(self) -> int:
        return self.limit - len(self.sent)

    @property
    def unreleased(self) -> bool:
        """Whether a client has not been told to hand over a message of quality 2."""
        return self._unreleased > 0

    def depart(self, sent: Sent) -> int:
        """A message leaves: its packet identifier."""
        number = self._last % 65_535 + 1
        while number in self.sent:
            number = number % 65_535 + 1
        self._last = number
        self.sent[number] = sent
        self._unreleased += sent.qos == 2
        return number

    def put(self, number: int, sent: Sent, *, received: bool) -> None:
        """A message left at another broker."""
        self.sent[number] = sent
        self._last = max(self._last, number)
        sent.received = received
        self._unreleased += sent.qos == 2 and not received

    def forget(self, number: int) -> None:
        """Nothing more is to be heard of it."""
        sent = self.sent.pop(number)
        self._unreleased -= sent.qos == 2 and not sent.received

    def acknowledged(self, number: int) -> bool:
        """PUBACK."""
        if number in self.sent and self.sent[number].qos == 1:
            self.forget(number)
            return True
        return False

    def received(self, number: int, *, refused: bool) -> mqtt5.PubRelReasonCode | None:
        """PUBREC: what PUBREL says; None: there is none."""
        sent = self.sent.get(number)
        if sent is None or sent.qos != 2:
            return None if refused else mqtt5.PubRelReasonCode.PACKET_ID_NOT_FOUND
        if refused:
            self.forget(number)
            return None
        self._unreleased -= not sent.received
        sent.received = True
        return mqtt5.PubRelReasonCode.SUCCESS

    def completed(self, number: int) -> bool:
        """PUBCOMP."""
        if number in self.sent and self.sent[number].qos == 2:
            self.forget(number)
            return True
        return False

    def again(self, now_us: int) -> Iterator[tuple[int, Sent]]:
        """What to send again to a client that came back, in order; what has expired meanwhile is let go of."""
        for number, sent in list(self.sent.items()):
            due_us = sent.told.message.deadline_us
            if due_us is not None and due_us < now_us and not sent.received:
                self.forget(number)
            else:
                yield number, sent


class Arrived:
    __slots__ = ("digest", "id", "qos", "safe")

    def __init__(self, qos: int, digest: bytes) -> None:
        self.qos = qos
        self.digest = digest
        self.id = ""
        """What it was published as."""
        self.safe = False


class Arrivals:
    """Publications of the client that are not settled, by packet identifier."""

    def __init__(self) -> None:
        self.open: dict[int, Arrived] = {}
        self._by_id: dict[str, int] = {}
        self.acknowledged: dict[int, bytes] = {}
        """Quality 1, acknowledged not long ago: the client may not know."""

    def take(self, packet: mqtt5.PublishPacket) -> Arrived | None:
        """A new one, to be published; None: it is here already, and `answer` says what to tell the client."""
        number, digest = packet.packet_id, _digest(packet)
        assert number is not None
        if number in self.open:
            return None
        if packet.duplicate and int(packet.qos) == 1 and self.acknowledged.get(number) == digest:
            return None
        if len(self.open) >= RECEIVE_MAX:
            raise Breach(TOO_MANY, f"more than {RECEIVE_MAX} publications that are not settled")
        self.acknowledged.pop(number, None)
        one = self.open[number] = Arrived(int(packet.qos), digest)
        return one

    def answerable(self, number: int) -> bool:
        """Whether a repeat can be answered at once: what it repeats is safe."""
        return number not in self.open or self.open[number].safe

    def published(self, number: int, message_id: str) -> None:
        self.open[number].id = message_id
        self._by_id[message_id] = number

    def safe(self, message_id: str) -> tuple[int, int] | None:
        """The packet identifier and quality of a publication that is safe, if the client waits to hear of it."""
        number = self._by_id.pop(message_id, None)
        if number is None:
            return None
        one = self.open[number]
        one.safe = True
        if one.qos == 1:
            self.settle(number)
        return number, one.qos

    def settle(self, number: int) -> bool:
        """Nothing more is to be said of it."""
        one = self.open.pop(number, None)
        if one is None:
            return False
        self._by_id.pop(one.id, None)
        if one.qos == 1:
            self.acknowledged[number] = one.digest
            if len(self.acknowledged) > RECEIVE_MAX:
                del self.acknowledged[next(iter(self.acknowledged))]
        return True

    def forget_unsafe(self) -> None:
        """Publications that were not safe may be lost or not: their repeats are published as if they were new."""
        for number in [number for number, one in self.open.items() if not one.safe]:
            self._by_id.pop(self.open.pop(number).id, None)


def _digest(packet: mqtt5.PublishPacket) -> bytes:
    return hashlib.blake2b(packet.topic.encode() + b"\0" + packet.payload, digest_size=8).digest()
