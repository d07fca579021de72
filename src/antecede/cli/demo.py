"""`antecede demo`: the point in one page, every recipe in the storm, a small pipeline on Spark; what `run.py` runs.

Decided here: what is shown, in which order, and how wide. A run that is not clean is printed as the command that
replays it, and the exit code is 1. Where Spark cannot run, the pipeline is left out with the reason.
"""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from antecede.cli.pipeline import demonstrate, fine
from antecede.cli.pipeline import show as show_report
from antecede.cli.progress import Progress
from antecede.cli.weathers import MESSAGES, STORM, WEATHERS, Line, every_weather, fill, in_the_storm
from antecede.errors import EnvironmentFault, one_line

if TYPE_CHECKING:
    from antecede.spark.outcome import Report as PipelineReport

__all__ = ["demo"]

WIDTH = 80
SEEDS = {False: 2, True: 10}
"""Runs per line: of the table of one line per recipe, and of all of them."""

NEXT = (
    "antecede simulate --recipe pbcast --loss 0.1 --out runs/gossip",
    "antecede check runs/gossip --as causal",
    "antecede show runs/gossip --as causal",
    "antecede recipes",
)
"""What to try when this is over."""

BROKER = "antecede broker"
"""And with real processes: it says itself what to type in a second terminal."""


def demo(
    everything: Annotated[bool, typer.Option("--all", help="Every weather, with and without deadlines.")] = False,
    seeds: Annotated[int | None, typer.Option(min=1, help="Runs per line. Costs time. [2; --all: 10]")] = None,
    recipe: Annotated[list[str] | None, typer.Option(help="Only this one; may be repeated.")] = None,
    opening: Annotated[bool, typer.Option(help="Begin with the point in one page (not with --recipe).")] = True,
    spark: Annotated[bool, typer.Option(help="End with a small pipeline on Spark (not with --recipe).")] = True,
    page: Annotated[
        Path, typer.Option(metavar="FILE", help="The same with pictures, to open in a browser (not with --recipe).")
    ] = Path("runs/demo.html"),
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, for programs.")] = False,
) -> None:
    """The point in one page, then every recipe in a storm, judged from its records alone, then a pipeline on Spark.

    A pair is a message and one of its receivers; every pair has exactly one fate. `clean` means: no inversion, gap,
    overdue or double delivery, nothing stuck, idle, falsely explained or left undelivered, except what a recipe does
    not promise, which is named. A lost share of deliveries is not a violation where the deadline left no time; --all
    shows it under its fate, in calm, lossy and stormy weather.

    Exit 0 when every run is clean, 1 otherwise; each run that is not is printed as the command that replays it.
    """
    from antecede.core.recipes import RECIPES, recipe_named

    chosen = {name: recipe_named(name) for name in recipe} if recipe else RECIPES
    table = list(every_weather(chosen) if everything else in_the_storm(chosen))
    if opening and not recipe and not as_json:
        from antecede.sim.opening import main as open_page

        open_page(sys.stdout)
        print()
    count = seeds or SEEDS[everything]
    with Progress("runs", len(table) * count) as progress:
        for line in table:
            for seed in range(count):
                fill(line, (seed,), measured=not everything)
                progress.step(f"{line.recipe}, {line.weather}")

    replay = [text for line in table for text in line.replay]
    if as_json:
        told, reason = through_pipeline() if spark and not recipe else (None, "it was not asked for")
        body: dict[str, Any] = {"clean": not replay, "lines": [line.to_json() for line in table]}
        body["pipeline"] = told.to_json() if told is not None else {"left_out": reason}
        print(json.dumps(body, indent=2))
    else:
        if everything:
            show_all(table)
        else:
            show_storm(table, count)
        show_verdict(table, replay)
        sys.stdout.flush()
        told = None
        if spark and not recipe:
            print("\nOne more run through the pipeline on Spark (ordered, fused, audited):", flush=True)
            told, reason = through_pipeline()
            if told is not None:
                show_report(told)
            else:
                print(f"It was left out: {reason}")
        if not recipe:
            show_next()
            if not everything:
                write_page(page, table, count)
    if replay or (told is not None and not fine(told)):
        raise typer.Exit(1)


