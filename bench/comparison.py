"""`solicit` against `dcco` on the same seeds (000, 002): how many pairs stay undelivered, by deadline and loss.

    python bench/comparison.py --seeds 2000

Five members, 60 messages, half of them replies. The deadline is given in round trips of one link (twice its mean
delay). The margins were fixed before the run: with deadlines of several round trips `solicit` leaves at most half as
many pairs undelivered as `dcco` at 10 % loss; with a deadline of one round trip it does not help, since an answer takes
longer than what is left. Intervals are 95 %, paired by seed. The oracle judges every run: one finding ends the bench.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import time
from collections.abc import Sequence
from functools import partial
from multiprocessing import Pool

from antecede.sim.run import simulate
from antecede.sim.scenario import Scenario
from antecede.trace.check import check

RECIPES = ("dcco", "solicit")
ROUND_TRIPS = (1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
LOSSES = (0.05, 0.1, 0.2)
DELAY_MS = (8.0, 12.0)
TRIP_MS = DELAY_MS[0] + DELAY_MS[1]
"""A round trip of one link, on average."""


def scenario(recipe: str, seed: int, round_trips: float, loss: float) -> Scenario:
    deadline_ms = round_trips * TRIP_MS
    return Scenario(
        recipe=recipe, seed=seed, brokers=5, subscribers=0, messages=60, rate=100.0, reply=0.5, loss=loss,
        delay_ms=DELAY_MS, deadline_ms=(deadline_ms, deadline_ms),
    )  # fmt: skip


def undelivered(recipe: str, round_trips: float, loss: float, seed: int) -> tuple[int, int, float]:
    """(pairs not delivered, pairs, frames of control per payload frame) of one run that the oracle found clean."""
    run = simulate(scenario(recipe, seed, round_trips, loss))
    report = check(run.rows, scenario=run.body())
    if not report.clean:
        raise AssertionError(f"{recipe} seed {seed}: {report.findings[0].text}")
    frames = {"data": 0, "control": 0}
    for kinds in run.totals.values():
        for kind, total in kinds.items():
            frames["data" if kind == "data" else "control"] += total["frames"]
    return report.pairs - report.fates["delivered"], report.pairs, frames["control"] / max(1, frames["data"])


def share(results: Sequence[tuple[int, int, float]]) -> float:
    """Undelivered pairs of all pairs."""
    return sum(missing for missing, _, _ in results) / sum(pairs for _, pairs, _ in results)


def paired(ours: Sequence[tuple[int, int, float]], theirs: Sequence[tuple[int, int, float]]) -> tuple[float, float]:
    """Mean difference of the shares per seed, and half the width of its 95 % interval."""
    differences = [a[0] / a[1] - b[0] / b[1] for a, b in zip(ours, theirs, strict=True)]
    return statistics.fmean(differences), 1.96 * statistics.stdev(differences) / math.sqrt(len(differences))


def numbers(text: str) -> list[float]:
    return [float(one) for one in text.split(",")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=2000, help="runs per recipe, deadline and loss")
    parser.add_argument("--losses", type=numbers, default=LOSSES, help="0.05,0.1,0.2")
    parser.add_argument("--round-trips", type=numbers, default=ROUND_TRIPS, help="1,1.5,2,3,5,10")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    options = parser.parse_args()
    if options.seeds < 2:
        sys.exit("--seeds must be at least 2.")
    begun = time.perf_counter()
    print(f"undelivered pairs, {options.seeds} seeds; deadline in round trips of one link ({TRIP_MS:g} ms)")
    print(f"{'loss':>5} {'deadline':>8} {'dcco':>7} {'solicit':>8} {'ratio':>6}  {'difference':<19} control/payload")
    with Pool(options.jobs) as pool:
        for loss in options.losses:
            for trips in options.round_trips:
                results = {
                    recipe: pool.map(partial(undelivered, recipe, trips, loss), range(options.seeds), chunksize=8)
                    for recipe in RECIPES
                }
                theirs, ours = share(results["dcco"]), share(results["solicit"])
                mean, half = paired(results["solicit"], results["dcco"])
                control = statistics.fmean(c for _, _, c in results["solicit"])
                print(
                    f"{loss:5.0%} {trips:8g} {theirs:7.2%} {ours:8.2%} {ours / max(theirs, 1e-9):6.2f}  "
                    f"{mean:+8.2%} ± {half:<8.2%} {control:15.2f}",
                    flush=True,
                )
    print(f"{time.perf_counter() - begun:.0f} s")


if __name__ == "__main__":
    main()
