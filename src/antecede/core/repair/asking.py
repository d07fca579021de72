"""Asking for messages that are missing (000, 002 SOLICIT; PROTOCOLS s3.1): whom, when, and when to stop.

Each missing mark is asked for after `patience_us`, first of the peer that should have it (the sender of the message
that needs it), then of the others in turn, with one request per peer and moment for all marks that are due. No request
leaves whose answer could not come before the last message that needs the mark must go out. A mark that a peer merely
offers is asked for a bounded number of times (the peer's next digest wakes it again); a mark that a held message
without a deadline needs is asked for until it comes, or is known to be gone. Example: q:2 came from q, needs p:1 and is
due at 5 s. S asks q for p:1 after `patience_us`, then A, then B, every `retry_us`, and no more when 5 s is less than a
round trip away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import heappop, heappush

from antecede.core.frames import Ranges
from antecede.core.machine import Settings
from antecede.core.message import Mark

__all__ = ["TRIES_UNTIMED", "Solicitation", "Want", "open_ranges", "ranges_of"]

TRIES_UNTIMED = 6


class Want:
    __slots__ = ("endless", "hint", "next_us", "since_us", "tries", "until_us")

    def __init__(self, hint: str, since_us: int) -> None:
        self.hint = hint
        self.since_us = since_us
        self.until_us: int | None = None
        """When the last that needs it must go out; None: nothing with a deadline does."""
        self.endless = False
        """Whether a held message without a deadline needs it. A want that has neither this nor a time is for a message
        that a peer merely offered: the peer will say so again."""
        self.tries = 0
        self.next_us = 0
        """When the message is asked for next."""


class Solicitation:
    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.wants: dict[Mark, Want] = {}
        self._next: list[tuple[int, int, Mark]] = []
        self._tick = 0

    def want(
        self, mark: Mark, hint: str, until_us: int | None, now_us: int, *, patience_us: int | None = None,
        backed: bool = True,
    ) -> None:  # fmt: skip
        """A message is missing, and is first asked for after `patience_us` (None: that of the settings). `backed`: a
        held message needs it. `until_us`: when that one must go out at the latest; None: it has no deadline."""
        want = self.wants.get(mark)
        if want is None:
            want = self.wants[mark] = Want(hint, now_us)
            self._schedule(mark, want, now_us + (self.settings.patience_us if patience_us is None else patience_us))
        if until_us is not None:
            if want.until_us is None or until_us > want.until_us:
                want.until_us = until_us
        elif backed:
            want.endless = True

    def offered(self, mark: Mark, peer: str, now_us: int, *, patience_us: int | None = None) -> None:
        """`peer` says that it has a message: from now on it is asked first."""
        self.want(mark, peer, None, now_us, patience_us=patience_us, backed=False)
        want = self.wants[mark]
        if want.hint != peer:
            want.hint, want.tries = peer, 0

    def hurry(self, mark: Mark, now_us: int) -> None:
        """The peer that was asked said that the message is gone there: the next peer is asked at once."""
        want = self.wants.get(mark)
        if want is not None and want.next_us > now_us:
            self._schedule(mark, want, now_us)

    def _schedule(self, mark: Mark, want: Want, at_us: int) -> None:
        want.next_us = at_us
        self._tick += 1
        heappush(self._next, (at_us, self._tick, mark))

    def next_ask(self) -> int | None:
        return self._next[0][0] if self._next else None

    def due(
        self,
        now_us: int,
        missing: Callable[[Mark], bool],
        sources: Callable[[Mark, Want], Sequence[str]],
        orphaned: Callable[[Mark, int], int | None],
    ) -> dict[str, list[Mark]]:
        """The requests that are due: per peer, the marks to ask it for. A mark that is no longer missing, or could not
        come in time, is forgotten."""
        asks: dict[str, list[Mark]] = {}
        while self._next and self._next[0][0] <= now_us:
            at_us, _, mark = heappop(self._next)
            want = self.wants.get(mark)
            if want is None or want.next_us != at_us:
                continue
            if not missing(mark) or self._hopeless(want, now_us):
                del self.wants[mark]
                continue
            peers = sources(mark, want)
            if not peers:
                again_us = orphaned(mark, now_us)
                if again_us is None:
                    self.wants.pop(mark, None)
                else:
                    self._schedule(mark, want, again_us)
                continue
            asks.setdefault(peers[want.tries % len(peers)], []).append(mark)
            want.tries += 1
            self._schedule(mark, want, now_us + self._pause_us(want))
        return asks

    def _hopeless(self, want: Want, now_us: int) -> bool:
        if want.endless:
            return False
        if want.until_us is None:
            return want.tries >= TRIES_UNTIMED
        return now_us + self.settings.trip_us > want.until_us

    def _pause_us(self, want: Want) -> int:
        """A round trip; longer after many tries without a bound, so that a long partition costs little."""
        if want.tries <= 4 or (want.until_us is not None and not want.endless):
            return self.settings.retry_us
        return self.settings.retry_us * min(8, want.tries - 3)

    def any_endless(self, marks: Iterable[Mark]) -> bool:
        return any(mark in self.wants and self.wants[mark].endless for mark in marks)

    def streams(self) -> set[str]:
        """The streams of messages that are asked for."""
        return {stream for stream, _ in self.wants}

    def get(self, mark: Mark) -> Want | None:
        return self.wants.get(mark)

    def endless_since(self, mark: Mark, at_us: int) -> bool:
        """Whether something without a deadline has needed it since `at_us`."""
        want = self.wants.get(mark)
        return want is not None and want.endless and want.since_us <= at_us

    def clear(self) -> None:
        self.wants.clear()

    def drop(self, mark: Mark) -> None:
        self.wants.pop(mark, None)


def ranges_of(marks: Sequence[Mark]) -> Ranges:
    """Marks as ranges: neighbours of a stream become one."""
    ranges: list[tuple[str, int, int]] = []
    for stream, n in sorted(marks):
        if ranges and ranges[-1][0] == stream and ranges[-1][2] == n - 1:
            ranges[-1] = (stream, ranges[-1][1], n)
        else:
            ranges.append((stream, n - 1, n))
    return tuple(ranges)


def open_ranges(marks: Sequence[Mark], front: Mapping[str, int], held: Mapping[str, Iterable[int]]) -> Ranges:
    """Sparse streams: everything between what lies behind and the mark, except what is held."""
    ranges = []
    for stream, n in sorted(marks):
        low = front.get(stream, 0)
        for here in sorted(k for k in held.get(stream, ()) if low < k < n):
            if here - 1 > low:
                ranges.append((stream, low, here - 1))
            low = here
        ranges.append((stream, low, n))
    return tuple(ranges)
