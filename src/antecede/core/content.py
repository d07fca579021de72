"""What a predicate sees of a message, and which messages one selects.

Decided here, once for brokers, clients and records: a message shows its headers by their names, and of a payload that
is a JSON object every text, number, true and false in it by its path, `payload.pump.rpm`. Lists and null show nothing,
nor do keys with a dot, which no path could tell from levels. Records keep just this of a publication, so whoever judges
them sees what the broker saw.

The core carries bytes; where headers are in them a driver says (`Read`). A *selecting* filter is a filter with a
predicate (`topics.selected`): a message is wanted if some filter matches a topic of it, and its predicate holds.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any, NamedTuple

from antecede.core.message import Message
from antecede.core.where import PAYLOAD, Fields, Value, Where
from antecede.errors import InputError

__all__ = ["MAX_LEVELS", "Content", "Read", "Seen", "fields_of", "plain_content", "read_fields", "write_fields"]

MAX_LEVELS = 8
"""So many objects within each other are looked into. Raising it costs time for payloads that nobody asks about."""


class Content(NamedTuple):
    """What an application put into a message."""

    headers: Fields
    body: bytes
    sent_us: int | None = None
    """When the publisher sent the message, if it says so."""


Read = Callable[[bytes], Content]
"""From the payload that the core carries."""


def plain_content(payload: bytes) -> Content:
    """Where nothing else is said: there are no headers."""
    return Content({}, payload)


def fields_of(content: Content) -> dict[str, Value]:
    """
    >>> fields_of(Content({"room": "a"}, b'{"temp": 21.5, "pump": {"on": true, "log": [1]}}'))
    {'room': 'a', 'payload.temp': 21.5, 'payload.pump.on': True}
    """
    headers, body, _ = content
    fields: dict[str, Value] = {k: v for k, v in headers.items() if not k.startswith(PAYLOAD)}
    if body.lstrip()[:1] == b"{":
        try:
            found = json.loads(body)
        except (ValueError, RecursionError):
            return fields
        _flatten(found, PAYLOAD, fields, MAX_LEVELS)
    return fields


def _flatten(found: dict[str, Any], path: str, fields: dict[str, Value], levels: int) -> None:
    for key, value in found.items():
        if "." in key:
            continue
        if isinstance(value, dict):
            if levels > 1:
                _flatten(value, f"{path}{key}.", fields, levels - 1)
        elif isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value)):
            fields[path + key] = value


def write_fields(fields: Fields) -> str | None:
    """As a record keeps them; None: there are none.

    >>> write_fields({"room": "a", "payload.temp": 21.5}), write_fields({})
    ('{"room":"a","payload.temp":21.5}', None)
    """
    return json.dumps(fields, separators=(",", ":")) if fields else None


def read_fields(text: str | None) -> Fields:
    """
    >>> read_fields('{"room":"a"}'), read_fields(None)
    ({'room': 'a'}, {})
    """
    if not text:
        return {}
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or any(isinstance(value, dict | list) for value in found.values()):
        raise InputError(f"headers of a publication are a JSON object of texts and numbers, not {text[:40]!r}.")
    return {name: value for name, value in found.items() if value is not None}


class Seen:
    """What predicates see of the message that was looked at last: it is read once, and each predicate asked once,
    however many clients want the same."""

    def __init__(self, read: Read = plain_content) -> None:
        self.read = read
        self._message: Message | None = None
        self._fields: Fields = {}
        self._answers: dict[str, bool] = {}

    def holds(self, where: Where, message: Message) -> bool:
        if message is not self._message:
            self._message, self._answers = message, {}
            self._fields = fields_of(self.read(message.payload))
        answer = self._answers.get(where.text)
        if answer is None:
            answer = self._answers[where.text] = where.holds(self._fields)
        return answer
