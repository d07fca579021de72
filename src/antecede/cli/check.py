"""`antecede check`: judges a trace, or a table of another system, and says what it found for people or as JSON."""

from __future__ import annotations

import json
import shlex
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from antecede.cli.audit import CRASHED, CRASHED_TABLE
from antecede.cli.output import fitted
from antecede.cli.progress import Progress

if TYPE_CHECKING:
    from rich.console import Console

    from antecede.trace.report import Finding, Report

__all__ = ["check"]

FIRST = 20
"""Findings that are printed; all of them are in --json."""

ALL = 10**12


def check(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR|FILE...",
            help="A run, in one directory or several, records files, or with --id your own tables.",
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, for programs.")] = False,
    id: Annotated[str | None, typer.Option(help="Column of the message id: the file is a table of your own.")] = None,
    parents: Annotated[str | None, typer.Option(help="Column of what each message came after: ids.")] = None,
    receiver: Annotated[str | None, typer.Option(help="Column of who delivered it.")] = None,
    position: Annotated[str | None, typer.Option(help="Column of the order at that receiver.")] = None,
    clock: Annotated[str | None, typer.Option(help="Column of its vector clock, instead of parents.")] = None,
    order: Annotated[
        str | None,
        typer.Option("--as", metavar="ORDER", help="Judge by this order, whatever was asked for: causal or fifo."),
    ] = None,
    crashed: Annotated[list[str] | None, typer.Option(metavar="NAME", help=CRASHED)] = None,
    plugin: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="Python that says what its recipes do not promise.")
    ] = None,
) -> None:
    """Judge a trace: every delivery, every discard, every claim; what became of every message at every receiver.

    The judge reads records only, never what a protocol stamped on a message. Verdicts: inversion (out of causal
    order), gap (released without a cause it should have waited for), overdue, duplicate, stuck (came in time, never
    delivered), idle (held for nothing), false (an untrue claim), undelivered, unexplained. Nothing is left out: the
    fates of all pairs of message and receiver add up.

    A message that asked for no order is not judged by one; with --as causal each is judged as if it had, and had
    followed all that its publisher had seen.

    With --id the file is any Parquet, CSV or JSON-lines table of deliveries, judged as `antecede audit` does:
    inversions, duplicates, and parents that never came.
    Example: antecede check log.csv --id msg --parents refs --receiver node --position n

    A process that was killed, or still runs, has records without an end. Nobody knows what it did later, so what it was
    owed is pending, and the run is never called clean. Where you know of it, say so: --crashed A.

    Exit 0 when clean, 1 when a violation was found, 2 when the input is no trace, or nothing was found but something
    could not be judged: part of a table, or the rest of records without an end, unless --crashed names the process.
    """
    from rich.console import Console

    from antecede.errors import InputError

    if id is not None:
        if order is not None:
            raise InputError("--as judges a trace: of a table, --parents or --clock says what comes after what")
        if crashed:
            raise InputError(CRASHED_TABLE)
        named = {"id": id, "parents": parents, "receiver": receiver, "position": position, "clock": clock}
        check_table(paths, named, as_json)
    if any(option is not None for option in (parents, receiver, position, clock)):
        raise InputError("--parents, --receiver, --position and --clock describe a table: name its ids with --id too")

    from antecede.cli.audit import refuse_tables
    from antecede.sim.plugin import load
    from antecede.trace.check import check as judge

    refuse_tables(paths)

    load(plugin or ())
    with Progress("rows") as progress:
        report = judge(*paths, order=order, watch=progress.stage if progress.watched else None)
    if as_json:
        print(json.dumps(report.to_json(), indent=2))
    else:
        show(report, Console(), crashed or ())
        unknown = "" if not report.findings else unknown_recipe(paths[0])
        if unknown:
            text = f"Recipe {unknown!r} is not known here: what it does not promise is judged too. Name its --plugin."
            print(fitted(text))
        if report.findings:
            words = [*map(str, paths), *(("--as", order) if order is not None else ())]
            print(f"Findings drawn, on a page to open: antecede show {shlex.join(words)}")
    raise typer.Exit(1 if report.findings else 2 if set(report.unknown_tails) - set(crashed or ()) else 0)


