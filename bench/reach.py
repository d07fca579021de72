"""How far the repaired protocols reach as groups grow: the table of docs/lab.md.

    python bench/reach.py                     125 and 200 subscribers, about two minutes
    python bench/reach.py --subscribers 1000

Four brokers in one group, 10 messages, 5 % loss, fan-out 3, rounds of 50 ms; deadlines of 600 ms, or lifetimes of
ceil(log2 n) + 3 rounds. Every run is judged by the oracle; a violation ends the script with exit 1.
"""

from __future__ import annotations

import argparse
import statistics
import sys

from antecede.core.recipes import RECIPES
from antecede.sim.metrics import measure
from antecede.sim.run import simulate
from antecede.sim.scenario import Scenario

NAMES = ("graph", "pull", "rounds", "rounds --forward", "colour", "colour-eager", "home", "solicit")


def scenario(recipe: str, subscribers: int, seed: int) -> Scenario:
    facts = RECIPES[recipe.partition(" ")[0]]
    flat, lives = facts.flat, facts.deadlines == "lifetime"
    return Scenario(
        recipe=recipe.partition(" ")[0], forward=recipe.endswith("--forward"), seed=seed,
        brokers=4, subscribers=subscribers, messages=10, rate=20, loss=0.05, homes=1,
        delay_ms=(5, 15), groups="" if flat else "G1=A,B,C,D", deadline_ms=None if lives else (600, 600),
    )  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subscribers", type=int, action="append", help="may be repeated (default: 125 and 200)")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--recipe", action="append", choices=NAMES, help="only this one; may be repeated")
    given = parser.parse_args()
    violations = 0
    for subscribers in given.subscribers or (125, 200):
        for recipe in given.recipe or NAMES:
            rows = [measure(simulate(scenario(recipe, subscribers, seed))) for seed in range(given.seeds)]
            violations += sum(row["violations"] for row in rows)
            reach, p95_ms = statistics.fmean(row["reach"] for row in rows), max(row["p95_ms"] for row in rows)
            print(f"{subscribers:>6} {recipe:<17} reach {reach:.3f}, 95 % within {p95_ms:.0f} ms", flush=True)
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
