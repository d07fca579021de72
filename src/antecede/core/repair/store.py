"""The messages that a process keeps to answer requests: each until it expires, then its header for a while.

A header (stamp and deadline, no payload) lets an asker stop waiting for a message that can no longer be had. A message
without a deadline stays until it is settled (`stability.py`), and its header longer: a client that comes back late is
told of it. Example: p:1 expires at 10 s; B drops its payload then, and answers requests for p:1 with the header until
`grace_us` later.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator
from heapq import heappop, heappush

from antecede.core.effects import Collect, Effect
from antecede.core.interest import Interest, group_of
from antecede.core.message import Envelope, header_of

__all__ = ["Store"]

NARROW = 64
"""Up to so many numbers of a range are looked up one by one. Raising it costs time for requests of messages that are
not here; lowering it, for every request, a look at all messages kept of its stream."""


class Store:
    def __init__(self, out: list[Effect], *, grace_us: int, slack_us: int) -> None:
        self.out = out
        self.grace_us = grace_us
        self.slack_us = slack_us
        """Kept this much beyond the deadline: other clocks may be behind."""
        self.by_id: dict[str, Envelope] = {}
        self.index: dict[str, dict[int, Envelope]] = {}
        self.headers: dict[str, dict[int, Envelope]] = {}
        self.memory_us = 0
        """How long headers of settled messages are kept, where a client may come back and ask for one."""
        self.lasting = 0
        """How many messages without a deadline are kept."""
        self.gone: dict[str, tuple[Envelope, int]] = {}
        """Headers of those that were let go of, and until when they are kept."""
        self.gone_of: dict[str, int] = {}
        """Per stream, how many of those there are."""
        self.collected = 0
        """How many messages were let go of: as many `Collect` effects."""
        self.tops: dict[str, dict[str, int]] = {}
        """Per group and stream, the newest that is kept."""
        self.version = 0
        """Grows with every message taken in: a peer that was in step at an older version may lack something."""
        self._expiry: list[tuple[int, int, Envelope]] = []
        self._headers_until: deque[tuple[int, Envelope]] = deque()
        self._tick = 0
        self._offers: dict[tuple[str, ...], dict[str, int]] = {}
        """Answers of `offers` since a message was last taken in or let go of."""

    def __len__(self) -> int:
        return len(self.by_id)

    def __contains__(self, message_id: str) -> bool:
        return message_id in self.by_id

    def __iter__(self) -> Iterator[Envelope]:
        """In the order in which messages were taken in."""
        return iter(self.by_id.values())

    def get(self, message_id: str) -> Envelope | None:
        return self.by_id.get(message_id)

    def keeps(self, stream: str) -> bool:
        """Whether any message of a stream is kept, or a header of one."""
        return stream in self.index or stream in self.headers or stream in self.gone_of

    def remembered(self) -> list[Envelope]:
        """Headers of messages that were let go of because everybody had them."""
        return [header for header, _ in self.gone.values()]

    def add(self, envelope: Envelope) -> None:
        message = envelope.message
        before = self.by_id.get(message.id)
        self.lasting += (message.deadline_us is None) - (before is not None and before.message.deadline_us is None)
        self.by_id[message.id] = envelope
        for stream, n in envelope.stamp.own:
            here = self.index.get(stream)
            if here is None:
                here = self.index[stream] = {}
            here[n] = envelope
            tops = self.tops.get(group_of(stream))
            if tops is None:
                tops = self.tops[group_of(stream)] = {}
            if n > tops.get(stream, 0):
                tops[stream] = n
        self.version += 1
        self._offers.clear()
        deadline = message.deadline_us
        if deadline is not None:
            self._tick += 1
            heappush(self._expiry, (deadline + self.slack_us, self._tick, envelope))

    def offers(self, interest: Interest) -> dict[str, int]:
        """The newest message kept per stream that concerns a peer. One answer is shared by all: nobody changes it."""
        offers = self._offers.get(interest.key)
        if offers is None:
            offers = self._offers[interest.key] = {}
            for group, tops in self.tops.items():
                if tops and interest.concerns_group(group):
                    offers.update(tops)
        return offers

    def add_header(self, envelope: Envelope, now_us: int) -> None:
        for stream, n in envelope.stamp.own:
            self.headers.setdefault(stream, {})[n] = envelope
        self._headers_until.append((now_us + self.grace_us, envelope))

    def add_gone(self, envelope: Envelope, now_us: int) -> None:
        if self.memory_us:
            if envelope.message.id not in self.gone:
                for stream, _ in envelope.stamp.own:
                    self.gone_of[stream] = self.gone_of.get(stream, 0) + 1
            self.gone[envelope.message.id] = (header_of(envelope), now_us + self.memory_us)

    def forget_gone(self, now_us: int) -> None:
        gone = self.gone
        while gone and (oldest := next(iter(gone.values())))[1] <= now_us:
            del gone[oldest[0].message.id]
            for stream, _ in oldest[0].stamp.own:
                self.gone_of[stream] -= 1
                if not self.gone_of[stream]:
                    del self.gone_of[stream]

    def next_expiry(self) -> int | None:
        return self._expiry[0][0] if self._expiry else None

    def collect(self, now_us: int) -> None:
        expiry = self._expiry
        while expiry and expiry[0][0] < now_us:
            envelope = heappop(expiry)[2]
            if envelope.message.id in self.by_id:
                self.let_go(envelope)
                self.add_header(envelope, now_us)
        headers = self._headers_until
        while headers and headers[0][0] <= now_us:
            self._drop(self.headers, headers.popleft()[1])

    def let_go(self, envelope: Envelope) -> None:
        """Drop a message from the store. The effect `Collect` is left out where the store no longer held it: it had
        expired before, or another message had its id."""
        known = self.by_id.pop(envelope.message.id, None)
        if known is not None and known.message.deadline_us is None:
            self.lasting -= 1
        self._drop(self.index, envelope)
        for stream, n in envelope.stamp.own:
            tops = self.tops[group_of(stream)]
            if tops.get(stream) == n:
                if stream in self.index:
                    tops[stream] = max(self.index[stream])
                else:
                    del tops[stream]
        self._offers.clear()
        if known is not None:
            self.collected += 1
            self.out.append(Collect(envelope.message.id))

    def kept_of(self, stream: str) -> Iterable[tuple[int, Envelope]]:
        """Numbers and messages of one stream, in the order in which they were taken in."""
        return self.index.get(stream, {}).items()

    def kept_headers(self) -> list[Envelope]:
        """Headers of what expired not long ago, in the order in which it did."""
        return [envelope for _, envelope in self._headers_until]

    @staticmethod
    def _drop(index: dict[str, dict[int, Envelope]], envelope: Envelope) -> None:
        for stream, n in envelope.stamp.own:
            here = index.get(stream)
            if here is not None and here.get(n) is envelope:
                del here[n]
                if not here:
                    del index[stream]

    def find(self, ranges: Iterable[tuple[str, int, int]]) -> Iterator[Envelope]:
        """What is kept of these ranges, each once, streams in the order asked, oldest first."""
        return _within(self.index, ranges)

    def find_headers(self, ranges: Iterable[tuple[str, int, int]]) -> Iterator[Envelope]:
        return _within(self.headers, ranges)


def _within(index: dict[str, dict[int, Envelope]], ranges: Iterable[tuple[str, int, int]]) -> Iterator[Envelope]:
    """However often ranges repeat or overlap, what is kept is looked through once."""
    given: set[str] = set()
    left: dict[str, list[int]] = {}
    for stream, low, high in dict.fromkeys(ranges):
        here = index.get(stream)
        if not here:
            continue
        if high - low <= NARROW:
            numbers = [n for n in range(low + 1, high + 1) if n in here]
        else:
            rest = left.get(stream)
            if rest is None:
                rest = left[stream] = sorted(here)
            start, end = bisect_right(rest, low), bisect_right(rest, high)
            numbers = rest[start:end]
            del rest[start:end]
        for n in numbers:
            envelope = here[n]
            if envelope.message.id not in given:
                given.add(envelope.message.id)
                yield envelope