def unknown_recipe(path: Path) -> str:
    """The recipe of a run, where no file that says what the recipe does not promise was named; empty: it is known."""
    from antecede.core.recipes import RECIPES
    from antecede.trace.parquet import read_scenario

    recipe = str((read_scenario(path) or {}).get("recipe") or "")
    return "" if recipe.partition("+")[0] in RECIPES else recipe


def show(report: Report, console: Console, crashed: Collection[str] = ()) -> None:
    """`crashed`: processes whose records may stop without an end."""
    from rich.table import Table

    from antecede.cli.audit import crash_hint, tail_line
    from antecede.spark.auditing.pieces import unknown_tail
    from antecede.trace.report import how_many

    print_findings(report.findings, console)
    verdicts = Table("verdict", "found", title="Verdicts", title_justify="left")
    verdicts.columns[1].justify = "right"
    for name, count in report.counts.items():
        verdicts.add_row(name, "not judged" if name in report.exempt else str(count))
    console.print(verdicts)
    roles = sorted(report.fates_by_role)
    fates = Table("fate", *roles, "all", title="Fates", title_justify="left")
    for column in fates.columns[1:]:
        column.justify = "right"
    for name, count in report.fates.items():
        fates.add_row(name, *(str(report.fates_by_role[role][name]) for role in roles), str(count))
    fates.add_section()
    fates.add_row(
        "pairs", *(str(sum(report.fates_by_role[role].values())) for role in roles), str(sum(report.fates.values()))
    )
    console.print(fates)
    if report.in_doubt:
        console.print(f"In doubt, as the rows cannot tell (--json says what): {len(report.in_doubt)}", highlight=False)
    for name in report.unknown_tails:
        console.print(
            fitted(tail_line(unknown_tail(name), name, crashed)), highlight=False, markup=False, soft_wrap=True
        )
    if hint := crash_hint(report.unknown_tails, crashed):
        console.print(fitted(hint), highlight=False, markup=False, soft_wrap=True)
    if report.unrecorded:
        console.print(fitted(why_unrecorded(report.unrecorded)), highlight=False, markup=False, soft_wrap=True)
    found = report.findings or set(report.unknown_tails) - set(crashed)
    verdict = "clean" if report.clean else "NOT clean" if found else "not all could be judged"
    if report.exempt:
        verdict += f" (not judged: {', '.join(report.exempt)})"
    text = (
        f"{verdict}: {how_many(len(report.findings), 'finding')} in {how_many(report.rows, 'row')} of "
        f"{how_many(report.processes, 'process')}, {how_many(report.messages, 'message')}, "
        f"{how_many(report.pairs, 'pair')}"
    )
    console.print(fitted(text), highlight=False, soft_wrap=True)


def why_unrecorded(names: list[str]) -> str:
    """What is missing where some who took part have no records here.

    >>> why_unrecorded(["ann"]).partition(":")[0]
    'ann took part and has no records here'
    """
    some = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return (
        f"{some} took part and {'has' if len(names) == 1 else 'have'} no records here: clients write them with "
        "--records DIR or records= of connect, as brokers do; name every directory, or write all to one."
    )


def check_table(paths: list[Path], named: dict[str, str | None], as_json: bool) -> None:
    """A table is judged as `antecede audit --engine local` judges it."""
    from rich.console import Console

    from antecede.cli.audit import code_of, row_lines, show
    from antecede.spark.audit_here import table_here
    from antecede.spark.tables.files import files_of
    from antecede.spark.tables.local import has_times

    with Progress("rows") as progress:
        judged = table_here(paths, named, watch=progress.stage if progress.watched else None)
    if as_json:
        print(json.dumps(judged.to_json(ALL), indent=2))
    else:
        times = named["position"] is not None and has_times(files_of(paths), named["position"])
        by_file, report = named["position"] is None, judged.to_json(FIRST)
        lines = row_lines(paths, named) if by_file and report["quarantine"] else ()
        show(report, Console(), None, by_file=by_file, times=times, lines=lines)
    raise typer.Exit(code_of(judged))


def print_findings(findings: list[Finding], console: Console) -> None:
    for finding in findings[:FIRST]:
        where = finding.process if finding.step is None else f"{finding.process}, step {finding.step}"
        text = fitted(f"{finding.verdict}: {where}: {finding.text}")
        console.print(text, highlight=False, markup=False, soft_wrap=True)
    if len(findings) > FIRST:
        console.print(f"... and {len(findings) - FIRST} more (--json shows all)")
