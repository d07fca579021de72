"""001 s1: gossip is as reliable where everybody knows only a part of the others.

Decided here: views are drawn once and stay (the hardest case: views that evolve are like knowing everybody). As
reliable means: the share of correct processes reached is at most 0.1 percentage points below that with global views,
by the 95 % intervals; per size of the view, at every n.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from antecede.lab.claim import Claim, Effort, Row, Table, Verdict, grid
from antecede.lab.figures import STYLES, curves, series_of
from antecede.lab.tidy import summarise
from antecede.spark.sweep import Cell

__all__ = ["CLAIM", "rule"]

MARGIN = 0.001
FANOUT = 3


def cells(effort: Effort) -> list[Cell]:
    sizes = (125, 1000) if effort.quick else (125, 1000, 10_000)
    views = (3, 4, 6, 10, 20, 0) if effort.quick else (3, 4, 5, 6, 8, 10, 15, 20, 30, 0)
    return grid(effort.fast if effort.quick else effort.fast // 2 or 2, [
        {"subscribers": n, "view": view, "variant": "push", "fanout": FANOUT, "loss": 0.05, "crash": 0.01}
        for n in sizes for view in views
    ])  # fmt: skip


def table(rows: Sequence[Row]) -> Table:
    rows = [{**row, "share": row["reached"] / row["correct"]} for row in rows]
    return summarise(rows, ("subscribers", "view"), ("share", "to_all"))


def rule(table: Table) -> Verdict:
    by = {(row["subscribers"], row["view"]): row for row in table}
    sizes = sorted({n for n, _ in by})
    views = sorted({view for _, view in by if view})
    good = [v for v in views if all(by[n, v]["share_low"] >= by[n, 0]["share"] - MARGIN for n in sizes)]
    bad = [v for v in views if any(by[n, v]["share_high"] < by[n, 0]["share"] - MARGIN for n in sizes)]
    n = sizes[-1]
    seen = f"of {n:,} processes push reaches " + ", ".join(
        f"{by[n, v]['share']:.2%} with views of {v}" for v in views[:3]
    )
    seen += f", {by[n, 0]['share']:.2%} with global views"
    if len(good) == len(views):
        return Verdict("holds", seen)
    enough = [v for v in views if all(w in good for w in views if w >= v)]
    if enough and bad:
        return Verdict("holds only if", f"views hold at least {enough[0]} others, with a fan-out of {FANOUT} ({seen})")
    return Verdict("does not hold", seen) if len(bad) == len(views) else Verdict("undecided", seen)


def draw(figure: Any, table: Table) -> None:
    left, right = figure.subplots(1, 2)
    local = [row for row in table if row["view"]]
    missed = [{**row, "missed": 100 * (1 - row["share"]), "missed_low": max(0.0, 100 * (1 - row["share_high"])),
               "missed_high": 100 * (1 - row["share_low"])} for row in local]  # fmt: skip
    curves(left, missed, "view", "missed", "subscribers", names=lambda n: f"{n:,}")
    left.set(xlabel="others in a view", ylabel="correct processes not reached (%)", ylim=(0, None))
    curves(right, local, "view", "to_all", "subscribers", names=lambda n: f"{n:,}")
    everybody = {row["subscribers"]: row["to_all"] for row in table if not row["view"]}
    for (colour, *_), n in zip(STYLES, series_of(local, "subscribers"), strict=False):
        if everybody.get(n) is not None:
            right.axhline(everybody[n], color=colour, linewidth=1.0, linestyle=":")
            right.annotate(f"{n:,}", (1.0, everybody[n]), xycoords=("axes fraction", "data"), color=colour,
                           fontsize=7.5, xytext=(3, 0), textcoords="offset points", va="center")  # fmt: skip
    right.set(xlabel="others in a view", ylabel="rounds until all have it (where all get it)", ylim=(0, None))
    left.legend(title="processes")
    right.text(0.98, 0.04, "dotted: global views", ha="right", fontsize=8, transform=right.transAxes)


CLAIM = Claim(
    name="partial-views",
    papers="001",
    place="001 s1",
    sentence="In order to address this problem, promising gossip protocols should have all the required features by "
    "achieving a high degree of reliability and strong message delivery ordering guarantees, even if every broker has "
    "a local membership view [4].",
    asks="Correct processes that push does not reach, and rounds until all have it, against the size of local views.",
    design="As reliable: at most 0.1 points fewer reached than with global views, by the 95 % intervals, at every n.",
    chosen="F = 3, loss 0.05 and crash 0.01 as in 001; views are drawn once and never change; unlimited forwarding.",
    measure="antecede.lab.cells:spread",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="Push with F = 3 over local views that never change: who is not reached (left), and rounds until all have "
    "it (right; dotted: global views). Loss 0.05, crash 0.01; bands: 95 % over seeds.",
    size=(7.4, 3.3),
)
