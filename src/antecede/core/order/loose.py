"""Unordered messages (the papers' mixed consistencies): how they are numbered, and the Writer's end of it.

A message of order `none` waits for nothing and nobody waits for it, so it appears in no vector and no graph, and has
numbers of its own: a hole among the ordered ones would be waited for. It must still be found when it is lost: its stamp
covers the one before it in its stream that has not expired, and whoever gets it sees whether that one is missing. The
Reader's end is in `reader.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from antecede.core.entries import EACH, Groups
from antecede.core.interest import stream_of
from antecede.core.message import LOOSE, UNORDERED, Envelope, Message, Stamp
from antecede.errors import InputError

__all__ = ["LooseWriter", "asked_for"]


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


class LooseWriter:
    __slots__ = ("_before", "flat", "groups", "name", "seq", "slack_us")

    def __init__(self, name: str, *, flat: bool, slack_us: int, groups: Groups = EACH) -> None:
        self.name = name
        self.flat = flat
        self.groups = groups
        self.slack_us = slack_us
        """What is named stays so this much beyond its deadline: other clocks may be behind."""
        self.seq = 0
        self._before: dict[str, list[tuple[int, int | None]]] = {}
        """Per stream: own messages that have not expired, and their deadlines."""

    def envelope(self, topics: tuple[str, ...], payload: bytes, deadline_us: int | None, now_us: int) -> Envelope:
        """The next message of its own, stamped."""
        self.seq += 1
        message = Message(self.name, self.seq, topics, payload, deadline_us, None, UNORDERED, "none")
        name = self.name + LOOSE
        streams = (name,) if self.flat else tuple(stream_of(name, group) for group in self.groups.of(topics))
        covers = {}
        for stream in streams:
            before = self._before.get(stream, [])
            before = [(n, until) for n, until in before if until is None or until + self.slack_us >= now_us]
            if before:
                covers[stream] = before[-1][0]
            if deadline_us is None:
                before = []  # it will always be there: nobody need look further back for what to name
            self._before[stream] = [*before, (message.seq, deadline_us)]
        return Envelope(message, Stamp(tuple((stream, message.seq) for stream in streams), (), covers))
