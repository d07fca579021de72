"""One MQTT session: what its client asked for, what is on its way, and the machine that speaks for it.

Decided here: all qualities of service share one line, in the machine's order; a message is taken from the machine when
it is written to the client, which is when it is delivered; PUBACK and PUBREC are sent when the message is safe;
retained copies of a new subscription go after what waited before it and before what comes by it; and when a session
ends: its client said so, it is away for longer than the session lasts, or another one begins anew under its name.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

import mqtt5

from antecede.core.message import Message, Publication
from antecede.core.names import MAX_TOPIC
from antecede.errors import AntecedeError, InputError
from antecede.live.mqtt.asking import Asking
from antecede.live.mqtt.codes import QOS, named
from antecede.live.mqtt.connection import MqttConnection
from antecede.live.mqtt.flight import Arrivals, Departures, Sent
from antecede.live.mqtt.mapping import Told, outgoing, read
from antecede.live.mqtt.packets import Breach
from antecede.live.mqtt.retained import Kept
from antecede.live.mqtt.seat import Seat
from antecede.live.mqtt.subscriptions import Subscriptions
from antecede.live.mqtt.wills import NO_LESS_S, Wills

if TYPE_CHECKING:
    from antecede.live.mqtt.door import Door

__all__ = ["FOREVER_S", "MqttSession"]

log = logging.getLogger("antecede.mqtt")

FOREVER_S = 0xFFFFFFFF
"""The expiry of a session that does not expire."""
UNSAFE = 2_000
"""Publications of a session that are not safe yet; then its client is not read until there are fewer."""
REFUSED, NOT_AUTHORIZED, TOPIC_INVALID = 0x83, 0x87, 0x90
BATCH = 64
"""Messages taken at once."""
REMEMBERED = 1_000
"""Ids of retained copies that were sent: if the same message comes live a moment later, it is not sent again."""


class MqttSession:
    def __init__(self, door: Door, client_id: str, name: str, token: str = "") -> None:
        self.door = door
        self.client_id = client_id
        """With the name of its token before it, where tokens are asked for: others cannot take it over."""
        self.seat = Seat(door.broker, name, self, token)
        self.subscriptions = Subscriptions()
        self.departures = Departures()
        self.arrivals = Arrivals()
        self.wills = Wills(self._publish_will)
        self.asking = Asking(self)
        self.connection: MqttConnection | None = None
        self.expiry_s = 0
        self.over = False
        self.line: deque[Told] = deque()
        """Taken from the machine, or by an earlier life of this session, and not written yet: they go first."""
        self.copies: deque[tuple[int, list[str]]] = deque()
        """Retained copies that are due: after so many messages, of these filters."""
        self.past: set[str] = set()
        """Delivered at the broker before the filter was subscribed to that would bring them now: they are not sent."""
        self._kept: deque[Kept] = deque()
        self._copied: dict[str, None] = {}
        self._since: set[str] = set()
        """Written live since retained copies are due: of these no copy is sent."""
        self._expiry: asyncio.TimerHandle | None = None

    # -- the client comes and goes ---------------------------------------------------------------------------------

    def attached(self, connection: MqttConnection, connect: mqtt5.ConnectPacket) -> None:
        if self._expiry is not None:
            self._expiry.cancel()
            self._expiry = None
        self.connection = connection
        self.expiry_s = connect.session_expiry_interval
        self.departures.limit = connect.receive_max
        self.wills.connected(connect.will)

    def send_again(self) -> None:
        """The client is back: what it did not acknowledge, then what it missed."""
        for number, sent in self.departures.again(self.seat.clock.now_us()):
            if sent.received:
                self.send(mqtt5.PubRelPacket(number).write())
            else:
                self._write(sent, number, again=True)
        self.flow()

    def detached(self, connection: MqttConnection) -> None:
        if self.connection is not connection:
            return
        self.connection = None
        self.asking.forget()
        if self.over:
            return
        self.wills.lost()
        if self.expiry_s == 0:
            self.door.end(self)
        elif self.expiry_s != FOREVER_S:
            loop = asyncio.get_running_loop()
            self._expiry = loop.call_later(self.expiry_s + NO_LESS_S, self.door.end, self)

    async def end(self) -> None:
        """For good. A will that waits is published first."""
        if self.over:
            return
        self.over = True
        if self._expiry is not None:
            self._expiry.cancel()
        self.wills.execute()
        await self.seat.leave()

    def _publish_will(self, will: mqtt5.Will) -> None:
        try:
            said = read(will, will.topic, will.payload or b"", int(will.qos), self.seat.clock.now_us())
            self._publish(said, retain=will.retain)
        except AntecedeError as fault:
            log.warning("the will of %s was not published: %s", self.client_id, fault)

    # -- packets ---------------------------------------------------------------------------------------------------

    def send(self, data: bytes) -> None:
        if self.connection is not None:
            self.connection.send(data)

    def packet(self, packet: mqtt5.Packet) -> None:
        """Raises Breach."""
        if isinstance(packet, mqtt5.PublishPacket):
            self._on_publish(packet)
        elif isinstance(packet, mqtt5.PubAckPacket):
            if self.departures.acknowledged(packet.packet_id):
                self.flow()
        elif isinstance(packet, mqtt5.PubRecPacket):
            self._on_pubrec(packet)
        elif isinstance(packet, mqtt5.PubRelPacket):
            code = mqtt5.PubCompReasonCode.PACKET_ID_NOT_FOUND
            if self.arrivals.settle(packet.packet_id):
                code = mqtt5.PubCompReasonCode.SUCCESS
            self.send(mqtt5.PubCompPacket(packet.packet_id, reason_code=code).write())
        elif isinstance(packet, mqtt5.PubCompPacket):
            if self.departures.completed(packet.packet_id):
                self.flow()
        elif isinstance(packet, mqtt5.SubscribePacket):
            self.asking.subscribe(packet)
        elif isinstance(packet, mqtt5.UnsubscribePacket):
            self.asking.unsubscribe(packet)
        elif isinstance(packet, mqtt5.DisconnectPacket):
            self._on_disconnect(packet)
        else:
            raise Breach(0x82, f"{type(packet).__name__} was not asked for")

    def _on_pubrec(self, packet: mqtt5.PubRecPacket) -> None:
        refused = int(packet.reason_code) >= 0x80
        code = self.departures.received(packet.packet_id, refused=refused)
        if code is not None:
            self.send(mqtt5.PubRelPacket(packet.packet_id, reason_code=code).write())
        self.flow()

    def _on_disconnect(self, packet: mqtt5.DisconnectPacket) -> None:
        if packet.session_expiry_interval is not None:
            if self.expiry_s == 0 and packet.session_expiry_interval:
                raise Breach(0x82, "a session that ends with its connection cannot be prolonged")
            self.expiry_s = packet.session_expiry_interval
        if packet.reason_code != mqtt5.DisconnectReasonCode.DISCONNECT_WITH_WILL_MESSAGE:
            self.wills.goodbye()
        if self.connection is not None:
            self.connection.close()

    # -- from the client -------------------------------------------------------------------------------------------

    def _on_publish(self, packet: mqtt5.PublishPacket) -> None:
        connection = self.connection
        assert connection is not None
        topic, qos = connection.aliases.topic(packet.topic, packet.topic_alias), int(packet.qos)
        if packet.subscription_ids:
            raise Breach(0x82, "a subscription identifier in a PUBLISH from a client")
        number = packet.packet_id
        if number is not None and self.arrivals.take(packet) is None:
            if self.arrivals.answerable(number):
                self._answer(number, qos, 0)
            return
        try:
            if len(topic) > MAX_TOPIC:
                raise InputError(f"A topic has at most {MAX_TOPIC} characters.")
            said = read(packet, topic, packet.payload, qos, self.seat.clock.now_us())
            if why := self.seat.why_not_publish(topic, len(said.payload)):
                self._refuse(packet, NOT_AUTHORIZED, why)
                return
            message = self._publish(said, retain=packet.retain)
        except AntecedeError as fault:
            self._refuse(packet, TOPIC_INVALID if len(topic) > MAX_TOPIC else REFUSED, str(fault))
            return
        self.door.counts["published"] += 1
        if number is not None:
            self.arrivals.published(number, message.id)
        if len(self.seat.machine.outbox.unacked) > UNSAFE:
            connection.pause()

    def _publish(self, said: Publication, *, retain: bool) -> Message:
        kept = self.door.retained.by_topic.get(said.topics[0]) if retain else None
        if kept is not None:
            self.seat.outrank(kept.envelope)
        return self.seat.publish(said)

    def _refuse(self, packet: mqtt5.PublishPacket, code: int, text: str) -> None:
        self.door.counts["refused"] += 1
        log.info("a publication of %s was refused: %s", self.client_id, text)
        if packet.packet_id is not None:
            self.arrivals.settle(packet.packet_id)
            self._answer(packet.packet_id, int(packet.qos), code, text)

    def _answer(self, number: int, qos: int, code: int, text: str = "") -> None:
        connection = self.connection
        words = None if connection is None else connection.words(text)
        if qos == 1:
            self.send(
                mqtt5.PubAckPacket(number, reason_code=named(mqtt5.PubAckReasonCode, code), reason_str=words).write()
            )
        else:
            self.send(
                mqtt5.PubRecPacket(number, reason_code=named(mqtt5.PubRecReasonCode, code), reason_str=words).write()
            )

    # -- to the client ---------------------------------------------------------------------------------------------

    def flow(self) -> None:
        """Write as much as the client takes."""
        connection, seat = self.connection, self.seat
        while connection is not None and connection.has_room and connection is self.connection:
            room = min(BATCH, self.departures.room - len(self.line))
            if self.departures.room <= 0:
                return
            if self.line:
                if self._must_wait(self.line[0]):
                    return
                self._hand(self.line.popleft())
            elif self._kept:
                if self._must_wait(self._kept[0].told):
                    return
                self._hand_copy(self._kept.popleft())
            elif self.copies and self.copies[0][0] == 0:
                self._kept.extend(self.door.retained.matching(self.copies.popleft()[1], seat.clock.now_us()))
            else:
                before = self.copies[0][0] if self.copies else room
                taken = seat.take(1 if self.departures.unreleased else min(room, before))
                self.line.extend(map(self.door.told, taken))
                if self.copies:  # where nothing was taken, what stood before them was dropped
                    behind = len(taken) or before
                    self.copies = deque((max(0, count - behind), filters) for count, filters in self.copies)
                elif not taken:
                    return

    def keep(self, before: int, filters: list[str]) -> None:
        """Retained copies of these filters are due, after so many that wait."""
        self.copies.append((before, filters))
        self.flow()

    def _must_wait(self, told: Told) -> bool:
        """A client hands over a message of quality 2 when it gets PUBREL: until that has gone, one of a lower quality
        would overtake it."""
        if not self.departures.unreleased:
            return False
        wanted = self.subscriptions.wanted(told)
        return wanted is not None and min(wanted.qos, told.more.qos) < 2

    def _hand(self, told: Told) -> None:
        message, wanted = told.message, self.subscriptions.wanted(told)
        if wanted is None or self._copied.pop(message.id, False) is None:
            return
        if message.id in self.past:
            self.past.discard(message.id)
            return
        if not wanted.own and message.sender == self.seat.name:
            return
        if message.deadline_us is not None and message.deadline_us < self.seat.clock.now_us():
            self.door.counts["expired"] += 1
            return
        if told.more.retain and (self.copies or self._kept):
            self._since.add(message.id)
        retain = wanted.as_published and told.more.retain
        self._depart(Sent(told, min(wanted.qos, told.more.qos), retain, wanted.identifiers))

    def _hand_copy(self, kept: Kept) -> None:
        """State, not a delivery. If it comes live anyway, that is soon enough."""
        told = kept.told
        wanted = self.subscriptions.wanted(told)
        seen = told.message.id in self._since
        if not self.copies and not self._kept:
            self._since.clear()
        if wanted is None or seen or (told.message.id not in self.past and self.seat.comes_live(told.message)):
            return
        self._copied[told.message.id] = None
        if len(self._copied) > REMEMBERED:
            del self._copied[next(iter(self._copied))]
        self.seat.keeps(kept.envelope)
        self._depart(Sent(told, min(wanted.qos, told.more.qos), True, wanted.identifiers))

    def _depart(self, sent: Sent) -> None:
        self._write(sent, self.departures.depart(sent) if sent.qos else None, again=False)

    def _write(self, sent: Sent, number: int | None, *, again: bool) -> None:
        connection = self.connection
        assert connection is not None
        told = sent.told
        properties = outgoing(told, self.seat.clock.now_us(), ids=connection.ids)
        if sent.identifiers:
            properties["subscription_ids"] = list(sent.identifiers)
        properties |= {"qos": QOS[sent.qos], "retain": sent.retain, "packet_id": number, "duplicate": again}
        if connection.max_packet is not None:
            size = len(mqtt5.PublishPacket(told.topic, told.body, **properties).write())
            if size + 3 > connection.max_packet:  # an alias would take three bytes
                self.door.counts["too_large"] += 1
                if number is not None:
                    self.departures.forget(number)
                return
        topic, alias = connection.aliases.shorten(told.topic)
        connection.send(mqtt5.PublishPacket(topic, told.body, topic_alias=alias, **properties).write())
        self.door.counts["written"] += 1

    # -- what the machine says -------------------------------------------------------------------------------------

    def safe(self, ids: Sequence[str]) -> None:
        for message_id in ids:
            known = self.arrivals.safe(message_id)
            if known is not None:
                self._answer(*known, 0)

    def dropped(self, reason: str) -> None:
        self.door.counts[reason] += 1

    def turned(self) -> None:
        self.asking.look()
        if self.connection is not None:
            self.flow()
            if self.connection is not None and len(self.seat.machine.outbox.unacked) < UNSAFE // 2:
                self.connection.resume()

    def interrupted(self) -> None:
        """The machine of this session was taken for dead: publications that were not safe may be lost, so the client is
        to repeat."""
        self.arrivals.forget_unsafe()
        if self.connection is not None:
            self.connection.disconnect(0x89, "the broker begins again: repeat what was not acknowledged")

    def ended(self, reason: str) -> None:
        """The machine of this session is gone, because no broker will have it, or because the session ends."""
        if not self.over:
            self.wills.goodbye()
            self.expiry_s = 0
            if self.connection is not None:
                self.connection.disconnect(NOT_AUTHORIZED, reason)
            else:
                self.door.end(self)

    # -- moving ----------------------------------------------------------------------------------------------------

    def take_all(self) -> list[Message]:
        """All that waits, for another broker to write: they are delivered."""
        taken = self.seat.take(self.seat.waiting) if self.seat.waiting else []
        return [one for one in (*(one.message for one in self.line), *taken) if one.id not in self.past]
