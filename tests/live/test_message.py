"""What travels with a payload, and what an application may not publish."""

from __future__ import annotations

import pytest

from antecede.core.message import Message as CoreMessage
from antecede.errors import InputError
from antecede.live.message import (
    MAX_BODY,
    MAX_HEADERS,
    Message,
    check_filter,
    check_topic,
    ids_of,
    pack_content,
    read_content,
)
from antecede.live.message import read_message as read


def test_headers_and_time_come_out_as_they_went_in() -> None:
    said = {"lang": "en", "temp": 21.5, "floor": -2, "open": True}
    packed = pack_content(b"hello", said, 1_700_000_000_000_000)
    message = read(CoreMessage("ann", 3, ("room/1",), packed, 1_700_000_000_500_000), lambda message_id: ("bob:1",))
    assert (message.id, message.topic, message.payload, message.sender) == ("ann:3", "room/1", b"hello", "ann")
    assert message.headers == said and message.headers["open"] is True
    assert message.causes == ("bob:1",) and message.text == "hello"
    assert message.sent_at is not None and message.deadline is not None
    assert (message.deadline - message.sent_at).total_seconds() == 0.5


def test_without_headers_the_envelope_is_small() -> None:
    assert len(pack_content(b"x" * 128, None, 1_700_000_000_000_000)) <= 128 + 12
    assert read(CoreMessage("a", 1, ("t",), pack_content(bytearray(b"x"), {}, 5))).payload == b"x"


def test_bytes_that_somebody_else_published_are_the_payload() -> None:
    message = read(CoreMessage("ann", 1, ("t",), b"plain"))
    assert message.payload == b"plain" and message.sent_at is None and message.headers == {}


def test_a_payload_that_nests_deep_is_the_payload() -> None:
    """Raised, it would be the fault of each broker and subscriber that looks."""
    deep = b"\x95\x05\xc4\x01x\xc0\xc0" + b"\x91" * 40_000 + b"\xc0"
    assert read(CoreMessage("eve", 1, ("t",), deep)).payload == deep
    assert read_content(deep).body == deep


@pytest.mark.parametrize(
    ("payload", "headers", "words"),
    [
        ("text", None, "A payload is bytes"),
        ({"a": 1}, None, "A payload is bytes, not dict"),
        (bytes(MAX_BODY + 1), None, "too large"),
        (b"", {1: "a"}, "from names to values"),
        (b"", {"a": None}, "The header 'a' is a text, a number, True or False, not NoneType"),
        (b"", {"a": float("nan")}, "no finite number"),
        (b"", {"a": 2**63}, "no finite number"),
        (b"", {"a": "x" * MAX_HEADERS}, "Headers have more"),
    ],
)
def test_what_cannot_be_published_is_said(payload: object, headers: dict[str, str] | None, words: str) -> None:
    with pytest.raises(InputError, match=words):
        pack_content(payload, headers, 0)


def test_the_largest_message_travels() -> None:
    from antecede.wire import MAX_PAYLOAD

    assert len(pack_content(bytes(MAX_BODY), {"k": "x" * (MAX_HEADERS - 6)}, 2**62)) <= MAX_PAYLOAD


@pytest.mark.parametrize("bad", ["", "x" * 257, "a\0b", "room/#", "room/+", ["room/1"], None, b"room"])
def test_no_topics(bad: object) -> None:
    with pytest.raises(InputError):
        check_topic(bad)


@pytest.mark.parametrize("bad", ["", "room#", "#/a", "a+/b", "a/#/b", ["room/#"], None])
def test_no_filters(bad: object) -> None:
    with pytest.raises(InputError):
        check_filter(bad)
    assert check_filter("a/+/#") == "a/+/#" and check_topic("a/b") == "a/b"


def test_after_names_messages() -> None:
    message = read(CoreMessage("ann", 3, ("t",), b""))
    assert isinstance(message, Message)
    assert ids_of(message) == ["ann:3"] and ids_of([message, "bob:1"]) == ["ann:3", "bob:1"]
    with pytest.raises(InputError, match="after="):
        ids_of([3])  # type: ignore[list-item]
