"""Ours: up to ten million subscribers, rounds grow with log n where subscribers forward or pull, and only there.

Decided here: the readings of 001's evaluation and of [4], each at 10^3 to 10^7 subscribers. Grows with log n: 99 % are
reached in every run, and each doubling of n costs at most one round more, from the smallest size to the largest. Where
only brokers send rounds grow with n itself, so that reading is run to 10^4 only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from antecede.lab.claim import Claim, Effort, Row, Table, Verdict, grid
from antecede.lab.figures import curves, series_of
from antecede.lab.readings import BASE, READINGS
from antecede.lab.tidy import summarise
from antecede.spark.sweep import Cell

__all__ = ["CLAIM", "rule"]

SIZES = (10**3, 10**4, 10**5, 10**6, 10**7)
SLOW = "001: only brokers send"
MOST = 25
"""Rounds that the figure shows."""


def cells(effort: Effort) -> list[Cell]:
    return grid(effort.seeds or (3 if effort.quick else 20), [
        {"reading": name, "subscribers": n, **BASE, **knobs} for name, knobs in READINGS.items() for n in SIZES
        if name != SLOW or n <= 10**4
    ])  # fmt: skip


def table(rows: Sequence[Row]) -> Table:
    rows = [{**row, "sent_each": (row["copies"] + row["requests"]) / row["reached"],
             "share": row["reached"] / row["correct"]} for row in rows]  # fmt: skip
    return summarise(rows, ("reading", "subscribers"), ("to_most", "to_all", "sent_each", "share"))


def rule(table: Table) -> Verdict:
    good: list[str] = []
    bad: list[str] = []
    seen: list[str] = []
    for name in dict.fromkeys(row["reading"] for row in table):
        line = sorted((row for row in table if row["reading"] == name), key=lambda row: int(row["subscribers"]))
        first, last = line[0], line[-1]
        doublings = math.log2(last["subscribers"] / first["subscribers"])
        reaches = all(row["to_most_share"] == 1.0 for row in line)
        (good if reaches and last["to_most"] - first["to_most"] <= doublings else bad).append(name)
        seen.append(f"{name}: " + (f"{last['to_most']:.0f} rounds to 99 % of {last['subscribers']:,}" if reaches else
                                   f"{last['share']:.1%} of {last['subscribers']:,} are reached"))  # fmt: skip
    told = "; ".join(seen)
    if not bad:
        return Verdict("holds", told)
    return (
        Verdict("holds only if", f"it is neither {' nor '.join(bad)} ({told})")
        if good
        else Verdict("does not hold", told)
    )


def _beyond(table: Table) -> list[str]:
    """What the left axis does not show."""
    said = []
    for reading in series_of(table, "reading"):
        mine = [row for row in table if row["reading"] == reading]
        far = [row for row in mine if row["to_most_share"] and row["to_most"] > MOST]
        if far:
            said += [f"{reading}: {row['to_most']:,.0f} rounds for {row['subscribers']:,}" for row in far]
        elif not any(row["to_most_share"] for row in mine):
            said.append(f"{reading}: never 99 %")
    return said


def draw(figure: Any, table: Table) -> None:
    left, right = figure.subplots(1, 2)
    curves(left, table, "subscribers", "to_most", "reading")
    curves(right, table, "subscribers", "sent_each", "reading")
    left.set(xscale="log", xlabel="subscribers", ylabel="rounds until 99 % have it", ylim=(0, MOST))
    left.text(0.03, 0.97, "\n".join(_beyond(table)), va="top", fontsize=8, transform=left.transAxes)
    right.set(xscale="log", xlabel="subscribers", ylabel="copies and requests per subscriber reached", ylim=(0, None))
    handles, labels = right.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)


CLAIM = Claim(
    name="growth",
    papers="ours",
    place="docs/billion.md",
    sentence="Up to ten million subscribers rounds grow with the logarithm of their number, whoever sends.",
    asks="Rounds until 99 % have a message, and frames per subscriber, from a thousand to ten million subscribers.",
    design="Grows with log n: 99 % reached in every run, and at most one round more for each doubling of n.",
    chosen="F = 3, loss 0.05, crash 0.01, 4 brokers: as in Figs 7 to 10, at their best count (brokers hold the "
    "message at step 0; other counts add a step, or double them where subscribers pull, and change no growth).",
    measure="antecede.lab.cells:spread",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="Rounds until 99 % of correct subscribers have a message (left; a reading without a line never gets "
    "there), and copies and requests per subscriber reached (right). F = 3, loss 0.05, crash 0.01; bands: 95 % "
    "over seeds.",
    size=(8.4, 4.0),
)
