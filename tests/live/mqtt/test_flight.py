"""Packet identifiers and what is on its way: none is used twice, nothing is published twice, what is expired goes."""

from __future__ import annotations

import mqtt5
import pytest

from antecede.core.message import Message
from antecede.live.mqtt.flight import RECEIVE_MAX, Arrivals, Departures, Sent
from antecede.live.mqtt.mapping import told
from antecede.live.mqtt.packets import Breach


def sent(qos: int, due_us: int | None = None) -> Sent:
    return Sent(told(Message("a", 1, ("t",), b"", due_us)), qos, False, ())


def packet(number: int, qos: mqtt5.QoS, *, again: bool = False, body: bytes = b"x") -> mqtt5.PublishPacket:
    return mqtt5.PublishPacket("t", body, qos=qos, packet_id=number, duplicate=again)


Q1, Q2 = mqtt5.QoS.AT_LEAST_ONCE, mqtt5.QoS.EXACTLY_ONCE


def test_numbers_go_around_and_skip_those_that_are_in_use() -> None:
    departures = Departures()
    assert [departures.depart(sent(1)) for _ in range(3)] == [1, 2, 3]
    departures._last = 65_535
    assert departures.depart(sent(1)) == 4
    departures.limit = 5
    assert departures.room == 1
    assert departures.acknowledged(2) and not departures.acknowledged(2) and departures.room == 2


def test_quality_2_is_released_then_completed() -> None:
    departures = Departures()
    number = departures.depart(sent(2))
    assert departures.unreleased and not departures.acknowledged(number)
    assert departures.received(number, refused=False) == mqtt5.PubRelReasonCode.SUCCESS
    assert not departures.unreleased
    assert departures.received(number, refused=False) == mqtt5.PubRelReasonCode.SUCCESS
    assert departures.completed(number) and not departures.completed(number) and not departures.unreleased
    assert departures.received(number, refused=False) == mqtt5.PubRelReasonCode.PACKET_ID_NOT_FOUND
    other = departures.depart(sent(2))
    assert departures.received(other, refused=True) is None and not departures.sent and not departures.unreleased


def test_what_is_sent_again_is_what_has_not_expired() -> None:
    departures = Departures()
    numbers = [departures.depart(one) for one in (sent(1, 50), sent(1), sent(2, 50), sent(2, 50), sent(2, 500))]
    departures.received(numbers[3], refused=False)
    assert [number for number, _ in departures.again(100)] == [2, 4, 5]
    assert departures.unreleased and sorted(departures.sent) == [2, 4, 5]


def test_a_repeat_is_known_by_its_number_and_content() -> None:
    arrivals = Arrivals()
    first = arrivals.take(packet(1, Q1))
    assert first is not None and arrivals.take(packet(1, Q1, again=True)) is None and not arrivals.answerable(1)
    arrivals.published(1, "m:1")
    assert arrivals.safe("m:1") == (1, 1) and arrivals.safe("m:1") is None
    assert arrivals.take(packet(1, Q1, again=True)) is None and arrivals.answerable(1)
    assert arrivals.take(packet(1, Q1, again=True, body=b"other")) is not None
    arrivals.published(1, "m:2")
    second = arrivals.take(packet(2, Q2))
    assert second is not None
    arrivals.published(2, "m:3")
    assert arrivals.safe("m:3") == (2, 2) and arrivals.answerable(2)
    arrivals.forget_unsafe()
    assert list(arrivals.open) == [2] and arrivals.settle(2) and not arrivals.settle(2)
    assert arrivals.safe("m:2") is None


def test_one_more_than_allowed_is_a_breach() -> None:
    arrivals = Arrivals()
    for number in range(1, RECEIVE_MAX + 1):
        assert arrivals.take(packet(number, Q2)) is not None
    with pytest.raises(Breach) as found:
        arrivals.take(packet(RECEIVE_MAX + 1, Q2))
    assert found.value.code == 0x93
