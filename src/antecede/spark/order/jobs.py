"""`antecede order` on Spark: a table, a run or a log in one batch, or the files of a folder as a stream.

Decided in this file: which columns of runs and logs mean what; that lines that are no rows go to the quarantine in a
query of their own, beside the rows; and that names which differ only in case are different columns here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from antecede.errors import InputError
from antecede.spark.faults import plain_faults
from antecede.spark.order.operator import causal_order, reconcile
from antecede.spark.order.saved import drain
from antecede.spark.order.written import Outcome, Targets, report_of
from antecede.spark.sink import read, table_rows
from antecede.spark.tables.files import Found, parquet_rows
from antecede.spark.tables.frames import Frames, path_stream, read_files

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Stream", "as_batch", "as_stream", "careful"]

UNREADABLE = re.compile(r"FAILED_READ_FILE\S*\W+.*?(file:\S+?)\.?(?:\s|$)")


class Stream(NamedTuple):
    files: int
    """In one micro-batch."""
    held: Path | None
    """Where what still waits goes."""


@contextmanager
def careful(spark: SparkSession) -> Iterator[None]:
    """Errors as sentences; `id` and `ID` are two columns. What was set holds again afterwards."""
    name = "spark.sql.caseSensitive"
    usual = spark.conf.get(name)
    spark.conf.set(name, "true")
    try:
        with plain_faults():
            yield
    except Exception as error:
        broken = UNREADABLE.search(str(error))
        if broken is None:
            raise
        path = unquote(broken[1].removeprefix("file:").replace("///", "/", 1))
        raise InputError(f"{path} cannot be read: it is damaged inside") from error
    finally:
        if usual is None:
            spark.conf.unset(name)
        else:
            spark.conf.set(name, usual)


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
        frames.aside.write.format("antecede").mode("append").save(str(to.quarantine.absolute()))
        aside_written = sum(table_rows(to.quarantine).values())
    else:
        aside_written = 0
    if to.late is None:
        ordered.write.format("antecede").mode("append").save(str(to.out.absolute()))
        return told(read(spark, to.out), count + aside, aside_written)
    ordered = ordered.persist()
    try:
        for target, wanted in ((to.out, "fate = 'delivered'"), (to.late, "fate <> 'delivered'")):
            ordered.where(wanted).write.format("antecede").mode("append").save(str(target.absolute()))
    finally:
        ordered.unpersist()
    return told(read(spark, to.out).unionByName(read(spark, to.late)), count + aside, aside_written)


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
        left.write.format("antecede").mode("append").save(str(how.held.absolute()))
    everything = read(spark, to.out)
    if to.late is not None:
        everything.where("fate <> 'delivered'").write.format("antecede").mode("overwrite").save(str(to.late.absolute()))
    count = counted(there, found) + (0 if there.aside is None else there.aside.count())
    return told(everything, count, aside, waiting)


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
    writer = rows.writeStream.format("antecede").option("checkpointLocation", str(checkpoint))
    writer.trigger(availableNow=True).start(str(target.absolute())).awaitTermination()


def ours(spark: SparkSession, source: Path, named: dict[str, Any]) -> tuple[Frames, dict[str, Any]]:
    """The rows of a run or a log, and which column of them is what."""
    if source.suffix == ".log":
        from antecede.spark.imports import read_shiviz

        columns = {"id": "id", "clock": "clock", "sender": "sender", "arrived": "position", "unknown": "skip"}
        return Frames(read_shiviz(spark, source), None), {**columns, **named}
    from antecede.spark.views import arrivals

    rows = arrivals(spark.read.format("antecede").load(str(source.absolute())))
    columns = {"id": "message", "parents": "parents", "group": "view", "deadline": "deadline_us"}
    columns |= {"time": "sent_us", "arrived": "arrived_us", "unknown": "skip", "foreign": "none"}
    return Frames(rows, None), {**columns, **named}


def told(ordered: DataFrame, rows_in: int, aside: int, held: int = 0) -> dict[str, Any]:
    """Where every row went; the table is read back, so that this is said of what was written."""
    found = [
        Outcome(row["fate"], row["rows"], row["missing"] or 0, row["foreign"] or 0, row["revealed"] or 0)
        for row in reconcile(ordered).collect()
    ]
    return report_of("spark", rows_in, found, aside, held)
