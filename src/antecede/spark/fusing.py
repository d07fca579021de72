"""Aggregation over causally consistent cuts, as a step for `df.transform(...)`: batch and streaming.

    ordered.transform(fuse(id="message", parents="after", group="process", topic="groups", time="at_us",
                           values=["temperature"], interests={"indoor": "motes/indoor/+"}, every=100))

The input is what `causal_order` gives: only delivered rows count, by their `causal_pos`. For each group, cut and
interest there is one row: what was counted (never an effect without its cause; `counting` says what that means), what
is missing, and the cut itself as a list of ids (`causes`) after which the result could be published.

Decided in this file: how Spark's columns become plain ones before they cross into Python, and where state lives: a
batch folds each group in one task, a stream keeps the fold of each group as one value of versioned bytes. Both run the
same fold over rows sorted by `causal_pos`, so a stream gives the rows of the batch however it is cut; the batch adds
its last, unfinished cut only when asked (`last=True`), since a stream never knows that it has ended.

Results are appended once: a cut is final when its last row is there, since nothing can come before it any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.stateful_processor import StatefulProcessor
from pyspark.sql.types import ArrayType, MapType, NumericType, StringType, StructField, StructType, TimestampType

from antecede.core.fold.cuts import HOLD, CutRule
from antecede.errors import InputError
from antecede.spark.adopting import see_to
from antecede.spark.readings import SEPARATOR, Bounds, Function, Interest, Plan, folded, fuse_table, plan_of
from antecede.spark.tables.frames import col
from antecede.wire import freeze, thaw

__all__ = ["Function", "Interest", "fuse", "fuse_table"]

Step = Callable[[DataFrame], DataFrame]
FOREIGN = "foreign:"
"""How `causal_order` marks a parent in another group."""
KEY = "_group"
"""The name under which the group travels: a column of the user's may have any name."""


def fuse(
    *,
    id: str = "id",
    parents: str | None = None,
    clock: str | None = None,
    sender: str | None = None,
    seq: str | None = None,
    group: str | None = None,
    topic: str | None = None,
    time: str | None = None,
    values: Sequence[str] = (),
    interests: Mapping[str, object] | None = None,
    every: int | None = None,
    every_us: int | None = None,
    marks: str | None = None,
    over: str = "latest",
    functions: Mapping[str, Function] | None = None,
    senders: Iterable[str] | Mapping[str, Iterable[str]] | None = None,
    hold: int = HOLD,
    patience: int | None = None,
    last: bool = False,
    by: str | None = None,
) -> Step:
    """A step from ordered rows to results, one per group, cut and interest.

    Columns of the ordered rows, by name: `id`; `parents` (a list of ids) or `clock` (a map from sender to number), as
    they were given to `causal_order` - without them rows are held for what they themselves miss, not for what their
    causes miss; `sender` and, if there is one, `seq`, unless ids are `sender:seq`; `group`; `topic` (a string or a
    list); `time` (a timestamp or microseconds); `values` (numbers).

    Where ids are `sender:seq`, with a clock, or missed by `sender` and `seq`, a skipped cause is made up for by any
    later message of its sender. Otherwise (UUIDs and the like) nobody knows who sent it, and nothing can be known to
    make up for it: what comes after it is left out of one cut and counts from the next on; both name the cause in
    `missing`, and `given_up` counts it. Causes in other groups (`foreign:` in `missing`) are no matter of this group's
    cuts.

    interests   name -> topic filter, several, an `Interest` with a condition, or None; by default one, `all`
    every, every_us, marks   where cuts fall: every so many rows of a group; every so much of the rows' own time; after
                each row of which the boolean column `marks` is true
    over        what is aggregated: the `latest` counted reading of each sender, or all `new` ones since the cut before
    functions   name of a new column -> `Function`: your own aggregate over pandas or Arrow
    senders     who is expected, for all interests or for each by name; by default whoever was ever heard
    hold        held rows kept per sender; of more the oldest give way
    patience    a sender that owes something to a row held for so many rows of the group (1,000) leaves the cut:
                nothing of it counts and nobody waits for it until it is heard again. If given, a cause of which nobody
                knows the sender is waited for as long, instead of one cut
    last        batch only: also the last, unfinished cut
    by          a column that divides interests: one row per group, cut, interest and value of it, as far as heard of,
                each with its own latest readings and senders (at most 1,000 values; the others are one, without a name)
    """
    bounds = Bounds(hold, patience)
    for name, given in (("clock", clock), ("seq", seq)):
        if given is not None and sender is None:
            raise InputError(f"With {name}= say also which column names the sender: fuse({name}=..., sender=...).")
    rule = CutRule(every, every_us, marks)
    if every_us is not None and time is None:
        raise InputError("every_us cuts by the rows' own time: name its column, fuse(every_us=..., time=...).")
    plan = plan_of(interests, values, functions, senders, over, sender is None, seq is not None, by)

    def step(df: DataFrame) -> DataFrame:
        if last and df.isStreaming:
            raise InputError("A stream has no last cut: leave out last=True.")
        named = {"id": id, "parents": parents, "clock": clock, "sender": sender, "seq": seq, "group": group,
                 "topic": topic, "time": time, "marks": marks, "by": by}  # fmt: skip
        plain = prepare(df, plan, named)
        see_to(df.sparkSession, streams=df.isStreaming)
        fields = from_arrow_schema(plan.schema()).fields
        # By number: Spark's functions over Arrow refuse names with dots.
        inside = [KEY, *(f"c{place}" for place in range(len(fields)))]
        kinds = [plain.schema[KEY].dataType, *(field.dataType for field in fields)]
        whole = StructType([StructField(name, kind) for name, kind in zip(inside, kinds, strict=True)])
        grouped = plain.groupBy(KEY)
        if df.isStreaming:
            out = grouped.transformWithStateInPandas(Fuser(plan, rule, bounds, inside), whole, "Append", "None")
        else:
            # Not a method of the processor above: a plain function travels with less.
            def fold(key: tuple[Any, ...], table: pa.Table) -> pa.Table:
                results = folded(table, plan, rule, bounds, last)
                groups = pa.array([key[0].as_py()] * len(results), key[0].type)
                return results.add_column(0, KEY, groups).rename_columns(inside)

            out = grouped.applyInArrow(fold, whole)
        named_out = out.toDF(group or KEY, *(field.name for field in fields))
        return named_out if group is not None else named_out.drop(KEY)

    return step


