"""`antecede audit`: traces and tables of any size, judged here or on Spark; what is shown while it works and after.

Decided in this file: what kind of input a path is (with --id a table, *.log a ShiViz log, else a trace), which engine
judges it, and how many findings are shown: a few to people, --limit of them in --json, all of them in --out.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from antecede.cli.output import fitted
from antecede.cli.progress import Progress
from antecede.cli.watching import watched_spark
from antecede.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from rich.console import Console

    from antecede.spark.auditing.local import Watch
    from antecede.spark.auditing.outcome import Audit

__all__ = ["audit"]

FIRST = 20
"""Findings that are printed."""
SOME = 3
"""Of what is missing, which is no violation."""

TABLES = {".csv", ".json", ".jsonl", ".ndjson"}
"""Files that are tables of one's own; Parquet may also be a trace."""

Option = typer.Option

CRASHED = "This process was killed or still runs: its records have no end. May be repeated."
CRASHED_TABLE = "--crashed is of traces: a table does not say where the records of a process end"


def audit(
    paths: Annotated[list[Path], typer.Argument(metavar="DIR|FILE...", help="Runs, directories of runs, or tables.")],
    as_json: Annotated[bool, Option("--json", help="One JSON object, for programs.")] = False,
    id: Annotated[str | None, Option(help="Column of the message id: the files are a table of your own.")] = None,
    parents: Annotated[str | None, Option(help="Column of what each message came after: ids.")] = None,
    receiver: Annotated[str | None, Option(help="Column of who delivered it.")] = None,
    position: Annotated[str | None, Option(help="Column of the order at that receiver.")] = None,
    clock: Annotated[str | None, Option(help="Column of its vector clock, instead of parents.")] = None,
    sender: Annotated[str | None, Option(help="With --clock: column of the host it is a step of.")] = None,
    run: Annotated[str | None, Option(help="Column that separates histories which know nothing of each other.")] = None,
    encoding: Annotated[str | None, Option(help="Of CSV and JSON files that are not UTF-8.")] = None,
    engine: Annotated[str, Option(help="local (this process), spark, or auto: local below 32 MB of files.")] = "auto",
    out: Annotated[Path | None, Option(metavar="DIR", help="Write every finding there, as Parquet tables.")] = None,
    limit: Annotated[int, Option(min=0, help="At most this many findings in --json.")] = 10_000,
    scratch: Annotated[Path | None, Option(metavar="DIR", help="For tables of messages: all workers see it.")] = None,
    crashed: Annotated[list[str] | None, Option(metavar="NAME", help=CRASHED)] = None,
    master: Annotated[str | None, Option(help="Spark's master. [local[*]]")] = None,
) -> None:
    """Judge traces and tables of any size: every inversion, gap, overdue, duplicate and stuck message.

    The verdicts are those of `antecede check`, which is slower and also looks for idle, false, undelivered and
    unexplained ones. Give any number of run directories, or a directory that holds them. What cannot be read is set
    aside with a reason, and the rest is judged.

    With --id the files are Parquet, CSV or JSON-lines tables of deliveries: inversions, duplicates, and parents that
    never came. Rows that cannot be read, and messages that are among their own causes or come after such, are set
    aside by name; deliveries at one position have no order among themselves. Files called *.log are read as ShiViz
    logs: events with vector clocks, judged in the order of the log.

    Below 32 MB of files are judged in this process, without Java; what is larger on Spark. The findings are the same.

    \b
    antecede audit runs/                                       all runs below it
    antecede audit run-1 run-2 --json > verdicts.json
    antecede audit log.parquet --id msg --parents refs \\
        --receiver node --position n
    antecede audit simpledb.log

    Exit 0 when clean, 1 when a violation was found, 2 when nothing was found but something could not be judged, also
    what a process did of which the records stop without an end, unless --crashed names it.
    """
    described = {"parents": parents, "receiver": receiver, "position": position, "clock": clock}
    described |= {"sender": sender, "run": run}
    if id is None and any(described.values()):
        raise InputError("--parents, --receiver, --position and --clock describe a table: name its ids with --id too")
    if id is not None and crashed:
        raise InputError(CRASHED_TABLE)
    if engine not in ("auto", "local", "spark"):
        raise InputError(f"--engine is {engine}; it may be auto, local or spark")
    if engine == "local" and master is not None:
        raise InputError("--master is of Spark, and --engine local works without it: leave one of them out")
    if out is not None and out.exists() and any(out.iterdir() if out.is_dir() else [out]):
        raise InputError(f"{out} is there already and not empty: name another directory for the findings")
    for path in paths:
        if not path.exists():
            raise InputError(f"{path} does not exist: give run directories, records files or tables")

    asked = Asked(paths, None if id is None else {"id": id, **described}, encoding)
    if id is None:
        refuse_tables(paths)
    local = engine == "local" or (engine == "auto" and master is None and asked.is_small())
    if local:
        with Progress("rows") as progress:
            judged = asked.here(progress.stage if progress.watched else None)
            report = told(judged, out, limit if as_json else FIRST)
    else:
        from antecede.spark.tables.files import is_small

        with watched_spark("antecede audit", master, doing="judging", small=is_small(paths)) as spark:
            judged = asked.on(spark, scratch)
            report = told(judged, out, limit if as_json else FIRST)
    report = {"engine": "local" if local else "spark", **report}
    if as_json:
        print(json.dumps(report, indent=2))
    else:
        from rich.console import Console

        show(
            report,
            Console(),
            out,
            by_file=id is not None and position is None,
            crashed=crashed or (),
            unexpected=judged.unexpected(crashed or ()),
            times=asked.has_times(),
            lines=asked.lines(report),
        )
    raise typer.Exit(code_of(judged, crashed or ()))


