"""How soon a crash is known to all, and how often somebody is wrongly suspected: in periods, on a network without cost.

    python bench/membership.py [--seeds 20] [--loss 0.1]

A town of n processes (tests/core/membership/town.py: real machines, a toy network); one crashes. Printed per n: the
median and the largest number of periods until every other process has it out of its view, frames per process and
period, and, with loss, suspicions per process and 100 periods, how many of them were refuted and how many expelled one
that was there.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from antecede.core.membership.news import SUSPECT, News
from antecede.core.membership.table import Table
from tests.core.membership.town import Town

SIZES = (8, 16, 32, 64)
WATCHED = 200
"""Periods over which suspicions are counted."""


def names(count: int) -> str:
    return " ".join(f"m{i:02}" for i in range(count))


def detection(count: int, seed: int, loss: float) -> tuple[int, float]:
    """Periods until all know of one crash; frames per process and period before it."""
    town = Town(names(count), seed=seed, loss=loss)
    town.run(10)
    frames = len(town.frames) / count / 10
    town.crash("m00")
    others = [name for name in town.all if name not in town.expelled]
    for period in range(500):
        if all("m00" not in town.inner(name).views[-1] for name in others if name in town.all):
            return period, frames
        town.run(1)
    return 500, frames


def suspicions(count: int, seed: int, loss: float) -> tuple[int, int]:
    """How many suspicions arose though nobody crashed, each counted once; how many ended in an expulsion."""
    seen: set[tuple[str, int]] = set()
    merge = Table.merge

    def watched(table: Table, news: News) -> bool:
        if news.state == SUSPECT:
            seen.add((news.name, news.number))
        return merge(table, news)

    Table.merge = watched  # type: ignore[method-assign]
    try:
        town = Town(names(count), seed=seed, loss=loss)
        town.run(WATCHED)
    finally:
        Table.merge = merge  # type: ignore[method-assign]
    return len(seen), len(town.expelled)


def main() -> int:
    parser = argparse.ArgumentParser(description="Detection time and wrong suspicions of the membership protocol.")
    parser.add_argument("--seeds", type=int, default=20, help="runs per size; costs time [20]")
    parser.add_argument("--loss", type=float, default=0.1, help="probability that a frame is lost [0.1]")
    arguments = parser.parse_args()
    for loss in (0.0, arguments.loss):
        print(f"loss {loss:g}: periods until all know of a crash ({arguments.seeds} runs)")
        for count in SIZES:
            runs = [detection(count, seed, loss) for seed in range(arguments.seeds)]
            took = sorted(periods for periods, _ in runs)
            frames = sum(frames for _, frames in runs) / len(runs)
            print(f"  n = {count:2}: median {median(took):4.1f}, most {took[-1]:3}; "
                  f"{frames:.2f} frames per process and period", flush=True)  # fmt: skip
    few = max(1, arguments.seeds // 4)
    print(f"loss {arguments.loss:g}: wrong suspicions in {WATCHED} periods ({few} runs)")
    for count in SIZES:
        found = [suspicions(count, seed, arguments.loss) for seed in range(few)]
        arose, expelled = sum(n for n, _ in found), sum(n for _, n in found)
        rate = arose / few / count / WATCHED * 100
        print(f"  n = {count:2}: {rate:.2f} per process and 100 periods; {arose - expelled} of {arose} refuted, "
              f"{expelled} expelled", flush=True)  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
