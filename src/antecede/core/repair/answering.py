"""Answering requests (PROTOCOLS s3.1, s3.6): what is sent, and what is said to be gone.

An answer holds the messages that were asked for, are kept or held here, are wanted by the asker and still in time;
there are no empty answers. Of a message that expired the header is sent, so that nobody waits for it. If a message
without a deadline waits at the asker, this process also says which of the causes it asked for cannot be had here: those
that can no longer come from their sender, and those that lie behind and are not kept. Example: S holds q:2, which needs
p:1; p has left, and B does not keep p:1. B answers S that p:1 is gone here. What S makes of that is decided in
`giving_up.py`.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from antecede.core.effects import Answer
from antecede.core.frames import Data, Gone, Ranges, Request
from antecede.core.message import Envelope, Mark, header_of, id_of_mark, in_time, series_of
from antecede.core.order.reader import AHEAD

if TYPE_CHECKING:
    from antecede.core.roles.carrier import Carrier

__all__ = ["BATCH", "Answers"]

BATCH = 32
"""Messages per answering frame: fits a datagram with small payloads, and losing one frame costs little."""


class Answers:
    def __init__(self, carrier: Carrier) -> None:
        self.carrier = carrier
        self.past, self.store, self.writer = carrier.past, carrier.store, carrier.writer
        self.inbox, self.wants = carrier.inbox, carrier.wants

    def on_request(self, frame: Request, sender: str, now_us: int) -> None:
        carrier = self.carrier
        interest = carrier.interest_of(sender)
        if interest is None:
            return
        ranges = carrier.ranges_from(sender, frame.ranges)
        kept = [*self.store.find(ranges), *self._unsafe_within(ranges)]
        found = [e for e in kept if in_time(e, now_us) and interest.wants(e.message.topics)]
        found += [e for e in self.inbox.held_within(ranges) if interest.wants(e.message.topics)]
        for start in range(0, len(found), BATCH):
            batch = tuple(carrier.answer_for(e, sender) for e in found[start : start + BATCH])
            carrier.say(Answer(sender, tuple(e.message.id for e in batch)))
            carrier.send((sender,), Data(batch, answer=True))
        headers = [e for e in kept if not in_time(e, now_us)]
        headers += self.store.find_headers(ranges)
        gone = tuple(carrier.answer_for(e, sender) for e in headers if interest.wants(e.message.topics))
        lacks: Ranges = ()
        if frame.lasting or not carrier.settings.deadlines:
            lacks = self._lacked(self._where_none_is(found, ranges), sender, now_us)
        if gone or lacks:
            carrier.send((sender,), Gone(tuple(map(header_of, gone)), lacks))

    def _unsafe_within(self, ranges: Ranges) -> list[Envelope]:
        unsafe = [e for e in self.carrier.unsafe() if not self._is_here(e.stamp.own[0])]
        if not unsafe:
            return []
        asked: dict[str, list[tuple[int, int]]] = {}
        for stream, low, high in ranges:
            asked.setdefault(stream, []).append((low, high))
        return [e for e in unsafe if any(low < n <= high for s, n in e.stamp.own for low, high in asked.get(s, ()))]

    def _lacked(self, ranges: Ranges, peer: str, now_us: int) -> Ranges:
        """The messages of these ranges that cannot be had here, so that nobody waits for them for ever.

        A peer is told of every message that is not here. A subscriber, which has nobody else to ask, is told only of
        messages that will never be here: this process gave them up, let go of them, skipped them or began behind them.
        """
        carrier = self.carrier
        lacks = []
        left = AHEAD
        for stream, low, high in ranges:
            numbers = range(low + 1, min(high, low + max(left, 1)) + 1) if self.past.is_dense(stream) else (high,)
            left -= len(numbers)
            for n in numbers:
                mark = (stream, n)
                passed = self.past.behind(stream, n)
                if (passed or self._cannot_come(mark, now_us)) and not self._is_here(mark):
                    if not carrier.serves(peer):
                        lacks.append((stream, n - 1, n))
                    elif self._is_over(mark) if mark in self.past.given_up else passed:
                        if not self.past.by_itself(stream):
                            earlier = range(max(low, n - max(left, 1)) + 1, n)
                            left -= len(earlier)
                            lacks += [(stream, k - 1, k) for k in earlier if self._is_past((stream, k))]
                        lacks.append((stream, n - 1, n))
        return tuple(lacks)

    def _cannot_come(self, mark: Mark, now_us: int) -> bool:
        """Whether a message can no longer come: its sender has left, or this process asked for it in vain, and others
        that lack it wait for this one to say so."""
        carrier = self.carrier
        if carrier.absent_since(mark, now_us) is not None:
            return True
        in_vain = self.wants.endless_since(mark, now_us - carrier.settings.grace_us)
        return in_vain and not carrier.is_being_sent(mark, now_us)

    def _is_over(self, mark: Mark) -> bool:
        """Whether nothing that is known to precede a given-up message is waited for any more: an asker that is told of
        it passes all of that too."""
        known = self.writer.known(mark)
        return known is None or self.past.blocker(known) is None

    def _is_past(self, mark: Mark) -> bool:
        """Whether a message is neither here nor asked for."""
        return not self._is_here(mark) and id_of_mark(mark) not in map(id_of_mark, self.wants.wants)

    def _is_here(self, mark: Mark) -> bool:
        """Whether a message is kept or held, in any of its groups."""
        message_id = id_of_mark(mark)
        return message_id in self.store or message_id in self.inbox.held

    def _where_none_is(self, found: list[Envelope], ranges: Ranges) -> Ranges:
        """The ranges of which nothing is sent. A GONE could overtake the DATA, and a process that gives up a message
        passes what came before it (in a sparse stream all of its sender's): it asks for the rest again."""
        by_itself = self.past.by_itself
        here: dict[str, list[int]] = {}
        for n, stream in sorted((n, stream) for envelope in found for stream, n in envelope.stamp.own):
            here.setdefault(stream if by_itself(stream) else series_of(stream), []).append(n)
        clear = []
        for stream, low, high in ranges:
            sent, first = (here.get(stream, []), low) if by_itself(stream) else (here.get(series_of(stream), []), 0)
            if bisect_right(sent, first) == bisect_right(sent, high):
                clear.append((stream, low, high))
        return tuple(clear)
