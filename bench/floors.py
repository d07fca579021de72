"""Floors, so that silence is not success: what every recipe must deliver, and how soon.

    python bench/floors.py --seeds 200

Four brokers, six subscribers, 100 messages, half of them replies. Three columns: without faults and with deadlines of
10 round trips of one link (or lifetimes of 10 rounds) everything is delivered, and the median delay is at most 1.1
times that of the same seed with order none (the same machines and hops, but nothing ever waits for a cause); at 10 %
loss and the same deadlines at least 99 % is delivered by every recipe that recovers and is complete; without deadlines
everything is. The oracle judges every run that has an order.
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import Pool
from typing import Any

from antecede.core.machine import Machine
from antecede.core.message import Mark, Stamp
from antecede.core.order.colour import ColourReader
from antecede.core.order.numbered import IndexReader
from antecede.core.order.reader import Reader
from antecede.core.order.rounds import ColoursReader
from antecede.core.recipes import RECIPES, build
from antecede.sim.run import Run, simulate
from antecede.sim.scenario import Scenario
from antecede.trace.check import check

DELAY_MS = (5.0, 20.0)
TRIP_MS = DELAY_MS[0] + DELAY_MS[1]
"""A round trip of one link, on average."""
DEADLINE_MS = 10 * TRIP_MS
LIFETIME = 10
"""Rounds, where there are lifetimes instead of deadlines."""
HOLDS = ("colour",)
"""Recipes that wait to the end of a lifetime by design: no floor for their delay."""
INCOMPLETE = {"colour-eager": 0.9}
"""Recipes that drop what they cannot tell from a predecessor of something delivered: what they deliver under loss."""


class _NoOrder:
    """A message is ready when it comes and never too old; `front` is what digests compare."""

    def stale(self, stamp: Stamp) -> bool:
        return False

    def blocker(self, stamp: Stamp) -> Mark | None:
        return None

    def delivered(self: Any, stamp: Stamp, *, forced: bool) -> None:
        for stream, n in stamp.own:
            self.front[stream] = max(n, self.front.get(stream, 0))


class NoOrder(_NoOrder, Reader):
    pass


class NoIndexOrder(_NoOrder, IndexReader):
    pass


class NoColours(_NoOrder, ColoursReader):
    pass


class NoColour(_NoOrder, ColourReader):
    pass


UNORDERED = {Reader: NoOrder, IndexReader: NoIndexOrder, ColoursReader: NoColours, ColourReader: NoColour}


def build_unordered(recipe: Any, reading: str, **given: Any) -> Machine:
    """The recipe's machine with order none: the same frames and hops, no waiting."""
    machine: Any = build(recipe, reading, **given)
    machine.reader.__class__ = UNORDERED[type(machine.reader)]
    return machine  # type: ignore[no-any-return]


@dataclass(slots=True, frozen=True)
class Floor:
    pairs: int
    delivered: int
    median_ms: float
    """From publication to delivery, over all pairs."""
    clean: bool
    finding: str = ""


def scenario(recipe: str, seed: int, *, loss: float, deadlines: bool) -> Scenario:
    drawn = Scenario(recipe=recipe, seed=seed, messages=100, loss=loss, delay_ms=DELAY_MS)
    if RECIPES[recipe].deadlines == "lifetime":
        return replace(drawn, alpha=LIFETIME - replace(drawn, alpha=0).colours)
    return replace(drawn, deadline_ms=(DEADLINE_MS, DEADLINE_MS) if deadlines else None)


def delays_ms(run: Run) -> list[float]:
    """From publication to each delivery."""
    published = {row[6]: row[14] for row in run.rows if row[5] == "publish"}
    return [(row[14] - published[row[6]]) / 1000 for row in run.rows if row[5] == "deliver"]


def measure(recipe: str, seed: int, *, loss: float = 0.0, deadlines: bool = True) -> Floor:
    run = simulate(scenario(recipe, seed, loss=loss, deadlines=deadlines))
    report = check(run.rows, scenario=run.body())
    finding = report.findings[0].text if report.findings else ""
    clean = report.clean and run.quiet
    return Floor(report.pairs, report.fates["delivered"], statistics.median(delays_ms(run)), clean, finding)


def median_unordered_ms(recipe: str, seed: int, *, deadlines: bool = True) -> float:
    run = simulate(scenario(recipe, seed, loss=0.0, deadlines=deadlines), build=build_unordered)
    return statistics.median(delays_ms(run))


def _one(recipe: str, seed: int) -> tuple[Floor, float, Floor | None, Floor | None]:
    facts = RECIPES[recipe]
    timed = facts.deadlines != "none"
    calm = measure(recipe, seed, deadlines=timed)
    plain = median_unordered_ms(recipe, seed, deadlines=timed)
    lossy = measure(recipe, seed, loss=0.1) if timed and facts.recovers else None
    untimed = measure(recipe, seed, loss=0.1, deadlines=False) if facts.deadlines in ("none", "optional") else None
    return calm, plain, lossy, untimed


def _share(floors: list[Floor | None]) -> str:
    known = [f for f in floors if f is not None]
    return f"{sum(f.delivered for f in known) / sum(f.pairs for f in known):.3%}" if known else "-"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=200, help="runs per recipe and column")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    options = parser.parse_args()
    begun = time.perf_counter()
    print(f"{options.seeds} seeds; deadline {DEADLINE_MS:g} ms; delays {DELAY_MS[0]:g} to {DELAY_MS[1]:g} ms")
    print(f"{'':<12} {'no faults':>9} {'median':>8} {'none':>8} {'ratio':>6} {'10 % loss':>10} {'untimed':>9}  unclean")
    with Pool(options.jobs) as pool:
        for recipe in RECIPES:
            results = pool.map(partial(_one, recipe), range(options.seeds), chunksize=4)
            calm = [result[0] for result in results]
            median = statistics.median(f.median_ms for f in calm)
            plain = statistics.median(result[1] for result in results)
            floors = [f for result in results for f in (result[0], result[2], result[3]) if f is not None]
            unclean = [f.finding or "not quiet" for f in floors if not f.clean]
            print(
                f"{recipe:<12} {_share([*calm]):>9} {median:6.1f}ms {plain:6.1f}ms {median / plain:6.2f} "
                f"{_share([r[2] for r in results]):>10} {_share([r[3] for r in results]):>9}  "
                f"{len(unclean)} {unclean[:1] or ''}",
                flush=True,
            )
    print(f"{time.perf_counter() - begun:.0f} s")


if __name__ == "__main__":
    main()