def refuse_tables(paths: list[Path]) -> None:
    """Tables of one's own whose columns are not named."""
    for path in paths:
        if path.is_file() and TABLES.intersection(path.suffixes):
            raise InputError(f"{path} is a table: name its columns, at least --id and --parents (or --clock)")


def code_of(judged: Audit, crashed: Collection[str] = ()) -> int:
    """1: a violation; 2: nothing found, but something could not be judged: what is set aside, or was done after records
    stop without an end at a process that is not said to have `crashed`."""
    if sum(judged.counts.values()):
        return 1
    return 2 if judged.summary["quarantined"] or judged.unexpected(crashed) else 0


def tail_line(text: str, name: str, crashed: Collection[str]) -> str:
    """One process whose records have no end."""
    return f"Pending, as --crashed says: {text}." if name in crashed else f"Not clean: {text}."


def crash_hint(names: Iterable[str], crashed: Collection[str]) -> str:
    """What to add where this was to be expected; empty where nothing is to be added."""
    left = [name for name in names if name not in crashed]
    words = " ".join(f"--crashed {shlex.quote(name)}" for name in left)
    return f"Where a process was killed or still runs that is expected; say so with:\n  {words}" if left else ""


class Asked:
    """What is to be judged: a table where columns are named, logs, or traces."""

    def __init__(self, paths: list[Path], named: dict[str, str | None] | None, encoding: str | None) -> None:
        self.paths, self.named, self.encoding = paths, named, encoding
        logs = [] if named is not None else [path for path in paths if path.suffix == ".log"]
        if logs and len(logs) < len(paths):
            raise InputError(f"{logs[0]} is a log and the others are not: audit them one after the other")
        self.logs = bool(logs)

    def is_small(self) -> bool:
        from antecede.spark import audit_here

        if self.named is not None:
            return audit_here.table_is_small(self.paths)
        if self.logs:
            return audit_here.logs_are_small(self.paths)
        return audit_here.traces_are_small(self.paths)

    def has_times(self) -> bool:
        """Whether positions are times, so that they are shown as such."""
        from antecede.spark.tables.files import files_of
        from antecede.spark.tables.local import has_times

        position = (self.named or {}).get("position")
        return position is not None and has_times(files_of(self.paths), position, self.encoding)

    def lines(self, report: dict[str, Any]) -> Sequence[int]:
        """Of each row the line on which it begins, where that is to be said and known: of one small file, of which no
        column says the positions."""
        if self.named is None or self.named["position"] is not None or not report["quarantine"]:
            return ()
        return row_lines(self.paths, self.named, self.encoding)

    def here(self, watch: Watch | None) -> Audit:
        from antecede.spark import audit_here

        if self.named is not None:
            return audit_here.table_here(self.paths, self.named, encoding=self.encoding, watch=watch)
        judge = audit_here.logs_here if self.logs else audit_here.runs_here
        return judge(*self.paths, watch=watch)

    def on(self, spark: SparkSession, scratch: Path | None) -> Audit:
        from antecede.spark.foreign import audit_files, audit_table
        from antecede.spark.imports import EVENT_ROLES, read_shiviz
        from antecede.spark.trace_audit import records

        if self.named is not None:
            return audit_files(spark, self.paths, self.named, encoding=self.encoding, scratch=scratch)
        if self.logs:
            return audit_table(read_shiviz(spark, *self.paths), scratch=scratch, **EVENT_ROLES)
        return records(spark, *self.paths, scratch=scratch)


