"""How large and how fast: the vectorised simulator from 10^3 to 10^7 subscribers, beside the event-driven one.

    python bench/epidemic.py --sizes 1000,10000,100000,1000000,10000000

First one broadcast per size and variant: seconds of CPU, bytes per subscriber at the peak, rounds, copies. Then the
same question put to both simulators and to the model at n = 125, 250, 500 and 1,000: rounds to 99 % and to all, with F
= 3, 5 % loss and 1 % crashed, for lpbcast as analysed, for its push to different targets, and for 001 with four brokers
and subscribers that forward; exit 1 if a vectorised mean is more than a fifth of a round from the model, or an event-
driven one more than half a round. In models and in the vectorised simulator rounds are in step, and in the recipe
lpbcast-chain; in lpbcast-unlimited each process begins rounds at its own time, so a message travels several hops within
one: that is shown for the two smaller sizes and not judged. ANTECEDE_NUMBA=0 leaves numba out; the numbers must not
change.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
import tracemalloc
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.tables import Table, numbers, show

from antecede.lab import models
from antecede.sim import kernels
from antecede.sim.epidemic import Epidemic, Outcome, broadcast
from antecede.sim.run import simulate
from antecede.sim.scenario import Scenario

VARIANTS = {
    "push, unlimited": {"variant": "push"},
    "push, forward once": {"variant": "push", "forwards": 1},
    "chain, as analysed": {"variant": "chain"},
    "pull": {"variant": "pull"},
    "push-pull": {"variant": "push-pull"},
}
ROUND_MS = 50.0
LOSS, CRASH, BROKERS = 0.05, 0.01, 4
"""Loss and crash as in 001 s3, and in its figures 7 to 10 here."""
MEASURES = ("to 99 %", "to all")
READINGS = {
    "lpbcast, the chain as analysed": ({"variant": "chain"}, "lpbcast-chain"),
    "lpbcast, unlimited forwarding": ({"variant": "push"}, "lpbcast-unlimited"),
    "001: subscribers forward without limit": ({"variant": "push", "brokers": BROKERS}, None),
}
"""Knobs of the vectorised simulator, and the recipe of the event-driven one that does the same, if there is one."""
OUT_OF_STEP = "lpbcast-unlimited"
SMALL = 250
"""Up to so many processes it is run."""
RUNS = 400
NEAR = {"vectorised": 0.2, "event-driven": 0.5}
"""How far from the model, in rounds, the mean of so many vectorised and of ten event-driven runs may lie."""


def timed(epidemic: Epidemic, *seed: int) -> tuple[Outcome, float, float]:
    """(outcome, seconds of CPU, bytes per subscriber at the peak)."""
    begun = time.process_time()
    outcome = broadcast(epidemic, *seed)
    spent = time.process_time() - begun
    tracemalloc.start()
    broadcast(epidemic, *seed)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return outcome, spent, peak / epidemic.subscribers


def event_driven(
    n: int, seed: int, recipe: str = "lpbcast-chain", crash: float = 0.0
) -> tuple[int, int, float]:  # fmt: skip
    """(rounds to 99 % and to all of the correct, seconds of CPU) of one event-driven run. Crashes come before the one
    publication, and nobody is told of them."""
    begun = time.process_time()
    run = simulate(
        Scenario(recipe=recipe, seed=seed, brokers=n, subscribers=0, messages=1, loss=LOSS, crash=crash, restart=0.0,
                 detect_ms=10_000.0, delay_ms=(1.0, 5.0), round_ms=ROUND_MS, fanout=3)
    )  # fmt: skip
    spent = time.process_time() - begun
    round_us = int(ROUND_MS * 1000)
    published = next(row[14] for row in run.rows if row[5] == "publish")
    begin = (published // round_us + 1) * round_us
    crashed = {row[1] for row in run.rows if row[5] == "crash"}
    delivered = sorted(
        (row[14] - begin) // round_us + 1 for row in run.rows if row[5] == "deliver" and row[1] not in crashed
    )
    correct = n - len(crashed)

    def rounds_to(count: int) -> int:
        needed = count - 1  # whoever published has it
        return int(delivered[needed - 1]) if len(delivered) >= needed else int(delivered[-1]) + 1

    return rounds_to(-(-99 * correct // 100)), rounds_to(correct), spent


def modelled(reading: str, n: int) -> models.Spreading:
    if reading.startswith("001"):
        return models.seeded(n, BROKERS, 3, LOSS, CRASH)
    return models.chain(n, 3, LOSS, CRASH)


def beside(reading: str, n: int, runs: int) -> Table:
    """Both measures of one reading at one size, by the model and by the simulators that run it."""
    knobs, recipe = READINGS[reading]
    model = modelled(reading, n)
    vectorised = [timed(Epidemic(n, fanout=3, loss=LOSS, crash=CRASH, **knobs), seed) for seed in range(RUNS)]  # type: ignore[arg-type]
    name = "out of step" if recipe == OUT_OF_STEP else "event-driven"
    run = recipe and (recipe != OUT_OF_STEP or n <= SMALL)
    events = [event_driven(n, seed, recipe, CRASH) for seed in range(runs)] if recipe and run else []
    rows: Table = []
    for place, (measure, share) in enumerate(zip(MEASURES, (0.99, 1.0), strict=True)):
        row = {"reading": reading, "subscribers": n, "rounds": measure,
               "model": (model.rounds_to_most, model.rounds_to_all)[place],
               "vectorised": statistics.fmean(o.rounds_to(share) or 0 for o, _, _ in vectorised),
               "vectorised ms": 1000 * statistics.median(s for _, s, _ in vectorised)}  # fmt: skip
        if events:
            row[name] = statistics.fmean(run[place] for run in events)
            row[f"{name} ms"] = 1000 * statistics.median(run[2] for run in events)
        rows.append(row)
    return rows


def astray(rows: Table) -> list[str]:
    """Means that are further from the model than they may be."""
    return [
        f"{row['reading']}, {row['rounds']}, {name} at {row['subscribers']:,}: {row[name]:.2f} rounds, by the model "
        f"{row['model']:.2f}" for row in rows for name, near in NEAR.items()
        if name in row and abs(row[name] - row["model"]) > near
    ]  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=numbers, default=[10**3, 10**4, 10**5, 10**6, 10**7])
    parser.add_argument("--runs", type=int, default=10, help="event-driven runs per size")
    options = parser.parse_args()
    kernels.mark(np.zeros(1, dtype=np.uint8), np.zeros(1, dtype=np.uint32))  # compile before the clock
    rows: Table = []
    for name, knobs in VARIANTS.items():
        for n in options.sizes:
            outcome, spent, peak = timed(Epidemic(n, fanout=3, loss=0.05, **knobs), 1)  # type: ignore[arg-type]
            rows.append({"variant": name, "subscribers": n, "CPU s": spent, "bytes each": peak,
                         "to 99 %": outcome.rounds_to(0.99), "to all": outcome.rounds_to(),
                         "copies each": sum(outcome.copies) / n, "reached": f"{outcome.share(10**6):.2%}"})  # fmt: skip
    show(f"one broadcast, F = 3, 5 % loss, {'numba' if kernels.COMPILED else 'numpy'}", rows)
    rows = [row for reading in READINGS for n in (125, 250, 500, 1000) for row in beside(reading, n, options.runs)]
    show("rounds to 99 % and to all, and CPU of one broadcast", rows)
    far = astray(rows)
    print(
        "\n".join(far)
        or f"The three agree: {', '.join(f'{name} within {near} rounds' for name, near in NEAR.items())}."
    )
    return 1 if far else 0


if __name__ == "__main__":
    sys.exit(main())
