"""The steps of a pipeline by name, each from DataFrame to DataFrame: how a configuration becomes calls.

Decided in this file: which columns of a run play which part, and what the audit of a source is: the records themselves
where there are records; else two tables, the rows as they came and as they were let out.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from pyspark.sql import Window
from pyspark.sql import functions as F

from antecede.core.fold.cuts import HOLD
from antecede.spark.config import Columns, Pipeline, Wanted
from antecede.spark.foreign import audit_table
from antecede.spark.fusing import fuse
from antecede.spark.order import causal_order
from antecede.spark.readings import Interest
from antecede.spark.sink import read
from antecede.spark.tables.frames import col
from antecede.spark.trace_audit import Audit, audit

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["RUN", "SET_ASIDE", "columns_of", "findings", "fused", "order"]

Step = Callable[["DataFrame"], "DataFrame"]

RUN = Columns(
    id="message",
    parents="parents",
    group="view",
    deadline="deadline_us",
    time="sent_us",
    arrived="arrived_us",
    topic="topics",
)
"""The columns of `views.arrivals`. Senders are in the ids; the edge to one's previous message is among the parents."""

SET_ASIDE = "set aside"
"""The verdict on what the audit could not judge."""


def columns_of(config: Pipeline) -> Columns:
    return RUN if config.source.kind == "run" else config.columns


def order(config: Pipeline) -> Step:
    """Rows -> the same rows with their place and fate."""
    columns = msgspec.structs.asdict(columns_of(config))
    told = msgspec.structs.asdict(config.order)
    if config.source.kind == "run" and told["foreign"] is None:
        # A message is a row in the view of each of its receivers: one that is not in this view was lost on the way.
        told["foreign"] = "none"
    options: dict[str, Any] = {**columns, **told}
    del options["topic"]
    return causal_order(**{name: value for name, value in options.items() if value is not None})


def fused(config: Pipeline) -> Step:
    """Ordered rows -> one row per group, cut and interest."""
    assert config.fuse is not None
    columns, told = columns_of(config), config.fuse
    interests: dict[str, object] = {
        name: Interest(wanted.filters, wanted.where) if isinstance(wanted, Wanted) else wanted
        for name, wanted in told.interests.items()
    }
    return fuse(
        id=columns.id,
        parents=columns.parents,
        clock=columns.clock,
        sender=columns.sender,
        seq=columns.seq,
        group=columns.group,
        topic=columns.topic,
        time=columns.arrived or columns.time,
        values=told.values,
        interests=interests or None,
        every=told.every,
        every_us=told.every_us,
        marks=told.marks,
        over=told.over,
        senders=told.senders,
        hold=told.hold or HOLD,
        patience=told.patience,
        last=not config.mode.continuous,
    )


def findings(spark: SparkSession, config: Pipeline, root: Path) -> DataFrame:
    """What the audit found, with `of` saying in what: `records` of a run; a table as it was `ordered`, or as it came.

    What was found in a table as it came is what ordering has cured: it is told, and no violation. What could not be
    judged is here too, with the verdict SET_ASIDE and the reason: nobody knows that it is clean.
    """
    if config.source.kind == "run":
        return _all_of(audit(config.source.paths, spark=spark), "records")
    columns = config.columns
    rows = read(spark, root / "ordered")
    if columns.group is None:
        rows = rows.withColumn("_group", F.lit("all"))
    group = columns.group or "_group"
    rows, parents = _with_parents(rows, columns, group)

    def judged(table: DataFrame, position: str, of: str) -> DataFrame:
        found = audit_table(
            table,
            id=columns.id,
            parents=parents,
            clock=columns.clock if parents is None else None,
            sender=columns.sender if parents is None else None,
            receiver=group,
            run=group,
            position=position,
        )
        return _all_of(found, of)

    found = judged(rows.where(F.col("fate") == "delivered"), "causal_pos", "ordered")
    came = columns.arrived or columns.time
    if came is not None:
        turn = Window.partitionBy(col(group)).orderBy(col(came), col(columns.id))
        first = rows.where(F.col("fate") != "duplicate").withColumn("_turn", F.row_number().over(turn).cast("bigint"))
        found = found.unionByName(judged(first, "_turn", "as it came"))
    return found


def _all_of(found: Audit, of: str) -> DataFrame:
    findings: DataFrame = found.findings
    aside = found.quarantine.withColumn("verdict", F.lit(SET_ASIDE))
    return findings.unionByName(aside, allowMissingColumns=True).withColumn("of", F.lit(of))


def _with_parents(rows: DataFrame, columns: Columns, group: str) -> tuple[DataFrame, str | None]:
    """The rows with all their causes in one column: those named, and one's own previous message."""
    if columns.clock is not None:
        return rows, None
    if columns.sender is None or columns.seq is None:
        return rows, columns.parents
    id, seq = col(columns.id), col(columns.seq)
    own = Window.partitionBy(col(group), col(columns.sender)).orderBy(seq)
    previous = F.when(F.lag(seq).over(own) == seq - 1, F.lag(id).over(own))
    listed = F.coalesce(col(columns.parents), F.array()) if columns.parents is not None else F.array()
    both = F.concat(listed.cast("array<string>"), F.array_compact(F.array(previous.cast("string"))))
    return rows.withColumn("_parents", both), "_parents"
