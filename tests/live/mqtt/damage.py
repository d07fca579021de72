"""Packets as clients send them, and the same ones damaged: for the tests and bench/mqtt.py."""

from __future__ import annotations

import random
from functools import cache

import mqtt5

__all__ = ["damaged", "samples"]


@cache
def samples() -> list[bytes]:
    """One of each kind, CONNECT first."""
    pairs = [("k", "v"), ("k", "w")]
    q1, q2 = mqtt5.QoS.AT_LEAST_ONCE, mqtt5.QoS.EXACTLY_ONCE
    will = mqtt5.Will("w", payload=b"x", qos=q1, will_delay_interval=5, user_properties=pairs, content_type="t")
    packets = [
        mqtt5.ConnectPacket("c", clean_start=True, will=will, username="u", password=b"p", user_properties=pairs),
        mqtt5.PublishPacket("a/b", b"payload", user_properties=pairs, content_type="text", response_topic="r"),
        mqtt5.PublishPacket("a", b"", qos=q1, packet_id=1, topic_alias=3, message_expiry_interval=7, retain=True),
        mqtt5.PublishPacket("a", b"x" * 40, qos=q2, packet_id=2, correlation_data=b"\xff", payload_format_indicator=1),
        mqtt5.PubAckPacket(1, reason_str="why"),
        mqtt5.PubRecPacket(2),
        mqtt5.PubRelPacket(2, user_properties=pairs),
        mqtt5.PubCompPacket(2),
        mqtt5.SubscribePacket(
            3, [mqtt5.TopicFilter("a/#"), mqtt5.TopicFilter("+/b")], subscription_id=300, user_properties=pairs
        ),
        mqtt5.UnsubscribePacket(4, ["a/#", "b"], user_properties=pairs),
        mqtt5.PingReqPacket(),
        mqtt5.DisconnectPacket(session_expiry_interval=5, reason_str="so", user_properties=pairs),
    ]
    return [packet.write() for packet in packets]


def damaged(dice: random.Random) -> bytes:
    """One of them with bits flipped, bytes cut out or put in, or its length changed."""
    data = bytearray(dice.choice(samples()))
    for _ in range(dice.randint(1, 4)):
        place = dice.randrange(len(data))
        match dice.randrange(5):
            case 0:
                data[place] ^= 1 << dice.randrange(8)
            case 1:
                data[place] = dice.choice((0, 0xFF, 0xC3, 0x28, 0x7F, 0x80))
            case 2 if len(data) > 2:
                del data[place]
            case 3:
                data.insert(place, dice.randrange(256))
            case _:
                data[1] = dice.randrange(256)
    return bytes(data)
