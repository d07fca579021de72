"""The table of one run's messages: numbered in a causal order, with parents, children, deadlines, topics and names.

Decided in this file: what the causes of a message are (as `trace/history.py` has it: the sender's previous message, and
what its `publish` row says: everything that was out there before, or exactly `after`; an unordered message has none and
is none), how a causal order is found without a loop over messages where times nearly are one, and the form on disk: one
file a column, to be mapped into memory, so that all tasks on a machine share it and none needs it whole.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from antecede.errors import InputError
from antecede.spark.auditing.cover import Graph
from antecede.spark.auditing.cyclic import on_cycle
from antecede.spark.auditing.keys import Finder

__all__ = ["NONE_US", "Messages", "build_messages", "causes_of", "number"]

Ints = NDArray[Any]

NONE_US = np.int64(2**63 - 1)
"""The deadline of what has none."""

ROUNDS = 200
"""How often times may be pushed behind those of causes before a plain walk through the messages is the surer way."""

AT_ONCE = 4_000_000
"""Edges sorted together: about 100 MB."""

ARRAYS = (
    "keys",
    "place",
    "parent_at",
    "parent",
    "child_at",
    "child",
    "deadline_us",
    "expires_us",
    "publisher",
    "set",
    "named",
)


@dataclass
class Messages:
    """Columns by dense number; `keys` are sorted and `place` says which number each belongs to."""

    keys: Ints
    place: Ints
    graph: Graph
    deadline_us: Ints
    expires_us: Ints
    publisher: Ints
    """Number of the process among `processes`; -1: unknown."""
    set: Ints
    """Number of its set of topics among `sets`."""
    names: Any
    """In any order: `named` says which is whose."""
    named: Ints
    sets: list[list[str]] = field(default_factory=list)
    processes: list[str] = field(default_factory=list)
    about: dict[str, Any] = field(default_factory=dict)
    """What is known of the run as a whole: JSON."""
    extra: dict[str, Ints] = field(default_factory=dict)
    """Further columns, of any length (`loose`: the numbers of unordered messages, by publisher and step)."""
    cache: dict[Any, Any] = field(default_factory=dict)
    """What the processes of this run share while they are judged."""
    _finder: Finder | None = None

    @property
    def count(self) -> int:
        return self.graph.count

    def find(self, keys: Ints) -> Ints:
        """The numbers of these keys; -1 where nobody published it."""
        if self._finder is None:
            self._finder = Finder(self.keys)
        if not len(self.keys):
            return np.full(len(keys), -1, np.int32)
        spot = self._finder.find(keys)
        return np.where(spot >= 0, self.place[spot], -1).astype(np.int32)

    def due_us(self, role: str) -> Ints:
        """After this it is of no use to a process of that role (NONE_US: never)."""
        return np.minimum(self.deadline_us, self.expires_us) if role == "subscriber" else self.deadline_us

    def name(self, number: int) -> str:
        return str(self.names[int(self.named[number])].as_py())

    def save(self, directory: str | Path) -> None:
        """Appears under its name only when it is whole; who comes second leaves what is there."""
        target = Path(directory)
        temporary = target.with_name(f".{target.name}.{id(self)}.tmp")
        temporary.mkdir(parents=True)
        graph = self.graph
        columns = {**vars(self), "parent_at": graph.parent_at, "parent": graph.parent}
        columns |= {"child_at": graph.child_at, "child": graph.child}
        for name in ARRAYS:
            np.save(temporary / f"{name}.npy", columns[name], allow_pickle=False)
        for name, column in self.extra.items():
            np.save(temporary / f"extra_{name}.npy", column, allow_pickle=False)
        names = pa.table({"name": self.names.cast(pa.large_string())})
        with pa.OSFile(str(temporary / "names.arrow"), "wb") as file, pa.ipc.new_file(file, names.schema) as writer:
            writer.write_table(names)
        rest = {"sets": self.sets, "processes": self.processes, "about": self.about, "count": graph.count}
        rest["extra"] = sorted(self.extra)
        (temporary / "about.json").write_text(json.dumps(rest), encoding="utf-8")
        try:
            temporary.rename(target)
        except OSError:
            shutil.rmtree(temporary, ignore_errors=True)
            if not target.exists():
                raise

    @classmethod
    def load(cls, directory: str | Path) -> Messages:
        place = Path(directory)
        rest = json.loads((place / "about.json").read_text(encoding="utf-8"))
        mapped: dict[str, Any] = {}
        for name in (*ARRAYS, *(f"extra_{name}" for name in rest["extra"])):
            file = place / f"{name}.npy"
            # What is empty cannot be mapped.
            array = np.load(file, mmap_mode="r" if file.stat().st_size > 4096 else None, allow_pickle=False)
            mapped[name] = array.view(np.ndarray)
        extra = {name: mapped.pop(f"extra_{name}") for name in rest["extra"]}
        graph = Graph(rest["count"], *(mapped.pop(n) for n in ("parent_at", "parent", "child_at", "child")))
        names = pa.ipc.open_file(pa.memory_map(str(place / "names.arrow"))).read_all().column("name")
        return cls(
            graph=graph,
            names=names,
            sets=rest["sets"],
            processes=rest["processes"],
            about=rest["about"],
            extra=extra,
            **mapped,
        )


def causes_of(process: Ints, step: Ints, free: Ints, heard: tuple[Ints, Ints, Ints] | None) -> tuple[Ints, Ints]:
    """Pairs (what was out, publication it is a cause of) that follow from the order at each process.

    Publications are given by process and step, in that order; `free` are those that name no causes: everything out
    there before is one. `heard` are deliveries: process, step, and what is returned for them. Returned for a
    publication is its own number with a minus sign, less one, so that the two cannot be confused.
    """
    numbers = np.arange(len(process), dtype=np.int64)
    previous = np.flatnonzero(process[1:] == process[:-1]) if len(process) else numbers
    causes, effects = [-1 - previous], [previous + 1]
    which = np.flatnonzero(free)
    if len(which):
        code = ordinal(process, step)
        ends = code[which]
        for events, told, who in ((code, -1 - numbers, process), *([] if heard is None else [hearing(heard)])):
            # Each is a cause of the next free publication there; what is older is a cause of that one's causes.
            following = np.searchsorted(ends, events, side="right")
            inside = following < len(which)
            target = which[np.minimum(following, len(which) - 1)]
            inside &= process[target] == who
            causes.append(told[inside])
            effects.append(target[inside])
    return np.concatenate(causes), np.concatenate(effects)


def hearing(heard: tuple[Ints, Ints, Ints]) -> tuple[Ints, Ints, Ints]:
    process, step, told = heard
    return ordinal(process, step), told, process


def ordinal(process: Ints, step: Ints) -> Ints:
    return (process.astype(np.int64) << 40) | step.astype(np.int64)


def number(time_us: Ints, parent: Ints, child: Ints) -> Ints:
    """A causal order close to that of time: for each message its number; -1: it lies on a cycle, or after one."""
    count = len(time_us)
    order = np.argsort(time_us, kind="stable")
    rank = np.empty(count, np.int64)
    rank[order] = np.arange(count)
    late = too_early(rank, parent, child)
    if not len(late):
        return rank
    height = rank << 20
    for _ in range(ROUNDS):
        np.maximum.at(height, child[late], height[parent[late]] + 1)
        late = too_early(height, parent, child)
        if not len(late):
            order = np.argsort(height, kind="stable")
            rank[order] = np.arange(count)
            return rank
    return walked(count, rank, parent, child)


def too_early(height: Ints, parent: Ints, child: Ints) -> Ints:
    """Edges whose child does not stand above its parent."""
    found = [
        start + np.flatnonzero(height[parent[start : start + AT_ONCE]] >= height[child[start : start + AT_ONCE]])
        for start in range(0, len(parent), AT_ONCE)
    ]
    return np.concatenate(found) if found else np.zeros(0, np.int64)


def walked(count: int, rank: Ints, parent: Ints, child: Ints) -> Ints:
    """The same by taking away, again and again, what has no cause left; near the given rank where there is a choice.

    What is never without a cause lies on a cycle or after one.
    """
    from heapq import heapify, heappop, heappush

    order = np.argsort(parent, kind="stable")
    at = np.concatenate([[0], np.cumsum(np.bincount(parent, minlength=count))]).tolist()
    views: list[Any] = [child[order].astype(np.int64), np.bincount(child, minlength=count), rank.copy()]
    below: Any
    waits: Any
    places: Any
    below, waits, places = (memoryview(view) for view in views)
    result = np.full(count, -1, np.int64)
    ready = [(places[m], m) for m in range(count) if not waits[m]]
    heapify(ready)
    done = 0
    while ready:
        _, message = heappop(ready)
        result[message] = done
        done += 1
        for edge in range(at[message], at[message + 1]):
            other = below[edge]
            waits[other] -= 1
            if not waits[other]:
                heappush(ready, (places[other], other))
    return result


def csr(rows: Ints, values: Ints, count: int) -> tuple[Ints, Ints]:
    """Offsets and values by row; needs memory for the result and a few millions of pairs."""
    sizes = np.zeros(count + 1, np.int64)
    for start in range(0, len(rows), AT_ONCE):
        sizes[1:] += np.bincount(rows[start : start + AT_ONCE], minlength=count)
    at = np.cumsum(sizes)
    result = np.empty(len(rows), np.int32)
    free = at[:-1].copy()
    for start in range(0, len(rows), AT_ONCE):
        mine = rows[start : start + AT_ONCE]
        order = np.argsort(mine, kind="stable")
        mine = mine[order]
        heads = np.flatnonzero(np.diff(mine, prepend=-1))
        lengths = np.diff(heads, append=len(mine))
        within = np.arange(len(mine)) - np.repeat(heads, lengths)
        result[free[mine] + within] = values[start : start + AT_ONCE][order]
        free[mine[heads]] += lengths
    return at, result


def build_messages(
    *,
    key: Ints,
    names: Any,
    time_us: Ints,
    parent: Ints,
    child: Ints,
    deadline_us: Ints | None = None,
    expires_us: Ints | None = None,
    publisher: Ints | None = None,
    set: Ints | None = None,
    sets: list[list[str]] | None = None,
    processes: list[str] | None = None,
    about: dict[str, Any] | None = None,
    rank: Ints | None = None,
) -> Messages:
    """The table from messages in any order (keys all different) and edges between them; InputError on a cycle.

    `rank` is what `number` says, where that is known already.
    """
    count = len(key)
    rank = number(time_us, parent, child) if rank is None else rank
    if (rank < 0).any():
        name = names[int(on_cycle(rank < 0, parent, child)[0])].as_py()
        raise InputError(f"the records contradict themselves: {name} is among its own causes")
    old = np.empty(count, np.int64)
    old[rank] = np.arange(count)
    sorting = np.arange(count) if (key[1:] > key[:-1]).all() else np.argsort(key)

    def dense(column: Ints | None, missing: int | np.int64, kind: Any) -> Ints:
        return np.full(count, missing, kind) if column is None else column[old].astype(kind)

    small = rank.astype(np.int32)
    parent, child = small[parent], small[child]
    graph = Graph(count, *csr(child, parent, count), *csr(parent, child, count))
    return Messages(
        keys=key[sorting],
        place=rank[sorting].astype(np.int32),
        graph=graph,
        deadline_us=dense(deadline_us, NONE_US, np.int64),
        expires_us=dense(expires_us, NONE_US, np.int64),
        publisher=dense(publisher, -1, np.int32),
        set=dense(set, 0, np.int32),
        names=names,
        named=old.astype(np.int32),
        sets=sets or [],
        processes=processes or [],
        about=about or {},
    )
