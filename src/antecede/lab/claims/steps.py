"""001 Fig. 7: the steps to reach all subscribers grow with log n, and are fewer than those of [4], [6].

Decided here: fewer means at least half a step, by the whole 95 % interval, at every n; by reading of 001, since the
text does not say whether subscribers forward. Grows with log n: R^2 of a line over log2 n of at least 0.98 for the
baseline.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from antecede.lab.claim import Claim, Effort, Row, Table, Verdict
from antecede.lab.figures import curves, ticks_at
from antecede.lab.readings import BASELINE, judge_readings, reading_cells
from antecede.lab.tidy import summarise
from antecede.spark.sweep import Cell

__all__ = ["CLAIM", "rule"]

HALF = 0.5
FIT = 0.98
ALWAYS = 0.99


def cells(effort: Effort) -> list[Cell]:
    sizes = (125, 250, 500, 1000) if effort.quick else (125, 250, 500, 1000, 2000, 4000)
    return reading_cells(sizes, effort.fast)


def table(rows: Sequence[Row]) -> Table:
    rows = [{**row, "sent_each": (row["copies"] + row["requests"]) / row["subscribers"]} for row in rows]
    return summarise(rows, ("reading", "subscribers"), ("to_all", "to_most", "sent_each"))


def fit(table: Table) -> float:
    """R^2 of steps over log2 n, for the baseline."""
    rows = [row for row in table if row["reading"] == BASELINE]
    x, y = np.log2([row["subscribers"] for row in rows]), np.array([row["to_all"] for row in rows])
    left = y - np.polyval(np.polyfit(x, y, 1), x)
    spread = float(((y - y.mean()) ** 2).sum())
    return 1 - float((left**2).sum()) / spread if spread else 0.0


def rule(table: Table) -> Verdict:
    by = {(row["reading"], row["subscribers"]): row for row in table}
    sizes = sorted({row["subscribers"] for row in table})

    def better(name: str) -> bool | None:
        gains = [(by[BASELINE, n], by[name, n]) for n in sizes]
        if any(ours["to_all_share"] < 1 for _, ours in gains):
            return False
        if all(ours["to_all_high"] <= theirs["to_all_low"] - HALF for theirs, ours in gains):
            return True
        return False if any(ours["to_all_low"] > theirs["to_all_high"] - HALF for theirs, ours in gains) else None

    first = sizes[0]
    numbers = "; ".join(f"{name}: {by[name, first]['to_all']:.1f}" for name, n in by if n == first and
                        by[name, first]["to_all_share"] == 1)  # fmt: skip
    r2 = fit(table)
    seen = f"steps until all of {first} have it: {numbers}; steps of lpbcast over log n fit a line with R² = {r2:.3f}"
    if r2 < FIT:
        return Verdict("does not hold", f"steps do not grow with log n: {seen}")
    return judge_readings(table, better, seen)


def draw(figure: Any, table: Table) -> None:
    ax, right = figure.subplots(1, 2, width_ratios=(3, 2))
    shares: dict[str, list[float]] = {}
    for row in table:
        shares.setdefault(row["reading"], []).append(row["to_all_share"])
    # A mean over the runs that got there would flatter whoever often does not.
    always = {name for name, share in shares.items() if min(share) >= ALWAYS}
    curves(ax, [row for row in table if row["reading"] in always], "subscribers", "to_all", "reading")
    for name in shares:
        if name not in always:
            most = max(shares[name])
            label = f"reaches all in at most {most:.1%} of runs" if most else "never reaches all"
            ax.plot([], [], linestyle="none", label=f"{name}:\n{label}")
    ax.set(xscale="log", yscale="log", xlabel="subscribers", ylabel="steps until all correct subscribers have it")
    ax.set_yticks(
        [2, 3, 5, 10, 20, 50, 100, 200, 500, 1000], ["2", "3", "5", "10", "20", "50", "100", "200", "500", "1,000"]
    )
    ticks_at(ax, table, "subscribers")
    curves(right, [row for row in table if row["reading"] in always], "subscribers", "sent_each", "reading")
    right.set(xscale="log", xlabel="subscribers", ylabel="copies and requests per subscriber", ylim=(0, None))
    ticks_at(right, table, "subscribers")
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center")


CLAIM = Claim(
    name="steps",
    papers="001",
    place="001 s3, Fig. 7",
    sentence="But we can see our proposed protocol especially for WSNs needs smaller steps than the previous one [4, "
    "6].",
    asks="Steps until all correct subscribers have a message, and what is sent for it, against their number.",
    design="500 seeds per point (quick: 100). Fewer: half a step at least, by both 95 % intervals, at every size.",
    chosen="F = 3 and four brokers; step 0 is before the first send, and the brokers' own phase is not counted; "
    "whoever "
    "crashes has crashed before. Whether subscribers forward is not said: all readings are run. [6] has no text here.",
    measure="antecede.lab.cells:spread",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="Steps to reach all correct subscribers (both axes logarithmic), and what is sent for it, by reading of "
    "001 (4 brokers hold the message at step 0) and variant of lpbcast [4] and pbcast. F = 3, loss 0.05, crash 0.01; "
    "bands: 95 % over seeds.",
    size=(9.0, 3.7),
)
