"""`antecede pipeline`: what is shown while it runs and after; a commented CONFIG.toml to begin with; a demonstration.

Without a file it explains itself by doing: a small run is simulated over links that lose, and goes through the whole
pipeline. Exit 1: the audit found something, or rows do not reconcile. 2: all is written, but some rows could not be
read or ordered, as for `antecede order` and `audit`.
"""

from __future__ import annotations

import json
import textwrap
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from antecede.cli.output import COLUMNS
from antecede.cli.watching import Line, ui_settings, watched
from antecede.errors import InputError

if TYPE_CHECKING:
    from antecede.spark.config import Pipeline
    from antecede.spark.jobs import Far
    from antecede.spark.outcome import Report

__all__ = ["code_of", "demonstrate", "fine", "pipeline", "show"]

DEMO = "antecede-pipeline"
AS_IT_CAME = "as it came"
"""What the audit calls the rows of a table before they were ordered."""


def pipeline(
    config: Annotated[Path | None, typer.Argument(metavar="[CONFIG.toml]", help="What to do.")] = None,
    init: Annotated[bool, typer.Option("--init", help="Write a commented CONFIG.toml to begin with.")] = False,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Where the demonstration goes. [a new one]")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, for programs.")] = False,
) -> None:
    """Order, fuse and audit on Spark: source -> order -> fuse -> audit -> tables.

    What is read, how long to wait for what, what to fuse and where tables go stands in CONFIG.toml. A pipeline that was
    interrupted goes on where it was: stages that are finished, and of which nothing has changed, are not repeated. Rows
    that cannot be used are in the table `quarantine`, with the reason; nothing is lost and nothing is silent.

    Without CONFIG.toml a small run is simulated over links that lose, and goes through the whole pipeline.

    Exit codes: 0 fine, 1 the audit found something or rows do not reconcile, 2 all is written but something could not
    be read or ordered (quarantine, invalid, cycle).

    \b
    antecede pipeline --init CONFIG.toml     a file with every setting, explained
    antecede pipeline CONFIG.toml            run it; again: only what is left
    antecede pipeline                        the demonstration
    """
    if init:
        _begin(config or Path("CONFIG.toml"))
        return
    if config is not None and out is not None:
        raise InputError("--out is for the demonstration: a pipeline of your own says output.path in its file.")
    if config is None:
        report = demonstrate(out)
    else:
        from antecede.spark.config import load_config

        report = watched_run(load_config(config))
    if as_json:
        print(json.dumps(report.to_json(), indent=2))
    else:
        show(report)
    raise typer.Exit(code_of(report))


def code_of(report: Report) -> int:
    """1: a violation was found, or rows do not reconcile; 2: neither, but something could not be read or ordered."""
    quarantine, ordered = report.stage("quarantine"), report.stage("ordered")
    bad = report.damaged + (0 if quarantine is None else quarantine.rows)
    bad += 0 if ordered is None else sum(ordered.counts.get(fate, 0) for fate in ("invalid", "cycle"))
    return 1 if not fine(report) else 2 if bad else 0


def fine(report: Report) -> bool:
    """Every row is accounted for, and the audit found nothing but what ordering has cured."""
    findings = report.stage("findings")
    counts = {} if findings is None else findings.counts
    return report.reconciled and not any(count for what, count in counts.items() if not what.startswith(AS_IT_CAME))


def _begin(path: Path) -> None:
    from antecede.spark.config import TEMPLATE

    if path.exists():
        raise InputError(f"{path} is there already: remove it, or name another file.")
    path.write_text(TEMPLATE, "utf-8")
    print(f"written to {path}; say what to read in it, then: antecede pipeline {path}")


def watched_run(config: Pipeline) -> Report:
    """Run it, with a line that says how far it is when a person is watching; where nothing is new, without Spark."""
    from antecede.spark.again import last_report, output_of, whole_key
    from antecede.spark.sessions import check_packages

    output_of(config)
    whole_key(config)  # an input that is not there is said before Java starts
    done = last_report(config)
    if done is not None:
        return done
    check_packages()  # its sentence, before anything imports what is not there

    from antecede.spark.pipeline import run_pipeline

    with watched("starting Spark") as line:
        settings = {**ui_settings(config.spark.master), **config.spark.settings}
        spark = msgspec.structs.replace(config.spark, settings=settings)
        return run_pipeline(msgspec.structs.replace(config, spark=spark), clock=time.perf_counter, told=Teller(line))


class Teller:
    """What the pipeline tells, on the line of the command."""

    def __init__(self, line: Line) -> None:
        self.line, self.stage = line, ""

    def __call__(self, stage: str, far: Far) -> None:
        if stage != self.stage:
            if not self.stage and far.page:
                self.line.note(f"Spark shows its work at {far.page}")
            self.stage = stage
            self.line.doing(stage)
        self.line.far(far)


def show(report: Report) -> None:
    """The report as a table."""
    rows = [("stage", "rows", "of which", "seconds")]
    for stage in report.stages:
        counts = {name: count for name, count in stage.counts.items() if name not in ("rows in", "damaged") and count}
        told = ", ".join(f"{count:,} {name}" for name, count in counts.items()) or "-"
        seconds = "done before" if not stage.repeated else "" if stage.seconds is None else f"{stage.seconds:.1f}"
        rows.append((stage.name, f"{stage.rows:,}", told, seconds))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    widths[2] = min(widths[2], COLUMNS - sum(widths) + widths[2] - 6)
    for name, count, told, seconds in rows:
        first, *more = textwrap.wrap(told, widths[2], break_on_hyphens=False)
        print(f"{name:<{widths[0]}}  {count:>{widths[1]}}  {first:<{widths[2]}}  {seconds}".rstrip())
        for line in more:
            print(f"{'':<{widths[0] + widths[1] + 4}}{line}")
    held = f" + {report.held:,} still held" if report.held else ""
    held += f" (the oldest for {report.oldest_held_us / 1e6:,.1f} s)" if report.oldest_held_us is not None else ""
    held += f" + {report.unread:,} not read yet" if report.unread > 0 else ""
    damaged = f"; {report.damaged:,} damaged files or parts are named in quarantine" if report.damaged else ""
    if report.reconciled:
        print(f"{report.rows_in:,} rows in = {report.rows_out:,} rows out{held}{damaged}.")
    else:
        print(f"{report.rows_in:,} rows in, but {report.rows_out:,} rows out{held}{damaged}: they do not reconcile.")
    if report.stages and not any(stage.repeated for stage in report.stages):
        print("Nothing has changed since this was last run: nothing was done.")
    print(f"tables below {report.output}")


def demonstrate(out: Path | None = None) -> Report:
    """A small run over links that lose a tenth of all copies, through the whole pipeline."""
    import tempfile

    from antecede.sim.run import simulate
    from antecede.sim.scenario import Scenario
    from antecede.spark.config import config_from
    from antecede.trace.parquet import TraceWriter

    root = out or Path(tempfile.mkdtemp(prefix=f"{DEMO}-"))
    run = root / "run"
    scenario = Scenario(recipe="home", messages=300, loss=0.1, duplicate=0.05, spike=0.05, deadline_ms=(150.0, 400.0))
    if not (run / "records.parquet").exists():
        with TraceWriter(run) as writer:
            done = simulate(scenario, writer.write)
            writer.close(done.body(), done.summary())
    return watched_run(
        config_from(
            {
                "source": {"kind": "run", "path": str(run)},
                "fuse": {"every": 50, "interests": {"everything": "#"}},
                "output": {"path": str(root / "tables")},
            }
        )
    )
