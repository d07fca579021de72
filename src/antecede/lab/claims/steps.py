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


def cells(effort: Effort) -> list[Cell]:
    sizes = (125, 250, 500, 1000) if effort.quick else (125, 250, 500, 1000, 2000, 4000)
    return reading_cells(sizes, effort.fast)


def table(rows: Sequence[Row]) -> Table:
    return summarise(rows, ("reading", "subscribers"), ("to_all", "to_most"))


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
    numbers = ", ".join(f"{name}: {by[name, first]['to_all']:.1f}" for name, n in by if n == first and
                        by[name, first]["to_all_share"] == 1)  # fmt: skip
    r2 = fit(table)
    seen = f"steps to all of {first}: {numbers}; R² over log n {r2:.3f}"
    if r2 < FIT:
        return Verdict("does not hold", f"steps do not grow with log n: {seen}")
    return judge_readings(table, better, seen)


def draw(figure: Any, table: Table) -> None:
    ax = figure.subplots()
    reached = [row for row in table if row["to_all_share"] >= 0.5]
    curves(ax, reached, "subscribers", "to_all", "reading")
    never = sorted({row["reading"] for row in table} - {row["reading"] for row in reached})
    for name in never:
        ax.plot([], [], linestyle="none", label=f"{name}: never reaches all")
    ax.set(xscale="log", yscale="log", xlabel="subscribers", ylabel="steps until all correct subscribers have it")
    ax.set_yticks(
        [2, 3, 5, 10, 20, 50, 100, 200, 500, 1000], ["2", "3", "5", "10", "20", "50", "100", "200", "500", "1,000"]
    )
    ticks_at(ax, table, "subscribers")
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))


CLAIM = Claim(
    name="steps",
    papers="001",
    place="001 s3, Fig. 7",
    sentence="But we can see our proposed protocol especially for WSNs needs smaller steps than the previous one [4, "
    "6].",
    asks="Steps until all correct subscribers have a message, against their number.",
    design="500 seeds per point (quick: 100). Fewer: half a step at least, by both 95 % intervals, at every size.",
    chosen="F = 3 and four brokers; step 0 is before the first send, and the brokers' own phase is not counted; "
    "whoever "
    "crashes has crashed before. Whether subscribers forward is not said: all readings are run. [6] has no text here.",
    measure="antecede.lab.cells:spread",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="Steps to reach all correct subscribers, by reading of 001 (4 brokers hold the message at step 0) and "
    "variant of lpbcast [4]. F = 3, loss 0.05, crash 0.01; both axes logarithmic; bands: 95 % over seeds.",
    size=(7.6, 3.9),
)