def show_storm(table: Sequence[Line], seeds: int) -> None:
    """One line per recipe, 80 columns wide."""
    say(f"Every recipe in the same storm: {weather_of(seeds)}")
    print()
    print(f"{'':<17}  {'order':<6}  {'message':<8}  {'':>9}  {'out of':>8}  {'bytes':>8}  {'wait':>7}")
    print(f"{'recipe':<17}  {'kept':<6}  {'ends by':<8}  {'delivered':>9}  {'order':>8}  {'per pair':>8}  {'ms':>7}")
    for line in table:
        name, order, ends, delivered, inverted, size, wait = cells(line)
        print(f"{name:<17}  {order:<6}  {ends:<8}  {delivered:>9}  {inverted:>8}  {size:>8}  {wait:>7}")
    print()
    say(
        "out of order: deliveries that came after something said in answer to them, whatever order was asked for. "
        "wait: from arrival to delivery, on average. What was not delivered has a name: antecede demo --all."
    )


def weather_of(seeds: int) -> str:
    weather = WEATHERS[STORM]
    return (
        f"{weather['loss']:.0%} of all copies lost, {weather['duplicate']:.0%} doubled, a split network, crashes, "
        f"clocks {weather['skew_ms']:g} ms apart. {seeds} run{'' if seeds == 1 else 's'} of {MESSAGES} messages each, "
        "judged from their records alone."
    )


def cells(line: Line) -> tuple[str, ...]:
    """What is said of a recipe in the storm: in the terminal and on the page."""
    from antecede.core.recipes import recipe_named

    recipe = recipe_named(line.recipe)
    ends = "never" if not line.deadlines else "lifetime" if recipe.deadlines == "lifetime" else "deadline"
    pairs, delivered = max(1, line.pairs), line.fates["delivered"]
    return (
        line.recipe, recipe.orders[0], ends, f"{delivered / pairs:.1%}", f"{line.inverted:,}",
        f"{line.bytes / pairs:,.0f}", f"{line.waited_us / 1000 / max(1, delivered):.1f}",
    )  # fmt: skip


def say(text: str) -> None:
    """A paragraph."""
    print(textwrap.fill(text, WIDTH))


def show_all(table: Sequence[Line]) -> None:
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


def show_verdict(table: Sequence[Line], replay: Sequence[str]) -> None:
    """How many runs kept what their recipe promises, and what was not judged, since it is not promised."""
    pairs, runs = sum(line.pairs for line in table), sum(line.runs for line in table)
    print(f"\n{runs} runs, {pairs:,} pairs of message and receiver: {runs - len(replay)} runs clean.")
    exempt = {line.recipe: line.exempt for line in table if line.exempt}
    if exempt:
        named = "; ".join(f"{recipe}: {', '.join(verdicts)}" for recipe, verdicts in exempt.items())
        say(f"Verdicts that are not judged, because the recipe does not promise them: {named}.")
    for text in replay[:5]:
        print(f"Not clean: {text}")
    if len(replay) > 5:
        print(f"and {len(replay) - 5} more (--json lists them).")


def write_page(page: Path, table: Sequence[Line], seeds: int) -> None:
    """The page with pictures; where it cannot be written the demo has been shown all the same."""
    from antecede.report.story import story
    from antecede.sim.opening import acts
    from antecede.trace.writing import write_whole

    heads = ("recipe", "order kept", "message ends by", "delivered", "out of order", "bytes per pair", "wait ms")
    try:
        page.parent.mkdir(parents=True, exist_ok=True)
        write_whole(page, story(acts(), heads, [cells(line) for line in table], weather_of(seeds), (*NEXT, BROKER)))
    except (OSError, EnvironmentFault) as fault:
        print(f"\nThe page with pictures was not written: {one_line(fault)}")
        return
    print(f"\nThe same with pictures, a page to open:\n  {page.resolve().as_uri()}")


def show_next() -> None:
    print("\nTry next, after `source .venv/bin/activate`:")
    for line in NEXT:
        print(f"  {line}")
    print(f"Or a real broker, which says what to type in a second terminal:\n  {BROKER}")


def through_pipeline() -> tuple[PipelineReport | None, str]:
    """The report of a small pipeline, or why there is none."""
    try:
        from antecede.spark.sessions import check_packages

        check_packages()
        return demonstrate(), ""
    except EnvironmentFault as fault:
        return None, str(fault)
