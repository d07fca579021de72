"""A session with clients that nobody here wrote: qualities of service, sessions that last, what a message carries."""

from __future__ import annotations

import time

import mqtt5
import pytest
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from tests.live.mqtt.harness import Brokers, Paho, Raw, until


def test_all_qualities_of_service_come_once_in_one_line(one: Brokers) -> None:
    with Paho(one.port()).connect() as sub, Paho(one.port()).connect() as pub:
        assert sub.subscribe("line/#") == [2]
        for n in range(30):
            pub.client.publish(f"line/{n % 2}", b"%d" % n, qos=n % 3)
        assert sub.got(30) == [b"%d" % n for n in range(30)]
        assert [message.qos for message in sub.messages] == [n % 3 for n in range(30)]
        assert until(lambda: len(pub.published) == 30)


def test_the_lower_quality_of_publisher_and_subscriber_counts(one: Brokers) -> None:
    with Paho(one.port()).connect() as sub, Paho(one.port()).connect() as pub:
        assert sub.subscribe("lower", qos=1) == [1]
        for qos in range(3):
            pub.publish("lower", b"%d" % qos, qos=qos)
        sub.got(3)
        assert [message.qos for message in sub.messages] == [0, 1, 1]


def test_what_a_message_carries_comes_unaltered(one: Brokers) -> None:
    pairs = [("b", "2"), ("a", "1"), ("b", "3")]
    with Paho(one.port()).connect() as client:
        client.subscribe("carried")
        client.publish(
            "carried", b"x", 1, UserProperty=pairs, ContentType="text/x", PayloadFormatIndicator=1,
            ResponseTopic="answers/7", CorrelationData=b"\x00\xff", MessageExpiryInterval=6,
        )  # fmt: skip
        client.publish("carried", b"y", 1, UserProperty=pairs[:2])
        client.got(2)
        said = client.messages[0].properties
        assert said is not None
        assert said.UserProperty == pairs and said.ContentType == "text/x" and said.PayloadFormatIndicator == 1
        assert said.ResponseTopic == "answers/7" and said.CorrelationData == b"\x00\xff"
        assert 1 <= said.MessageExpiryInterval <= 6
        plain = client.messages[1].properties
        assert plain is not None and plain.UserProperty == pairs[:2] and not hasattr(plain, "MessageExpiryInterval")


def test_a_request_is_answered(one: Brokers) -> None:
    with Paho(one.port()).connect() as asking, Paho(one.port()).connect() as answering:
        asking.subscribe("answers/me")
        answering.subscribe("questions")
        asking.publish("questions", b"?", 1, ResponseTopic="answers/me", CorrelationData=b"17")
        answering.got(1)
        question = answering.messages[0].properties
        assert question is not None
        answering.publish(question.ResponseTopic, b"!", 1, CorrelationData=question.CorrelationData)
        assert asking.got(1) == [b"!"]
        answer = asking.messages[0].properties
        assert answer is not None and answer.CorrelationData == b"17"


def test_a_session_lasts_and_keeps_what_came_meanwhile(one: Brokers) -> None:
    client = Paho(one.port(), "lasting").connect(SessionExpiryInterval=60)
    client.subscribe("offline/#")
    client.close()
    with Paho(one.port()).connect() as pub:
        for qos in range(3):
            pub.publish("offline/x", b"%d" % qos, qos)
        pub.publish("offline/x", b"gone", 1, MessageExpiryInterval=1)
        pub.publish("offline/x", b"stays", 1, MessageExpiryInterval=9)
    time.sleep(1.2)
    with Paho(one.port(), "lasting").connect(clean=False, SessionExpiryInterval=60) as again:
        assert again.session_present
        assert again.got(4) == [b"0", b"1", b"2", b"stays"]
        left = again.messages[3].properties
        assert left is not None and left.MessageExpiryInterval < 9
        assert again.quiet() == [b"0", b"1", b"2", b"stays"]
        again.close(SessionExpiryInterval=0)
    with Paho(one.port(), "lasting").connect(clean=False) as last:
        assert not last.session_present


