"""`antecede order`: causal order for a table, a run or a growing directory of files; what is written, what is shown.

Decided in this file: what kind of input a path is (a directory with records is a run, *.log a ShiViz log, else a table
whose columns are named); up to which size a table is ordered in this process; that a stream ends when all that is there
is done and goes on from its checkpoint when it is called again; and the one line that says where every row went.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from antecede.cli.output import fitted
from antecede.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from antecede.spark.order.written import Targets
    from antecede.spark.tables.files import Found

__all__ = ["order"]

Option = typer.Option

FILES_AT_ONCE = 10
"""Files in one micro-batch: more cost memory, fewer cost time, since a micro-batch takes about a second."""

FIRST = 10
"""Rows without a place that are shown with their reasons."""
SOME = 3
"""Parents that were not there, of which the names are shown."""

REASONS = {
    "duplicate": "its id came before",
    "late": "it came after its own deadline",
    "superseded": "a row that comes after it was out already",
}
"""What a fate means where the row itself says no more."""

NAMES_THINGS = ("id", "parents", "sender", "clock", "group")
"""Columns that are text in CSV and JSON, whatever they look like."""


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
    unknown: Annotated[str | None, Option(help="skip: go on without parents that are in no row.")] = None,
    late: Annotated[Path | None, Option(metavar="DIR", help="Rows without a place go here (a stream: also).")] = None,
    quarantine: Annotated[Path | None, Option(metavar="DIR", help="Lines that are no rows. [OUT.quarantine]")] = None,
    encoding: Annotated[str | None, Option(help="Of CSV and JSON. [utf-8, or utf-16 by its mark]")] = None,
    engine: Annotated[str, Option(help="local (this process), spark, or auto: local below 32 MB of files.")] = "auto",
    stream: Annotated[bool, Option("--stream", help="Take the files of IN as they come; call again to go on.")] = False,
    held: Annotated[Path | None, Option(metavar="DIR", help="With --stream: what still waits goes here.")] = None,
    files: Annotated[int, Option(min=1, help="With --stream: files in one micro-batch.")] = FILES_AT_ONCE,
    as_json: Annotated[bool, Option("--json", help="One JSON object, for programs.")] = False,
    master: Annotated[str | None, Option(help="Spark's master. [local[*]]")] = None,
) -> None:
    """Give every row its place after whatever it comes after; and say of every row what became of it.

    A table needs an id, and parents, or a sender and its running number, or a vector clock. A run of antecede and a
    ShiViz log need nothing named. Nobody waits without a bound: a parent that is not in the table ends a batch with
    one sentence, unless --deadline, --wait-us or --unknown skip says what to do about it.

    Adds causal_pos (from 0 without holes in each group), fate (delivered, late, superseded, duplicate, cycle,
    invalid), released_by, missing, revealed and why. Lines that are no rows (ragged, a quote that is not closed, not
    UTF-8) go to the quarantine with the reason and the text. Rows in = rows out + quarantine; the last line says so.

    Tables of less than 32 MB of files are ordered in this process, without Spark; runs, logs, streams and larger ones
    on Spark. What comes out is the same.

    \b
    antecede order commits.parquet --id message --parents parents --out ordered
    antecede order events/ --stream --id id --sender host --seq n \\
        --arrived at --wait-us 5000000 --out ordered
    antecede order runs/first --out ordered --late late

    Read the table with pandas.read_parquet("ordered") or, what a stream writes, through its manifest:
    spark.read.format("antecede").load("ordered"). Exit 0; 1 when rows do not
    reconcile; 2 for bad input, and when all is written but some rows could not be read or ordered (quarantine,
    invalid, cycle).
    """
    named: dict[str, Any] = {
        "id": id, "parents": parents, "sender": sender, "seq": seq, "clock": clock, "group": group,
        "deadline": deadline, "time": time, "arrived": arrived, "wait_us": wait_us, "unknown": unknown,
    }  # fmt: skip
    named = {name: value for name, value in named.items() if value is not None}
    aside = quarantine or out.with_name(out.name + ".quarantine")
    if not source.exists():
        raise InputError(f"{source} does not exist: give a table, a directory of tables, a run or a ShiViz log")
    if engine not in ("auto", "local", "spark"):
        raise InputError(f"--engine is {engine}; it may be auto, local or spark")
    if not stream and held is not None:
        raise InputError("--held is what a stream still holds: add --stream")
    for target in (out, late, held, aside):
        if target is not None:
            refuse_inside(target)
        if target is not None and not stream and target.exists() and any(target.iterdir()):
            raise InputError(f"{target} is there already and not empty: name another directory")
    if held is not None and held.exists():
        raise InputError(f"{held} is there already: name another directory")

    from antecede.spark.order.written import Targets
    from antecede.spark.tables.files import LOCAL_BYTES

    to = Targets(out, late, aside)
    found = None if not stream and is_ours(source, named) else files_in(source, stream)
    why = needs_spark(found, stream, master)
    if engine == "local" and why is not None:
        raise InputError(f"--engine local orders tables in this process, and {why}: use --engine spark")
    here = engine == "local" or (engine == "auto" and why is None and found is not None and found.bytes < LOCAL_BYTES)
    try:
        if found is not None and here:
            report = in_process(found, named, to, encoding)
        else:
            report = on_spark(master, source, found, named, to, encoding, (files, held) if stream else None)
    except InputError as fault:
        raise InputError(as_options(str(fault))) from fault
    if as_json:
        print(json.dumps(report, indent=2))
    else:
        from rich.console import Console

        show(report, Console(), to, named if found is not None else of_ours(source) | named)
    bad = report["quarantined"] + report["fates"].get("invalid", 0) + report["fates"].get("cycle", 0)
    raise typer.Exit(1 if not report["reconciled"] else 2 if bad else 0)


OPTIONS = (
    (r"\b\w+(?:='\w+')? \((--[\w-]+(?: \w+)?)\)", r"\1"),  # wait_us (--wait-us)
    (r"\b\w+=(?:,| or) (--\w+)", r"\1"),  # arrived=, --arrived
    (r"\bwait_us or deadline, or unknown='skip' to wait until max_held rows do",
     "--wait-us or --deadline, or --unknown skip to wait until 1,000,000 rows do"),
    (r"\bunknown is '([^']*)'; it may be 'skip'", r"--unknown is \1; it may be skip"),
    (r", or foreign='project' if it is in another group", ""),
)  # fmt: skip
"""What a sentence for Python calls an argument, and how this command has it."""


def as_options(sentence: str) -> str:
    """
    >>> as_options("say unknown='skip' (--unknown skip), or how long to wait with wait_us (--wait-us)")
    'say --unknown skip, or how long to wait with --wait-us'
    >>> as_options("name the column of the sender, sender= or --sender")
    'name the column of the sender, --sender'
    """
    for pattern, words in OPTIONS:
        sentence = re.sub(pattern, words, sentence)
    return sentence


def refuse_inside(target: Path) -> None:
    """A table inside another would be read with it: pandas takes every file below a folder."""
    from antecede.spark.manifest import is_table

    outer = next((folder for folder in target.absolute().parents if is_table(folder)), None)
    if outer is not None:
        raise InputError(f"{target} is inside the table {outer}, with which it would be read: name another directory")


def is_ours(source: Path, named: dict[str, Any]) -> bool:
    """A ShiViz log, or a run of antecede."""
    run = source.is_dir() and any(source.glob("records*")) and not {"id", "parents", "seq", "clock"} & named.keys()
    return run or source.suffix == ".log"


def of_ours(source: Path) -> dict[str, Any]:
    """Which columns a person looks at first; the sequence of arrivals is known."""
    if source.suffix == ".log":
        return {"id": "id", "arrived": "position"}
    return {"id": "message", "group": "view", "arrived": "arrived_us"}


def files_in(source: Path, stream: bool) -> Found:
    from antecede.spark.tables.files import files_of

    if stream and not source.is_dir():
        raise InputError(f"{source} is one file: a stream is a directory into which files are put")
    return files_of([source])


def needs_spark(found: Found | None, stream: bool, master: str | None) -> str | None:
    """Why a table is not for this process."""
    if found is None:
        return "this is a run or a log"
    if stream:
        return "a stream is Spark's"
    if master is not None:
        return "--master names a Spark"
    return None if found.root is None else f"the folders below {found.root} carry values of columns"


def in_process(found: Found, named: dict[str, Any], to: Targets, encoding: str | None) -> dict[str, Any]:
    from antecede.spark.order.columns import Columns
    from antecede.spark.order.written import order_to_files
    from antecede.spark.tables.local import read_local

    return order_to_files(read_local(found, texts(named), encoding), Columns(**named), to)


def on_spark(
    master: str | None,
    source: Path,
    found: Found | None,
    named: dict[str, Any],
    to: Targets,
    encoding: str | None,
    stream: tuple[int, Path | None] | None,
) -> dict[str, Any]:
    from antecede.cli.watching import watched_spark
    from antecede.spark.tables.files import is_small

    small = stream is None and is_small([source])
    with watched_spark("antecede order", master, doing="ordering", small=small) as spark:
        from antecede.spark.order.jobs import Stream, as_batch, as_stream
        from antecede.spark.tables.careful import careful

        with careful(spark):
            if stream is not None and found is not None:
                return as_stream(spark, source, found, named, to, Stream(*stream), texts(named), encoding)
            return as_batch(spark, found or source, named, to, texts(named), encoding)


def texts(named: dict[str, Any]) -> set[str | None]:
    return {named.get(role) for role in NAMES_THINGS}


def show(report: dict[str, Any], console: Console, to: Targets, named: dict[str, Any]) -> None:
    """`named`: which column of the table is what."""
    from rich.table import Table

    from antecede.spark.order.written import not_there, without_place
    from antecede.trace.report import how_many

    id = named.get("id")

    def say(text: str) -> None:
        console.print(fitted(text), highlight=False, markup=False, soft_wrap=True)

    table = Table("fate", "rows", title="Fates", title_justify="left")
    table.columns[1].justify = "right"
    for name, count in report["fates"].items():
        table.add_row(name, f"{count:,}")
    console.print(table)
    without = sum(report["fates"].values()) - report["fates"].get("delivered", 0)
    if without and id is not None:
        for name, fate, why in without_place(to.late or to.out, id, FIRST):
            say(f"{fate}: {'a row without an id' if name is None else name}: {why or REASONS.get(fate, fate)}")
        if without > FIRST:
            say(f"... and {without - FIRST:,} more; the column why tells of each")
    for name, text in (
        ("missing", "parents that were not there when a row went out (column missing)"),
        ("foreign", "parents in other groups, which nobody waited for"),
        ("quarantined", "lines that are no rows; the quarantine says why"),
        ("revealed", "rows of which a later one revealed that they went out too early"),
    ):
        if report[name]:
            few = not_there(to.out, SOME, foreign=name == "foreign") if name in ("missing", "foreign") else []
            named_here = ", ".join([*few, *(["..."] if len(few) < report[name] else [])])
            say(f"{text}: {report[name]:,}{f' ({named_here})' if few else ''}")
    for note in report.get("notes", ()):
        say(note)
    more = f" + {report['quarantined']:,} in {to.quarantine}" if report["quarantined"] else ""
    more += f" + {report['held']:,} still waiting" if report["held"] else ""
    sign = "=" if report["reconciled"] else "BUT"
    line = f"{how_many(report['rows_in'], 'row')} in {sign} {how_many(report['rows_out'], 'row')} in {to.out}{more}"
    say(line)
    if "arrived" not in named and "time" not in named:
        say("No --arrived: rows that do not come after each other stand by their ids (text: e10 before e2).")
    say("Rows do not stand in this order: the column causal_pos is the place of each, so sort by it.")
    say(f"See it:\n  {see_it(to.out, named)}")


def see_it(out: Path, named: dict[str, Any]) -> str:
    """A command for a shell that prints the ordered table, in its order and few enough columns for a terminal.

    >>> print(see_it(Path("o"), {"id": "msg"}))
    python -c "import pandas as p; print(p.read_parquet('o')[['causal_pos', 'msg', 'fate']].sort_values('causal_pos'))"
    """
    group = [named["group"]] if "group" in named else []
    who = [named["id"]] if "id" in named else [named[role] for role in ("sender", "seq") if role in named]
    columns = list(dict.fromkeys([*group, "causal_pos", *who, "fate"]))
    by = repr([*group, "causal_pos"]) if group else repr("causal_pos")
    code = f"import pandas as p; print(p.read_parquet({str(out)!r})[{columns}].sort_values({by}))"
    for special in '\\"$`':
        code = code.replace(special, "\\" + special)
    return f'python -c "{code}"'
