"""How far the repaired protocols reach as groups grow: the table of docs/lab.md, and its floors.

    python bench/reach.py                     125 and 200 subscribers, about a minute
    python bench/reach.py --subscribers 1000 --seeds 1

Four brokers in one group, 10 messages, 5 % loss, fan-out 3, rounds of 50 ms; deadlines of 600 ms, or lifetimes of
ceil(log2 n) + 3 rounds. Every run is judged by the oracle. A violation ends the script with exit 1, and so does a reach
that is two points or more below what the table states.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from dataclasses import replace
from typing import Any

from antecede.core.recipes import RECIPES
from antecede.sim.metrics import measure
from antecede.sim.run import simulate
from antecede.sim.scenario import Scenario

SIZES = (125, 200, 1000)
STATED: dict[str, tuple[float | None, ...]] = {
    "graph": (1.000, 0.998, 0.996),
    "pull": (0.780, 0.593, 0.171),
    "rounds": (0.707, 0.551, 0.169),
    "rounds --view-below 30 --times 8": (0.932, 0.840, 0.341),
    "rounds --forward": (1.000, 1.000, 1.000),
    "colour": (0.992, 0.988, 0.970),
    "colour-eager": (0.990, 0.958, 0.980),
    "home": (1.000, 1.000, 1.000),
    "solicit": (1.000, 1.000, None),
}
"""What was measured with 125, 200 and 1,000 subscribers: two seeds, with 1,000 one."""
SLACK = 0.02
KNOBS: dict[str, dict[str, Any]] = {
    "rounds --view-below 30 --times 8": {"view_below": 30, "times": 8},
    "rounds --forward": {"forward": True},
}


def scenario(name: str, subscribers: int, seed: int) -> Scenario:
    recipe = name.partition(" ")[0]
    facts = RECIPES[recipe]
    flat, lives = facts.flat, facts.deadlines == "lifetime"
    drawn = Scenario(
        recipe=recipe, seed=seed, brokers=4, subscribers=subscribers, messages=10, rate=20, loss=0.05, homes=1,
        delay_ms=(5, 15), groups="" if flat else "G1=A,B,C,D", deadline_ms=None if lives else (600, 600),
    )  # fmt: skip
    return replace(drawn, **KNOBS.get(name, {}))


def floor(name: str, subscribers: int) -> float:
    """Below this the table is wrong; 0: it states nothing for so many."""
    stated = STATED[name][SIZES.index(subscribers)] if subscribers in SIZES else None
    return 0.0 if stated is None else stated - SLACK


def reached(name: str, subscribers: int, seeds: int) -> tuple[float, float, int]:
    """(mean reach, the largest 95th percentile of the delay in ms, violations) of so many runs."""
    rows = [measure(simulate(scenario(name, subscribers, seed))) for seed in range(seeds)]
    return (
        statistics.fmean(row["reach"] for row in rows), max(row["p95_ms"] for row in rows),
        sum(row["violations"] for row in rows),
    )  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subscribers", type=int, action="append", help="may be repeated (default: 125 and 200)")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--recipe", action="append", choices=STATED, help="only this one; may be repeated")
    given = parser.parse_args()
    bad = 0
    for subscribers in given.subscribers or SIZES[:2]:
        for name in given.recipe or STATED:
            reach, p95_ms, violations = reached(name, subscribers, given.seeds)
            low = reach < floor(name, subscribers)
            bad += low or violations > 0
            said = f", below {floor(name, subscribers):.3f}" * low + f", {violations} violations" * (violations > 0)
            print(f"{subscribers:>6} {name:<33} reach {reach:.3f}, 95 % within {p95_ms:.0f} ms{said}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
