"""How large and how fast: the vectorised simulator from 10^3 to 10^7 subscribers, beside the event-driven one.

    python bench/epidemic.py --sizes 1000,10000,100000,1000000,10000000

First one broadcast per size and variant: seconds of CPU, bytes per subscriber at the peak, rounds, copies. Then the
same question put to both simulators and to the model at n = 125, 250, 500 and 1,000: rounds to 99 %, with F = 3 and
5 % loss; exit 1 if the vectorised mean is more than a fifth of a round from the model, or the event-driven one more
than half a round. ANTECEDE_NUMBA=0 leaves numba out; the numbers must not change.
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
NEAR = {"vectorised": 0.2, "event-driven": 0.5}
"""How far from the model, in rounds, the mean of 100 vectorised and of ten event-driven runs may lie."""


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


def event_driven(n: int, seed: int) -> tuple[int, float]:
    """(rounds to 99 %, seconds of CPU) of one event-driven run of the chain."""
    begun = time.process_time()
    run = simulate(
        Scenario(recipe="lpbcast-chain", seed=seed, brokers=n, subscribers=0, messages=1, loss=0.05,
                 delay_ms=(1.0, 5.0), round_ms=ROUND_MS, fanout=3)
    )  # fmt: skip
    spent = time.process_time() - begun
    round_us = int(ROUND_MS * 1000)
    published = next(row[14] for row in run.rows if row[5] == "publish")
    begin = (published // round_us + 1) * round_us
    delivered = sorted((row[14] - begin) // round_us + 1 for row in run.rows if row[5] == "deliver")
    needed = -(-99 * n // 100) - 1
    return int(delivered[needed - 1]) if len(delivered) >= needed else int(delivered[-1]) + 1, spent


def astray(rows: Table) -> list[str]:
    """Means that are further from the model than they may be."""
    return [
        f"{name} at {row['subscribers']:,}: {row[name]:.2f} rounds, by the model {row['model']:.2f}"
        for row in rows for name, near in NEAR.items() if abs(row[name] - row["model"]) > near
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
    rows = []
    for n in (125, 250, 500, 1000):
        events = [event_driven(n, seed) for seed in range(options.runs)]
        vectorised = [timed(Epidemic(n, "chain", fanout=3, loss=0.05), seed) for seed in range(100)]
        rows.append({
            "subscribers": n, "model": models.chain(n, 3, 0.05).rounds_to_most,
            "vectorised": statistics.fmean(o.rounds_to(0.99) or 0 for o, _, _ in vectorised),
            "event-driven": statistics.fmean(r for r, _ in events),
            "vectorised ms": 1000 * statistics.median(s for _, s, _ in vectorised),
            "event-driven ms": 1000 * statistics.median(s for _, s in events),
        })  # fmt: skip
    show("rounds to 99 %, and CPU of one broadcast", rows)
    far = astray(rows)
    print(
        "\n".join(far)
        or f"The three agree: {', '.join(f'{name} within {near} rounds' for name, near in NEAR.items())}."
    )
    return 1 if far else 0


if __name__ == "__main__":
    sys.exit(main())
