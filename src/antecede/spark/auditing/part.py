"""The part of a history that matters to one receiver: what it got, and all that comes before that.

Decided in this file: a receiver of few messages among many is judged in the graph of these and their ancestors, since
nothing else comes before or between them. Where that is most of the history, or reaches back too many generations, the
whole is taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antecede.spark.auditing.cover import Graph, lists
from antecede.spark.auditing.messages import Messages, csr

__all__ = ["Part", "part_for"]

Ints = NDArray[Any]

ROUNDS = 200
"""Generations of ancestors that are looked for one by one."""

SMALL = 4096
"""A history of fewer messages is taken whole: to look for a part of it costs more."""


@dataclass
class Part:
    """Messages of a history, renumbered in the same order."""

    graph: Graph
    numbers: Ints | None = None
    """For each its number in the history; None: this is all of it, with the same numbers."""

    def inside(self, messages: Ints) -> Ints:
        """The numbers here of messages of the history that are in this part."""
        return messages if self.numbers is None else np.searchsorted(self.numbers, messages).astype(np.int32)

    def outside(self, number: int) -> int:
        """The number in the history."""
        return number if self.numbers is None else int(self.numbers[number])


def part_for(messages: Messages, got: Ints) -> Part:
    """The part for a receiver that got these messages; the whole where it is not much smaller."""
    graph = messages.graph
    members = np.unique(got)
    if graph.count < SMALL or len(members) * 2 > graph.count:
        return Part(graph)
    place: Ints | None = messages.cache.get("place")
    if place is None:
        place = messages.cache["place"] = np.full(graph.count, -1, np.int32)
    place[members] = 0
    found = [members]
    try:
        size, frontier = len(members), members
        for _ in range(ROUNDS):
            above = np.unique(graph.parent[lists(graph.parent_at, frontier)[0]])
            frontier = above[place[above] < 0]
            if not len(frontier):
                return renumbered(graph, np.sort(np.concatenate(found)), place)
            place[frontier] = 0
            found.append(frontier)
            size += len(frontier)
            if size * 2 > graph.count:
                break
        return Part(graph)
    finally:
        for some in found:
            place[some] = -1


def renumbered(graph: Graph, numbers: Ints, place: Ints) -> Part:
    """The graph of these messages, among which are all of their parents."""
    place[numbers] = np.arange(len(numbers), dtype=np.int32)
    entries, child = lists(graph.parent_at, numbers)
    parent = place[graph.parent[entries]]
    child = child.astype(np.int32)
    count = len(numbers)
    return Part(Graph(count, *csr(child, parent, count), *csr(parent, child, count)), numbers)
