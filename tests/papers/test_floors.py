"""Floors for every recipe, so that silence is not success: all is delivered without faults, and soon; nearly all under
loss; all where nothing expires. `bench/floors.py` prints the same for many seeds."""

from __future__ import annotations

import statistics

import pytest
from bench import reach
from bench.floors import HOLDS, INCOMPLETE, Floor, build_unordered, measure, median_unordered_ms, scenario

from antecede.core.recipes import RECIPES
from antecede.sim.run import simulate
from antecede.trace.check import check
from tests.house import rules

SEEDS = range(5)
TIMED = [name for name, recipe in RECIPES.items() if recipe.deadlines != "none"]
UNTIMED = [name for name, recipe in RECIPES.items() if recipe.deadlines in ("none", "optional")]
RECOVERING = [name for name, recipe in RECIPES.items() if recipe.recovers]
EXACT = [name for name in RECIPES if name != "home-plain"]
"""Plain mode with deadlines is safe but loses concurrent messages: the oracle says so."""


def share(floors: list[Floor]) -> float:
    return sum(f.delivered for f in floors) / sum(f.pairs for f in floors)


@pytest.mark.parametrize("recipe", [name for name, recipe in RECIPES.items() if not recipe.chance])
def test_without_faults_everything_is_delivered_and_soon(recipe: str) -> None:
    timed = recipe in TIMED
    floors = [measure(recipe, seed, deadlines=timed) for seed in SEEDS]
    assert all(f.clean for f in floors), [f.finding for f in floors]
    assert share(floors) == 1.0 or (recipe in INCOMPLETE and share(floors) > 0.99)
    if recipe in HOLDS:
        return
    unordered_ms = statistics.fmean(median_unordered_ms(recipe, seed, deadlines=timed) for seed in SEEDS)
    assert statistics.fmean(f.median_ms for f in floors) <= 1.1 * unordered_ms


@pytest.mark.parametrize("recipe", [name for name in RECOVERING if name in TIMED])
def test_under_loss_nearly_everything_is_delivered_in_time(recipe: str) -> None:
    floors = [measure(recipe, seed, loss=0.1) for seed in SEEDS]
    assert recipe not in EXACT or all(f.clean for f in floors), [f.finding for f in floors]
    assert share(floors) >= INCOMPLETE.get(recipe, 0.99)


@pytest.mark.parametrize("recipe", [name for name in RECOVERING if name in UNTIMED])
def test_without_deadlines_everything_is_delivered(recipe: str) -> None:
    floors = [measure(recipe, seed, loss=0.1, deadlines=False) for seed in SEEDS]
    assert all(f.clean for f in floors), [f.finding for f in floors]
    assert share(floors) == 1.0


@pytest.mark.parametrize("recipe", [name for name, recipe in RECIPES.items() if recipe.chance])
def test_where_delivery_is_left_to_chance_nearly_everything_is_delivered_without_faults(recipe: str) -> None:
    floors = [measure(recipe, seed, deadlines=False) for seed in SEEDS]
    assert all(f.clean for f in floors), [f.finding for f in floors]
    assert share(floors) >= 0.995


def test_order_none_is_what_the_delay_is_compared_with() -> None:
    # The yardstick must be one: without order the same run is not causal.
    found = 0
    for seed in SEEDS:
        run = simulate(scenario("graph", seed, loss=0.0, deadlines=False), build=build_unordered)
        found += check(run.rows).counts["inversion"]
    assert found > 0


@pytest.mark.parametrize("name", reach.STATED)
def test_with_125_subscribers_as_many_are_reached_as_the_page_says(name: str) -> None:
    share, _, violations = reach.reached(name, 125, 2)
    assert share >= reach.floor(name, 125) and not violations


def test_the_page_says_what_the_floors_are() -> None:
    page = (rules.ROOT / "docs" / "lab.md").read_text("utf-8")
    for name, stated in reach.STATED.items():
        cells = " | ".join("-" if share is None else f"{share:.3f}" for share in stated)
        assert f"\n| `{name}` | {cells} |\n" in page
    assert reach.floor("home", 125) == 1 - reach.SLACK and reach.floor("solicit", 1000) == 0
