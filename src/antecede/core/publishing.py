"""What may be published here, and how a message of one's own comes about.

Decided here, before anything has changed, so that a refusal costs nothing: topics, payload, order and deadline.
Declared causes that are no longer known widen to everything delivered so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from antecede.core.message import Envelope, Message, Stamp
from antecede.core.names import distinct_topics
from antecede.core.order.unordered import asked_for
from antecede.errors import InputError

if TYPE_CHECKING:
    from antecede.core.roles.carrier import Carrier
    from antecede.core.roles.process import Process

__all__ = ["FOREVER_US", "accepted", "compose"]

FOREVER_US = 2**62
"""No deadline lies beyond: clocks, guards and the wire must still be able to add to it."""

Accepted = tuple[tuple[str, ...], str, Sequence[str] | None]


def accepted(
    process: Process,
    topics: Sequence[str],
    payload: bytes,
    deadline_us: int | None,
    after: Sequence[str] | None,
    order: str | None,
) -> Accepted:
    """Its topics, its order and the causes it declares; or one sentence why it cannot be published here."""
    different = distinct_topics(topics)
    process.check_topics(different)
    if not isinstance(payload, bytes):
        raise InputError(f"A payload is bytes, not a {type(payload).__name__}: encode it first, e.g. text.encode().")
    if deadline_us is None:
        if process.dated:
            raise InputError("Every message needs a deadline here: the order of the others is told from it.")
    elif not process.settings.deadlines:
        raise InputError("Nothing expires here: publish without a deadline, or set deadlines in the Settings of all.")
    elif abs(deadline_us) > FOREVER_US:
        raise InputError(f"No clock will ever show {deadline_us} us: publish without a deadline.")
    if isinstance(after, str):
        raise InputError(f"Causes are a list: publish after [{after!r}].")
    return different, *asked_for(order, after, process.orders)


def compose(
    carrier: Carrier,
    topics: Sequence[str],
    payload: bytes,
    now_us: int,
    deadline_us: int | None,
    after: Sequence[str] | None,
    order: str | None,
) -> Envelope:
    """A message of its own, stamped, behind it and kept."""
    stamps: list[Stamp] | None = None
    different, order, after = accepted(carrier, topics, payload, deadline_us, after, order)
    if after is not None:
        stamps = carrier.stamps(after)
        after = None if stamps is None else after
    if order == "none":
        envelope = carrier.unordered(different, payload, deadline_us, now_us)
    else:
        declared = None if after is None else tuple(after)
        bare = Message(carrier.name, 0, different, payload, deadline_us, None, declared, order)
        envelope = carrier.stamped(carrier.new_message(bare, now_us), stamps)
    carrier.keep_own(envelope, now_us)
    return envelope
