"""`antecede order`: causal order for a table, a run or a growing directory of files; what is written, what is shown.

Decided in this file: what kind of input a path is (a directory with records is a run, *.log a ShiViz log, else a table
whose columns are named), that a stream ends when all that is there is done and goes on from its checkpoint when it is
called again, and the one line that says where every row went.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from antecede.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from rich.console import Console

__all__ = ["order"]

Option = typer.Option

FILES_AT_ONCE = 10
"""Files in one micro-batch: more cost memory, fewer cost time, since a micro-batch takes about a second."""


def order(
    source: Annotated[Path, typer.Argument(metavar="IN", help="A table, a directory of tables, a run or a log.")],
    out: Annotated[Path, Option(metavar="DIR", help="Where the ordered table goes.")],
    id: Annotated[str | None, Option(help="Column of the id of a row.")] = None,
    parents: Annotated[str | None, Option(help="Column of the ids a row comes after.")] = None,
    sender: Annotated[str | None, Option(help="Column of who sent it; with --seq or --clock.")] = None,
    seq: Annotated[str | None, Option(help="Column of the sender's running number.")] = None,
    clock: Annotated[str | None, Option(help="Column of its vector clock.")] = None,
    group: Annotated[str | None, Option(help="Column of the causal domain: order holds within one.")] = None,
    deadline: Annotated[str | None, Option(help="Column: until when a row may wait.")] = None,
    time: Annotated[str | None, Option(help="Column: when it happened.")] = None,
    arrived: Annotated[str | None, Option(help="Column: when it came; fates follow from this sequence.")] = None,
    wait_us: Annotated[int | None, Option(min=0, help="How long after --time a row may wait.")] = None,
    unknown: Annotated[str | None, Option(help="skip: go on without parents that are nowhere.")] = None,
    late: Annotated[Path | None, Option(metavar="DIR", help="Rows without a place go here (a stream: also).")] = None,
    stream: Annotated[bool, Option("--stream", help="Take the files of IN as they come; call again to go on.")] = False,
    held: Annotated[Path | None, Option(metavar="DIR", help="With --stream: what still waits goes here.")] = None,
    files: Annotated[int, Option(min=1, help="With --stream: files in one micro-batch.")] = FILES_AT_ONCE,
    as_json: Annotated[bool, Option("--json", help="One JSON object, for programs.")] = False,
    master: Annotated[str | None, Option(help="Spark's master. [local[*]]")] = None,
) -> None:
    """Give every row its place after whatever it comes after, on Spark; and say of every row what became of it.

    A table needs an id, and parents, or a sender and its running number, or a vector clock. A run of antecede and a
    ShiViz log need nothing named. Nobody waits without a bound: a parent that is not in the table ends a batch with
    one sentence, unless --deadline, --wait-us or --unknown skip says what to do about it.

    Adds causal_pos (from 0 without holes in each group), fate (delivered, late, superseded, duplicate, cycle,
    invalid), released_by, missing and revealed. Rows in = rows out; the last line says so.

    \b
    antecede order commits.parquet --id message --parents parents --out ordered
    antecede order events/ --stream --id id --sender host --seq n --arrived at --wait-us 5000000 --out ordered
    antecede order runs/first --out ordered --late late

    Read the table through its manifest: spark.read.format("antecede").load("ordered"). Exit 0; 2 for bad input.
    """
    named: dict[str, Any] = {
        "id": id, "parents": parents, "sender": sender, "seq": seq, "clock": clock, "group": group,
        "deadline": deadline, "time": time, "arrived": arrived, "wait_us": wait_us, "unknown": unknown,
    }  # fmt: skip
    named = {name: value for name, value in named.items() if value is not None}
    if not source.exists():
        raise InputError(f"{source} does not exist: give a table, a directory of tables, a run or a ShiViz log")
    if not stream and held is not None:
        raise InputError("--held is what a stream still holds: add --stream")
    for target in (out, late, held):
        if target is not None and not stream and target.exists() and any(target.iterdir()):
            raise InputError(f"{target} is there already and not empty: name another directory")
    if held is not None and held.exists():
        raise InputError(f"{held} is there already: name another directory")

    from antecede.cli.audit import watched
    from antecede.spark.faults import plain_faults
    from antecede.spark.session import session

    with watched(master, session) as spark, plain_faults():
        work = as_stream if stream else as_batch
        report = work(spark, source, named, Targets(out, late, held, files))
    if as_json:
        print(json.dumps(report, indent=2))
    else:
        from rich.console import Console

        show(report, Console(), out)
    raise typer.Exit(0 if report["reconciled"] else 1)


class Targets(NamedTuple):
    out: Path
    late: Path | None
    held: Path | None
    files: int


def as_batch(spark: SparkSession, source: Path, named: dict[str, Any], to: Targets) -> dict[str, Any]:
    from antecede.spark.order import causal_order
    from antecede.spark.sink import read

    rows, columns = table_of(spark, source, named)
    count = rows.count()
    ordered = rows.transform(causal_order(**columns))
    if to.late is None:
        ordered.write.format("antecede").mode("append").save(str(to.out.absolute()))
        return told(read(spark, to.out), count)
    ordered = ordered.persist()
    try:
        for target, wanted in ((to.out, "fate = 'delivered'"), (to.late, "fate <> 'delivered'")):
            ordered.where(wanted).write.format("antecede").mode("append").save(str(target.absolute()))
    finally:
        ordered.unpersist()
    return told(read(spark, to.out).unionByName(read(spark, to.late)), count)


def as_stream(spark: SparkSession, source: Path, named: dict[str, Any], to: Targets) -> dict[str, Any]:
    from antecede.spark.order import causal_order, drain
    from antecede.spark.sink import read
    from antecede.spark.tables.frames import read_tables

    if not source.is_dir():
        raise InputError(f"{source} is one file: a stream is a directory into which files are put")
    found = sorted(p for p in source.iterdir() if p.suffix in (".parquet", ".csv", ".json", ".jsonl", ".ndjson"))
    if not found:
        raise InputError(f"{source} holds no Parquet, CSV or JSON-lines file yet, so its columns are not known")
    table = read_tables(spark, found).rows
    reader = spark.readStream.schema(table.schema).option("maxFilesPerTrigger", to.files)
    kind = {".parquet": "parquet", ".csv": "csv"}.get(found[0].suffix, "json")
    rows = reader.option("header", True).format(kind).load(str(source.absolute()))
    ordered = rows.transform(causal_order(**named))
    checkpoint = to.out.absolute().with_name(to.out.name + ".checkpoint")
    query = (
        ordered.writeStream.format("antecede")
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start(str(to.out.absolute()))
    )
    query.awaitTermination()
    left = drain(spark, str(checkpoint), ordered.schema)
    waiting = left.count()
    if to.held is not None:
        left.write.format("antecede").mode("append").save(str(to.held.absolute()))
    everything = read(spark, to.out)
    if to.late is not None:
        everything.where("fate <> 'delivered'").write.format("antecede").mode("overwrite").save(str(to.late.absolute()))
    return told(everything, table.count(), waiting)


def table_of(spark: SparkSession, source: Path, named: dict[str, Any]) -> tuple[DataFrame, dict[str, Any]]:
    """The rows, and which column of them is what."""
    from antecede.spark.tables.frames import read_tables

    if source.suffix == ".log":
        from antecede.spark.imports import read_shiviz

        rows = read_shiviz(spark, source)
        return rows, {
            "id": "id",
            "clock": "clock",
            "sender": "sender",
            "arrived": "position",
            "unknown": "skip",
            **named,
        }
    if source.is_dir() and any(source.glob("records*")) and not {"id", "parents", "seq", "clock"} & named.keys():
        from antecede.spark.views import arrivals

        rows = arrivals(spark.read.format("antecede").load(str(source.absolute())))
        columns = {"id": "message", "parents": "parents", "group": "view", "deadline": "deadline_us"}
        columns |= {"time": "sent_us", "arrived": "arrived_us", "unknown": "skip", "foreign": "none"}
        return rows, {**columns, **named}
    return read_tables(spark, [source]).rows, named


def told(ordered: DataFrame, rows_in: int, held: int = 0) -> dict[str, Any]:
    """Where every row went; the table is read back, so that this is said of what was written."""
    from antecede.spark.order import reconcile

    fates = {row["fate"]: row.asDict() for row in reconcile(ordered).collect()}
    rows_out = sum(row["rows"] for row in fates.values())
    sums = {name: sum(row[name] or 0 for row in fates.values()) for name in ("missing", "foreign", "revealed")}
    return {
        "rows_in": rows_in,
        "rows_out": rows_out,
        "held": held,
        "reconciled": rows_in == rows_out + held,
        "fates": {name: row["rows"] for name, row in sorted(fates.items())},
        **sums,
    }


def show(report: dict[str, Any], console: Console, out: Path) -> None:
    from rich.table import Table

    table = Table("fate", "rows", title="Fates", title_justify="left")
    table.columns[1].justify = "right"
    for name, count in report["fates"].items():
        table.add_row(name, f"{count:,}")
    console.print(table)
    for name, text in (
        ("missing", "parents that were not there when a row went out"),
        ("foreign", "parents in other groups, which nobody waited for"),
        ("revealed", "rows of which a later one revealed that they went out too early"),
    ):
        if report[name]:
            console.print(f"{report[name]:,} {text}", highlight=False, soft_wrap=True)
    waiting = f" + {report['held']:,} still waiting" if report["held"] else ""
    sign = "=" if report["reconciled"] else "BUT"
    line = f"{report['rows_in']:,} rows in {sign} {report['rows_out']:,} rows in {out}{waiting}"
    console.print(line, highlight=False, soft_wrap=True)
