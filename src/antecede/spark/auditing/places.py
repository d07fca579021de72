"""Tables of other systems: who delivered what in which order, and what each message came after, by parents or clocks.

Decided in this file: inversions and duplicates are violations; a parent that a receiver never got is listed as missing
and is none, since such a table says neither what the receiver asked for nor until when it had to wait. Deliveries at
one position have no order among themselves, so none of them overtook another. What is among its own causes, or comes
after such, is set aside by name, and the rest is judged.

Vector clocks become parents so: of every host a clock names, the last step up to that count which the table holds;
steps it does not hold are said to be absent. That is exact where clocks are what vector clocks are; it is verified edge
by edge, and where it fails all pairs are compared, or the table is refused as too large for that.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from antecede.errors import InputError
from antecede.spark.auditing.cover import NEVER, Graph
from antecede.spark.auditing.cyclic import reasons
from antecede.spark.auditing.judge import Found
from antecede.spark.auditing.keys import Finder
from antecede.spark.auditing.messages import Messages, build_messages, number
from antecede.spark.auditing.part import Part

__all__ = ["COMPARED", "Clocks", "TableMessages", "clock_edges", "judge_places", "table_messages"]

Ints = NDArray[Any]

COMPARED = 20_000
"""Messages of which all pairs are compared, where clocks are none that could be followed."""


@dataclass
class TableMessages:
    """The messages of a table, and parents of theirs that it does not hold."""

    messages: Messages
    absent_at: Ints
    """Offsets by message into `absent`."""
    absent: Ints
    """Numbers among `absent_keys`."""
    absent_keys: Ints
    aside: list[tuple[str, str]] = field(default_factory=list)
    """(id, why) of what was set aside."""
    doubts: list[tuple[str, str]] = field(default_factory=list)
    """(id, what) of what the rows leave open."""


def table_messages(names: Any, key: Ints, position: Ints, parent_at: Ints, parents: Ints) -> TableMessages:
    """From rows with parents as keys; several rows of one id are joined."""
    order = np.lexsort((position, key))
    key, position = key[order], position[order]
    first = np.ones(len(key), bool)
    first[1:] = key[1:] != key[:-1]
    row_of = np.cumsum(first) - 1
    keys, names, position = key[first], names.take(pa.array(order[first])), position[first]
    sizes = np.diff(parent_at)[order]
    starts = parent_at[:-1][order]
    places = np.repeat(starts - (np.cumsum(sizes) - sizes), sizes) + np.arange(int(sizes.sum()))
    parents, child = parents[places], np.repeat(row_of, sizes)
    doubts = [(names[int(one)].as_py(), reason) for one, reason in differing(row_of, sizes, parents)]
    spot = Finder(keys).find(parents) if len(keys) else np.zeros(0, np.int64)
    known = spot >= 0
    absent_keys, which = np.unique(parents[~known], return_inverse=True)
    lacking = child[~known]
    rank, parent, child = number(position, spot[known], child[known]), spot[known], child[known]
    aside: list[tuple[str, str]] = []
    left = rank < 0
    if left.any():
        aside = list(reasons(left, parent, child, lambda one: str(names[one].as_py())))
        here = np.cumsum(~left) - 1
        inner = ~left[child]
        parent, child = here[parent[inner]], here[child[inner]]
        which, lacking = which[~left[lacking]], here[lacking[~left[lacking]]]
        keys, position, rank, names = keys[~left], position[~left], rank[~left], names.filter(pa.array(~left))
    messages = build_messages(key=keys, names=names, time_us=position, parent=parent, child=child, rank=rank)
    pairs = np.unique(rank[lacking] * max(1, len(absent_keys)) + which)
    owner, absent = pairs // max(1, len(absent_keys)), pairs % max(1, len(absent_keys))
    absent_at = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(keys)))])
    return TableMessages(messages, absent_at, absent, absent_keys, aside, doubts)


def differing(row_of: Ints, sizes: Ints, parents: Ints) -> list[tuple[int, str]]:
    """Messages whose rows name different parents."""
    if not len(row_of):
        return []
    # The sum of stirred keys is the same for the same set in any order.
    ends = np.cumsum(sizes)
    running = np.concatenate([[np.uint64(0)], np.cumsum(parents * np.uint64(0x9E3779B97F4A7C15), dtype=np.uint64)])
    sums = running[ends] - running[ends - sizes]
    same = (row_of[1:] == row_of[:-1]) & ((sums[1:] != sums[:-1]) | (sizes[1:] != sizes[:-1]))
    text = "comes with different parents in different rows: all of them are taken"
    return [(int(one), text) for one in np.unique(row_of[1:][same])]


# --- clocks ----------------------------------------------------------------------------------------------------------


@dataclass
class Clocks:
    """One clock for each message: entries by offset, hosts as numbers, counts above 0."""

    at: Ints
    host: Ints
    count: Ints
    own: Ints
    """For each message the number of its own host; -1: not known."""


def clock_edges(clocks: Clocks, names: Any) -> tuple[Ints, Ints, list[tuple[int, int, int]]]:
    """Parent and child for every cause, and entries (message, host, count) of steps that are not there."""
    size = len(clocks.at) - 1
    event = np.repeat(np.arange(size), np.diff(clocks.at))
    owner = owners(clocks, event)
    mine = owner == event
    codes = clocks.host.astype(np.int64) << 40 | clocks.count.astype(np.int64)
    order = np.argsort(codes[mine], kind="stable")
    steps, holders = codes[mine][order], event[mine][order]
    # The last step of that host up to the count; of one's own the one before.
    place = np.searchsorted(steps, codes - mine, side="right") - 1
    there = (place >= 0) & (steps[np.maximum(place, 0)] >> 40 == clocks.host) if len(steps) else np.zeros(0, bool)
    parent, child = holders[place[there]], event[there]
    exact = np.searchsorted(steps, codes) if len(steps) else codes
    absent = ~mine & (steps[np.minimum(exact, len(steps) - 1)] != codes) if len(steps) else ~mine
    named = np.flatnonzero(absent)
    _, firsts = np.unique(codes[named], return_index=True)
    missing = [(int(event[i]), int(clocks.host[i]), int(clocks.count[i])) for i in named[firsts]]
    twice = bool((steps[1:] == steps[:-1]).any())  # two messages that are the same step of a host
    if twice or len(np.unique(event[mine])) < size or not covered(clocks, parent, child):
        parent, child = compared(clocks, names)
    return parent, child, missing


def owners(clocks: Clocks, event: Ints) -> Ints:
    """For each entry (host, count) the message that is that step: the least of the clocks that hold it."""
    if (clocks.own >= 0).all():
        return np.where(clocks.own[event] == clocks.host, event, -1)
    total = np.bincount(event, clocks.count, minlength=len(clocks.at) - 1)
    order = np.lexsort((event, total[event], clocks.count, clocks.host))
    fresh = np.ones(len(order), bool)
    host, count = clocks.host[order], clocks.count[order]
    fresh[1:] = (host[1:] != host[:-1]) | (count[1:] != count[:-1])
    result = np.empty(len(event), np.int64)
    result[order] = event[order[fresh]][np.cumsum(fresh) - 1]
    return result


def covered(clocks: Clocks, parent: Ints, child: Ints) -> bool:
    """Whether every parent's clock is at most its child's in every entry, and they differ."""
    size = len(clocks.at) - 1
    total = np.bincount(np.repeat(np.arange(size), np.diff(clocks.at)), clocks.count, minlength=size)
    if (total[parent] >= total[child]).any():
        return False
    hosts = int(clocks.host.max()) + 1 if len(clocks.host) else 1
    codes = np.repeat(np.arange(size), np.diff(clocks.at)) * hosts + clocks.host
    order = np.argsort(codes)
    codes, counts = codes[order], clocks.count[order]
    for start in range(0, len(parent), 1_000_000):
        above, below = parent[start : start + 1_000_000], child[start : start + 1_000_000]
        sizes = clocks.at[above + 1] - clocks.at[above]
        places = np.repeat(clocks.at[above] - (np.cumsum(sizes) - sizes), sizes) + np.arange(int(sizes.sum()))
        wanted = np.repeat(below, sizes) * hosts + clocks.host[places]
        spot = np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)
        if ((codes[spot] != wanted) | (counts[spot] < clocks.count[places])).any():
            return False
    return True


def compared(clocks: Clocks, names: Any) -> tuple[Ints, Ints]:
    """Every pair, by the definition: no entry is greater, and the clocks differ."""
    size = len(clocks.at) - 1
    if size > COMPARED:
        raise InputError(
            f"the clocks of this table do not follow from each other step by step, and with {size} messages not all "
            "pairs can be compared: name the column of the host (sender)"
        )
    hosts, which = np.unique(clocks.host, return_inverse=True)
    grid = np.zeros((size, len(hosts)), np.int64)
    grid[np.repeat(np.arange(size), np.diff(clocks.at)), which] = clocks.count
    parents, children = [], []
    some = grid.any(axis=1)
    for child in range(size):
        before = (grid <= grid[child]).all(axis=1) & (grid != grid[child]).any(axis=1) & some
        above = np.flatnonzero(before)
        parents.append(above)
        children.append(np.full(len(above), child))
    return np.concatenate(parents), np.concatenate(children)


# --- one receiver ----------------------------------------------------------------------------------------------------


def direct(graph: Graph, out: Ints) -> Ints:
    """Message -> the first step at which a child of it was out."""
    least = np.full(graph.count, NEVER, np.int32)
    some = np.flatnonzero(graph.child_at[1:] > graph.child_at[:-1])
    if len(some):
        least[some] = np.minimum.reduceat(out[graph.child], graph.child_at[:-1][some])
    return least


def judge_places(
    table: TableMessages, part: Part, message: Ints, position: Ints, out: Ints, covered: Ints
) -> list[Found]:
    """`message` (numbers of the part) and `position` in the order of delivery; `out` and `covered` in places of it.

    What is found has the numbers of the table. A parent that the table does not hold has the number -2 less its number
    among `absent_keys`.
    """
    found = []
    whole = message if part.numbers is None else part.numbers[message]
    first = out[message] == np.arange(len(message))
    for place in np.flatnonzero(~first).tolist():
        text = "delivered {m} a second time"
        found.append(Found("duplicate", int(whole[place]), -1, int(position[place]), text))
    overtaking = covered[message]
    places = np.flatnonzero(first & (overtaking != NEVER))
    places = places[position[overtaking[places]] < position[places]]
    text = "delivered {m} after {o}, although {m} -> {o}"
    for place, other in zip(places.tolist(), overtaking[places].tolist(), strict=True):
        found.append(Found("inversion", int(whole[place]), int(whole[other]), int(position[place]), text))
    if table.messages.about.get("clocks"):
        return found  # a clock names nobody's parents
    text = "delivered {m}, but never its parent {o}"
    least = direct(part.graph, out)
    for one in np.flatnonzero((out == NEVER) & (least != NEVER)).tolist():
        spot = int(least[one])
        found.append(Found("missing", int(whole[spot]), part.outside(one), int(position[spot]), text))
    if len(table.absent):
        sizes = np.diff(table.absent_at)[whole]
        starts = table.absent_at[whole]
        spots = np.repeat(starts - (np.cumsum(sizes) - sizes), sizes) + np.arange(int(sizes.sum()))
        absent, place_of = table.absent[spots], np.repeat(np.arange(len(whole)), sizes)
        which, heads = np.unique(absent, return_index=True)
        for one, spot in zip(which.tolist(), place_of[heads].tolist(), strict=True):
            found.append(Found("missing", int(whole[spot]), -2 - one, int(position[spot]), text))
    return found
