"""`antecede demo`: every recipe in every weather, judged by the oracle, then a small pipeline on Spark; what
`python3 run.py` runs.

Decided here: the weathers, how many runs each gets, and the table. A run that is not clean is printed as the command
that replays it, and the exit code is 1. Where Spark cannot run, the pipeline is left out with the reason.
"""

from __future__ import annotations

import dataclasses
import json
import shlex
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from antecede.cli.pipeline import demonstrate, fine
from antecede.cli.pipeline import show as show_report
from antecede.errors import EnvironmentFault

if TYPE_CHECKING:
    from antecede.core.recipes import Recipe
    from antecede.sim.scenario import Scenario
    from antecede.spark.outcome import Report as PipelineReport
    from antecede.trace.report import Report

__all__ = ["WEATHERS", "Line", "demo"]

WEATHERS: Mapping[str, Mapping[str, Any]] = {
    "calm": {},
    "lossy": {"loss": 0.1, "duplicate": 0.05, "spike": 0.02},
    "storm": {
        "loss": 0.3,
        "duplicate": 0.1,
        "spike": 0.1,
        "crash": 0.2,
        "skew_ms": 5.0,
        "move": 0.2,
        "partition": "A,B|C,D@400-900",
    },
}
"""Knobs of a scenario. Calm: nothing is lost, yet copies overtake each other. Lossy: a bad radio link. Storm: all."""

DEADLINE_MS = (200.0, 400.0)
"""Five to ten round trips of the slowest link: time for several tries, not for ever."""
ALPHA = 3
"""Where there are lifetimes instead: six rounds of 50 ms for these sizes, about the same time."""
MESSAGES = 150


@dataclass(slots=True)
class Line:
    """One line of the table: a recipe in one weather, over all its runs."""

    recipe: str
    paper: str
    weather: str
    deadlines: bool
    runs: int = 0
    messages: int = 0
    pairs: int = 0
    fates: Counter[str] = field(default_factory=Counter)
    findings: Counter[str] = field(default_factory=Counter)
    replay: list[str] = field(default_factory=list)
    """Commands that show the runs that were not clean."""

    def add(self, scenario: Scenario, report: Report) -> None:
        self.runs += 1
        self.messages += report.messages
        self.pairs += report.pairs
        self.fates.update(report.fates)
        self.findings.update({name: count for name, count in report.counts.items() if count})
        if report.unknown_tails:
            self.findings["cut short"] += 1
        if not report.clean:
            self.replay.append(command(scenario))

    @property
    def verdict(self) -> str:
        return ", ".join(f"{count} {name}" for name, count in self.findings.items()) or "clean"

    def to_json(self) -> dict[str, Any]:
        return {column.name: getattr(self, column.name) for column in dataclasses.fields(self)}


def command(scenario: Scenario) -> str:
    """The command that runs this scenario again, naming only what is not as usual."""
    usual = type(scenario)()
    words = ["antecede", "simulate", "--recipe", scenario.recipe]
    for knob in dataclasses.fields(scenario):
        value = getattr(scenario, knob.name)
        if knob.name != "recipe" and value != getattr(usual, knob.name):
            text = ":".join(f"{part:g}" for part in value) if isinstance(value, tuple) else str(value)
            words += [f"--{knob.name.replace('_', '-')}", text]
    return shlex.join([*words, "--out", f"runs/{scenario.run}"])


def lines(recipes: Mapping[str, Recipe]) -> Iterator[Line]:
    """The table before anything has run: recipes whose deadlines are optional appear with and without."""
    for recipe in recipes.values():
        modes = {"yes": (True,), "same": (True,), "none": (False,), "lifetime": (True,)}.get(
            recipe.deadlines, (True, False)
        )
        for deadlines in modes:
            for weather in WEATHERS:
                yield Line(recipe.name, recipe.paper, weather, deadlines)


