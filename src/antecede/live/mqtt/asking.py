"""SUBSCRIBE and UNSUBSCRIBE of one session: what is granted, and when that is said.

Decided here: SUBACK is sent once the home broker has said where the new filters begin, so that whatever is published
after it comes; what the broker had delivered before it does not come by a new filter, though the broker may still have
it; a filter that only other brokers carry sends the client there; retained copies are due then, unless the options of
the subscription say otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import mqtt5

from antecede.core.topics import matches
from antecede.core.where import parse_where
from antecede.errors import AntecedeError, InputError
from antecede.live.message import selecting
from antecede.live.mqtt.codes import named
from antecede.live.mqtt.mapping import asks_for_ids, where_in
from antecede.live.mqtt.subscriptions import MAX_SUBSCRIPTIONS, Subscription, refusal_of

if TYPE_CHECKING:
    from antecede.live.mqtt.session import MqttSession

__all__ = ["Asking"]


class Asked(NamedTuple):
    """A SUBSCRIBE that is not answered yet."""

    filters: tuple[str, ...]
    copies: list[str]
    """Filters whose retained messages are sent."""
    suback: bytes
    new: bool
    """Whether none of these filters was owed before."""


class Asking:
    def __init__(self, session: MqttSession) -> None:
        self._session = session
        self._asked: list[Asked] = []

    def subscribe(self, packet: mqtt5.SubscribePacket) -> None:
        session, codes = self._session, list[mqtt5.SubAckReasonCode]()
        subscriptions, connection = session.subscriptions, session.connection
        assert connection is not None
        connection.ids = connection.ids or asks_for_ids(packet.user_properties)
        granted, copies, reason = list[str](), list[str](), ""
        past = self._past([one.pattern for one in packet.topic_filters])
        where = where_in(packet.user_properties)
        for one in packet.topic_filters:
            code = refusal_of(one.pattern)
            most = session.seat.limits[1] or MAX_SUBSCRIPTIONS
            if code is None and one.pattern not in subscriptions.by_filter and len(subscriptions) >= most:
                code = mqtt5.SubAckReasonCode.QUOTA_EXCEEDED
            if code is None and (reason := session.seat.why_not_subscribe(one.pattern)):
                code = mqtt5.SubAckReasonCode.NOT_AUTHORIZED
            if code is None:
                try:
                    session.seat.managed.groups.check_filters((*subscriptions.filters, selecting(one.pattern, where)))
                except InputError as fault:
                    code, reason = mqtt5.SubAckReasonCode.TOPIC_FILTER_INVALID, str(fault)
            if code is not None:
                codes.append(code)
                continue
            if session.door.sends_elsewhere(session, one.pattern):
                return
            text = None if where is None else parse_where(where).text
            options = one.no_local, one.retain_as_published, packet.subscription_id, text
            new = subscriptions.add(Subscription(one.pattern, int(one.max_qos), *options))
            codes.append(named(mqtt5.SubAckReasonCode, int(one.max_qos)))
            granted.append(one.pattern)
            handling = mqtt5.RetainHandling
            if one.retain_handling == handling.SEND_ALWAYS or (
                one.retain_handling == handling.SEND_IF_SUBSCRIPTION_NOT_EXISTS and new
            ):
                copies.append(one.pattern)
        suback = mqtt5.SubAckPacket(packet.packet_id, codes, reason_str=connection.words(reason)).write()
        new = not any(session.seat.is_owed((subscriptions.by_filter[one].selecting,)) for one in granted)
        self._asked.append(Asked(tuple(granted), copies, suback, new))
        session.past.update(one for one, topic in past.items() if any(matches(filter, topic) for filter in granted))
        if granted:
            self._want()
        self.look()

    def _past(self, filters: list[str]) -> dict[str, str]:
        """What the broker has delivered and still has, of these filters and none before: ids and topics. A machine that
        has filters already, or publishes, is sent such messages too (GROW); an MQTT client did not ask for them."""
        session = self._session
        new = [one for one in filters if one not in session.subscriptions.by_filter]
        if not new or not session.seat.attached:
            return {}
        past: dict[str, str] = {}
        for message in session.seat.stored():
            topic = message.topics[0]
            is_new = any(matches(one, topic) for one in new)
            if is_new and session.subscriptions.wanted(session.door.told(message)) is None:
                past[message.id] = topic
        return past

    def unsubscribe(self, packet: mqtt5.UnsubscribePacket) -> None:
        session, codes = self._session, mqtt5.UnsubAckReasonCode
        had = [session.subscriptions.remove(pattern) for pattern in packet.patterns]
        if any(had):
            self._want()
        answers = [codes.SUCCESS if one else codes.NO_SUBSCRIPTION_EXISTED for one in had]
        session.send(mqtt5.UnsubAckPacket(packet.packet_id, answers).write())
        self.look()

    def _want(self) -> None:
        session = self._session
        try:
            session.seat.want(session.subscriptions.filters, own=session.subscriptions.any_own)
        except AntecedeError as fault:  # checked before, so it is the state of the machine
            if session.connection is not None:
                session.connection.disconnect(0x89, str(fault))

    def look(self) -> None:
        """Answer what can be answered now."""
        session = self._session
        while self._asked:
            asked = self._asked[0]
            by_filter = session.subscriptions.by_filter
            if not session.seat.is_owed([by_filter[one].selecting for one in asked.filters if one in by_filter]):
                return
            del self._asked[0]
            session.send(asked.suback)
            if session.past:
                session.past &= session.seat.still_to_come(session.past)
            if asked.copies:
                seat = session.seat
                begin = [by_filter[one].selecting for one in asked.copies if one in by_filter]
                session.keep(seat.waiting_before(begin) if asked.new else seat.waiting, asked.copies)

    def forget(self) -> None:
        """The client of this session is gone."""
        self._asked.clear()
