"""`antecede show`: any run as a picture, a page to open or an SVG."""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from antecede.cli.output import fitted
from antecede.cli.progress import Progress

__all__ = ["show"]


def show(
    paths: Annotated[
        list[Path], typer.Argument(metavar="DIR|FILE...", help="A run, or its records in several places.")
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A page (.html) or only the diagram (.svg). [DIR/show.html]")
    ] = None,
    message: Annotated[
        str | None, typer.Option(metavar="ID", help="What became of this message and of its nearest causes.")
    ] = None,
    start_ms: Annotated[
        float | None, typer.Option("--from", metavar="MS", help="From here on, since the run's first row.")
    ] = None,
    end_ms: Annotated[float | None, typer.Option("--to", metavar="MS", help="Up to here.")] = None,
    process: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this process; may be repeated.")
    ] = None,
    order: Annotated[
        str | None,
        typer.Option("--as", metavar="ORDER", help="Judge by this order, whatever was asked for: causal or fifo."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, for programs.")] = False,
) -> None:
    """Draw a run: who published, delivered, held, asked and left out what, and when, as a page to open in a browser.

    The page begins with the oracle's verdict. Each finding has a diagram of its own: the messages it names and what
    lies between them. A run of the simulator and the records of live brokers and clients are drawn alike. A diagram
    holds 160 steps in 14 lanes; --from, --process and --message choose which.
    Example: antecede show runs/gossip --as causal

    Exit 0 when the page is written, whatever is on it; 2 when the input is no trace.
    """
    import antecede
    from antecede.errors import InputError
    from antecede.report.show.chosen import about, window
    from antecede.report.show.layout import lay_out
    from antecede.report.show.page import page
    from antecede.report.show.run import run_of
    from antecede.report.show.svg import drawing
    from antecede.trace.parquet import read_rows, read_scenario
    from antecede.trace.report import how_many
    from antecede.trace.writing import write_whole

    if message is not None and (start_ms is not None or end_ms is not None):
        raise InputError("--message shows one message from beginning to end: leave out --from and --to.")
    target = out or (paths[0] / "show.html" if paths[0].is_dir() else paths[0].with_suffix(".html"))
    if target.suffix not in (".html", ".svg"):
        raise InputError(f"{target} is neither a page (.html) nor a diagram (.svg): name one of these.")
    with Progress("rows") as progress:
        rows, watch = chain.from_iterable(map(read_rows, paths)), progress.stage if progress.watched else None
        run = run_of(rows, read_scenario(paths[0]), order=order, watch=watch)
        if message is not None:
            chosen = about(run, message, processes=process or ())
        else:
            chosen = window(run, start_us=_us(start_ms), end_us=_us(end_ms), processes=process or ())
        if target.suffix == ".svg":
            findings = run.report.findings if run.report is not None else []
            text = drawing(run, lay_out(run, chosen, findings))
        else:
            where = " ".join(map(str, paths))
            text = page(run, chosen, where=where, version=antecede.__version__)
        write_whole(target, text)
    clean = None if run.report is None else run.report.clean
    if as_json:
        found = 0 if run.report is None else len(run.report.findings)
        said = {
            "page": str(target),
            "clean": clean,
            "findings": found,
            "steps": len(chosen.lines),
            "lanes": chosen.lanes,
        }
        print(json.dumps(said, indent=2))
        return
    verdict = {None: "not judged, there are too many messages", True: "clean", False: "NOT clean"}[clean]
    messages, processes = (
        how_many(len(run.history.messages), "message"),
        how_many(len(run.history.processes), "process"),
    )
    print(fitted(f"{messages}, {processes}: {verdict}\nopen in a browser: {target.resolve().as_uri()}"))
    if chosen.left_out:
        print(fitted(chosen.left_out))


def _us(at_ms: float | None) -> int | None:
    return None if at_ms is None else round(at_ms * 1000)
