"""`antecede lab`: the papers' claims and figures, measured on Spark; what is printed, and what is refused.

Decided here: tasks run on the Spark session of `--master`; `--master none` runs them in this process. The exit code
says whether the lab worked, not what it found: a claim that does not hold is a result.
"""

from __future__ import annotations

import json
import shlex
import sys
import textwrap
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from antecede.cli.output import fitted
from antecede.cli.watching import quiet_py4j, watched
from antecede.errors import InputError
from antecede.trace.report import how_many

if TYPE_CHECKING:
    from antecede.cli.watching import Line
    from antecede.lab.claim import Claim, Effort
    from antecede.spark.sweep import Progress

__all__ = ["lab"]

Option = typer.Option
ACTIONS = ("list", "run", "all", "keep", "redraw")


def lab(
    action: Annotated[
        str, typer.Argument(metavar="list|run|all|keep|redraw", help="List the claims, run some or all, keep results.")
    ],
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME...",
            help="Claims to list or run; keep: DIR of a run..., then where to; redraw: where, then claims.",
        ),
    ] = None,
    quick: Annotated[bool, Option("--quick", help="Few seeds and points: minutes; more is undecided.")] = False,
    seeds: Annotated[
        int | None, Option(help="Seeds per point. [500 vectorised, 20 event-driven; quick: 100, 4]")
    ] = None,
    master: Annotated[str | None, Option(help="Where Spark runs; none: in this process. [local[*]]")] = None,
    out: Annotated[Path, Option(metavar="DIR", help="Where tables, figures and the page go.")] = Path("runs/lab"),
    resume: Annotated[bool, Option("--resume", help="Go on with what an interrupted run left in DIR.")] = False,
    cell: Annotated[int | None, Option(metavar="I", help="Measure one cell of one claim again and print it.")] = None,
    as_json: Annotated[bool, Option("--json", help="One JSON object, for programs.")] = False,
) -> None:
    """The papers' claims and figures, on Spark: each sentence, what was measured, and the verdict.

    \b
    Examples:
    antecede lab list                            (of some: antecede lab list acks)
    antecede lab run log-rounds --quick --out runs/lab
    antecede lab all --quick --out runs/lab      (report.html is the page to open)
    antecede lab keep runs/lab runs/quick docs/results   (the first that has it)
    antecede lab redraw docs/results acks        (from the kept tables)
    """
    if action not in ACTIONS:
        raise InputError(
            f"antecede lab cannot {action!r}: it can list, run NAME..., all, keep DIR... WHERE or redraw WHERE NAME..."
        )
    if seeds is not None and seeds < 2:
        raise InputError(f"--seeds is {seeds}: an interval needs at least 2.")
    from antecede.lab.claim import Effort
    from antecede.lab.claims import all_claims, claim_named

    effort = Effort(quick, seeds)
    if action == "list":
        _list([claim_named(name) for name in names] if names else all_claims(), effort, as_json)
        return
    if action == "run" and not names:
        raise InputError("antecede lab run needs a name: `antecede lab list` shows them, `antecede lab all` runs all.")
    if action == "all" and names:
        raise InputError("antecede lab all takes no names: use `antecede lab run`.")
    if action == "keep":
        _keep([Path(name) for name in names or ()], [claim.name for claim in all_claims()], as_json)
        return
    if action == "redraw":
        if not names:
            raise InputError(
                "antecede lab redraw needs the folder that `antecede lab keep` made, and claims, or none for all."
            )
        _redraw(Path(names[0]), names[1:], all_claims(), as_json)
        return
    claims = all_claims() if action == "all" else [claim_named(name) for name in names or ()]
    if cell is not None:
        _one(claims, effort, cell)
        return
    _run(claims, effort, master, out, resume, as_json)


def _list(claims: list[Claim], effort: Effort, as_json: bool) -> None:
    from antecede.lab.claim import varied

    if as_json:
        print(json.dumps([
            {"name": c.name, "papers": c.papers, "place": c.place, "sentence": c.sentence, "asks": c.asks,
             "cells": len(c.cells(effort)), "varied": varied(c.cells(effort))} for c in claims
        ]))  # fmt: skip
        return
    for claim in claims:
        print(f"{claim.name:<15} {claim.place}")
        print(textwrap.indent(textwrap.fill(claim.asks, 76), "    "))
        print(textwrap.indent(textwrap.fill(varied(claim.cells(effort)), 76), "    "))
    print("\nRun one, here and in seconds to minutes:\n  antecede lab run log-rounds --quick --master none")


