"""`antecede order` on Spark: a table, a run or a log in one batch, or the files of a folder as a stream.

Decided in this file: which columns of runs and logs mean what, and that lines that are no rows go to the quarantine
in a query of their own, beside the rows.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from antecede.spark.adopting import register
from antecede.spark.order.operator import causal_order, reconcile
from antecede.spark.order.saved import drain
from antecede.spark.order.written import Outcome, Targets, outcomes, report_of
from antecede.spark.ship import is_connect
from antecede.spark.sink import read, table_rows, write
from antecede.spark.tables.files import Found, parquet_rows
from antecede.spark.tables.frames import Frames, path_stream, read_files

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Stream", "as_batch", "as_stream"]


FEW_ROWS = 100_000
"""Up to here what was written is counted in this process: a query of Spark's takes longer to plan."""


class Stream(NamedTuple):
    files: int
    """In one micro-batch."""
    held: Path | None
    """Where what still waits goes."""


def as_batch(
    spark: SparkSession,
    source: Path | Found,
    named: dict[str, Any],
    to: Targets,
    texts: Collection[str | None],
    encoding: str | None,
) -> dict[str, Any]:
    """`source`: the files of a table, or a run or a log."""
    if isinstance(source, Found):
        frames, columns = read_files(spark, source, texts, encoding), named
    else:
        frames, columns = ours(spark, source, named)
    ordered = frames.rows.transform(causal_order(**columns))
    count = counted(frames, source)
    aside = 0 if frames.aside is None else frames.aside.count()
    if aside and frames.aside is not None:
        write(frames.aside, to.quarantine)
        aside_written = sum(table_rows(to.quarantine).values())
    else:
        aside_written = 0
    if to.late is None:
        write(ordered, to.out)
        return told(spark, [to.out], count + aside, aside_written)
    ordered = ordered.persist()
    try:
        for target, wanted in ((to.out, "fate = 'delivered'"), (to.late, "fate <> 'delivered'")):
            write(ordered.where(wanted), target)
    finally:
        ordered.unpersist()
    return told(spark, [to.out, to.late], count + aside, aside_written)


def as_stream(
    spark: SparkSession,
    folder: Path,
    found: Found,
    named: dict[str, Any],
    to: Targets,
    how: Stream,
    texts: Collection[str | None],
    encoding: str | None,
) -> dict[str, Any]:
    """`found`: the files that are there now; they tell the columns."""
    there = read_files(spark, found, texts, encoding)
    rows = streamed(spark, folder, found, there, how, texts, encoding)
    ordered = rows.rows.transform(causal_order(**named))
    checkpoint = to.out.absolute().with_name(to.out.name + ".checkpoint")
    write_stream(ordered, to.out, checkpoint)
    aside = 0
    if rows.aside is not None:
        write_stream(rows.aside, to.quarantine, to.quarantine.absolute().with_name(to.quarantine.name + ".checkpoint"))
        aside = sum(table_rows(to.quarantine).values())
    left = drain(spark, str(checkpoint), ordered.schema)
    waiting = left.count()
    if how.held is not None:
        write(left, how.held)
    everything = read(spark, to.out)
    if to.late is not None:
        write(everything.where("fate <> 'delivered'"), to.late, overwrite=True)
    count = counted(there, found) + (0 if there.aside is None else there.aside.count())
    return told(spark, [to.out], count, aside, waiting)


def counted(frames: Frames, source: Path | Found) -> int:
    """Rows that are read; Parquet says it itself."""
    if isinstance(source, Found) and source.kind == "parquet":
        return parquet_rows(source.files)
    return frames.rows.count()


def streamed(
    spark: SparkSession,
    folder: Path,
    found: Found,
    there: Frames,
    how: Stream,
    texts: Collection[str | None],
    encoding: str | None,
) -> Frames:
    reader = spark.readStream.option("maxFilesPerTrigger", how.files).option("recursiveFileLookup", True)
    if found.kind == "parquet":
        return Frames(reader.schema(there.rows.schema).parquet(str(folder.absolute())), None)
    return read_files(spark, found, texts, encoding, path_stream(reader, str(folder.absolute())))


def write_stream(rows: DataFrame, target: Path, checkpoint: Path) -> None:
    """All that is there, and no more."""
    register(rows.sparkSession, streams=True)
    writer = rows.writeStream.format("antecede").option("checkpointLocation", str(checkpoint))
    writer.trigger(availableNow=True).start(str(target.absolute())).awaitTermination()


def ours(spark: SparkSession, source: Path, named: dict[str, Any]) -> tuple[Frames, dict[str, Any]]:
    """The rows of a run or a log, and which column of them is what."""
    if source.suffix == ".log":
        from antecede.spark.imports import read_shiviz

        columns = {"id": "id", "clock": "clock", "sender": "sender", "arrived": "position", "unknown": "skip"}
        return Frames(read_shiviz(spark, source), None), {**columns, **named}
    from antecede.spark.views import arrivals

    rows = arrivals(register(spark).read.format("antecede").load(str(source.absolute())))
    columns = {"id": "message", "parents": "parents", "group": "view", "deadline": "deadline_us"}
    columns |= {"time": "sent_us", "arrived": "arrived_us", "unknown": "skip", "foreign": "none"}
    return Frames(rows, None), {**columns, **named}


def told(spark: SparkSession, tables: Sequence[Path], rows_in: int, aside: int, held: int = 0) -> dict[str, Any]:
    """Where every row went; the tables are read back, so that this is said of what was written."""
    if not is_connect(spark) and sum(sum(table_rows(table).values()) for table in tables) <= FEW_ROWS:
        return report_of("spark", rows_in, [row for table in tables for row in outcomes(table)], aside, held)
    found = [
        Outcome(row["fate"], row["rows"], row["missing"] or 0, row["foreign"] or 0, row["revealed"] or 0)
        for table in tables
        for row in reconcile(read(spark, table)).collect()
    ]
    return report_of("spark", rows_in, found, aside, held)
