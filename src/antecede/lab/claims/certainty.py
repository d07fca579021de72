"""001 Figs 9 and 10: the probability that all correct subscribers have a message comes sooner to 1 than with [4], [6].

Decided here: both figures are one question, since what differs between the two protocols is not said and stamps do not
spread anything. Sooner means: P(all) is nowhere smaller than lpbcast's and by 0.05 larger at one step, by the
intervals.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from antecede.lab.claim import Claim, Effort, Row, Table, Verdict
from antecede.lab.figures import curves
from antecede.lab.models import chain
from antecede.lab.readings import BASE, BASELINE, judge_readings, reading_cells
from antecede.lab.tidy import by_points
from antecede.spark.sweep import Cell

__all__ = ["CLAIM", "rule"]

N = 125
STEPS = 14
MARGIN = 0.05
MODEL = "lpbcast, the chain as analysed"


def cells(effort: Effort) -> list[Cell]:
    return reading_cells((N,), effort.fast)


def table(rows: Sequence[Row]) -> Table:
    out: Table = []
    for (reading,), group in by_points(rows, ("reading",)).items():
        for step in range(STEPS + 1):
            k, n = sum(row["to_all"] is not None and row["to_all"] <= step for row in group), len(group)
            low, high = _wilson(k, n)
            out.append({"reading": reading, "step": step, "runs": n, "all": k / n, "all_low": low, "all_high": high})
    exact = chain(N, BASE["fanout"], BASE["loss"], BASE["crash"], rounds=STEPS).all
    out += [
        {"reading": MODEL, "step": s, "runs": 0, "all": p, "all_low": p, "all_high": p} for s, p in enumerate(exact)
    ]
    return out


def _wilson(k: int, n: int, z: float = 1.96) -> tuple[float, float]:
    """A 95 % interval of a share."""
    middle = (k + z * z / 2) / (n + z * z)
    half = z / (n + z * z) * math.sqrt(k * (n - k) / n + z * z / 4)
    return max(0.0, middle - half), min(1.0, middle + half)


def rule(table: Table) -> Verdict:
    by = {(row["reading"], row["step"]): row for row in table}
    steps = sorted({row["step"] for row in table if row["step"]})

    def better(name: str) -> bool | None:
        if any(by[name, s]["all_high"] < by[BASELINE, s]["all_low"] for s in steps):
            return False
        return any(by[name, s]["all_low"] > by[BASELINE, s]["all_high"] + MARGIN for s in steps) or None

    at = next((s for s in steps if by[BASELINE, s]["all"] >= 0.5), steps[-1])
    seen = f"P(all have it) after {at} steps: " + "; ".join(f"{n}: {by[n, at]['all']:.2f}" for n, s in by if s == at)
    return judge_readings(table, better, seen)


def draw(figure: Any, table: Table) -> None:
    ax = figure.subplots()
    curves(ax, table, "step", "all", "reading")
    ax.set(xlabel="steps after the message was sent", ylabel="P(all correct subscribers have it)", ylim=(-0.02, 1.03))
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))


CLAIM = Claim(
    name="certainty",
    papers="001",
    place="001 s3, Figs 9 and 10",
    sentence="In figure 9 and figure 10, we can see that in our two proposed protocols, one is with the minimal "
    "history "
    "information and the other is used for WSNs, all non-fault subscribers can receive messages and terminate the "
    "gossip round in which the message has been processed faster than those in other protocols [4, 6].",
    asks="P(all correct subscribers have it), by step.",
    design="Sooner: nowhere smaller and somewhere larger by 0.05, by the 95 % intervals (Wilson).",
    chosen="n = 125, F = 3, four brokers; what differs between the two protocols here is not said: stamps spread "
    "nothing.",
    measure="antecede.lab.cells:spread",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="P(all correct subscribers have the message) by step, by reading of 001 and variant of lpbcast [4]; the "
    "chain "
    "is exact. n = 125, F = 3, 4 brokers, loss 0.05, crash 0.01; bands: 95 % (Wilson).",
    size=(7.6, 3.6),
)
