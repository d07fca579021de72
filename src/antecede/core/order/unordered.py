"""Unordered messages (the papers' mixed consistencies): how they are numbered, and the Writer's end of it.

A message of order `none` waits for no message, and no message waits for it. So it appears in no vector and no graph,
and has numbers of its own: a hole among the numbers of ordered messages would be waited for. An unordered message must
still be found when it is lost: its stamp covers the one before it in its stream that has not expired, and a process
that gets it sees whether that one is missing. Example: p publishes p~:1 and p~:2; S gets p~:2, which covers p~:1,
delivers it at once, and asks for p~:1. The Reader's end is in `reader.py`; what a client remembers of them is here,
since a client may want only some messages of a stream.
"""

from __future__ import annotations

from collections.abc import Iterable

from antecede.core.entries import EACH, Groups
from antecede.core.interest import stream_of
from antecede.core.message import LOOSE, UNORDERED, Envelope, Mark, Publication, Stamp
from antecede.core.order.reader import Reader, everything

__all__ = ["LooseReader", "LooseWriter"]

KEPT = 4_096
"""Numbers of one stream that a client remembers one by one. Costs memory; lowering it, where so many others of its
sender overtake an unordered message and the client moves meanwhile, that message."""


class LooseWriter:
    def __init__(self, name: str, *, flat: bool, slack_us: int, groups: Groups = EACH) -> None:
        self.name = name
        self.flat = flat
        self.groups = groups
        self.slack_us = slack_us
        """What is named stays so this much beyond its deadline: other clocks may be behind."""
        self.seq = 0
        self._before: dict[str, list[tuple[int, int | None]]] = {}
        """Per stream: own messages that have not expired, and their deadlines."""

    def envelope(self, publication: Publication, now_us: int) -> Envelope:
        """The next message of its own, stamped."""
        self.seq += 1
        message = publication._replace(after=UNORDERED, order="none").message(self.name, self.seq)
        topics, deadline_us = message.topics, message.deadline_us
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


class LooseReader(Reader):
    """The unordered messages that a client has had, in all its attachments.

    A client that wants some topics of an entry never has the numbers of its streams in a row, and would remember each
    for ever. So the oldest count as had, with all numbers between them: no later home sends any of these. The present
    home may still, if they are so late; repeats from there are known by their index, and by their id for `memory_us`.
    """

    def __init__(self) -> None:
        super().__init__(everything, dense=False)
        self._taken: dict[str, int] = {}
        """Per stream, up to where that is so."""

    def forget(self, streams: Iterable[str]) -> None:
        super().forget(streams)
        for stream in streams:
            self._taken.pop(stream, None)

    def had(self, own: tuple[Mark, ...]) -> bool:
        return any(self.behind(stream, n) and n > self._taken.get(stream, 0) for stream, n in own)

    def delivered(self, stamp: Stamp, *, forced: bool) -> None:
        super().delivered(stamp, forced=forced)
        for stream, _ in stamp.own:
            above = self.above.get(stream, ())
            if len(above) > KEPT:
                upto = self._taken[stream] = sorted(above)[len(above) // 2]
                self.start_at({stream: upto})
