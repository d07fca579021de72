"""001 Figs 9 and 10: the probability that all correct subscribers have a message comes sooner to 1 than with [4], [6].

Decided here: both figures are one question, since what differs between the two protocols is not said and stamps do not
spread anything. Sooner means: P(all) is nowhere smaller than lpbcast's and by 0.05 larger at one step, by the
intervals; by reading and by count (`lab/readings.py`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from antecede.lab.claim import Claim, Effort, Row, Table, Verdict
from antecede.lab.models import chain
from antecede.lab.readings import (
    BASE,
    BASELINE,
    READINGS,
    counted,
    counts_of,
    draw_readings,
    judge_readings,
    reading_cells,
)  # fmt: skip
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
    for (reading,), group in by_points(counted(rows), ("reading",)).items():
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
    seen = f"P(all have it) after {at} steps, by reading, and of 001 by count: " + "; ".join(
        f"{name}: " + ", ".join(f"{by[line, at]['all']:.2f}" for line in counts_of(name)) for name in READINGS
    )
    seen += f"; {MODEL}: {by[MODEL, at]['all']:.2f}" if (MODEL, at) in by else ""
    return judge_readings(table, better, seen)


def draw(figure: Any, table: Table) -> None:
    axes = figure.subplots(1, 2, sharey=True)
    exact = [row for row in table if row["reading"] == MODEL]
    for ax, title in zip(axes, ("brokers hold it at step 0", "brokers' phase and answers counted"), strict=True):
        draw_readings(ax, table, "step", "all", strict=ax is axes[1])
        steps = [row["step"] for row in exact]
        ax.plot(steps, [row["all"] for row in exact], color="#999999", linewidth=1.0, label=MODEL)
        ax.set(xlabel="steps after the message was sent", title=title, ylim=(-0.02, 1.03))
    axes[0].set_ylabel("P(all correct subscribers have it)")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)


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
    "nothing. Readings and counts as in Fig. 7, where a first run had only the best count; subscribers crash too, "
    "where 001 has only brokers crash.",
    measure="antecede.lab.cells:spread",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="P(all correct subscribers have the message) by step, by reading of 001 and variant of lpbcast [4]: left 4 "
    "brokers hold it at step 0, right their own phase is a step and an answer another; the chain is exact. n = 125, "
    "F = 3, loss 0.05, crash 0.01; bands: 95 % (Wilson).",
    size=(8.4, 4.4),
)