def row_lines(paths: list[Path], named: dict[str, str | None], encoding: str | None = None) -> Sequence[int]:
    from antecede.spark.auditing.table_rows import texts_of
    from antecede.spark.tables.files import LOCAL_BYTES, files_of
    from antecede.spark.tables.local import read_local

    found = files_of(paths)
    if found.kind == "parquet" or len(found.files) > 1 or found.bytes >= LOCAL_BYTES or found.root is not None:
        return ()
    return read_local(found, texts_of(named), encoding).lines


def told(judged: Audit, out: Path | None, limit: int) -> dict[str, Any]:
    if out is not None:
        write(judged, out)
    return judged.to_json(limit)


def write(judged: Audit, out: Path) -> None:
    """One Parquet table each, those with nothing in them too: who reads them need not ask whether they are there."""
    tables = {"findings": judged.findings, "in_doubt": judged.in_doubt, "unknown_tails": judged.tails}
    tables |= {"quarantine": judged.quarantine}
    if judged.missing is not None:
        tables["missing"] = judged.missing
    for name, table in tables.items():
        if hasattr(table, "write"):
            table.write.mode("overwrite").parquet(str((out / name).absolute()))
            continue
        import pyarrow.parquet as pq

        (out / name).mkdir(parents=True, exist_ok=True)
        pq.write_table(table, out / name / "part-0.parquet")


# --- what people see -------------------------------------------------------------------------------------------------


def step_of(step: int, times: bool, what: str = "step") -> str:
    """
    >>> step_of(1_714_564_801_000_000, True), step_of(3, False)
    ('2024-05-01T12:00:01Z', 'step 3')
    """
    if not times:
        return f"{what} {step}"
    try:
        at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=step)
        return at.isoformat().removesuffix("+00:00") + "Z"
    except OverflowError:
        return f"{step} us"


def where_of(row: dict[str, Any], what: str = "row", times: bool = False) -> str:
    """What is set aside: a row by its id, or by its place where it has none; its text may begin with the id already.
    `what` its place is: of the row in the file, or its position."""
    from antecede.spark.auditing.table_rows import EVERYBODY

    process = row["process"] if row["process"] != EVERYBODY else ""
    name, step = row.get("message"), row.get("step")
    if name and row["text"].startswith(name):
        name = None
    elif not name and step is not None:
        name = step_of(step, times, what)
    return "".join(f"{part}: " for part in (row["source"], row["run"], process, name) if part)


