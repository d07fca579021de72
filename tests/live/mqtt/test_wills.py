"""Wills: published for who goes without a word, after its delay or with its session, never for who says good-bye."""

from __future__ import annotations

import time
from typing import Any

from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from tests.live.mqtt.harness import Brokers, Paho


def with_will(port: int, client_id: str, topic: str, delay_s: int = 0, **values: Any) -> Paho:
    client = Paho(port, client_id)
    properties = Properties(PacketTypes.WILLMESSAGE)
    if delay_s:
        properties.WillDelayInterval = delay_s
    client.client.will_set(topic, b"will", 1, properties=properties)
    return client.connect(**values)


def test_a_will_is_published_when_the_connection_breaks(one: Brokers) -> None:
    with Paho(one.port()).connect() as sub:
        sub.subscribe("will/1")
        client = with_will(one.port(), "w1", "will/1")
        client.publish("will/1", b"before", 1)
        client.vanish()
        assert sub.got(2) == [b"before", b"will"]


def test_no_will_is_published_for_who_says_goodbye_unless_it_says_so(one: Brokers) -> None:
    with Paho(one.port()).connect() as sub:
        sub.subscribe("will/2")
        with_will(one.port(), "w2", "will/2").close()
        assert sub.quiet() == []
        client = with_will(one.port(), "w2", "will/2")
        client.client.disconnect(reasoncode=None, properties=None)
        client.client.loop_stop()
        assert sub.quiet() == []


def test_a_will_waits_for_its_delay_and_a_client_that_is_back_cancels_it(one: Brokers) -> None:
    with Paho(one.port()).connect() as sub:
        sub.subscribe("will/3")
        with_will(one.port(), "w3", "will/3", 1, SessionExpiryInterval=60).vanish()
        time.sleep(0.3)
        with_will(one.port(), "w3", "will/3", 1, clean=False, SessionExpiryInterval=60).vanish()
        began = time.monotonic()
        assert sub.got(1) == [b"will"]
        assert 0.8 < time.monotonic() - began < 3
        assert sub.quiet(0.5) == [b"will"]


def test_a_will_is_published_when_its_session_ends_before_its_delay(one: Brokers) -> None:
    with Paho(one.port()).connect() as sub:
        sub.subscribe("will/4")
        began = time.monotonic()
        with_will(one.port(), "w4", "will/4", 30).vanish()
        assert sub.got(1) == [b"will"] and time.monotonic() - began < 3
        with_will(one.port(), "w5", "will/4", 30, SessionExpiryInterval=1).vanish()
        assert len(sub.got(2)) == 2 and time.monotonic() - began < 6


def test_a_will_comes_after_all_the_client_was_sent(one: Brokers) -> None:
    with Paho(one.port()).connect() as sub, Paho(one.port()).connect() as pub:
        sub.subscribe("will/#", "cause")
        client = with_will(one.port(), "w6", "will/6")
        client.subscribe("cause")
        pub.publish("cause", b"cause", 1)
        client.got(1)
        client.vanish()
        assert sub.got(2) == [b"cause", b"will"]
