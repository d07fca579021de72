"""What an application sees of a message, and how headers and the time of sending travel with the payload.

Decided here: the core carries bytes; live processes put a small envelope of their own into them (when it was sent, the
headers, the application's bytes), so that the core need not know of it. And what an application may not publish: each
mistake gets one sentence before anything has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

import msgspec

from antecede.core.message import Message as CoreMessage
from antecede.core.names import MAX_TOPIC
from antecede.errors import InputError
from antecede.wire import MAX_PAYLOAD

__all__ = [
    "MAX_BODY",
    "MAX_HEADERS",
    "Message",
    "check_filter",
    "check_topic",
    "ids_of",
    "pack_content",
    "read_message",
]

MAX_HEADERS = 4096
"""Bytes of all headers of a message together: they are a label, not a second payload."""
MAX_BODY = MAX_PAYLOAD - MAX_HEADERS - 32
"""Bytes of an application's payload: with headers and time it must fit the core's. Larger things by reference."""


class Content(msgspec.Struct, array_like=True, frozen=True):
    sent_us: int
    body: bytes
    headers: dict[str, str] | None = None


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Content).decode


def _no_causes() -> tuple[str, ...]:
    return ()


@dataclass(slots=True, frozen=True, eq=False)
class Message:
    """One delivered message. Immutable."""

    id: str
    topic: str
    payload: bytes
    sender: str
    sent_us: int | None
    """When it was sent, on the cluster's clock; None: its sender did not say."""
    deadline_us: int | None
    headers: Mapping[str, str] = field(default_factory=dict)
    _causes: Callable[[], tuple[str, ...]] = _no_causes

    @property
    def sent_at(self) -> datetime | None:
        return None if self.sent_us is None else moment(self.sent_us)

    @property
    def deadline(self) -> datetime | None:
        return None if self.deadline_us is None else moment(self.deadline_us)

    @property
    def causes(self) -> tuple[str, ...]:
        """What it follows: the newest message of each sender; their past is its past too."""
        return self._causes()

    @property
    def text(self) -> str:
        """The payload as text."""
        return self.payload.decode(errors="replace")


def moment(us: int) -> datetime:
    return datetime.fromtimestamp(us / 1e6, UTC)


def pack_content(payload: object, headers: Mapping[str, str] | None, sent_us: int) -> bytes:
    """
    >>> len(pack_content(b"hello", None, 1_700_000_000_000_000))
    17
    """
    if isinstance(payload, str):
        raise InputError("A payload is bytes: publish text.encode(), not text.")
    if not isinstance(payload, bytes | bytearray | memoryview):
        raise InputError(f"A payload is bytes, not {type(payload).__name__}: encode it first, for example as JSON.")
    body = bytes(payload)
    if len(body) > MAX_BODY:
        raise InputError(
            f"A payload of {len(body)} bytes is too large: at most {MAX_BODY} travel, publish a reference."
        )
    if not headers:
        return _encode((sent_us, body))
    if not isinstance(headers, Mapping) or not all(isinstance(t, str) for pair in headers.items() for t in pair):
        raise InputError("Headers are a map of text to text.")
    if sum(len(key.encode()) + len(value.encode()) for key, value in headers.items()) > MAX_HEADERS:
        raise InputError(f"Headers have more than {MAX_HEADERS} bytes: put it into the payload.")
    return _encode(Content(sent_us, body, dict(headers)))


def read_message(message: CoreMessage, causes: Callable[[], tuple[str, ...]] = _no_causes) -> Message:
    """A message as an application gets it; bytes without our envelope are the payload themselves."""
    try:
        content = _decode(message.payload)
    except msgspec.MsgspecError:
        content = None
    topic = message.topics[0]
    if content is None:
        return Message(message.id, topic, message.payload, message.sender, None, message.deadline_us, {}, causes)
    return Message(
        message.id, topic, content.body, message.sender, content.sent_us, message.deadline_us, content.headers or {},
        causes,
    )  # fmt: skip


def check_topic(topic: object) -> str:
    if not isinstance(topic, str):
        raise InputError(f"A topic is text such as 'room/1', and a message has one: not {topic!r}.")
    if not topic or len(topic) > MAX_TOPIC or "\0" in topic:
        raise InputError(f"A topic has 1 to {MAX_TOPIC} characters, none of them NUL, not {topic[:40]!r}.")
    if "+" in topic or "#" in topic:
        raise InputError(f"{topic!r} is a filter: publish to one topic, without + and #.")
    return topic


def check_filter(filter: object) -> str:
    """
    >>> check_filter("room/+/door")
    'room/+/door'
    """
    if not isinstance(filter, str):
        raise InputError(f"A filter is text such as 'room/#', not {filter!r}: give several as several arguments.")
    if not filter or len(filter) > MAX_TOPIC or "\0" in filter:
        raise InputError(f"A filter has 1 to {MAX_TOPIC} characters, none of them NUL, not {filter[:40]!r}.")
    levels = filter.split("/")
    if any("#" in level and (level != "#" or place < len(levels) - 1) for place, level in enumerate(levels)) or any(
        "+" in level and level != "+" for level in levels
    ):
        raise InputError(f"{filter!r} is no filter: + stands for a whole level, # for all that is left.")
    return filter


def ids_of(after: Message | str | Iterable[Message | str] | None) -> list[str] | None:
    """What `after=` names: a message, an id, or several.

    >>> ids_of("ann:3"), ids_of(["ann:3", "bob:1"]), ids_of(None)
    (['ann:3'], ['ann:3', 'bob:1'], None)
    """
    if after is None:
        return None
    named = [after] if isinstance(after, Message | str) else list(after)
    if not all(isinstance(one, Message | str) for one in named):
        raise InputError("after= takes a message, an id, or several of them.")
    return [one.id if isinstance(one, Message) else one for one in named]
