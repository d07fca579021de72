"""What happens next, and in which order: a calendar queue of plain tuples whose first entry is the time.

Decided here: steps at the same microsecond happen in the order in which they were put in. That, and the seed, is all
that orders a run; nothing is ever compared but times. Buckets of about a millisecond are sorted once when they are
reached, which costs less than a heap of everything in flight.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator
from heapq import heappop, heappush
from operator import itemgetter
from typing import Any

__all__ = ["SHIFT", "Agenda"]

SHIFT = 10
"""Buckets of 2**SHIFT microseconds. Raising it costs insertions into the bucket at hand, lowering it empty buckets."""

_time = itemgetter(0)


class Agenda:
    __slots__ = ("buckets", "current", "days", "today")

    def __init__(self) -> None:
        self.buckets: dict[int, list[tuple[Any, ...]]] = {}
        self.days: list[int] = []
        self.current: list[tuple[Any, ...]] = []
        self.today = -1

    def push(self, item: tuple[Any, ...]) -> None:
        """Put in `item`, at `item[0]` microseconds, which must not lie before the step being carried out."""
        day = item[0] >> SHIFT
        if day <= self.today:
            insort(self.current, item, key=_time)
            return
        try:
            self.buckets[day].append(item)
        except KeyError:
            self.buckets[day] = [item]
            heappush(self.days, day)

    def days_in_turn(self) -> Iterator[list[tuple[Any, ...]]]:
        """Bucket after bucket, sorted. Iterate each with `for`: what is pushed into it meanwhile comes in its turn."""
        while self.days:
            self.today = heappop(self.days)
            self.current = self.buckets.pop(self.today)
            self.current.sort(key=_time)
            # A list iterator goes by index, and nothing is inserted before the step being carried out.
            yield self.current
        self.today = -1

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """Everything in order of time, including what is put in meanwhile."""
        for day in self.days_in_turn():
            yield from day

    def __len__(self) -> int:
        """How many lie in later buckets (a lower bound of what is left)."""
        return sum(len(bucket) for bucket in self.buckets.values())
