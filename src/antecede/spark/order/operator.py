"""`causal_order`: what every argument means, which way a table goes, and the tables that reconcile it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from antecede.errors import InputError
from antecede.spark.adopting import see_to
from antecede.spark.order.columns import FOREIGN, MOST_HELD, Columns, check
from antecede.spark.order.sql import read
from antecede.spark.tables.frames import arrow_types

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["causal_order", "quarantine", "reconcile"]


def causal_order(
    *,
    id: str | None = None,
    parents: str | None = None,
    sender: str | None = None,
    seq: str | None = None,
    clock: str | None = None,
    group: str | None = None,
    deadline: str | None = None,
    time: str | None = None,
    arrived: str | None = None,
    wait_us: int | None = None,
    unknown: str | None = None,
    foreign: str | None = None,
    group_of: Callable[[Column], Column] | str | None = None,
    first_seq: int = 1,
    max_held: int = MOST_HELD,
    remember_us: int | None = None,
) -> Callable[[DataFrame], DataFrame]:
    """A function for `df.transform(...)` that tells every row's place in causal order, and its fate.

    What comes after what (columns; at least one of the three):
    parents      ids of what a row comes after: an array, JSON text, or text with commas, semicolons or spaces between
    sender, seq  a sender's row n comes after its row n - 1; the first is `first_seq`
    clock        a vector clock: a map, a struct or JSON text; `sender` says which entry is the row's own
    id           its name; without it `sender:n`. With sender and seq or a clock a row goes by `sender:n` too
    group        the causal domain: order holds within a group. One group is one task, sequential by nature

    Time (columns: timestamps, whole microseconds or ISO 8601 text; all on one scale):
    arrived      when the row came: with ties by id this is the arrival sequence, of which all fates are a function
    time         when it happened: stands in for `arrived`, starts `wait_us`, never orders
    deadline     a row waits until then for what it comes after; what comes later than its own deadline is `late`

    What to do about a parent that does not come. Nobody waits without a bound: a stream must name one of `deadline`,
    `wait_us`, `unknown`; a batch that has such a parent fails unless one is named.
    wait_us      a row waits so long after its `time` (without one: after it arrived)
    unknown      "skip": a batch goes on without what is not in the table; a stream waits until `max_held` rows do
    max_held     rows that may wait in one group of a stream; of more, the oldest go out
    foreign      parents in other groups: "project" replaces each by its nearest ancestors in the row's group (batch);
                 "none" promises that there are none, which spares a batch the look for them
    group_of     from the id of a parent to its group, as a function of a column or SQL over `parent`: how a stream
                 knows a parent in another group, which it never waits for
    remember_us  how long it is known what lies behind (default: for ever). It bounds a stream's memory. A row whose
                 `time` is longer ago is `late`; a parent from before it is waited for like one that never came, except
                 where rows are numbered

    Adds `causal_pos` (from 0 without holes in each group, only for what is delivered), `fate` (`delivered`, `late`,
    `superseded`: a row after it was out already, `duplicate`, `cycle`, `invalid`: no id, or a cell that cannot be read;
    `why` says which), `released_by` (`causes`, `deadline`, `wait`, `skip`, `bound`), `missing` (parents that were not
    delivered before it; those in other groups as `foreign:ID`) and `revealed` (how many rows before this superseded one
    went out after what overtook it: with parents alone nobody can know the causes of what has not come).

    Every row comes out once. Without `deadline` and `wait_us` fates do not depend on the sequence. A stream whose
    `arrived` respects its cuts gives what a batch gives. What a stream holds when it ends is in its state: see `drain`.
    Deadlines are met at the end of micro-batches, which is when Spark lets anything happen.
    """
    columns = Columns(
        id, parents, sender, seq, clock, group, deadline, time, arrived, wait_us, unknown, foreign, group_of, first_seq,
        max_held, remember_us,
    )  # fmt: skip

    def transform(df: DataFrame) -> DataFrame:
        check(columns, df.columns, arrow_types(df.schema))
        see_to(df.sparkSession, streams=df.isStreaming)
        return stream(df, columns) if df.isStreaming else batch(df, columns)

    return transform


def batch(df: DataFrame, columns: Columns) -> DataFrame:
    from antecede.spark.order.batch import order_table
    from antecede.spark.order.project import has_foreign, project

    look = columns.group is not None and columns.foreign != "none"
    table = read(df, columns, project=look)
    projected = columns.foreign == "project" or (look and has_foreign(table))
    if projected:
        table = project(table)
    return order_table(table, columns, df.schema, projected=projected)


def stream(df: DataFrame, columns: Columns) -> DataFrame:
    from antecede.spark.order.stream import order_stream

    if not columns.bounded and columns.unknown is None:
        raise InputError(
            "a stream cannot know whether a parent will come: say how long to wait for it with wait_us or deadline, or "
            "unknown='skip' to wait until max_held rows do"
        )
    if columns.foreign == "project":
        raise InputError("a stream cannot look into other groups: say with group_of which parents are in them")
    return order_stream(read(df, columns), columns, df.schema)


def reconcile(ordered: DataFrame, *group: str) -> DataFrame:
    """Rows by fate, in each group: nothing is lost. `missing` counts parents not delivered before, `foreign` those of
    other groups."""
    from pyspark.sql import functions as f

    foreign = f.size(f.filter("missing", lambda one: one.startswith(FOREIGN)))
    return ordered.groupBy(*group, "fate").agg(
        f.count(f.lit(1)).alias("rows"),
        f.sum(f.size("missing") - foreign).alias("missing"),
        f.sum(foreign).alias("foreign"),
        f.sum("revealed").alias("revealed"),
    )


def quarantine(ordered: DataFrame) -> DataFrame:
    """The rows that no order can be given to, with the `reason`."""
    from pyspark.sql import functions as f

    return ordered.where(f.col("fate").isin("invalid", "cycle")).withColumn("reason", f.col("why"))
