"""From the records of runs to what each receiver saw coming: one row per arrival, with everything it comes after.

Decided in this file: a view is one process of one run. Its rows are what arrived there and what it published itself, as
they came. The parents of a row are, for every sender, the latest message in its past that the receiver could get (a
filter matches, and it does not lie behind the cut at which the receiver joined): so nothing is hidden behind a message
that was lost on the way, and nobody waits for what was never meant for him. Causes are those of `trace/history.py`:
one's own previous message, and as `publish` says everything out so far or exactly `after`.

One run is one task: happened-before runs through all its processes. It holds one clock per message, a number for each
sender and set of topics; a million messages of a hundred senders are beyond one task, and a matter of the audit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import pyarrow as pa

from antecede.core.message import split_id
from antecede.core.topics import matches
from antecede.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["ARRIVALS", "arrivals", "causes_by_view"]

Stream: TypeAlias = tuple[str, tuple[str, ...]]
"""A sender and the topics of some of its messages."""
Clock: TypeAlias = dict[Stream, int]

TELLING = ("run", "process", "step", "at_us", "kind", "message", "groups", "deadline_us", "after", "cut")
ARRIVALS = "view string, run string, receiver string, message string, sender string, seq bigint, topics array<string>, \
parents array<string>, deadline_us bigint, sent_us bigint, arrived_us bigint, fault string"
"""The columns of `arrivals`; `fault` says why a row cannot be ordered, null if it can."""

_schema: Any = pa.schema  # its stub takes lists of one type only
_CAUSES = _schema(
    [
        ("run", pa.string()),
        ("audience", pa.int64()),
        ("message", pa.string()),
        ("topics", pa.list_(pa.string())),
        ("parents", pa.list_(pa.string())),
        ("deadline_us", pa.int64()),
        ("sent_us", pa.int64()),
    ]
)
_AUDIENCES = _schema([("run", pa.string()), ("process", pa.string()), ("audience", pa.int64())])


class Step(NamedTuple):
    """A row of one process, as far as it says what comes after what."""

    at_us: int
    process: str
    kind: str
    message: str
    groups: tuple[str, ...]
    deadline_us: int | None
    after: tuple[str, ...] | None


class Audience(NamedTuple):
    """Who gets the same: filters, and what lay behind when they joined."""

    filters: frozenset[str]
    cut: tuple[tuple[str, int], ...]


def audiences(joins: Iterable[tuple[str, Sequence[str] | None, Sequence[str] | None]]) -> dict[str, Audience]:
    """Per process: all filters it ever joined with; and the cut of its first join."""
    filters: dict[str, set[str]] = {}
    cuts: dict[str, tuple[tuple[str, int], ...]] = {}
    for process, groups, cut in joins:
        filters.setdefault(process, set()).update(groups or ())
        cuts.setdefault(process, tuple(sorted(map(split_id, cut or ()))))
    return {process: Audience(frozenset(wanted), cuts[process]) for process, wanted in filters.items()}


def clocks(steps: dict[str, list[Step]]) -> Iterator[tuple[Step, Clock]]:
    """Every publication with all it comes after, in a causal order; rows of a process by step."""
    published = {row.message for rows in steps.values() for row in rows if row.kind == "publish"}
    known: dict[str, tuple[Clock, Stream, int]] = {}
    past: dict[str, Clock] = {process: {} for process in steps}
    own: dict[str, str] = {}
    place = dict.fromkeys(steps, 0)
    waiting: dict[str, list[str]] = {}
    ready = [(rows[0].at_us, process) for process, rows in steps.items() if rows]
    heapify(ready)

    def add(clock: Clock, message: str) -> None:
        told, stream, number = known[message]
        for entry, reached in told.items():
            if clock.get(entry, -1) < reached:
                clock[entry] = reached
        if clock.get(stream, -1) < number:
            clock[stream] = number

    while ready:
        _, process = heappop(ready)
        row = steps[process][place[process]]
        needs = (row.message,) if row.kind == "deliver" else row.after or ()
        blocker = next((m for m in needs if m in published and m not in known), None)
        if blocker is not None:
            waiting.setdefault(blocker, []).append(process)
            continue
        if row.kind == "deliver":
            if row.message in known:
                add(past[process], row.message)
        elif row.message not in known:
            if row.after is None:
                clock = dict(past[process])
            else:
                clock = {}
                for cause in (*row.after, *filter(None, (own.get(process),))):
                    if cause in known:
                        add(clock, cause)
            sender, number = split_id(row.message)
            known[row.message] = (clock, (sender, row.groups), number)
            own[process] = row.message
            add(past[process], row.message)
            yield row, clock
            for other in waiting.pop(row.message, ()):
                heappush(ready, (steps[other][place[other]].at_us, other))
        place[process] += 1
        if place[process] < len(steps[process]):
            heappush(ready, (steps[process][place[process]].at_us, process))
    for message in waiting:
        raise InputError(f"The records contradict themselves: {message} is its own cause.")


def reduced(clock: Clock, audience: Audience, taken: dict[tuple[str, ...], bool]) -> list[str]:
    """The latest message of each sender in this past that the audience could get."""
    found: dict[str, int] = {}
    behind = dict(audience.cut)
    for (sender, topics), number in clock.items():
        wanted = taken.get(topics)
        if wanted is None:
            wanted = taken[topics] = any(matches(f, topic) for f in audience.filters for topic in topics)
        if wanted and number > behind.get(sender, -1) and found.get(sender, -1) < number:
            found[sender] = number
    return [f"{sender}:{found[sender]}" for sender in sorted(found)]


def causes_by_view(table: pa.Table, audiences_only: bool = False) -> pa.Table:
    """The kernel: rows of one run (columns TELLING) to the parents of every message for every audience.

    `audiences_only`: which process belongs to which audience instead.
    """
    columns = [table.column(name).to_pylist() for name in TELLING]
    rows = sorted(zip(*columns, strict=True), key=lambda row: (row[1], row[2]))
    run = rows[0][0] if rows else ""
    groups = audiences((row[1], row[6], row[9]) for row in rows if row[4] == "join")
    numbers = {audience: number for number, audience in enumerate(dict.fromkeys(groups.values()))}
    if audiences_only:
        told = [{"run": run, "process": process, "audience": numbers[of]} for process, of in groups.items()]
        return pa.Table.from_pylist(told, _AUDIENCES)
    steps: dict[str, list[Step]] = {}
    for _, process, _, at_us, kind, message, topics, deadline_us, after, _ in rows:
        if kind in ("publish", "deliver") and message is not None:
            listed = None if after is None else tuple(after)
            step = Step(at_us, process, kind, message, tuple(topics or ()), deadline_us, listed)
            steps.setdefault(process, []).append(step)
    out: dict[str, list[Any]] = {name: [] for name in _CAUSES.names}
    taken: list[dict[tuple[str, ...], bool]] = [{} for _ in numbers]
    for step, clock in clocks(steps):
        for audience, number in numbers.items():
            parents = reduced(clock, audience, taken[number])
            values = (run, number, step.message, list(step.groups), parents, step.deadline_us, step.at_us)
            for name, value in zip(_CAUSES.names, values, strict=True):
                out[name].append(value)
    return pa.table(out, _CAUSES)


def _causes(table: pa.Table) -> pa.Table:
    return causes_by_view(table)


def _audiences(table: pa.Table) -> pa.Table:
    return causes_by_view(table, audiences_only=True)


def arrivals(records: DataFrame, receivers: Sequence[str] | None = None) -> DataFrame:
    """What came to each process (to `receivers`, if given), in the columns ARRIVALS."""
    from pyspark.sql import functions as F
    from pyspark.sql.pandas.types import from_arrow_schema

    telling = records.where(F.col("kind").isin("publish", "deliver", "join")).select(*TELLING).groupBy("run")
    causes = telling.applyInArrow(_causes, from_arrow_schema(_CAUSES))
    who = telling.applyInArrow(_audiences, from_arrow_schema(_AUDIENCES))
    came = records.where(F.col("kind").isin("arrive", "publish") & F.col("message").isNotNull())
    if receivers is not None:
        came = came.where(F.col("process").isin(*receivers))
    came = came.select("run", "process", "message", F.col("at_us").alias("arrived_us"))
    joined = came.join(who, ["run", "process"]).join(causes, ["run", "audience", "message"], "left")
    name = F.col("message")
    number = F.regexp_extract(name, r":(\d+)$", 1)
    fault = F.when(number == "", "the id is not sender:seq").when(F.col("sent_us").isNull(), "nobody published it")
    return joined.select(
        F.concat_ws("/", "run", "process").alias("view"),
        "run",
        F.col("process").alias("receiver"),
        "message",
        F.regexp_extract(name, r"^(.*):\d+$", 1).alias("sender"),
        F.when(number != "", number).cast("bigint").alias("seq"),
        "topics",
        "parents",
        "deadline_us",
        "sent_us",
        "arrived_us",
        fault.alias("fault"),
    )
