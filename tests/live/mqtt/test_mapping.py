"""Properties to fields and back: what comes out is what went in, and what is refused before it is published."""

from __future__ import annotations

from typing import Any

import mqtt5
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from antecede.core.message import Message
from antecede.errors import InputError
from antecede.live.message import pack_content, read_message
from antecede.live.mqtt.mapping import asks_for_ids, outgoing, read, told

NOW_US = 1_800_000_000_000_000
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)

NAME = TEXT.filter(lambda name: not name.startswith("antecede-") and name != "reply-to")
TOPIC = TEXT.filter(lambda text: bool(text) and "+" not in text and "#" not in text)


def published(packet: mqtt5.PublishPacket) -> Message:
    said = read(packet, packet.topic, packet.payload, int(packet.qos), NOW_US)
    return Message("m1", 7, tuple(said.topics), said.payload, said.deadline_us)


@given(
    st.lists(st.tuples(NAME, TEXT), max_size=5), st.none() | TEXT, st.none() | st.binary(max_size=9),
    st.none() | TOPIC, st.booleans(),
)  # fmt: skip
def test_what_comes_out_is_what_went_in(
    pairs: list[tuple[str, str]], kind: str | None, data: bytes | None, reply: str | None, text: bool
) -> None:
    packet = mqtt5.PublishPacket(
        "t", b"payload", user_properties=pairs, content_type=kind, correlation_data=data, response_topic=reply,
        payload_format_indicator=int(text), message_expiry_interval=9,
    )  # fmt: skip
    out = outgoing(told(published(packet)), NOW_US + 2_500_000, ids=False)
    expected: dict[str, Any] = {
        "user_properties": pairs or None, "content_type": kind, "correlation_data": data, "response_topic": reply,
        "payload_format_indicator": int(text) or None, "message_expiry_interval": 7,
    }  # fmt: skip
    assert out == {name: value for name, value in expected.items() if value is not None}


def test_native_clients_see_headers_and_theirs_are_user_properties() -> None:
    packet = mqtt5.PublishPacket("t", b"x", user_properties=[("a", "1"), ("a", "2")], response_topic="r")
    native = read_message(published(packet))
    assert native.payload == b"x" and native.headers == {"a": "2", "reply-to": "r"}
    message = Message("nat", 1, ("t",), pack_content(b"y", {"k": "v", "n": -1.5, "on": True}, NOW_US), None)
    one = told(message)
    assert one.more.qos == 2 and one.body == b"y"
    assert outgoing(one, NOW_US, ids=True) == {
        "user_properties": [("k", "v"), ("n", "-1.5"), ("on", "true"), ("antecede-id", "nat:1")]
    }
    assert told(Message("raw", 1, ("t",), b"\xc1 no envelope")).body == b"\xc1 no envelope"
    deep = b"\x98\0\xc2\0\xc0\xc0\xc0\xc2" + b"\x91" * 40_000 + b"\xc0"
    assert told(Message("raw", 1, ("t",), msgspec.msgpack.encode((5, b"x", None, deep)))).more == told(message).more


def test_headers_that_mqtt_cannot_say_are_left_out() -> None:
    for reply_to in ("a/#", ""):
        message = Message("nat", 1, ("t",), pack_content(b"", {"reply-to": reply_to, "k\0": "v", "w": "x"}, NOW_US))
        assert outgoing(told(message), NOW_US, ids=False) == {"user_properties": [("w", "x")]}


def test_a_deadline_is_a_moment_or_a_span_and_is_told_in_microseconds_too() -> None:
    for value, due_us in (("250000", NOW_US + 250_000), (str(NOW_US + 5), NOW_US + 5)):
        message = published(mqtt5.PublishPacket("t", b"", user_properties=[("antecede-deadline", value)]))
        assert message.deadline_us == due_us
        out = outgoing(told(message), NOW_US, ids=False)
        assert out == {"message_expiry_interval": 1, "user_properties": [("antecede-deadline", str(due_us))]}


def test_causes_and_order_are_said_to_the_broker_and_not_passed_on() -> None:
    pairs = [("antecede-after", "a:1, b:2"), ("antecede-order", "fifo"), ("antecede-else", "?"), ("k", "v")]
    said = read(mqtt5.PublishPacket("t", b"", user_properties=pairs), "t", b"", 0, NOW_US)
    assert said.after == ["a:1", "b:2"] and said.order == "fifo"
    assert told(Message("m", 1, ("t",), said.payload)).headers == {"k": "v"}


@pytest.mark.parametrize(
    ("packet", "says"),
    [
        (mqtt5.PublishPacket("t", b"\xff", payload_format_indicator=1), "not UTF-8"),
        (mqtt5.PublishPacket("t", b"", user_properties=[("antecede-deadline", "soon")]), "microseconds"),
        (mqtt5.PublishPacket("t", b"", user_properties=[("k", "v" * 5_000)]), "Headers"),
    ],
)
def test_what_is_refused(packet: mqtt5.PublishPacket, says: str) -> None:
    with pytest.raises(InputError, match=says):
        published(packet)


def test_whoever_asks_for_ids_says_so() -> None:
    assert asks_for_ids([("x", ""), ("antecede-id", "")]) and not asks_for_ids([("antecede-deadline", "1")])