class Fuser(StatefulProcessor):
    """The fold of each group, kept between batches as one value of bytes."""

    def __init__(self, plan: Plan, rule: CutRule, bounds: Bounds, inside: Sequence[str]) -> None:
        self.plan, self.rule, self.bounds, self.inside = plan, rule, bounds, inside

    def init(self, handle: Any) -> None:
        self.saved = handle.getValueState("fold", "state BINARY")

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:
        import pandas as pd

        fold = self.bounds.fold(self.plan, self.rule)
        if self.saved.exists():
            fold.from_plain(thaw(bytes(self.saved.get()[0])))
        found = [r for frame in rows for r in self.plan.readings(pa.Table.from_pandas(frame, preserve_index=False))]
        results = self.plan.results(fold.push(found))
        self.saved.update((freeze(fold.to_plain()),))
        if len(results):
            frame = results.to_pandas(integer_object_nulls=True)
            frame.insert(0, KEY, [key[0]] * len(frame))
            frame.columns = pd.Index(self.inside)
            yield frame

    def close(self) -> None:
        pass


def prepare(df: DataFrame, plan: Plan, named: Mapping[str, str | None]) -> DataFrame:
    """Delivered rows only, as plain columns: no list crosses into Python, and nothing that is not needed."""
    have = df.columns
    wanted = ["causal_pos", *(name for name in named.values() if name), *plan.values]
    for name in wanted:
        if name not in have:
            cure = " (order the rows with causal_order first)" if name == "causal_pos" else ""
            raise InputError(f"There is no column {name!r}{cure}; there are {', '.join(have)}.")
    if named["group"] in plan.schema().names:
        raise InputError(f"The group is {named['group']!r}, which results have a column of too: rename it.")
    for name in plan.values:
        if not isinstance(df.schema[name].dataType, NumericType):
            raise InputError(f"The value {name!r} is {df.schema[name].dataType.simpleString()}, not a number.")

    def column(role: str, kind: str) -> Column:
        name = named[role]
        return F.lit(None).cast(kind) if name is None else col(name).cast(kind)

    def joined(name: str | None) -> Column:
        """A list (or a map from sender to number) as one string."""
        if name is None or name not in have:
            return F.lit(None).cast("string")
        kind, value = df.schema[name].dataType, col(name)
        if isinstance(kind, MapType):
            entries = F.map_entries(value)
            return F.array_join(F.transform(entries, lambda e: F.concat(e["key"], F.lit(":"), e["value"])), SEPARATOR)
        if isinstance(kind, ArrayType):
            names = F.filter(value.cast("array<string>"), lambda name: ~name.startswith(FOREIGN))
            return F.array_join(names, SEPARATOR)
        if isinstance(kind, StringType):
            return value
        raise InputError(f"The column {name!r} is {kind.simpleString()}: it must be a list of names.")

    rows = df.where(F.col("causal_pos").isNotNull())
    if "fate" in have:
        rows = rows.where(F.col("fate") == "delivered")
    time = named["time"]
    if time is not None and isinstance(df.schema[time].dataType, TimestampType):
        time_us = F.unix_micros(col(time))
    else:
        time_us = column("time", "bigint")
    group = named["group"]
    plain = [
        (F.lit(0) if group is None else col(group)).alias(KEY),
        F.col("causal_pos").cast("bigint").alias("pos"),
        column("id", "string").alias("id"),
        column("sender", "string").alias("sender"),
        column("seq", "bigint").alias("seq"),
        joined(named["parents"]).alias("parents"),
        joined("missing").alias("missing"),
        joined(named["clock"]).alias("clock"),
        time_us.alias("time_us"),
        column("marks", "boolean").alias("mark"),
        joined(named["topic"]).alias("topics"),
        column("by", "string").alias("by"),
    ]
    for i, interest in enumerate(plan.interests.values()):
        if interest.where is not None:
            plain.append(F.coalesce(F.expr(interest.where).cast("boolean"), F.lit(False)).alias(f"where_{i}"))
    plain += [col(name).cast("double").alias(f"value_{i}") for i, name in enumerate(plan.values)]
    return rows.select(*plain)
