"""What may be published here.

A publication is refused before anything has changed, so that a refusal costs nothing: by its topics, payload, order or
deadline.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from antecede.core.message import Publication
from antecede.core.names import distinct_topics
from antecede.errors import InputError

if TYPE_CHECKING:
    from antecede.core.roles.receiver import Receiver

__all__ = ["FOREVER_US", "accepted", "asked_for"]

FOREVER_US = 2**62
"""No deadline lies beyond: clocks, guards and the wire must still be able to add to it."""


def accepted(process: Receiver, publication: Publication) -> Publication:
    """The publication with each topic once and its order settled; or one sentence why it cannot be published here."""
    topics, payload, deadline_us, after, order = publication
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
    order, after = asked_for(order, after, process.orders)
    return Publication(different, payload, deadline_us, after, order)


def asked_for(
    order: str | None, after: Sequence[str] | None, offered: Sequence[str]
) -> tuple[str, Sequence[str] | None]:
    """The order of a publication and the causes it declares: `fifo` is to follow one's own messages only."""
    order = order or offered[0]
    if order not in offered:
        raise InputError(f"There is no order {order!r} here: publish in {' or '.join(offered)}.")
    if order == "causal":
        return order, after
    if after is not None:
        raise InputError(f"A message of order {order} follows no message of others: leave out its causes.")
    return order, ()
