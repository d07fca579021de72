"""001 Fig. 8: the number of subscribers reached converges faster than with [4], [6].

Decided here: the caption says steps, the text says subscribers reached: the latter is drawn. Faster means: at every
step until lpbcast has reached 99 %, at least as many are reached, and at one step at least one in a hundred more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from antecede.lab.claim import Claim, Effort, Row, Table, Verdict
from antecede.lab.figures import curves
from antecede.lab.readings import BASELINE, judge_readings, reading_cells
from antecede.lab.tidy import by_points, interval
from antecede.spark.sweep import Cell

__all__ = ["CLAIM", "rule"]

N = 125
STEPS = 14
MARGIN = 0.01


def cells(effort: Effort) -> list[Cell]:
    return reading_cells((N,), effort.fast)


def table(rows: Sequence[Row]) -> Table:
    out: Table = []
    for (reading,), group in by_points(rows, ("reading",)).items():
        for step in range(STEPS + 1):
            mean, half = interval([row["curve"][step] for row in group])
            out.append({"reading": reading, "step": step, "runs": len(group), "reached": mean,
                        "reached_low": mean - half, "reached_high": mean + half})  # fmt: skip
    return out


def rule(table: Table) -> Verdict:
    by = {(row["reading"], row["step"]): row for row in table}
    steps = sorted({row["step"] for row in table})
    done = next((s for s in steps if by[BASELINE, s]["reached"] >= 0.99), steps[-1])
    until = [s for s in steps if 1 <= s <= done]

    def better(name: str) -> bool | None:
        if any(by[name, s]["reached_high"] < by[BASELINE, s]["reached_low"] for s in until):
            return False
        return any(by[name, s]["reached_low"] > by[BASELINE, s]["reached_high"] + MARGIN for s in until) or None

    at = until[len(until) // 2]
    seen = f"reached after {at} steps: " + "; ".join(
        f"{name}: {by[name, at]['reached']:.0%}" for name, s in by if s == at)  # fmt: skip
    return judge_readings(table, better, seen)


def draw(figure: Any, table: Table) -> None:
    ax = figure.subplots()
    part = [{**row, **{k: N * row[k] for k in ("reached", "reached_low", "reached_high")}} for row in table]
    curves(ax, part, "step", "reached", "reading")
    ax.set(xlabel="steps after the message was sent", ylabel=f"subscribers reached, of {N} (mean)", ylim=(0, N * 1.03))
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))


CLAIM = Claim(
    name="convergence",
    papers="001",
    place="001 s3, Fig. 8",
    sentence="We can see that our proposed protocol using minimal history information converges faster than the "
    "previous "
    "one [4, 6].",
    asks="Correct subscribers reached, by step.",
    design="Faster: nowhere fewer and somewhere at least one in a hundred more, by the 95 % intervals, until lpbcast "
    "with unlimited forwarding has reached 99 %.",
    chosen="n = 125 (the text gives none), F = 3, four brokers.",
    measure="antecede.lab.cells:spread",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="Subscribers reached by step, by reading of 001 and variant of lpbcast [4]. n = 125, F = 3, 4 brokers, "
    "loss "
    "0.05, crash 0.01; bands: 95 % over seeds.",
    size=(7.6, 3.6),
)
