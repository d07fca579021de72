"""Parents in other groups, in a batch: each is replaced by its nearest ancestors inside the row's own group.

Nobody can wait in one group for a row of another, and skipping it would lose the order that runs through it. So the
graph is walked up through rows of other groups until it comes back. Decided in this file: the walk is one task over
names, groups and parents of the whole table, without payload, about 300 bytes a row: a task's memory is its limit. It
is made only where there are such parents; to find out costs one more pass over the same columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from antecede.spark.order.arrow import lists, runs
from antecede.spark.tables.making import array

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["has_foreign", "nearest", "project"]

MOVED = "_to_group string, _to_name string, _to_needs array<string>"
GRAPH = ("_group", "_name", "_other", "_needs")


def has_foreign(read: DataFrame) -> bool:
    """Whether some parent is in another group and not in the row's own. Runs a job."""
    from pyspark.sql import functions as f

    narrow = read.select(*GRAPH)
    absent = narrow.repartition("_group").sortWithinPartitions("_group").mapInArrow(not_in_group, "absent string")
    names = narrow.select(f.explode(f.array("_name", "_other")).alias("absent")).where("absent is not null")
    return not absent.distinct().join(names, "absent", "leftsemi").isEmpty()


def not_in_group(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Names that rows of a group need and no row of it has."""
    present: set[str | None] = set()
    wanted: set[str | None] = set()
    group: object = object()
    for batch in batches:
        start = 0
        for edge, here in zip(*runs(batch["_group"]), strict=True):
            if here != group:
                yield as_batch(wanted - present)
                present, wanted, group = set(), set(), here
            part: Any = batch.slice(start, edge - start)
            present.update(part["_name"].to_pylist())
            if part["_other"].null_count < part.num_rows:
                present.update(part["_other"].to_pylist())
            wanted.update(part["_needs"].flatten().to_pylist())
            start = edge
    yield as_batch(wanted - present)


def as_batch(names: set[str | None]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([array(sorted(n for n in names if n), pa.string())], ["absent"])


def project(read: DataFrame) -> DataFrame:
    """The table, its `_needs` all within their group as far as the table knows."""
    from pyspark.sql import functions as f

    moved = read.select(*GRAPH).repartition(1).mapInArrow(projected, MOVED)
    here = read["_group"].eqNullSafe(moved["_to_group"]) & (read["_name"] == moved["_to_name"])
    needs = f.coalesce("_to_needs", "_needs").alias("_needs")
    return read.join(moved, here, "left").select(*(needs if name == "_needs" else f.col(name) for name in read.columns))


def projected(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rows of which a parent is in another group, with what takes its place."""
    graph: dict[str, list[tuple[str | None, list[str]]]] = {}
    """name -> each group it is in, with what it needs there."""
    rows: list[tuple[str | None, str, list[str]]] = []
    for batch in batches:
        three = (batch["_group"].to_pylist(), batch["_name"].to_pylist(), batch["_other"].to_pylist())
        for group, name, other, needs in zip(*three, lists(batch["_needs"]), strict=True):
            if not name:
                continue
            clean = [need for need in dict.fromkeys(needs) if need and need != name]
            rows.append((group, name, clean))
            for one in (name, other):
                if one is not None and all(there != group for there, _ in graph.get(one, ())):
                    graph.setdefault(one, []).append((group, clean))
    known: dict[tuple[str, str | None], frozenset[str]] = {}
    out: tuple[list[str | None], list[str], list[list[str]]] = ([], [], [])
    told: set[tuple[str | None, str]] = set()
    for group, name, needs in rows:
        if (group, name) in told or not any(foreign(graph, need, group) for need in needs):
            continue
        told.add((group, name))
        found: dict[str, None] = {}
        for need in needs:
            near = nearest(graph, need, group, known) if foreign(graph, need, group) else (need,)
            found.update(dict.fromkeys(sorted(near)))
        found.pop(name, None)
        out[0].append(group)
        out[1].append(name)
        out[2].append(list(found))
    names = [part.split()[0] for part in MOVED.split(", ")]
    columns = [array(out[0], pa.string()), array(out[1], pa.string()), array(out[2], pa.list_(pa.string()))]
    yield from pa.table(columns, names=names).to_batches(max_chunksize=10_000)


def foreign(graph: dict[str, list[tuple[str | None, list[str]]]], name: str, group: str | None) -> bool:
    """In some other group, and not in this one."""
    homes = graph.get(name)
    return homes is not None and all(there != group for there, _ in homes)


def nearest(
    graph: dict[str, list[tuple[str | None, list[str]]]],
    start: str,
    group: str | None,
    known: dict[tuple[str, str | None], frozenset[str]],
) -> frozenset[str]:
    """The nearest ancestors of a foreign row inside `group`. A cycle outside of the group adds nothing."""
    stack, open_now = [start], {start}
    while stack:
        top = stack[-1]
        above = [need for _, needs in graph[top] for need in needs]
        todo = [n for n in above if foreign(graph, n, group) and (n, group) not in known and n not in open_now]
        if todo:
            stack.append(todo[0])
            open_now.add(todo[0])
            continue
        found: set[str] = set()
        for need in above:
            if foreign(graph, need, group):
                found |= known.get((need, group), frozenset())
            elif need in graph:
                found.add(need)
        known[(top, group)] = frozenset(found)
        open_now.discard(stack.pop())
    return known[(start, group)]
