"""Every recipe in every weather: what is run for the tables of `antecede demo`, and what is counted.

Decided here: the weathers, the deadlines, and what one line of a table adds up. A run that is not clean is kept as the
command that replays it.
"""

from __future__ import annotations

import dataclasses
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from antecede.core.recipes import Recipe
    from antecede.sim.run import Run
    from antecede.sim.scenario import Scenario
    from antecede.trace.report import Report

__all__ = ["MESSAGES", "STORM", "WEATHERS", "Line", "command", "every_weather", "fill", "in_the_storm", "waits_us"]

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
STORM = "storm"


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
    exempt: tuple[str, ...] = ()
    """Verdicts that were not judged: the recipe does not promise them."""
    inverted: int = 0
    """Deliveries out of causal order, whether or not anybody asked for it."""
    bytes: int = 0
    """Sent by all processes together."""
    waited_us: int = 0
    """From arrival to delivery, of all deliveries together."""
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
        self.exempt = report.exempt
        if not report.clean:
            self.replay.append(command(scenario))

    def measure(self, run: Run, by_causal_order: Report) -> None:
        """What a run cost, and what was out of causal order in it."""
        self.inverted += by_causal_order.counts["inversion"]
        self.bytes += sum(total["bytes"] for kinds in run.totals.values() for total in kinds.values())
        self.waited_us += sum(waits_us(run.rows))

    @property
    def verdict(self) -> str:
        found = ", ".join(f"{count} {name}" for name, count in self.findings.items()) or "clean"
        return f"{found} (not judged: {', '.join(self.exempt)})" if self.exempt else found

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


def every_weather(recipes: Mapping[str, Recipe]) -> Iterator[Line]:
    """The table before anything has run: recipes whose deadlines are optional appear with and without."""
    for recipe in recipes.values():
        modes = {"yes": (True,), "same": (True,), "none": (False,), "lifetime": (True,)}.get(
            recipe.deadlines, (True, False)
        )
        for deadlines in modes:
            for weather in WEATHERS:
                yield Line(recipe.name, recipe.paper, weather, deadlines)


def in_the_storm(recipes: Mapping[str, Recipe]) -> Iterator[Line]:
    """One line per recipe, with deadlines where it can have any."""
    for recipe in recipes.values():
        yield Line(recipe.name, recipe.paper, STORM, recipe.deadlines != "none")


def fill(line: Line, seeds: Iterable[int], *, measured: bool = False) -> None:
    """Simulate and judge every run of a line; `measured`: also what it cost, and what was out of causal order."""
    from antecede.core.recipes import recipe_named
    from antecede.sim.run import simulate
    from antecede.sim.scenario import Scenario
    from antecede.trace.check import check

    kind = recipe_named(line.recipe).deadlines
    deadline_ms = (DEADLINE_MS[1], DEADLINE_MS[1]) if kind == "same" else DEADLINE_MS
    for seed in seeds:
        scenario = Scenario(
            recipe=line.recipe,
            seed=seed,
            messages=MESSAGES,
            deadline_ms=deadline_ms if line.deadlines and kind != "lifetime" else None,
            alpha=ALPHA,
            **WEATHERS[line.weather],
        )
        run = simulate(scenario)
        line.add(scenario, check(run))
        if measured:
            line.measure(run, check(run, order="causal"))


def waits_us(rows: Iterable[Sequence[Any]]) -> Iterator[int]:
    """How long each delivery had been here: from the first arrival of its message."""
    from antecede.trace.record import Row

    came: dict[tuple[str, str | None], int] = {}
    for row in map(Row._make, rows):
        if row.kind == "arrive":
            came.setdefault((row.process, row.message), row.at_us)
        elif row.kind == "deliver":
            yield row.at_us - came.get((row.process, row.message), row.at_us)
