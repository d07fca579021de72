"""Random scenarios of every recipe, judged by the oracle and, on some, by the witness that reads payloads alone.

A failure is a seed: the message ends with the command that replays it. The large sweep is `antecede simulate --sweep`.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from antecede.core.recipes import RECIPES
from antecede.sim.draw import LARGE_EVERY, draw
from antecede.sim.found import UNHEARD
from antecede.sim.run import simulate
from antecede.sim.scenario import Scenario
from antecede.sim.sweep import judge
from antecede.trace.check import check
from antecede.trace.witness import witness

ROOT_SEED = 41_003
COUNT = 101
"""Indexes below this, without the second large one: 100 scenarios per recipe."""
CHUNK = 10
CHUNKS = [range(first, min(first + CHUNK, COUNT)) for first in range(0, COUNT, CHUNK)]


def replay(recipe: str, index: int) -> str:
    name = f"runs/{recipe}-{ROOT_SEED}-{index}"
    return (
        f"antecede simulate --recipe {recipe} --seed {ROOT_SEED} --draw {index} --out {name} && antecede check {name}"
    )


def findings(scenario: Scenario) -> list[str]:
    run = simulate(scenario)
    report = check(run.rows, scenario=run.body())
    found = [f"{f.verdict} at {f.process}: {f.text}" for f in report.findings]
    if not run.quiet:
        found.append("did not become quiet")
    if report.unknown_tails:
        found.append(f"records of {', '.join(report.unknown_tails)} stop without an end")
    if sum(report.fates.values()) != report.pairs:
        found.append(f"{report.pairs} pairs but {sum(report.fates.values())} fates")
    if run.notes.get(UNHEARD):
        found.append("somebody did not listen to one that was there to the end")
    if scenario.recipe.startswith("home"):  # nobody is away for as long as grace: nothing was let go of too soon
        gone = [row for row in run.rows if row[5] == "discard" and row[9] == "gone" and row[2] == "subscriber"]
        found += [f"{row[1]} was told that {row[6]} is gone" for row in gone]
    if scenario.witness:
        found += [f"witness: {f.verdict} at {f.process}: {f.text}" for f in witness(run.testimony)]
    return found


@pytest.mark.parametrize("chunk", CHUNKS, ids=lambda chunk: f"from-{chunk.start:02}")
@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_no_scenario_breaks_a_promise(recipe: str, chunk: range) -> None:
    for index in chunk:
        if index % LARGE_EVERY == LARGE_EVERY - 1 and index >= LARGE_EVERY:
            continue
        found = findings(draw(ROOT_SEED, recipe, index))
        assert not found, "\n".join(["", *found[:5], replay(recipe, index)])


@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_nor_does_one_where_everybody_comes_and_goes_all_the_time(recipe: str) -> None:
    for index in range(8):
        judged = judge(ROOT_SEED, recipe, "repaired", index, harsh=True)
        assert not judged.what, f"{judged.what}\n{replay(recipe, index).replace(' --draw', ' --harsh --draw')}"


@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_payloads_alone_agree(recipe: str) -> None:
    for index in range(0, 30, 2):
        found = findings(replace(draw(ROOT_SEED, recipe, index), witness=True))
        assert not found, "\n".join(["", *found[:5], f"{replay(recipe, index)}  # with witness payloads"])


def test_these_scenarios_are_not_tame() -> None:
    """Silence means something: between them they lose, repeat, crash, move, skew, split and run out of time."""
    drawn = [draw(ROOT_SEED, "home", index) for index in range(COUNT)]
    assert sum(bool(scenario.mix) for scenario in drawn) >= 20
    assert sum(bool(scenario.perturb) for scenario in drawn) >= 10
    assert sum(scenario.membership == "swim" for scenario in drawn) >= 15
    assert sum(bool(scenario.grow) for scenario in drawn) >= 15
    for knob in (
        "loss",
        "duplicate",
        "spike",
        "crash",
        "skew_ms",
        "move",
        "partition",
        "declare",
        "deadline_ms",
        "view",
        "join",
        "leave",
    ):
        assert sum(bool(getattr(scenario, knob)) for scenario in drawn) >= 20, knob
