"""Which effect becomes which row: what a machine says, laid out for the record, the same for every driver.

Decided here: one row per message of an effect, which columns each fills, and that the bytes of a frame are shared out
among its messages so that they add up. Who said it, when and at which step is the driver's to add.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from antecede.core.effects import (
    Answer,
    Ask,
    Collect,
    Deliver,
    Discard,
    Dropped,
    Effect,
    Expelled,
    Join,
    Leave,
    Move,
    Send,
)

__all__ = ["Fact", "facts", "shares"]

Fact = dict[str, Any]
"""Columns of one row, by name: `kind`, and what that kind has."""


def facts(effect: Effect) -> list[Fact]:
    """The rows an effect is.

    >>> facts(Ask("B", ("A:1", "A:2")))
    [{'kind': 'ask', 'message': 'A:1', 'peer': 'B'}, {'kind': 'ask', 'message': 'A:2', 'peer': 'B'}]
    """
    return _LAID_OUT[effect.__class__](effect)


def _about(kind: str) -> Callable[[Any], list[Fact]]:
    """A request or an answer: one row each, and one without a message where the Order does not know which."""
    return lambda effect: [{"kind": kind, "message": m, "peer": effect.peer} for m in effect.messages or (None,)]


def _nothing(effect: Effect) -> list[Fact]:
    return []


_LAID_OUT: dict[type, Callable[[Any], list[Fact]]] = {
    Send: _nothing,
    Expelled: _nothing,
    Dropped: _nothing,
    Deliver: lambda effect: [{"kind": "deliver", "message": effect.message.id, "reason": effect.reason}],
    Discard: lambda effect: [
        {"kind": "discard", "message": effect.message, "reason": effect.reason, "peer": effect.peer}
    ],
    Ask: _about("ask"),
    Answer: _about("answer"),
    Join: lambda effect: [
        {
            "kind": "join",
            "groups": tuple(effect.filters),
            "cut": tuple(effect.cut),
            "guard_us": effect.guard_us,
            "peer": effect.peer,
        }
    ],
    Leave: lambda effect: [{"kind": "leave", "groups": tuple(effect.filters), "peer": effect.peer}],
    Move: lambda effect: [{"kind": "move", "cut": tuple(effect.cut), "peer": effect.peer}],
    Collect: lambda effect: [{"kind": "collect", "message": effect.message}],
}


def shares(total: int, count: int) -> Iterator[int]:
    """A number in `count` equal parts; what is left over goes to the first.

    >>> list(shares(11, 3))
    [5, 3, 3]
    """
    part = total // max(count, 1)
    for left in range(count, 0, -1):
        yield part if left < count else total - part * (count - 1)
