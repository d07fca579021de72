"""When a message became past at a receiver: the kernel of the audit.

Decided in this file: a message is *covered* at a receiver by the first step at which something that comes after it was
out there (delivered or published). Delivered later than that it is an inversion, missing at that step perhaps a gap.
With `out` the step at which each message was out,

    cover(m) = the least of out(child) and cover(child), over the children of m

which is exact through messages the receiver never got. Messages are numbered in a causal order, so this is one pass
from the last to the first. It is vectorised in two ways: where nearly all is delivered in order, `cover(m)` is the
least `out` of its children and only exceptions are carried further (`quick`); else blocks of 64 messages are taken at
a time, for many receivers at once, each block closed under causality beforehand (`blocks`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["NEVER", "Graph", "blocks", "closure", "quick"]

Ints = NDArray[Any]

NEVER = np.int32(2**31 - 1)
"""The step of what did not happen."""

BLOCK = 64
"""Messages per block: one bit each in a word."""

EDGES_AT_ONCE = 4_000_000
"""Edges looked at in one go: 16 MB a column."""

ROUNDS = 48
"""How far exceptions are carried one generation at a time before blocks are the cheaper way."""


@dataclass
class Graph:
    """Messages 0..count-1 in a causal order, their parents and children as offsets and indices."""

    count: int
    parent_at: Ints
    parent: Ints
    child_at: Ints
    child: Ints

    @cached_property
    def inside(self) -> Ints:
        """Message -> bits of its descendants within its own block."""
        mask = np.zeros(-(-self.count // BLOCK) * BLOCK, np.uint64)
        one = np.uint64(1)
        for start, stop in slices(self.child_at, self.count):
            child = self.child[self.child_at[start] : self.child_at[stop]]
            above = np.repeat(np.arange(start, stop, dtype=np.int64), np.diff(self.child_at[start : stop + 1]))
            near = child // BLOCK == above // BLOCK
            np.bitwise_or.at(mask, above[near], one << (child[near] % BLOCK).astype(np.uint64))
        grid = mask.reshape(-1, BLOCK)
        for bit in range(BLOCK - 1, -1, -1):  # backwards: what a column adds is closed already
            has = (grid >> np.uint64(bit)) & one
            grid |= has * grid[:, bit : bit + 1]
        return mask

    @cached_property
    def outside(self) -> tuple[Ints, Ints]:
        """Offsets and indices of the children in later blocks."""
        counts = np.zeros(self.count + 1, np.int64)
        kept = []
        for start, stop in slices(self.child_at, self.count):
            child = self.child[self.child_at[start] : self.child_at[stop]]
            above = np.repeat(np.arange(start, stop, dtype=np.int64), np.diff(self.child_at[start : stop + 1]))
            far = child // BLOCK != above // BLOCK
            kept.append(np.asarray(child[far]))
            counts[start + 1 : stop + 1] = np.bincount(above[far] - start, minlength=stop - start)
        return np.cumsum(counts), np.concatenate(kept) if kept else np.zeros(0, np.int32)


def slices(at: Ints, count: int, edges: int = EDGES_AT_ONCE) -> list[tuple[int, int]]:
    """Ranges of messages with about `edges` edges each."""
    if count == 0:
        return []
    cuts = np.searchsorted(at, np.arange(0, int(at[count]) + edges, edges), side="left")
    borders = sorted({0, count, *(int(c) for c in cuts if 0 < c < count)})
    return list(pairwise(borders))


def lists(at: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """The places of all entries of these rows, and for each the number of the row in `rows`."""
    sizes = at[rows + 1] - at[rows]
    owner = np.repeat(np.arange(len(rows)), sizes)
    ends = np.cumsum(sizes)
    places = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - sizes, sizes)
    return places + np.repeat(at[rows], sizes), owner


def quick(graph: Graph, out: Ints, rounds: int = ROUNDS) -> Ints | None:
    """The cover of every message at one receiver; None where too much is missing for this way to be quick."""
    if int((out == NEVER).sum()) * 4 > graph.count:
        return None
    cover = np.full(graph.count, NEVER, np.int32)
    for start, stop in slices(graph.child_at, graph.count):
        at = graph.child_at[start : stop + 1]
        values = out[graph.child[at[0] : at[-1]]]
        some = np.flatnonzero(at[1:] > at[:-1])
        if len(some):
            cover[start + some] = np.minimum.reduceat(values, at[some] - at[0])
    carriers = np.flatnonzero(cover < out)
    for _ in range(rounds):
        # Who is out and not covered before needs not be carried further: its parents know the step it was out.
        if not len(carriers):
            return cover
        places, owner = lists(graph.parent_at, carriers)
        parents = graph.parent[places]
        told = cover[carriers][owner]
        news = told < cover[parents]
        parents, told = parents[news], told[news]
        np.minimum.at(cover, parents, told)
        carriers = np.unique(parents)
        carriers = carriers[cover[carriers] < out[carriers]]
    return None


def blocks(graph: Graph, out: Ints) -> Ints:
    """The cover of every message at many receivers: `out` and the result are messages x receivers."""
    count, receivers = out.shape
    cover = np.full((count, receivers), NEVER, np.int32)
    if count == 0:
        return cover
    least = np.empty((count, receivers), np.int32)
    at, child = graph.outside
    inside = graph.inside
    for number in range((count - 1) // BLOCK, -1, -1):
        start, stop = number * BLOCK, min(count, number * BLOCK + BLOCK)
        mine = cover[start:stop]
        bounds = at[start : stop + 1]
        if bounds[-1] > bounds[0]:
            some = np.flatnonzero(bounds[1:] > bounds[:-1])
            values = least[child[bounds[0] : bounds[-1]]]
            mine[some] = np.minimum.reduceat(values, bounds[some] - bounds[0], axis=0)
        mask = inside[start:stop]
        if mask.any():
            first = np.minimum(mine, out[start:stop])
            bits = np.unpackbits(mask.view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
            above, below = np.nonzero(bits)
            heads = np.flatnonzero(np.diff(above, prepend=-1))
            some = above[heads]
            mine[some] = np.minimum(mine[some], np.minimum.reduceat(first[below], heads, axis=0))
        np.minimum(mine, out[start:stop], out=least[start:stop])
    return cover


def closure(graph: Graph, members: Ints) -> Ints:
    """Which messages are among `members` or lie before one of them."""
    inside = np.zeros(graph.count, bool)
    inside[members] = True
    rows = np.unique(members)
    for _ in range(ROUNDS):
        if not len(rows):
            return inside
        above = np.unique(graph.parent[lists(graph.parent_at, rows)[0]])
        rows = above[~inside[above]]
        inside[rows] = True
    out = np.full((graph.count, 1), NEVER, np.int32)
    out[members] = 0
    inside |= blocks(graph, out)[:, 0] == 0
    return inside
