"""Which effect becomes which row: what a machine says, laid out for the record, the same for every driver.

Decided here: one row per message of an effect, which columns each fills, and that the bytes of a frame are shared out
among its messages so that they add up. Who said it, when and at which step is the driver's to add.
"""

from __future__ import annotations

from collections.abc import Callable
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
    Shed,
)
from antecede.core.topics import split_filter

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


def _by_where(kind: str, effect: Join | Leave) -> list[Fact]:
    """One row for the filters that select by topic alone, and one for those of each predicate."""
    by_where: dict[str | None, list[str]] = {}
    for filter in effect.filters:
        topics, where = split_filter(filter)
        by_where.setdefault(where, []).append(topics)
    facts: list[Fact] = []
    for where, filters in (by_where or {None: []}).items():
        facts.append({"kind": kind, "groups": tuple(filters), "peer": effect.peer})
        if where is not None:
            facts[-1]["where"] = where
    return facts


_LAID_OUT: dict[type, Callable[[Any], list[Fact]]] = {
    Send: _nothing,
    Expelled: _nothing,
    Dropped: _nothing,
    Shed: _nothing,
    Deliver: lambda effect: [{"kind": "deliver", "message": effect.message.id, "reason": effect.reason}],
    Discard: lambda effect: [
        {"kind": "discard", "message": effect.message, "reason": effect.reason, "peer": effect.peer}
    ],
    Ask: _about("ask"),
    Answer: _about("answer"),
    Join: lambda effect: [
        {**fact, "cut": tuple(effect.cut), "guard_us": effect.guard_us} for fact in _by_where("join", effect)
    ],
    Leave: lambda effect: _by_where("leave", effect),
    Move: lambda effect: [{"kind": "move", "cut": tuple(effect.cut), "peer": effect.peer}],
    Collect: lambda effect: [{"kind": "collect", "message": effect.message}],
}


def shares(total: int, count: int) -> list[int]:
    """A number in `count` equal parts; what is left over goes to the first.

    >>> shares(11, 3), shares(11, 0)
    ([5, 3, 3], [])
    """
    if not count:
        return []
    part = total // count
    return [total - part * (count - 1)] + [part] * (count - 1)
