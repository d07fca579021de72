"""001 s2.2.1: gossip takes O(log N) rounds to reach all.

Decided here: with any constant, per fan-out. Rounds are O(log N), as far as N goes, if every run reaches all, a line
over log2 N fits their means with R^2 of at least 0.99, and they do not bend upwards: from the middle size to the
largest they take at most a quarter more per doubling of N than from the smallest to the middle one, by the 95 %
intervals. Whether log2 N and a constant rounds suffice is `colours`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from antecede.lab.claim import Claim, Effort, Row, Table, Verdict, grid
from antecede.lab.figures import curves, series_of
from antecede.lab.tidy import by_points, summarise
from antecede.spark.sweep import Cell

__all__ = ["CLAIM", "rule"]

FIT = 0.99
BEND = 1.25


def cells(effort: Effort) -> list[Cell]:
    sizes = (50, 200, 1000, 10_000) if effort.quick else (50, 100, 200, 500, 1000, 2000, 5000, 10_000, 100_000)
    return grid(effort.fast, [
        {"subscribers": n, "fanout": fanout, "variant": "push", "loss": 0.001, "crash": 0.001}
        for fanout in range(1, 7) for n in sizes
    ])  # fmt: skip


def table(rows: Sequence[Row]) -> Table:
    means = summarise(rows, ("fanout", "subscribers"), ("to_all",))
    groups = by_points(rows, ("fanout", "subscribers"))
    for row in means:
        taken = sorted(one["to_all"] if one["to_all"] is not None else math.inf
                       for one in groups[row["fanout"], row["subscribers"]])  # fmt: skip
        most = taken[min(len(taken) - 1, math.ceil(0.95 * len(taken)) - 1)]
        row["alpha_needed"] = most - math.ceil(math.log2(row["subscribers"]))
    return means


def line_of(rows: Sequence[Row]) -> tuple[float, float, float]:
    """(rounds per doubling, rounds at N = 1, R^2) of one fan-out."""
    x, y = np.log2([row["subscribers"] for row in rows]), np.array([row["to_all"] for row in rows])
    slope, begin = np.polyfit(x, y, 1)
    spread = float(((y - y.mean()) ** 2).sum())
    return float(slope), float(begin), 1 - float(((y - slope * x - begin) ** 2).sum()) / spread if spread else 0.0


def _bends(rows: Sequence[Row]) -> bool | None:
    """Whether rounds grow faster in the upper half; None: the intervals leave it open."""
    first, middle, last = rows[0], rows[len(rows) // 2], rows[-1]

    def steepness(a: Row, b: Row, sure: bool) -> float:
        doublings = math.log2(b["subscribers"] / a["subscribers"])
        ends = ("_high", "_low") if sure else ("_low", "_high")
        return float(b[f"to_all{ends[1]}"] - a[f"to_all{ends[0]}"]) / doublings

    if steepness(middle, last, sure=False) <= BEND * steepness(first, middle, sure=True):
        return False
    return True if steepness(middle, last, sure=True) > BEND * steepness(first, middle, sure=False) else None


def rule(table: Table) -> Verdict:
    lines = {f: sorted((row for row in table if row["fanout"] == f), key=lambda row: int(row["subscribers"]))
             for f in series_of(table, "fanout")}  # fmt: skip
    good: list[int] = []
    open_: list[int] = []
    said: list[str] = []
    for fanout, rows in lines.items():
        slope, _, fit = line_of(rows)
        said.append(f"F = {fanout}: {slope:.2f}")
        bends = _bends(rows)
        if all(row["to_all_share"] == 1 for row in rows) and fit >= FIT and bends is not True:
            (good if bends is False else open_).append(fanout)
    largest = max(row["subscribers"] for row in table)
    alone = lines[min(lines)][-1]
    seen = (f"rounds per doubling of N, up to {largest:,}: {', '.join(said)}; with F = {alone['fanout']} that is "
            f"ceil(log2 N) + {alone['alpha_needed']:.0f} at {alone['subscribers']:,}")  # fmt: skip
    if len(good) == len(lines):
        return Verdict("holds", seen)
    if open_:
        return Verdict("undecided", f"the intervals are too wide ({seen})")
    if good:
        return Verdict("holds only if", f"the fan-out is {' or '.join(map(str, good))} ({seen})")
    return Verdict("does not hold", seen)


def draw(figure: Any, table: Table) -> None:
    ax = figure.subplots()
    slopes = {f: line_of([row for row in table if row["fanout"] == f]) for f in series_of(table, "fanout")}
    curves(ax, table, "subscribers", "to_all", "fanout",
           names=lambda f: f"F = {f}: {slopes[f][0]:.2f} log2 N + {slopes[f][1]:.2f}")  # fmt: skip
    sizes = sorted({row["subscribers"] for row in table})
    twos = [math.ceil(math.log2(n)) + 1 for n in sizes]
    ax.plot(sizes, twos, color="#999999", linewidth=1.0, linestyle=":", label="ceil(log2 N) + 1")
    ax.set(xscale="log", xlabel="processes N", ylabel="rounds until all correct have it (mean)", ylim=(0, None))
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), title="fan-out, and a line through it")


CLAIM = Claim(
    name="log-rounds",
    papers="001",
    place="001 s2.2.1",
    sentence="In general, gossip protocols take O(log N) gossip rounds to reach all nodes [4], where N is the number "
    "of nodes.",
    asks="Rounds of push until all correct processes have a message, against their number.",
    design="O(log N), per fan-out: a line over log2 N fits with R² of at least 0.99, and the upper half of the sizes "
    "takes at most a quarter more rounds per doubling than the lower half, by the 95 % intervals. A first design asked "
    "for log2 N + 1 rounds: that is `colours`, and a larger constant is O(log N) too.",
    chosen="The fan-out is not given: 1 to 6. Unlimited forwarding; loss and crash 0.001 as in 004; N from 50 to "
    "100,000.",
    measure="antecede.lab.cells:spread",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="Rounds until all correct processes have the message, against their number, by fan-out; push with "
    "unlimited forwarding, loss and crash 0.001. Dotted: what `colours` asks for; bands: 95 % over seeds.",
    size=(7.0, 3.5),
)