def show(
    report: dict[str, Any],
    console: Console,
    out: Path | None,
    *,
    by_file: bool = False,
    crashed: Collection[str] = (),
    unexpected: int = 0,
    times: bool = False,
    lines: Sequence[int] = (),
) -> None:
    """`by_file`: no column said in which order a receiver had what it had. `crashed`: whose records may have no end;
    `unexpected`: how many others have none. `times`: positions are these.
    `lines`: of each row of the only file the line on which it begins."""
    from rich.table import Table

    from antecede.spark.auditing.table_rows import EVERYBODY
    from antecede.trace.report import how_many

    def say(text: str) -> None:
        console.print(fitted(text), highlight=False, markup=False, soft_wrap=True)

    for finding in report["findings"]:
        place = "".join(f"{finding[name]}: " for name in ("source", "run") if finding[name])
        say(f"{finding['verdict']}: {place}{finding['process']}, {step_of(finding['step'], times)}: {finding['text']}")
    violations = sum(count for verdict, count in report["counts"].items() if verdict != "missing")
    if report["left_out"].get("findings"):
        where = f"{out / 'findings'} holds all" if out else "--json shows more, --out DIR writes all"
        say(f"... and {report['left_out']['findings']:,} more ({where})")
    for row in report["quarantine"]:
        at = row.get("step")
        if by_file and at is not None and at < len(lines):
            row, what = {**row, "step": lines[at]}, "line"
        else:
            what = "row" if by_file else "position"
        say(f"set aside: {where_of(row, what, times)}{row['text']}")
    if report["left_out"].get("quarantine"):
        where = f"{out / 'quarantine'} holds all" if out else "--json shows more, --out DIR writes all"
        say(f"... and {report['left_out']['quarantine']:,} more set aside ({where})")
    some = report.get("missing", ())[:SOME]
    for row in some:
        place = "".join(
            f"{row[name]}: " for name in ("source", "run", "process") if row[name] and row[name] != EVERYBODY
        )
        say(f"missing: {place}{row['text']}")
    if (more := report["counts"].get("missing", 0) - len(some)) > 0 and some:
        where = f"{out / 'missing'} holds all" if out else "--json shows more, --out DIR writes all"
        say(f"... and {more:,} more missing ({where})")
    verdicts = Table("verdict", "found", title="Verdicts", title_justify="left")
    verdicts.columns[1].justify = "right"
    for name, count in report["counts"].items():
        verdicts.add_row(name, f"{count:,}")
    console.print(verdicts)
    if by_file and report["counts"].get("inversion"):
        say("Without --position rows are judged in the order of the file: does the newest stand first in it?")
    say_doubts(report, say, out)
    for row in report["unknown_tails"]:
        say(tail_line(f"{row['source']}: {row['text']}", row["process"], crashed))
    tails = [row["process"] for row in report["unknown_tails"]]
    if hint := crash_hint(dict.fromkeys(tails), crashed):
        say(hint)
    who = (
        how_many(report["processes"], "process") if "processes" in report else how_many(report["receivers"], "receiver")
    )
    found = violations or unexpected
    verdict = "clean" if report["clean"] else "NOT clean" if found else "not all could be judged"
    say(
        f"{verdict}: {how_many(violations, 'finding')} in {report['deliveries']:,} "
        f"deliver{'y' if report['deliveries'] == 1 else 'ies'} ({how_many(report['rows'], 'row')}) of {who}, "
        f"{how_many(report['messages'], 'message')}; {report['quarantined']:,} set aside"
        + (f" ({how_many(report['rows_refused'], 'row')} not judged)" if report["rows_refused"] else "")
    )


def say_doubts(report: dict[str, Any], say: Callable[[str], None], out: Path | None) -> None:
    ties, doubts = report.get("ties"), report["left_out"].get("in_doubt", 0) + len(report["in_doubt"])
    if ties is None and doubts:
        say(f"In doubt, because clocks may differ that much: {doubts:,}")
    if ties:
        say(f"{ties:,} deliveries stand at the position of another: these have no order among themselves")
    for row in report["in_doubt"]:
        if row["verdict"] == "several":
            say(f"in doubt: {row['text']}")
    if ties is not None and report["left_out"].get("in_doubt"):
        where = f"{out / 'in_doubt'} holds all" if out else "--json shows more, --out DIR writes all"
        say(f"... and {report['left_out']['in_doubt']:,} more in doubt ({where})")
