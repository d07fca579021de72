"""SUBSCRIBE and UNSUBSCRIBE: what is granted, its options and identifiers, what is refused, where a client is sent."""

from __future__ import annotations

import mqtt5
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from tests.live.mqtt.harness import Brokers, Paho, Raw, brokers, until


def test_what_is_published_after_suback_comes_and_after_unsuback_does_not(one: Brokers) -> None:
    with Paho(one.port()).connect() as sub, Paho(one.port()).connect() as pub:
        for n in range(3):
            assert sub.subscribe(f"un/{n}") == [2]
        assert sub.unsubscribe("un/0", "un/9") == [0, 17]
        for n in range(3):
            pub.publish(f"un/{n}", b"%d" % n, 1)
        assert sub.got(2) == [b"1", b"2"] and sub.quiet() == [b"1", b"2"]


def test_a_new_filter_of_a_session_brings_nothing_that_was_published_before_it(one: Brokers) -> None:
    with Paho(one.port()).connect() as sub, Paho(one.port()).connect() as pub:
        sub.subscribe("early/other")
        sub.publish("early/elsewhere", b"so that it is attached", 1)
        pub.publish("early/other", b"wanted all the while", 1)
        assert sub.got(1) == [b"wanted all the while"]
        pub.publish("early/a", b"before", 1)
        pub.publish("early/kept", b"kept", 1, retain=True)
        sub.subscribe("early/+")
        pub.publish("early/a", b"after", 1)
        assert sub.got(3)[1:] == [b"kept", b"after"]
        assert [message.retain for message in sub.messages] == [False, True, False]
        assert len(sub.quiet()) == 3
        pub.publish("early/kept", b"", 1, retain=True)


def test_overlapping_filters_send_one_message_with_all_their_identifiers(one: Brokers) -> None:
    with Paho(one.port()).connect() as sub, Paho(one.port()).connect() as plain:
        sub.subscribe("over/#", qos=1, identifier=2)
        sub.subscribe("over/a", qos=2, identifier=456_789)
        plain.subscribe("over/+", qos=0)
        plain.publish("over/a", b"x", 2)
        sub.got(1)
        plain.got(1)
        said = sub.messages[0].properties
        assert said is not None and sorted(said.SubscriptionIdentifier) == [2, 456_789]
        assert sub.messages[0].qos == 2 and plain.messages[0].qos == 0
        assert not hasattr(plain.messages[0].properties, "SubscriptionIdentifier")
        assert len(sub.quiet()) == 1


def test_one_s_own_messages_come_unless_no_local(one: Brokers) -> None:
    with Paho(one.port()).connect() as a, Paho(one.port()).connect() as b:
        a.subscribe("mine", noLocal=True)
        b.subscribe("mine")
        a.publish("mine", b"from a", 1)
        b.publish("mine", b"from b", 1)
        assert b.got(2) == [b"from a", b"from b"]
        assert a.got(1) == [b"from b"] and a.quiet() == [b"from b"]
        a.subscribe("+")
        a.publish("mine", b"by the other filter", 1)
        assert a.got(2)[1] == b"by the other filter"


def test_retain_as_published(one: Brokers) -> None:
    with Paho(one.port()).connect() as as_is, Paho(one.port()).connect() as plain:
        as_is.subscribe("rap", retainAsPublished=True)
        plain.subscribe("rap")
        plain.publish("rap", b"1", 1)
        plain.publish("rap", b"2", 1, retain=True)
        as_is.got(2)
        plain.got(2)
        assert [message.retain for message in as_is.messages] == [False, True]
        assert [message.retain for message in plain.messages] == [False, False]
        plain.publish("rap", b"", 1, retain=True)


def test_retain_handling(one: Brokers) -> None:
    topics = [f"rh/{qos}" for qos in range(3)]
    with Paho(one.port()).connect() as pub:
        for qos, topic in enumerate(topics):
            pub.publish(topic, b"%d" % qos, qos, retain=True)
        for handling, counts in ((0, [3, 6]), (1, [3, 3]), (2, [0, 0])):
            with Paho(one.port()).connect() as sub:
                for count in counts:
                    sub.subscribe("rh/+", retainHandling=handling)
                    sub.got(count)
                    assert len(sub.quiet(0.1)) == count
                assert all(message.retain for message in sub.messages)
                assert sorted(message.qos for message in sub.messages[:3]) == list(range(3))[: counts[0]]
        for topic in topics:
            pub.publish(topic, b"", 1, retain=True)


