"""What an application sees of a message, and how headers and the time of sending travel with the payload.

Decided here: the core carries bytes; live processes put a small envelope of their own into them (when it was sent, the
headers, the application's bytes), so that the core need not know of it. And what an application may not publish: each
mistake gets one sentence before anything has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from math import isfinite
from typing import Protocol, runtime_checkable

import msgspec

from antecede.core.content import Content as Shown
from antecede.core.message import Message as CoreMessage
from antecede.core.names import MAX_TOPIC
from antecede.core.topics import selected
from antecede.core.where import Value, parse_where
from antecede.errors import InputError
from antecede.wire import MAX_PAYLOAD

__all__ = [
    "MAX_BODY",
    "MAX_HEADERS",
    "Content",
    "Message",
    "Named",
    "check_filter",
    "check_topic",
    "content_of",
    "ids_of",
    "pack_content",
    "read_content",
    "read_message",
    "selecting",
]

MAX_HEADERS = 4096
"""Bytes of all headers of a message together, encoded: they are a label, not a second payload."""
MAX_BODY = MAX_PAYLOAD - MAX_HEADERS - 32
"""Bytes of an application's payload: with headers and time it must fit the core's. Larger things by reference."""


class Content(msgspec.Struct, array_like=True, frozen=True):
    sent_us: int
    body: bytes
    headers: dict[str, Value] | None = None
    more: bytes | None = None
    """What only the other end of the same kind understands, such as properties of MQTT that are no headers."""


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Content).decode


def _no_causes(message_id: str) -> tuple[str, ...]:
    return ()


class Message(msgspec.Struct, frozen=True, eq=False, gc=False):
    """One delivered message. Immutable."""

    id: str
    topic: str
    payload: bytes
    sender: str
    sent_us: int | None
    """When it was sent, on the cluster's clock; None: its sender did not say."""
    deadline_us: int | None
    headers: Mapping[str, Value] = msgspec.field(default_factory=dict)
    _causes: Callable[[str], tuple[str, ...]] = _no_causes
    missing: tuple[str, ...] = ()
    """The causes that it was delivered without, as far as that can be told: usually none."""

    def __repr__(self) -> str:
        hidden = ("_causes",) if self.missing else ("_causes", "missing")
        shown = [f"{name}={getattr(self, name)!r}" for name in self.__struct_fields__ if name not in hidden]
        return f"Message({', '.join(shown)})"

    @property
    def sent_at(self) -> datetime | None:
        return None if self.sent_us is None else moment(self.sent_us)

    @property
    def deadline(self) -> datetime | None:
        return None if self.deadline_us is None else moment(self.deadline_us)

    @property
    def causes(self) -> tuple[str, ...]:
        """What it follows: the newest message of each sender; their past is its past too."""
        return self._causes(self.id)

    @property
    def text(self) -> str:
        """The payload as text."""
        return self.payload.decode(errors="replace")


@runtime_checkable
class Named(Protocol):
    """What `after=` may name: a message, or a fused result."""

    @property
    def id(self) -> str: ...
    @property
    def causes(self) -> tuple[str, ...]: ...


def moment(us: int) -> datetime:
    return datetime.fromtimestamp(us / 1e6, UTC)


def pack_content(
    payload: object, headers: Mapping[str, Value] | None, sent_us: int, more: bytes | None = None
) -> bytes:
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
    if not headers and not more:
        return _encode((sent_us, body))
    headers = _checked(headers or {})
    if len(_encode(headers)) + len(more or b"") > MAX_HEADERS:
        raise InputError(f"Headers have more than {MAX_HEADERS} bytes: put it into the payload.")
    return _encode(Content(sent_us, body, dict(headers) or None, more))


def _checked(headers: object) -> Mapping[str, Value]:
    if not isinstance(headers, Mapping) or not all(isinstance(key, str) for key in headers):
        raise InputError("Headers are a map from names to values, for example {'room': 'a', 'temp': 21.5}.")
    for key, value in headers.items():
        if not isinstance(value, str | int | float):
            raise InputError(f"The header {key!r} is a text, a number, True or False, not {type(value).__name__}.")
        if (isinstance(value, int) and abs(value) >= 2**63) or (isinstance(value, float) and not isfinite(value)):
            raise InputError(f"The header {key!r} is no finite number of 64 bits: write it as text.")
    return headers


def content_of(message: CoreMessage) -> Content:
    """What its publisher put into it; bytes without our envelope are the payload themselves."""
    try:
        return _decode(message.payload)
    except (msgspec.MsgspecError, RecursionError):
        return Content(0, message.payload)


def read_content(payload: bytes) -> Shown:
    """What predicates look at: headers and the application's bytes."""
    try:
        content = _decode(payload)
    except (msgspec.MsgspecError, RecursionError):
        return Shown({}, payload)
    return Shown(content.headers or {}, content.body, content.sent_us)


def read_message(
    message: CoreMessage, causes: Callable[[str], tuple[str, ...]] = _no_causes, missing: tuple[str, ...] = ()
) -> Message:
    """A message as an application gets it."""
    content = content_of(message)
    return Message(
        message.id, message.topics[0], content.body, message.sender, content.sent_us or None, message.deadline_us,
        content.headers or {}, causes, missing,
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


def selecting(filter: object, where: object = None) -> str:
    """A filter that selects by content, as machines take it; without `where` the filter itself. Every door calls this.

    >>> selecting("room/#", " temp > 20 "), selecting("room/#")
    ('room/##?temp > 20', 'room/#')
    """
    return selected(check_filter(filter), None if where is None else parse_where(where).text)


def ids_of(after: Named | str | Iterable[Named | str] | None) -> list[str] | None:
    """What `after=` names: a message, a fused result, an id, or several.

    >>> ids_of("ann:3"), ids_of(["ann:3", "bob:1"]), ids_of(None)
    (['ann:3'], ['ann:3', 'bob:1'], None)
    """
    if after is None:
        return None
    named = [after] if isinstance(after, Named | str) else list(after) if isinstance(after, Iterable) else [after]
    if not all(isinstance(one, Named | str) for one in named):
        raise InputError("after= takes a message, a fused result, an id, or several of them.")
    return [one if isinstance(one, str) else one.id for one in named]
