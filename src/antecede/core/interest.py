"""What a process wants: which topics, and so which streams of marks, concern it; and of their messages, which."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from antecede.core.content import Seen
from antecede.core.message import Message
from antecede.core.topics import matches, split_filter
from antecede.core.where import Where, parse_where

__all__ = ["Interest", "Remembered", "by_interest", "group_of", "next_after", "stream_of"]

K = TypeVar("K")
V = TypeVar("V")

MOST = 200_000
"""Answers about streams remembered by one `Remembered`, which then begins anew."""

MOST_TOPICS = 8_192
"""Answers about topics: they may be many more than streams, and everybody who wants something remembers its own."""


class Remembered(dict[K, V]):
    """Answers to questions that come again and again. Its `__getitem__` is a function that costs a look-up."""

    __slots__ = ("about_topics", "work_out")

    def __init__(self, work_out: Callable[[K], V], *, about_topics: bool = False) -> None:
        super().__init__()
        self.work_out = work_out
        self.about_topics = about_topics

    def __missing__(self, question: K) -> V:
        if len(self) >= (MOST_TOPICS if self.about_topics else MOST):
            self.clear()
        answer = self[question] = self.work_out(question)
        return answer


def stream_of(sender: str, group: str) -> str:
    return f"{sender}@{group}"


group_of: Callable[[str], str] = Remembered[str, str](lambda stream: stream.partition("@")[2]).__getitem__
"""The group of a stream; "" for a stream that is a sender (a flat group)."""


def next_after(name: str, names: Iterable[str]) -> str | None:
    """The next one in the ring of names.

    >>> next_after("b", ["c", "a"]), next_after("d", ["c", "a"]), next_after("a", [])
    ('c', 'a', None)
    """
    ring = sorted(names)
    return next((one for one in ring if one > name), ring[0] if ring else None)


class Interest:
    """Filters with their answers remembered: the same few topics and streams are asked for all the time."""

    __slots__ = ("_selects", "_streams", "concerns", "filters", "key", "wants")

    def __init__(self, filters: Iterable[str]) -> None:
        self.filters = tuple(filters)
        self.key = self.filters
        """Interests of one key are interested in the same messages and the same streams."""
        self.wants: Callable[[tuple[str, ...]], bool] = Remembered(self._wants, about_topics=True).__getitem__
        """Whether a message with these topics may be wanted: it is, unless filters select by content."""
        self._selects = Remembered(self._selecting, about_topics=True)
        self._streams = Remembered(self._concerns)
        self.concerns: Callable[[str], bool] = self._streams.__getitem__
        """Whether a stream may hold what is wanted."""

    def takes(self, message: Message, seen: Seen) -> bool:
        """Whether it is wanted, by its topics and its content."""
        selects = self._selects[message.topics]
        if not selects:
            return selects is not None
        return any(seen.holds(where, message) for where in selects)

    def among(self, numbers: Mapping[str, int]) -> dict[str, int]:
        """The streams among these that concern this process."""
        streams = self._streams
        return {stream: n for stream, n in numbers.items() if streams[stream]}

    def concerns_group(self, group: str) -> bool:
        return not group or any(matches(f, group) for f in self.filters)

    def _wants(self, topics: tuple[str, ...]) -> bool:
        return any(matches(f, t) for f in self.filters for t in topics)

    def _selecting(self, topics: tuple[str, ...]) -> tuple[Where, ...] | None:
        """None: no filter matches; else the predicates of those that do, and none of them if one has none."""
        if not self._wants(topics):
            return None
        found = [split_filter(f)[1] for f in self.filters if any(matches(f, t) for t in topics)]
        return () if None in found else tuple(parse_where(where) for where in dict.fromkeys(found) if where is not None)

    def _concerns(self, stream: str) -> bool:
        return self.concerns_group(group_of(stream))


def by_interest(
    wanted: Iterable[tuple[str, Interest]], topics: tuple[str, ...]
) -> list[tuple[Interest, tuple[str, ...]]]:
    """The processes among these that want a message with these topics, those of one interest together."""
    found: dict[tuple[str, ...], tuple[Interest, list[str]]] = {}
    for name, interest in wanted:
        if interest.wants(topics):
            found.setdefault(interest.filters, (interest, []))[1].append(name)
    return [(interest, tuple(names)) for interest, names in found.values()]