def test_shared_filters_and_long_ones_are_refused_one_by_one(one: Brokers) -> None:
    with Raw(one.port()) as raw:
        raw.connect("filters")
        filters = ["$share/g/a", "x" * 300, "fine/#"]
        answer = raw.send(mqtt5.SubscribePacket(7, [mqtt5.TopicFilter(one) for one in filters])).read()
        assert isinstance(answer, mqtt5.SubAckPacket) and answer.packet_id == 7
        assert [int(code) for code in answer.reason_codes] == [0x9E, 0x8F, 2]


def test_a_filter_with_misplaced_wildcards_ends_the_connection(one: Brokers) -> None:
    for filter in (b"a/#/b", b"a+", b"$#"):
        with Raw(one.port()) as raw:
            raw.connect("filters")
            body = b"\x00\x01\x00" + len(filter).to_bytes(2, "big") + filter + b"\x00"
            answer = raw.send(bytes([0x82, len(body)]) + body).read()
            assert isinstance(answer, mqtt5.DisconnectPacket) and answer.reason_code == 0x8F


def test_a_subscriber_may_select_by_content(one: Brokers) -> None:
    wanted = Properties(PacketTypes.SUBSCRIBE)
    wanted.UserProperty = ("antecede-where", "temp > 20 and payload.room in ('a', 'b')")
    with Paho(one.port()).connect() as sub, Paho(one.port()).connect() as pub:
        pub.publish("sel/r", b'{"room": "c"}', 1, retain=True, UserProperty=[("temp", "30")])
        sub.client.subscribe("sel/#", 1, properties=wanted)
        assert until(lambda: sub.subacks == [[1]])
        for n in range(40):
            body = b'{"room": "%s"}' % (b"abc"[n % 3 : n % 3 + 1])
            pub.publish("sel/1", body, 1, UserProperty=[("temp", str(n)), ("n", str(n))])
        expected = [str(n) for n in range(21, 40) if n % 3 < 2]
        sub.got(len(expected))
        assert [dict(message.properties.UserProperty)["n"] for message in sub.messages] == expected  # type: ignore[union-attr]
        wrong = Properties(PacketTypes.SUBSCRIBE)
        wrong.UserProperty = ("antecede-where", "temp >")
        sub.client.subscribe("other", 1, properties=wrong)
        assert until(lambda: sub.subacks[1:] == [[0x8F]])
        pub.publish("sel/r", b"", 1, retain=True)


def test_no_wildcard_at_the_front_matches_a_dollar(one: Brokers) -> None:
    with Paho(one.port()).connect() as client:
        client.subscribe("#", "+/dollar")
        client.publish("$x/dollar", b"no", 1)
        client.publish("x/dollar", b"yes", 1)
        assert client.got(1) == [b"yes"] and client.quiet() == [b"yes"]


def test_a_client_is_sent_to_where_its_filters_are_carried() -> None:
    with brokers(2, table={"here/#": ["A"], "there/#": ["B"]}) as two:
        with Paho(two.port(0)).connect() as client:
            assert client.subscribe("here/1") == [2]
            assert client.subscribe("there/1") == [0x8F]  # no single broker carries both
        with Paho(two.port(0)).connect() as client:
            client.client.subscribe("there/1")
            assert until(lambda: client.disconnects == [0x9C]), client.disconnects
        with Paho(two.port(0)).connect() as client:
            assert client.subscribe("nowhere") == [0x8F]
        with Paho(two.port(1)).connect() as sub, Paho(two.port(0)).connect() as pub:
            sub.subscribe("there/1")
            pub.publish("there/1", b"through A", 1)  # publishing goes through any broker
            assert sub.got(1) == [b"through A"]