def fill(line: Line, seeds: int) -> None:
    """Simulate and judge every run of a line."""
    from antecede.core.recipes import recipe_named
    from antecede.sim.run import simulate
    from antecede.sim.scenario import Scenario
    from antecede.trace.check import check

    kind = recipe_named(line.recipe).deadlines
    deadline_ms = (DEADLINE_MS[1], DEADLINE_MS[1]) if kind == "same" else DEADLINE_MS
    for seed in range(seeds):
        scenario = Scenario(
            recipe=line.recipe,
            seed=seed,
            messages=MESSAGES,
            deadline_ms=deadline_ms if line.deadlines and kind != "lifetime" else None,
            alpha=ALPHA,
            **WEATHERS[line.weather],
        )
        line.add(scenario, check(simulate(scenario).rows, scenario=dataclasses.asdict(scenario)))


def show(table: Sequence[Line]) -> None:
    heads = ("recipe", "from", "weather", "deadlines", "runs", "pairs", "delivered", "other fates", "verdict")
    rows = [heads]
    for line in table:
        others = ", ".join(f"{count} {fate}" for fate, count in line.fates.items() if count and fate != "delivered")
        share = f"{line.fates['delivered'] / line.pairs:.1%}" if line.pairs else "-"
        kept = "yes" if line.deadlines else "no"
        rows.append(
            (line.recipe, line.paper, line.weather, kept, str(line.runs), str(line.pairs), share, others, line.verdict)
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(heads))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def demo(
    seeds: Annotated[int, typer.Option(min=1, help="Runs per line; each seed is another run. Costs time.")] = 10,
    recipe: Annotated[list[str] | None, typer.Option(help="Only this one; may be repeated.")] = None,
    spark: Annotated[bool, typer.Option(help="End with a small pipeline on Spark (not with --recipe).")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, for programs.")] = False,
) -> None:
    """Simulate every recipe in calm, lossy and stormy weather, and judge each run from its records alone.

    A pair is a message and one of its receivers; every pair has exactly one fate. A verdict of `clean` means: no
    inversion, gap, overdue or double delivery, nothing stuck, idle, falsely explained or left undelivered. A lost share
    of deliveries is not a violation where the deadline left no time; it is shown under its fate.

    Then one more run goes through the pipeline on Spark: ordered, fused, audited, every row accounted for.

    Exit 0 when every run is clean, 1 otherwise; each run that is not is printed as the command that replays it.
    """
    from antecede.core.recipes import RECIPES, recipe_named

    chosen = {name: recipe_named(name) for name in recipe} if recipe else RECIPES
    table = list(lines(chosen))
    for done, line in enumerate(table):
        if sys.stderr.isatty():
            print(f"\r{done}/{len(table)} {line.recipe} {line.weather}\x1b[K", end="", file=sys.stderr, flush=True)
        fill(line, seeds)
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    replay = [text for line in table for text in line.replay]
    told, reason = through_pipeline() if spark and not recipe else (None, "it was not asked for")
    if as_json:
        body = {"clean": not replay, "lines": [line.to_json() for line in table]}
        body["pipeline"] = told.to_json() if told is not None else {"left_out": reason}
        print(json.dumps(body, indent=2))
    else:
        show(table)
        pairs, runs = sum(line.pairs for line in table), sum(line.runs for line in table)
        print(f"\n{runs} runs, {pairs} pairs of message and receiver: {runs - len(replay)} runs clean.")
        for text in replay[:5]:
            print(f"Not clean: {text}")
        if len(replay) > 5:
            print(f"and {len(replay) - 5} more (--json lists them).")
        if told is not None:
            print("\nOne more run through the pipeline on Spark:")
            show_report(told)
        elif spark and not recipe:
            print(f"\nThe pipeline on Spark was left out: {reason}")
    if replay or (told is not None and not fine(told)):
        raise typer.Exit(1)


def through_pipeline() -> tuple[PipelineReport | None, str]:
    """The report of a small pipeline, or why there is none."""
    try:
        from antecede.spark.session import check_packages

        check_packages()
        return demonstrate(), ""
    except EnvironmentFault as fault:
        return None, str(fault)
