"""Properties of MQTT to fields of a message and back: the table of docs/mqtt.md, as code.

Decided here: user properties are headers, in their order; the response topic is the header `reply-to`, so that native
clients can answer; what headers cannot say (quality of service, retain, content type, correlation data, names that
come twice) travels beside them. A message expiry is a deadline. User properties that begin with `antecede-` are said to
this broker and not passed on: `antecede-deadline` (microseconds: a moment, or a span where it is less than a year),
`antecede-after` (ids, separated by commas), `antecede-order`; with SUBSCRIBE `antecede-where`, a predicate. Whoever
asked for it is told `antecede-id` and `antecede-deadline` with each message.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import msgspec

from antecede.core.message import Message, Publication
from antecede.core.where import Value
from antecede.errors import InputError
from antecede.live.client import REPLY_TO
from antecede.live.message import content_of, pack_content

__all__ = [
    "AFTER",
    "DEADLINE",
    "ID",
    "ORDER",
    "WHERE",
    "Told",
    "asks_for_ids",
    "outgoing",
    "read",
    "told",
    "where_in",
]

ID, DEADLINE, AFTER, ORDER = "antecede-id", "antecede-deadline", "antecede-after", "antecede-order"
WHERE = "antecede-where"
OURS = "antecede-"

_BAD_IN_TOPICS = frozenset("+#\0")

YEAR_US = 365 * 86_400 * 1_000_000
"""A deadline below this is a span from now; a moment would lie in 1970."""


class More(msgspec.Struct, array_like=True, frozen=True):
    """What a publication says and headers do not."""

    qos: int = 0
    retain: bool = False
    format: int = 0
    content_type: str | None = None
    correlation: bytes | None = None
    pairs: list[tuple[str, str]] | None = None
    """All user properties, where a name comes more than once."""
    exact: bool = False
    """Whether its publisher gave the deadline in microseconds."""


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(More).decode
_NATIVE = More(qos=2)
"""Of a message that a native client published: whoever subscribes says how well it is delivered."""


class Said(Protocol):
    """What PUBLISH and a will have in common."""

    topic: str
    retain: bool
    payload_format_indicator: int
    message_expiry_interval: int | None
    content_type: str | None
    response_topic: str | None
    correlation_data: bytes | None
    user_properties: list[tuple[str, str]]


class Told(NamedTuple):
    """A message as MQTT sees it."""

    message: Message
    body: bytes
    more: More
    headers: Mapping[str, str]

    @property
    def topic(self) -> str:
        return self.message.topics[0]


def read(said: Said, topic: str, payload: bytes, qos: int, now_us: int) -> Publication:
    """Raises InputError, a sentence for the client, before anything is published."""
    if said.payload_format_indicator:
        try:
            payload.decode()
        except UnicodeDecodeError:
            raise InputError("The payload is said to be text and is not UTF-8.") from None
    deadline_us = None
    if said.message_expiry_interval is not None:
        deadline_us = now_us + said.message_expiry_interval * 1_000_000
    after: list[str] | None = None
    order: str | None = None
    exact = False
    pairs = []
    for name, value in said.user_properties:
        if not name.startswith(OURS):
            pairs.append((name, value))
        elif name == DEADLINE:
            deadline_us, exact = _moment(value, now_us), True
        elif name == AFTER:
            after = [one.strip() for one in value.split(",") if one.strip()]
        elif name == ORDER:
            order = value
    headers = dict(pairs)
    more = More(
        qos, said.retain, said.payload_format_indicator, said.content_type, said.correlation_data,
        pairs if len(headers) < len(pairs) else None, exact,
    )  # fmt: skip
    if said.response_topic is not None:
        headers[REPLY_TO] = said.response_topic
    return Publication((topic,), pack_content(payload, headers, now_us, _encode(more)), deadline_us, after, order)


def _moment(value: str, now_us: int) -> int:
    try:
        us = int(value)
    except ValueError:
        raise InputError(f"{DEADLINE} is a number of microseconds, not {value[:40]!r}.") from None
    return us if us >= YEAR_US else now_us + us


def told(message: Message) -> Told:
    content = content_of(message)
    try:
        more = _NATIVE if content.more is None else _decode(content.more)
    except (msgspec.MsgspecError, RecursionError):
        more = _NATIVE
    headers = {name: _text(value) for name, value in (content.headers or {}).items()}
    return Told(message, content.body, more, headers)


def _text(value: Value) -> str:
    """A native client's header as a user property: predicates read the same from it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def asks_for_ids(properties: Sequence[tuple[str, str]]) -> bool:
    """Whether a client wants to be told ids: a user property of CONNECT or SUBSCRIBE, whatever its value."""
    return any(name == ID for name, _ in properties)


def where_in(properties: Sequence[tuple[str, str]]) -> str | None:
    """The predicate that a SUBSCRIBE asks for, of all its filters."""
    return next((value for name, value in properties if name == WHERE), None)


def outgoing(one: Told, now_us: int, *, ids: bool) -> dict[str, Any]:
    """The properties of the PUBLISH that carries it."""
    message, more, headers = one.message, one.more, one.headers
    properties: dict[str, Any] = {}
    pairs = [pair for pair in headers.items() if pair[0] != REPLY_TO] if more.pairs is None else list(more.pairs)
    pairs = [pair for pair in pairs if "\0" not in pair[0] and "\0" not in pair[1]]  # a native client may have such
    reply_to = headers.get(REPLY_TO, "")
    if reply_to and not _BAD_IN_TOPICS.intersection(reply_to):
        properties["response_topic"] = reply_to
    if message.deadline_us is not None:
        properties["message_expiry_interval"] = max(1, -((now_us - message.deadline_us) // 1_000_000))
        if more.exact or ids:
            pairs.append((DEADLINE, str(message.deadline_us)))
    if ids:
        pairs.append((ID, message.id))
    if pairs:
        properties["user_properties"] = pairs
    if more.content_type is not None:
        properties["content_type"] = more.content_type
    if more.correlation is not None:
        properties["correlation_data"] = more.correlation
    if more.format:
        properties["payload_format_indicator"] = more.format
    return properties