def test_a_session_ends_when_its_time_is_over_or_its_connection(one: Brokers) -> None:
    with Paho(one.port(), "short").connect() as client:
        client.subscribe("a")
    with Paho(one.port(), "short").connect(clean=False, SessionExpiryInterval=1) as client:
        assert not client.session_present
    assert until(lambda: "short" not in one.door().sessions, 5)
    with Paho(one.port(), "short").connect(clean=False, SessionExpiryInterval=1) as client:
        assert not client.session_present
        client.close(SessionExpiryInterval=5)
    time.sleep(1.2)
    with Paho(one.port(), "short").connect(clean=False) as client:
        assert client.session_present
    with Paho(one.port(), "short").connect(clean=False) as client:
        assert not client.session_present


def test_who_ends_with_the_connection_cannot_prolong_it_with_disconnect(one: Brokers) -> None:
    with Raw(one.port()) as raw:
        raw.connect("prolong")
        answer = raw.send(mqtt5.DisconnectPacket(session_expiry_interval=5)).read()
        assert isinstance(answer, mqtt5.DisconnectPacket) and answer.reason_code == 0x82


def test_what_was_not_acknowledged_is_sent_again_as_a_repeat(one: Brokers) -> None:
    last = {"clean_start": False, "session_expiry_interval": 60}
    with Raw(one.port()) as raw, Paho(one.port()).connect() as pub:
        raw.connect("repeats", session_expiry_interval=60)
        raw.send(mqtt5.SubscribePacket(1, [mqtt5.TopicFilter("again/#")])).read()
        pub.publish("again/x", b"short", 1, MessageExpiryInterval=1)
        for qos in (1, 2, 2):
            pub.publish("again/x", b"%d" % qos, qos)
        first = [raw.read() for _ in range(4)]
        numbers = [packet.packet_id for packet in first if isinstance(packet, mqtt5.PublishPacket)]
        assert len(set(numbers)) == 4 and None not in numbers
        raw.send(mqtt5.PubRecPacket(numbers[3] or 0))
        assert isinstance(raw.read(), mqtt5.PubRelPacket)
    time.sleep(1.1)
    with Raw(one.port()) as raw:
        assert raw.connect("repeats", **last).session_present
        again = [raw.read() for _ in range(3)]
        assert isinstance(again[0], mqtt5.PublishPacket) and again[0].duplicate and again[0].packet_id == numbers[1]
        assert isinstance(again[1], mqtt5.PublishPacket) and again[1].duplicate and again[1].packet_id == numbers[2]
        assert isinstance(again[2], mqtt5.PubRelPacket) and again[2].packet_id == numbers[3]
        with pytest.raises(TimeoutError):
            raw.read(0.3)  # what has expired is not sent again


def test_a_repeat_from_the_client_is_no_second_message(one: Brokers) -> None:
    def say(qos: mqtt5.QoS, number: int, again: bool) -> mqtt5.PublishPacket:
        return mqtt5.PublishPacket("dup", b"%d" % number, qos=qos, packet_id=number, duplicate=again)

    with Paho(one.port()).connect() as sub, Raw(one.port()) as raw:
        sub.subscribe("dup")
        raw.connect("stutterer", session_expiry_interval=60)
        raw.send(say(mqtt5.QoS.AT_LEAST_ONCE, 1, False), say(mqtt5.QoS.EXACTLY_ONCE, 2, False))
        assert {type(raw.read()), type(raw.read())} == {mqtt5.PubAckPacket, mqtt5.PubRecPacket}
        raw.close()
        with Raw(one.port()) as back:
            back.connect("stutterer", clean_start=False)
            back.send(say(mqtt5.QoS.AT_LEAST_ONCE, 1, True), say(mqtt5.QoS.EXACTLY_ONCE, 2, True))
            assert {type(back.read()), type(back.read())} == {mqtt5.PubAckPacket, mqtt5.PubRecPacket}
            back.send(mqtt5.PubRelPacket(2), mqtt5.PubRelPacket(2))
            done = [back.read(), back.read()]
            assert [packet.reason_code for packet in done if isinstance(packet, mqtt5.PubCompPacket)] == [0, 0x92]
            back.send(say(mqtt5.QoS.AT_LEAST_ONCE, 1, False))  # the number is free again
            assert isinstance(back.read(), mqtt5.PubAckPacket)
        assert sub.got(3) == [b"1", b"2", b"1"] and sub.quiet() == [b"1", b"2", b"1"]


