"""Topic aliases: a client's and the broker's, and that they end with the connection."""

from __future__ import annotations

import mqtt5
import pytest

from antecede.live.mqtt.aliases import MAX_ALIASES, Aliases
from antecede.live.mqtt.packets import Breach
from tests.live.mqtt.harness import Brokers, Raw


def test_a_number_stands_for_the_topic_that_was_said_with_it() -> None:
    aliases = Aliases(0)
    assert aliases.topic("a", None) == "a" and aliases.topic("a", 1) == "a" and aliases.topic("", 1) == "a"
    assert aliases.topic("b", 1) == "b" and aliases.topic("", 1) == "b"
    for topic, alias in (("", 2), ("a", MAX_ALIASES + 1), ("", MAX_ALIASES + 1)):
        with pytest.raises(Breach) as found:
            aliases.topic(topic, alias)
        assert found.value.code == 0x94


def test_the_first_topics_get_the_numbers_there_are() -> None:
    aliases = Aliases(2)
    assert [aliases.shorten(topic) for topic in ("a", "b", "c", "a", "b")] == [
        ("a", 1), ("b", 2), ("c", None), ("", 1), ("", 2),
    ]  # fmt: skip
    assert Aliases(0).shorten("a") == ("a", None)


def test_aliases_on_a_connection_both_ways(one: Brokers) -> None:
    with Raw(one.port()) as raw:
        raw.connect("alias", topic_alias_max=1, session_expiry_interval=60)
        raw.send(mqtt5.SubscribePacket(1, [mqtt5.TopicFilter("al/#", max_qos=mqtt5.QoS.AT_MOST_ONCE)])).read()
        raw.send(mqtt5.PublishPacket("al/1", b"1", topic_alias=3), mqtt5.PublishPacket("", b"2", topic_alias=3))
        raw.send(mqtt5.PublishPacket("al/2", b"3"))
        got = [raw.read() for _ in range(3)]
        assert [(p.topic, p.topic_alias, p.payload) for p in got if isinstance(p, mqtt5.PublishPacket)] == [
            ("al/1", 1, b"1"), ("", 1, b"2"), ("al/2", None, b"3"),
        ]  # fmt: skip
    with Raw(one.port()) as raw:
        raw.connect("alias", clean_start=False)
        raw.send(mqtt5.PublishPacket("", b"4", topic_alias=3))
        answer = raw.read()
        assert isinstance(answer, mqtt5.DisconnectPacket) and answer.reason_code == 0x94
