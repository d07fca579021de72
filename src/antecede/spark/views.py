"""From the records of runs to what each receiver saw coming: one row per arrival, with everything it comes after.

Decided in this file: a view is one process of one run. Its rows are what arrived there and what it published itself, as
they came. The parents of a row are, for every sender, the latest message in its past that the receiver was owed or
published: so nothing is hidden behind a message that was lost on the way, and nobody waits for what was never meant for
him. What is in a message's past, and who is owed what, is not decided here: it is what the audit says
(`auditing/history`, `auditing/attendance`), and `trace/history.py` and `trace/pairs.py` before it.

One run is one task: happened-before runs through all its processes. It holds a number for each message and sender; a
million messages of a hundred senders are beyond one task, and a matter of the audit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from antecede.spark.auditing import telling
from antecede.spark.auditing.attendance import CONTROL, Debts
from antecede.spark.auditing.chunks import Coded
from antecede.spark.auditing.history import Told, controls_of, run_messages
from antecede.spark.auditing.keys import keys_of
from antecede.spark.auditing.messages import Messages
from antecede.trace.record import LATER, RETAINED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["ARRIVALS", "TELLING", "arrivals", "causes_by_view"]

Ints = NDArray[Any]

TELLING = (
    "run", "process", "role", "step", "at_us", "true_us", "kind", "message", "groups", "deadline_us", "expires_us",
    "after", "cut", "guard_us", "peer", "reason", "where", "headers",
)  # fmt: skip
"""The columns of a trace that say what comes after what, and who is owed what."""

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


def causes_by_view(table: pa.Table, audiences_only: bool = False) -> pa.Table:
    """The kernel: rows of one run (columns TELLING) to the parents of every message for every audience.

    An audience is all who could get the same. `audiences_only`: which process belongs to which audience instead.
    """
    run = str(table.column("run")[0]) if table.num_rows else ""
    told = telling.gather(
        [telling.publications(table)], [telling.controls(table)], telling.roles(table), [telling.heard(table)]
    )
    messages, _ = run_messages(told)
    masks = could_get(table, told, messages)
    numbers = {mask: number for number, mask in enumerate(dict.fromkeys(mask.tobytes() for mask in masks.values()))}
    if audiences_only:
        who = [{"run": run, "process": p, "audience": numbers[mask.tobytes()]} for p, mask in masks.items()]
        return pa.Table.from_pylist(who, _AUDIENCES)
    about = published(table, messages)
    latest = clocks(messages)
    parts = [_CAUSES.empty_table()]
    for mask, number in numbers.items():
        parents = reduced(messages, latest, np.frombuffer(mask, bool))
        same = {"run": pa.repeat(run, messages.count), "audience": pa.repeat(number, messages.count)}
        parts.append(pa.table({**same, **about, "parents": parents}).select(_CAUSES.names).cast(_CAUSES))
    return pa.concat_tables(parts)


def could_get(table: pa.Table, told: Told, messages: Messages) -> dict[str, Ints]:
    """For each process that ever joined, which messages it was owed (as `trace/pairs.py` has it) or published."""
    everything = np.arange(messages.count)
    cache: dict[Any, Any] = {}
    process, name = Coded.of(table.column("process")), keys_of(table.column("message"))
    found: dict[str, Ints] = {}
    for place, (who, mine) in enumerate(sorted(controls_of(told).items())):
        if not mine.memberships:
            continue
        own = messages.publisher == place
        debts = Debts(mine, messages, own, cache)
        mask = debts.to_the_end(everything) | own
        if any(member.ended is not None for member in mine.memberships):
            rows = messages.find(name[process.codes == process.words.index(who)])
            named = np.zeros(messages.count, bool)
            named[rows[rows >= 0]] = True
            mask |= debts.ever(everything) & named
        found[who] = mask
    return found


def published(table: pa.Table, messages: Messages) -> dict[str, Any]:
    """message, topics, deadline_us and sent_us, by number."""
    rows = telling.of_kinds(table, ("publish",))
    rows = rows.sort_by([("at_us", "descending"), ("process", "descending"), ("step", "descending")])
    number = messages.find(keys_of(rows.column("message")))
    place = np.zeros(messages.count, np.int64)
    place[number[number >= 0]] = np.flatnonzero(number >= 0)  # of several the first is written last
    rows = rows.take(pa.array(place)) if messages.count else rows.slice(0, 0)
    names = {"message": "message", "topics": "groups", "deadline_us": "deadline_us", "sent_us": "at_us"}
    return {new: rows.column(old).combine_chunks() for new, old in names.items()}


def series(messages: Messages) -> dict[int, Ints]:
    """Publisher -> the numbers of its messages that are ordered, in their order."""
    ordered = np.ones(messages.count, bool)
    ordered[messages.extra.get("loose", np.zeros(0, np.int64))] = False
    return {int(one): np.flatnonzero(ordered & (messages.publisher == one)) for one in np.unique(messages.publisher)}


def clocks(messages: Messages) -> Ints:
    """For each message and publisher (ascending) the place, in its series, of the latest that it comes after; or -1."""
    graph, lines = messages.graph, series(messages)
    past = np.full((messages.count, len(lines)), -1, np.int32)
    known = past.copy()
    at: dict[int, tuple[int, int]] = {}
    for column, numbers in enumerate(lines.values()):
        at.update((int(number), (column, place)) for place, number in enumerate(numbers))
    for number in range(messages.count):
        above = graph.parent[graph.parent_at[number] : graph.parent_at[number + 1]]
        if len(above):
            past[number] = known[number] = known[above].max(axis=0)
        if number in at:
            column, place = at[number]
            known[number, column] = place
    return past


def reduced(messages: Messages, past: Ints, mask: Ints) -> Any:
    """For each message the latest of each publisher in its past that is in the mask, as lists of ids."""
    latest = np.full(past.shape, -1, np.int64)
    for column, numbers in enumerate(series(messages).values()):
        last = np.maximum.accumulate(np.where(mask[numbers], np.arange(len(numbers)), -1)) if len(numbers) else numbers
        place = np.append(last, -1)[past[:, column]]
        latest[:, column] = np.append(numbers, -1)[place]
    some = latest >= 0
    at: Any = pa.array(np.concatenate([[0], np.cumsum(some.sum(axis=1))]).astype(np.int32))
    which: Any = pa.array(messages.named[latest[some]])
    names: Any = messages.names.combine_chunks() if isinstance(messages.names, pa.ChunkedArray) else messages.names
    return pa.ListArray.from_arrays(at, names.take(which).cast(pa.string()))


def _causes(table: pa.Table) -> pa.Table:
    return causes_by_view(table)


def _audiences(table: pa.Table) -> pa.Table:
    return causes_by_view(table, audiences_only=True)


def arrivals(records: DataFrame, receivers: Sequence[str] | None = None) -> DataFrame:
    """What came to each process (to `receivers`, if given), in the columns ARRIVALS."""
    from pyspark.sql import functions as F
    from pyspark.sql.pandas.types import from_arrow_schema

    for later in [column for column in LATER if column not in records.columns]:
        records = records.withColumn(later, F.lit(None).cast("string"))
    copies = (F.col("kind") == "deliver") & F.col("reason").eqNullSafe(RETAINED)
    rows = records.where(F.col("kind").isin("publish", "deliver", *CONTROL) & ~copies).select(*TELLING)
    # Of those who left or crashed it counts what was on its way to them: any row that names it.
    gone = records.where(F.col("kind").isin("leave", "crash")).select("run", "process").distinct()
    named = records.where(~F.col("kind").isin("publish", "deliver", *CONTROL) & F.col("message").isNotNull())
    told = rows.unionByName(named.select(*TELLING).join(gone, ["run", "process"], "left_semi").select(*TELLING))
    causes = told.groupBy("run").applyInArrow(_causes, from_arrow_schema(_CAUSES))
    who = told.groupBy("run").applyInArrow(_audiences, from_arrow_schema(_AUDIENCES))
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