def test_no_more_is_on_its_way_than_the_client_takes(one: Brokers) -> None:
    with Raw(one.port()) as raw, Paho(one.port()).connect() as pub:
        raw.connect("narrow", receive_max=2)
        raw.send(mqtt5.SubscribePacket(1, [mqtt5.TopicFilter("flow")])).read()
        for n in range(3):
            pub.publish("flow", b"%d" % n, 1)
        first, second = raw.read(), raw.read()
        assert isinstance(first, mqtt5.PublishPacket) and isinstance(second, mqtt5.PublishPacket)
        with pytest.raises(TimeoutError):
            raw.read(0.3)
        third = raw.send(mqtt5.PubAckPacket(first.packet_id or 0)).read()
        assert isinstance(third, mqtt5.PublishPacket) and third.payload == b"2"


def test_a_client_that_sends_more_than_it_may_is_closed(one: Brokers) -> None:
    with Raw(one.port()) as raw:
        allowed = raw.connect("wide").receive_max
        for number in range(1, allowed + 2):
            raw.send(mqtt5.PublishPacket("flow2", b"", qos=mqtt5.QoS.EXACTLY_ONCE, packet_id=number))
        packet = raw.read()
        while isinstance(packet, mqtt5.PubRecPacket):
            packet = raw.read()
        assert isinstance(packet, mqtt5.DisconnectPacket) and packet.reason_code == 0x93


def test_what_is_too_large_for_a_client_is_not_sent_to_it(one: Brokers) -> None:
    with Paho(one.port()).connect(MaximumPacketSize=64) as client:
        client.subscribe("size")
        client.publish("size", b"." * 32)
        client.publish("size", b"." * 64, 1)
        client.publish("size", b"after", 1)
        assert client.got(2) == [b"." * 32, b"after"]
    assert one.door().counts["too_large"] == 1


def test_a_deadline_in_microseconds_causes_and_order_are_said_by_user_properties(one: Brokers) -> None:
    with Paho(one.port()).connect(UserProperty=("antecede-id", "yes")) as client:
        client.subscribe("own/#")
        client.publish("own/1", b"first", 1, UserProperty=[("antecede-deadline", "3000000"), ("k", "v")])
        client.got(1)
        said = client.messages[0].properties
        assert said is not None
        told = dict(said.UserProperty)
        due_us = int(told["antecede-deadline"])
        assert abs(due_us / 1e6 - 3 - time.time()) < 2 and told["k"] == "v" and said.MessageExpiryInterval == 3
        first = told["antecede-id"]
        client.publish("own/2", b"second", 1, UserProperty=[("antecede-after", first), ("antecede-order", "causal")])
        client.got(2)
        assert client.published[-1][1] == 0
        for wrong in (("antecede-after", "nobody:7"), ("antecede-order", "backwards"), ("antecede-deadline", "soon")):
            client.publish("own/3", b"never", 1, UserProperty=[wrong])
            assert until(lambda: client.published[-1][1] == 0x83)
        assert client.quiet() == [b"first", b"second"]


def test_text_that_is_none_and_a_topic_that_is_too_long_are_refused(one: Brokers) -> None:
    with Paho(one.port()).connect() as client:
        client.publish("format", b"\xff", 1, PayloadFormatIndicator=1)
        assert until(lambda: [code for _, code in client.published] == [0x83])
        client.publish("x" * 300, b"", 1)
        assert until(lambda: [code for _, code in client.published] == [0x83, 0x90])


def test_ids_are_told_only_to_who_asks(one: Brokers) -> None:
    asked = Properties(PacketTypes.SUBSCRIBE)
    asked.UserProperty = ("antecede-id", "")
    with Paho(one.port()).connect() as plain, Paho(one.port()).connect() as asking:
        plain.subscribe("ids")
        asking.client.subscribe("ids", properties=asked)
        assert until(lambda: asking.subacks)
        plain.publish("ids", b"x", 1)
        plain.got(1)
        asking.got(1)
        left, right = plain.messages[0].properties, asking.messages[0].properties
        assert not hasattr(left, "UserProperty")
        assert right is not None and [name for name, _ in right.UserProperty] == ["antecede-id"]
