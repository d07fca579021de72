"""Replays recorded causal histories with loss through `graph`, `solicit` and `home`, and judges every run.

    python bench/histories.py ../shared/data       all of irc_replies and editing_clownschool, 20,000 of git_history
    python bench/histories.py DIR --most 2000      the first 2,000 messages of each

DIR holds Parquet files with the columns message, sender, seq, sent_at_us and parents. Recorded senders are folded onto
eight publishing processes; recorded parents become declared causes. Exit 1 when a run is not clean.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from antecede.sim.run import simulate
from antecede.sim.scenario import Scenario
from antecede.trace.check import check

HISTORIES = {"irc_replies": None, "editing_clownschool": None, "git_history": 20_000}
PLACES = {"graph": (8, 4), "solicit": (4, 4), "home": (4, 8)}
"""Brokers and subscribers, so that eight processes publish: brokers, all members, clients."""
RATE_PER_S = {"graph": 60.0, "solicit": 400.0, "home": 400.0}
"""`graph` carries the nodes of the last two seconds in every message while nothing expires: slower is quicker."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--most", type=int, default=None)
    parser.add_argument("--loss", type=float, default=0.05)
    chosen = parser.parse_args()
    bad = 0
    print(
        f"{'recipe':8} {'history':20} {'messages':>8} {'pairs':>8} {'delivered':>9} {'run s':>6} {'judge':>6}  verdict"
    )
    for history, most in HISTORIES.items():
        for recipe, (brokers, subscribers) in PLACES.items():
            scenario = Scenario(
                recipe=recipe,
                brokers=brokers,
                subscribers=subscribers,
                messages=chosen.most or most,
                workload=str(chosen.folder / f"{history}.parquet"),
                loss=chosen.loss,
                rate=RATE_PER_S[recipe],
                seed=1,
            )
            started = time.perf_counter()
            run = simulate(scenario)
            ran = time.perf_counter()
            report = check(run.rows, scenario=run.body())
            judged = time.perf_counter()
            clean = report.clean and run.quiet
            bad += not clean
            verdict = "clean" if clean else f"NOT CLEAN {report.counts}"
            print(
                f"{recipe:8} {history:20} {report.messages:8,} {report.pairs:8,} {report.fates['delivered']:9,} "
                f"{ran - started:6.1f} {judged - ran:6.1f}  {verdict}",
                flush=True,
            )
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
