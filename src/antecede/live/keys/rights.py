"""What the bearer of a token may do, and why somebody without the right one is turned away.

Decided here: rights are filters of topics, as in MQTT: a topic may be published to if one filter matches it, a filter
may be subscribed to if one filter covers it. A token also says what its bearer may be called, NAME or NAME-anything, so
that nobody can take the place of another's client, at whichever broker. Whoever may publish at all may reply to
requests, and everybody may read the replies to its own, also those to an earlier life of its name.
"""

from __future__ import annotations

import base64
import binascii
from typing import NamedTuple

import msgspec

from antecede.core.membership.news import split_name
from antecede.core.topics import covers, matches

__all__ = ["EXPIRED", "MISSING", "REVOKED", "WRONG", "Refusal", "Rights", "claimed"]

MISSING, WRONG, EXPIRED, REVOKED = "no token", "wrong token", "expired token", "revoked token"
"""Why a bearer is refused, as it is counted."""
REPLIES = "$reply/"


class Refusal(NamedTuple):
    reason: str
    """As it is counted."""
    sentence: str
    """As it is told."""


class Rights(msgspec.Struct, frozen=True, kw_only=True):
    """What a token says, as it is signed; it holds no secret."""

    id: str
    """By which it is revoked."""
    name: str
    """What its bearer may be called."""
    publish: tuple[str, ...] = ()
    subscribe: tuple[str, ...] = ()
    expires_s: int
    """Seconds since 1970."""
    watch: bool = False
    """Whether it may read /status and /metrics."""

    def may_publish(self, topic: str) -> bool:
        if topic.startswith(REPLIES):
            return bool(self.publish)
        return any(matches(filter, topic) for filter in self.publish)

    def may_subscribe(self, filter: str, name: str) -> bool:
        """`name`: what the bearer is called."""
        if filter.startswith(REPLIES):
            (base, life), whose = split_name(name), filter.split("/")[1]
            earlier, its_life = split_name(whose)
            return earlier == base and its_life <= life and covers(f"{REPLIES}{whose}/#", filter)
        return any(covers(wide, filter) for wide in self.subscribe)

    def may_be_called(self, name: str) -> bool:
        base = split_name(name)[0]
        return base == self.name or base.startswith(f"{self.name}-")

    # -- what is told to whom it is refused ------------------------------------------------------------------------

    def why_not_publish(self, topic: str) -> str:
        if self.may_publish(topic):
            return ""
        return f"The token of {self.name} does not let it publish to {topic!r}: it may to {_listed(self.publish)}."

    def why_not_subscribe(self, filter: str, name: str) -> str:
        if self.may_subscribe(filter, name):
            return ""
        return f"The token of {self.name} does not let it subscribe to {filter!r}: it may to {_listed(self.subscribe)}."

    def why_not_called(self, name: str) -> str:
        if self.may_be_called(name):
            return ""
        return f"This token is for clients called {self.name} or {self.name}-something, not {split_name(name)[0]!r}."


def _listed(filters: tuple[str, ...]) -> str:
    return ", ".join(filters) or "nothing"


def claimed(token: str) -> Rights | None:
    """What a token says of itself; nothing of it is verified. None: it is no token.

    >>> claimed("nonsense") is None
    True
    """
    try:
        _, body, _ = token.split(".")
        return msgspec.json.decode(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)), type=Rights)
    except (ValueError, binascii.Error, msgspec.MsgspecError):
        return None
