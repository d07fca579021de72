"""Each repair undone alone: what breaks, or what is lost, in runs that are clean with all repairs in place.

`breaks` names what the oracle finds; where it finds nothing, more pairs stay undelivered than with the repair.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from antecede.core.printed.undone import REPAIRS
from antecede.core.recipes import WITHOUT
from antecede.lab.claims.repairs import FOUND
from antecede.report.redrawn import read_table
from antecede.sim.run import simulate
from antecede.sim.scenario import Scenario
from antecede.trace.check import check
from antecede.trace.report import Report
from tests.house import rules

BREAKS = {
    ("solicit", "checks"): {"inversion", "gap", "duplicate"},
    ("solicit", "own-stream"): {"inversion", "gap"},
    ("graph", "addressed"): {"idle"},
    ("graph", "projection"): {"inversion", "gap"},
    ("graph", "each-sender"): {"inversion"},
    ("pull", "own-stream"): {"inversion", "gap"},
    ("pull", "foreign-groups"): {"inversion", "gap"},
    ("rounds", "skipped-rounds"): {"idle"},
    ("rounds", "projection"): {"idle"},
    ("rounds", "greater-round"): {"inversion", "gap"},
    ("colour", "own-entry"): {"gap"},
    ("colour", "circle"): {"gap", "stuck", "false"},
    ("colour-eager", "own-entry"): {"inversion"},
    ("colour-eager", "circle"): {"false"},
}
LOSES = [
    ("solicit", "bound"), ("solicit", "own-kept"), ("solicit", "turns"), ("solicit", "tails"), ("graph", "turns"),
    ("graph", "tails"), ("pull", "turns"), ("rounds", "turns"), ("rounds", "tails"), ("colour", "before-send"),
    ("colour", "summary"), ("colour", "turns"), ("colour-eager", "turns"),
]  # fmt: skip
BY_HAND = {
    ("graph", "edges"), ("colour", "predecessor"), ("colour-eager", "predecessor"), ("colour-eager", "before-send"),
    ("colour-eager", "summary"),
}  # fmt: skip
"""Too rare for a few runs, or for frames only: shown on the part itself (`tests/core/printed/test_pieces.py`)."""
SEEDS = range(4)


@cache
def judged(recipe: str, reading: str, seed: int) -> Report:
    lives = recipe in ("rounds", "colour", "colour-eager")
    scenario = Scenario(
        recipe=recipe, reading=reading, seed=seed, messages=60, loss=0.2, duplicate=0.05, delay_ms=(5, 15), reply=0.7,
        groups="" if recipe == "solicit" else "G1=A,B,D;G2=B,C;G3=C,D", choice="one", homes=1,
        deadline_ms=None if lives else (60, 200),
    )  # fmt: skip
    run = simulate(scenario)
    return check(run.rows, scenario=run.body())


def undelivered(recipe: str, reading: str) -> float:
    reports = [judged(recipe, reading, seed) for seed in SEEDS]
    return 1 - sum(r.fates["delivered"] for r in reports) / sum(r.pairs for r in reports)


@pytest.mark.parametrize("recipe", REPAIRS)
def test_with_all_repairs_nothing_is_found(recipe: str) -> None:
    assert all(judged(recipe, "repaired", seed).clean for seed in SEEDS)


@pytest.mark.parametrize(("recipe", "repair"), BREAKS)
def test_without_it_a_promise_is_broken(recipe: str, repair: str) -> None:
    reports = [judged(recipe, WITHOUT + repair, seed) for seed in SEEDS]
    found = {verdict for report in reports for verdict, count in report.counts.items() if count}
    assert BREAKS[recipe, repair] <= found


@pytest.mark.parametrize(("recipe", "repair"), LOSES)
def test_without_it_more_is_lost_and_nothing_is_broken(recipe: str, repair: str) -> None:
    assert all(judged(recipe, WITHOUT + repair, seed).clean for seed in SEEDS)
    assert undelivered(recipe, WITHOUT + repair) > undelivered(recipe, "repaired")


def test_every_repair_is_shown_once() -> None:
    shown = [*BREAKS, *LOSES, *BY_HAND]
    assert len(shown) == len(set(shown))
    assert set(shown) == {(recipe, repair) for recipe, repairs in REPAIRS.items() for repair in repairs}


def told(row: dict[str, Any]) -> str:
    """A line of the page, of a row of the kept table."""
    lost = " to ".join(f"{100 * row[end]:+.1f}" for end in ("lost_low", "lost_high"))
    rates = {name: 1000 * row[name] for name in FOUND}
    seen = ", ".join(f"{name} {rate:.{rate < 1:d}f}" for name, rate in rates.items() if rate)
    return f"| `{row['recipe']}` | {row['repair']} | {100 * row['lost']:+.1f} ({lost}) | {seen or '-'} |"


def test_the_page_says_what_the_lab_measured() -> None:
    kept = read_table(rules.ROOT / "docs" / "results" / "tables" / "repairs.csv")
    page = (rules.ROOT / "docs" / "papers.md").read_text("utf-8").partition("## One repair at a time")[2]
    lines = [line for line in page.partition("\n## ")[0].split("\n") if line.startswith("| `")]
    assert lines == [told(row) for row in kept if row["repair"] != "repaired"]
