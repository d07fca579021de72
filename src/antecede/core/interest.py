"""What a process wants: which topics, and so which streams of marks, concern it."""

from __future__ import annotations

from collections.abc import Iterable

from antecede.core.topics import matches

__all__ = ["Interest", "group_of", "next_after", "stream_of"]


def stream_of(sender: str, group: str) -> str:
    return f"{sender}@{group}"


def group_of(stream: str) -> str:
    """The group of a stream; "" for a stream that is a sender (a flat group)."""
    group = _groups.get(stream)
    if group is None:
        if len(_groups) > 200_000:
            _groups.clear()
        group = _groups[stream] = stream.partition("@")[2]
    return group


_groups: dict[str, str] = {}
"""Remembered answers: the same streams come again and again."""


def next_after(name: str, names: Iterable[str]) -> str | None:
    """The next one in the ring of names.

    >>> next_after("b", ["c", "a"]), next_after("d", ["c", "a"]), next_after("a", [])
    ('c', 'a', None)
    """
    ring = sorted(names)
    return next((one for one in ring if one > name), ring[0] if ring else None)


class Interest:
    """Filters with their answers remembered: the same few topics and streams are asked for all the time."""

    __slots__ = ("_streams", "_topics", "filters")

    def __init__(self, filters: Iterable[str]) -> None:
        self.filters = tuple(filters)
        self._topics: dict[tuple[str, ...], bool] = {}
        self._streams: dict[str, bool] = {}

    def wants(self, topics: tuple[str, ...]) -> bool:
        known = self._topics.get(topics)
        if known is None:
            known = any(matches(f, t) for f in self.filters for t in topics)
            self._topics[topics] = known
        return known

    def concerns(self, stream: str) -> bool:
        known = self._streams.get(stream)
        if known is None:
            known = self._streams[stream] = self.concerns_group(group_of(stream))
        return known

    def concerns_group(self, group: str) -> bool:
        return not group or any(matches(f, group) for f in self.filters)