def _keep(paths: list[Path], names: list[str], as_json: bool) -> None:
    from antecede.report.kept import keep

    if len(paths) < 2:
        raise InputError("antecede lab keep needs the directory of a run, or several, and then where to keep it.")
    kept = keep(paths[:-1], paths[-1], names)
    if as_json:
        print(json.dumps({"page": str(kept.page), "claims": kept.claims, "quick": kept.quick, "missing": kept.missing,
                          "bytes": kept.size}))  # fmt: skip
        return
    claims = how_many(kept.claims, "claim")
    print(f"{claims}, {len(kept.quick)} of the quick design, {kept.size / 1e6:.1f} MB: {kept.page}")
    if kept.missing:
        print(f"Not measured: {', '.join(kept.missing)}.")


def _redraw(target: Path, names: list[str], claims: list[Claim], as_json: bool) -> None:
    from antecede.report.redrawn import redraw

    done = redraw(target, claims, names)
    if as_json:
        print(json.dumps({"drawn": done.drawn, "stale": done.stale}))
        return
    print(f"{how_many(len(done.drawn), 'figure')} drawn from the tables in {target / 'tables'}")
    if done.stale:
        print(f"The rule says something else than the page: {', '.join(done.stale)}. Measure and keep them again.")


def _one(claims: list[Claim], effort: Effort, number: int) -> None:
    from antecede.lab.run import measure_one

    if len(claims) != 1 or not 0 <= number < len(claims[0].cells(effort)):
        raise InputError("--cell I goes with one claim, and a cell that it has: cells.parquet numbers them.")
    cell, row = measure_one(claims[0], effort, number)
    print(json.dumps({"knobs": dict(cell.knobs), "seed": cell.seed, "row": row}))


def _run(claims: list[Claim], effort: Effort, master: str | None, out: Path, resume: bool, as_json: bool) -> None:
    from antecede.lab.claims import all_claims
    from antecede.lab.run import run_claim
    from antecede.report.claims import write_page

    for claim in claims:
        if not resume and (out / claim.name / "cells.jsonl").exists():
            raise InputError(f"{out} holds {claim.name} already: add --resume to go on, or choose another --out.")
    begun = time.monotonic()
    said: list[dict[str, Any]] = []
    try:
        with quiet_py4j(), watched("starting Spark") as line:
            spark: Any = None
            if master != "none":
                from antecede.spark.sessions import session

                line.at(0, now=True)
                spark = session(master, app="antecede lab")
            for claim in claims:
                tell = _teller(line, claim.name, len(claim.cells(effort)))
                result = run_claim(
                    claim, effort, out, spark, clock=time.monotonic, resume=resume, progress=tell,
                    today=datetime.now(UTC).date().isoformat(),
                )  # fmt: skip
                said.append({"claim": claim.name, "word": result.verdict.word, "verdict": str(result.verdict),
                             "cells": result.cells, "failed": len(result.failed)})  # fmt: skip
                if not as_json:
                    line.clear()
                    print(fitted(f"{claim.name:<15} {result.verdict}", indent=" " * 16), flush=True)
    except KeyboardInterrupt:
        print(f"Interrupted; what is measured is kept. Go on with:\n  {_again(claims, effort, master, out)}",
              file=sys.stderr)  # fmt: skip
        raise
    page = write_page(out, [claim.name for claim in all_claims()])
    if as_json:
        print(json.dumps({"claims": said, "page": str(page)}))
    else:
        print(f"{how_many(len(claims), 'claim')} in {time.monotonic() - begun:.0f} s; open {page}")


def _teller(line: Line, name: str, count: int) -> Callable[[Progress], None]:
    """Tells a person how many cells of this claim are measured, from none on: the first wave may take a while."""
    line.say(name, f"0 of {count:,} cells")

    def tell(progress: Progress) -> None:
        left = "" if not progress.left_s else f", {progress.left_s:.0f} s left"
        line.say(name, f"{progress.done:,} of {progress.count:,} cells{left}")

    return tell


def _again(claims: list[Claim], effort: Effort, master: str | None, out: Path) -> str:
    """The command that goes on."""
    from antecede.lab.claims import all_claims

    names = [claim.name for claim in claims]
    words = ["antecede", "lab", *(["all"] if len(names) == len(all_claims()) else ["run", *names])]
    words += ["--quick"] if effort.quick else []
    words += ["--seeds", str(effort.seeds)] if effort.seeds is not None else []
    words += ["--master", master] if master is not None else []
    return shlex.join([*words, "--out", str(out), "--resume"])
