"""The same pipeline, continuous: three streaming queries, each restartable from its own checkpoint.

Decided in this file: the order stage and the quarantine each read the source, the fuse stage reads what the order stage
has committed (`ordered`, through its manifests), so that each row passes each stage exactly once whatever is killed
when; without `trigger_s` all that is there is done and the queries end, with it they go on until they are interrupted.
The audit is a matter of the finished tables: it is run at the end. What is still held is counted in the state of the
order stage. A damaged Parquet file is passed over by Spark and noted below `damaged` when the queries have ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from antecede.spark import steps
from antecede.spark.bad import Bad, note
from antecede.spark.intake import damaged, faulty, read_rows, sound
from antecede.spark.jobs import Far, page_of
from antecede.spark.manifest import committed, is_table
from antecede.spark.metrics import Totals
from antecede.spark.order import held
from antecede.spark.outcome import Report, Stage
from antecede.spark.sink import table_rows
from antecede.spark.stamps import key_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

    from antecede.spark.pipeline import Work

__all__ = ["run_continuous"]

BY = {"quarantine": "reason", "ordered": "fate", "fused": "interest"}
"""Tables and the column by which their rows are counted."""
LOOK_S = 1
"""How often it is looked whether a query has failed, or the first batch is there."""


def run_continuous(work: Work) -> Report:
    """Until all is done, or until interrupted (Ctrl-C, `StreamingQuery.stop`)."""
    queries: list[StreamingQuery] = []
    totals = Told()
    forever = work.config.mode.trigger_s is not None
    whole = True
    try:
        queries.append(_start(work, "quarantine", faulty(_rows(work))))
        ordered = sound(_rows(work)).transform(steps.order(work.config))
        queries.append(_start(work, "ordered", ordered, work.config.output.partition_by))
        totals.query = queries[-1]
        if not forever:
            _await(work, queries, totals)
        if work.config.fuse is not None and _has_rows(work, queries, forever):
            rows = work.spark.readStream.format("antecede").load(str(work.root / "ordered"))
            queries.append(_start(work, "fused", rows.transform(steps.fused(work.config))))
        _await(work, queries, totals)
    except KeyboardInterrupt:
        whole = False  # the usual way to end one that goes on: what is committed is reported
    finally:
        totals.look()
        for query in queries:
            query.stop()
    return _report(work, whole and not forever, totals)


class Told(Totals):
    """What the order stage has told of itself so far."""

    query: StreamingQuery | None = None

    def look(self) -> None:
        for progress in self.query.recentProgress if self.query is not None else ():
            self.add(progress)


def _rows(work: Work) -> DataFrame:
    return read_rows(work.spark, work.config, stream=True)


def _start(work: Work, name: str, rows: DataFrame, partition_by: tuple[str, ...] = ()) -> StreamingQuery:
    writer: Any = rows.writeStream.format("antecede")
    writer = writer.option("checkpointLocation", str(work.root / "checkpoints" / name))
    if partition_by:
        writer = writer.option("partition_by", ",".join(partition_by))
    every_s = work.config.mode.trigger_s
    writer = (
        writer.trigger(availableNow=True) if every_s is None else writer.trigger(processingTime=f"{every_s} seconds")
    )
    query: StreamingQuery = writer.start(str(work.root / name))
    return query


def _await(work: Work, queries: list[StreamingQuery], totals: Told) -> None:
    """Until all have ended, telling what the order stage tells; the failure of one ends all."""
    while any(query.isActive for query in queries):
        for query in queries:
            query.awaitTermination(LOOK_S)
        totals.look()
        if work.told is not None:
            work.told("ordered", Far(text=totals.text(), page=page_of(work.spark)))
    for query in queries:
        query.awaitTermination()  # raises what it failed with


def _has_rows(work: Work, queries: list[StreamingQuery], forever: bool) -> bool:
    """Whether anything was ordered yet: before that the columns are not known. A stream that goes on is waited for."""
    root = work.root / "ordered"
    while not (is_table(root) and committed(root)):
        if not forever:
            return False
        for query in queries:
            if query.awaitTermination(LOOK_S) or not query.isActive:
                return False
    return True


def _held(work: Work) -> int:
    """Rows in the state of the order stage."""
    checkpoint = work.root / "checkpoints" / "ordered"
    if not (checkpoint / "state").is_dir():
        return 0
    row = held(work.spark, str(checkpoint)).agg(F.sum("waiting")).first()
    return int(row[0] or 0) if row is not None else 0


def _report(work: Work, whole: bool, totals: Totals) -> Report:
    """`whole`: the queries have ended by themselves, so all that was there has been read."""
    bad = damaged(work.spark, work.config, thorough=True)
    for file, reason in bad:
        note(work.root / "damaged", Bad(file, reason))
    stages = []
    for name, column in BY.items():
        if is_table(work.root / name) and committed(work.root / name):
            stages.append(Stage(name, sum(table_rows(work.root / name).values()), work.counts(name, column)))
    if work.config.audit.wanted and any(stage.name == "ordered" for stage in stages):
        key = key_of("findings", [[stage.name, stage.rows] for stage in stages])
        stages.append(work.stage("findings", {"findings": key}, work.findings))
    rows_in = read_rows(work.spark, work.config, [file for file, _ in bad]).count()
    waiting = _held(work)
    out = sum(stage.rows for stage in stages if stage.name in ("quarantine", "ordered"))
    unread = 0 if whole else rows_in - out - waiting
    age = totals.oldest_held_us if waiting else None
    return work.report(rows_in, stages, waiting, unread, oldest_held_us=age, whole=whole)
