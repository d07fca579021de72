"""Subscribers change what they want as often as asked, and all recipes keep their promises meanwhile."""

from __future__ import annotations

from collections import Counter

import pytest

from antecede.core.recipes import RECIPES
from antecede.sim.run import Run, simulate
from antecede.sim.scenario import Scenario
from antecede.trace.check import check

TWO_TIERS = sorted(name for name, recipe in RECIPES.items() if not recipe.flat)
GROUPS = "G1=A,B,C,D;G2=A,B,C;G3=A,B,D"


def grown(recipe: str, seed: int, **knobs: object) -> Run:
    deadline_ms = (200, 500) if RECIPES[recipe].deadlines == "optional" and seed % 2 else None
    given = {"groups": GROUPS, "messages": 120, "rate": 150.0, "loss": 0.05, "spike": 0.05, "grow": 4.0, **knobs}
    return simulate(Scenario(recipe=recipe, seed=seed, deadline_ms=deadline_ms, **given))  # type: ignore[arg-type]


@pytest.mark.parametrize("recipe", TWO_TIERS)
def test_whoever_changes_what_it_wants_keeps_order_and_is_owed_what_it_says(recipe: str) -> None:
    for seed in range(4):
        run = grown(recipe, seed, move=1.0 if seed % 2 else 0.0, crash=0.1 if seed > 1 else 0.0)
        report = check(run.rows, scenario=run.body())
        assert report.clean and run.quiet, f"seed {seed}: {report.findings[:3]}"


@pytest.mark.parametrize("recipe", ["home", "graph"])
def test_changes_come_as_often_as_asked_and_are_on_record(recipe: str) -> None:
    counts: Counter[str] = Counter()
    seconds = 0.0
    for seed in range(4):
        run = grown(recipe, seed, grow=2.0, messages=200, rate=50.0, loss=0.0)
        seconds += 6 * 200 / 50
        rows = [row for row in run.rows if row[5] in ("join", "leave") and row[1].startswith("S")]
        counts.update(row[5] for row in rows)
        for row in rows:
            assert row[7], "a row says which groups"
    changes = counts["leave"] if recipe == "graph" else counts["join"] + counts["leave"] - 4 * 6
    assert 0.5 * 2.0 * seconds < changes < 2.0 * 2.0 * seconds


def test_in_home_nobody_attaches_anew_to_change() -> None:
    run = grown("home", 2, loss=0.0, spike=0.0)
    sent = Counter[str]()
    for kinds in run.totals.values():
        sent.update({kind: said["frames"] for kind, said in kinds.items()})
    assert sent["attach"] == 6 and sent["grow"] > 6


def test_without_the_knob_nobody_changes_and_flat_groups_never_do() -> None:
    assert grown("home", 1, grow=0.0).rows == simulate(
        Scenario(recipe="home", seed=1, deadline_ms=(200, 500), groups=GROUPS, messages=120, rate=150.0, loss=0.05,
                 spike=0.05)).rows  # fmt: skip
    flat = grown("solicit", 1)
    assert flat.rows == grown("solicit", 1, grow=0.0).rows and not any(row[5] == "leave" for row in flat.rows)


@pytest.mark.parametrize("recipe", ["home", "home-plain", "graph", "psync", "cbcast", "pull", "solicit", "fifo"])
def test_where_nothing_expires_what_everybody_has_is_let_go_of_and_nothing_else(recipe: str) -> None:
    """Every pair is delivered although stores stay small: so nothing was let go of too soon."""
    scenario = Scenario(
        recipe=recipe, seed=3, groups=GROUPS, messages=300, rate=40.0, loss=0.1, spike=0.05, reply=0.7, round_ms=30
    )
    run = simulate(scenario)
    report = check(run.rows, scenario=run.body())
    assert report.clean and run.quiet and report.fates["delivered"] == report.pairs
    collected = Counter(row[1] for row in run.rows if row[5] == "collect")
    held = Counter(row[1] for row in run.rows if row[5] in ("deliver", "publish") and row[1] in collected)
    assert len(collected) >= 4 and all(held[name] - collected[name] < 150 for name in collected), held - collected
