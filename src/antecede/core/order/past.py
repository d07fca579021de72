"""What lies behind a process, and why: the one thing that its receiving and its serving half share.

A message lies behind because it was delivered, because a delivered message names it as a cause, because it was
*skipped* (late on arrival, expired, given up), or because it precedes the cut at which the process began. The receiving
half writes this (`reader.py`); everybody else asks. Example: the process began behind q:2, delivered p:1 to p:3, and
skipped p:5, which came too late. Then `front` is {p: 3, q: 2}, `above` is {p: {5}}, `cut` is {q: 2} and `tops` {p: 3}.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

from antecede.core.marks import Marks
from antecede.core.message import Mark, Message, Stamp, is_loose

__all__ = ["UNKNOWN", "Past", "Unordered"]

Unordered: TypeAlias = Mapping[str, tuple[int, tuple[tuple[int, int], ...]]]
"""Per loose stream: up to where all lies behind, and beyond that each number that does, with the one before it."""

UNKNOWN = Stamp(())
"""The stamp of a message that never came and of which nothing is known."""


class Past:
    def __init__(self, concerns: Callable[[str], bool], *, dense: bool) -> None:
        self._concerns = concerns
        self.dense = dense
        self.front: dict[str, int] = {}
        """Per stream: all up to here lies behind."""
        self.above: dict[str, set[int]] = {}
        """Per stream: single numbers above the front that lie behind too."""
        self.skips: dict[str, dict[int, Stamp | None]] = {}
        """Per stream, the skipped numbers above the front, with the stamp that a message needs instead of a skipped
        one. None: it needs nothing instead. Example: p:5, which needs q:2, was skipped; then a message that needs p:5
        waits for q:2."""
        self.cut: dict[str, int] = {}
        """Where this process began: per stream, the newest message that it joined behind."""
        self.tops: dict[str, int] = {}
        """Per sender, the newest message delivered or published here."""
        self.held: dict[str, set[int]] = {}
        """What the Inbox holds: neither behind nor missing."""
        self.given_up: set[Mark] = set()
        """Marks of messages that were skipped because nobody in reach could supply them any more, until they are
        settled."""
        self._before: dict[str, dict[int, int]] = {}
        """Loose streams: which number each one above the front names as the one before it."""

    # -- what lies behind ------------------------------------------------------------------------------------------

    def behind(self, stream: str, n: int) -> bool:
        if n <= self.front.get(stream, 0):
            return True
        if self.above:
            above = self.above.get(stream)
            return above is not None and n in above
        return False

    def is_dense(self, stream: str) -> bool:
        """Whether each number of a stream up to its newest is a message that concerns this process."""
        return self.dense and not is_loose(stream)

    def by_itself(self, stream: str) -> bool:
        """Whether each message of a stream is asked for by itself, as in dense and loose streams. In a sparse one
        nobody knows which numbers stand before a message: they are asked for with it."""
        return self.dense or is_loose(stream)

    def upto(self, stream: str) -> int:
        """The front of one stream."""
        return self.front.get(stream, 0)

    def lacks(self, mark: Mark) -> bool:
        """Whether a message is missing here: it does not lie behind, and is not held."""
        stream, n = mark
        return not self.behind(stream, n) and n not in self.held.get(stream, ())

    def reached(self, streams: Iterable[str]) -> dict[str, int]:
        """The front of these streams."""
        front = self.front
        return {stream: front.get(stream, 0) for stream in streams}

    def is_at(self, marks: Marks) -> bool:
        """Whether the front of each of these streams is exactly there: the usual case, and the quickest to see."""
        return marks.items() <= self.front.items()

    def with_held(self, behind: Marks, offered: Marks) -> Marks:
        """`behind`, and the held messages among those that a peer offers: this process asks for their causes itself."""
        held = self.held
        if not held:
            return behind
        return {s: max(n, offered[s]) if offered.get(s) in held.get(s, ()) else n for s, n in behind.items()}

    def newest(self, stream: str) -> int | None:
        """The newest number of a stream that lies behind; None: a cause of a skipped message is missing, and may still
        come."""
        for skipped in self.skips.get(stream, {}).values():
            if skipped is not None and skipped is not UNKNOWN and self.blocker(skipped) is not None:
                return None
        return max(self.front.get(stream, 0), max(self.above.get(stream, ()), default=0))

    def unordered(self) -> Unordered:
        """What lies behind of loose streams, to go on from elsewhere."""
        return {
            stream: (self.front.get(stream, 0), tuple(sorted(self._before.get(stream, {}).items())))
            for stream in sorted(self.loose_streams())
        }

    def loose_streams(self) -> list[str]:
        """The streams of unordered messages of which something lies behind."""
        return [stream for stream in {**self.front, **self.above} if is_loose(stream)]

    def note(self, message: Message) -> None:
        """A message was delivered or published here."""
        series, tops = message.series, self.tops
        if message.seq > tops.get(series, 0):
            tops[series] = message.seq

    # -- what blocks -----------------------------------------------------------------------------------------------

    def blocker(self, stamp: Stamp) -> Mark | None:
        """The first cause that does not lie behind, None when the message is ready."""
        blocker = self._blocks(stamp)
        if blocker is not None:
            return blocker
        if self.skips:
            for skipped in self._skipped_by(stamp):
                blocker = self._blocks(skipped)
                if blocker is not None:
                    return blocker
        return None

    def _blocks(self, stamp: Stamp) -> Mark | None:
        front = self.front
        if not self.cut:  # the usual case: where the newest lie behind, so do all
            for stream, n in stamp.newest_needs():
                if n > front.get(stream, 0) and self._concerns(stream):
                    break
            else:
                return None
        for mark in stamp.needs:
            stream, n = mark
            reached = front.get(stream, 0)
            if n > reached and self._concerns(stream):
                if self.dense:
                    above = self.above.get(stream)
                    n = reached + 1
                    while above and n in above:
                        n += 1
                    return (stream, n)
                above = self.above.get(stream)
                if above is None or n not in above:
                    return mark
                earlier = self._held_before(stream, n)
                if earlier is not None:
                    return earlier
            elif self.cut and n <= self.cut.get(stream, 0) and n in self.held.get(stream, ()):
                return mark  # cut off in this group, but owed in another, and here
        return None

    def _held_before(self, stream: str, n: int) -> Mark | None:
        """What is held of the same sender stands before a message that was given up unknown, as it did before."""
        here = self.skips.get(stream)
        if here is None or here.get(n) is not UNKNOWN:
            return None
        first = min((k for k in self.held.get(stream, ()) if k < n), default=None)
        return None if first is None else (stream, first)

    def _skipped_by(self, stamp: Stamp) -> Iterator[Stamp]:
        """Stamps of skipped messages that this one needs, directly or through other skipped ones."""
        stack, seen = [stamp], set[int]()
        while stack:
            one, whole = stack.pop(), None
            for stream, n in one.needs:
                here = self.skips.get(stream)
                skipped = here.get(n) if here else None
                if skipped is UNKNOWN:  # then all that it may have stood for
                    if one.covers and whole is None:
                        whole = Stamp((), tuple(one.covers.items()))
                        stack.append(whole)
                        yield whole
                elif skipped is not None and id(skipped) not in seen:
                    seen.add(id(skipped))
                    stack.append(skipped)
                    yield skipped
