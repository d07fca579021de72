"""001 s1: gossip is as reliable where everybody knows only a part of the others.

Decided here: views are drawn once and stay (the hardest case: views that evolve are like knowing everybody). As
reliable means: the share of correct processes reached is at most 0.1 percentage points below that with global views,
by the 95 % intervals; per size of the view, at every n. That is an average: a view can be enough for it where hardly
any message reaches everybody, so the verdict also says in how many runs all are reached, and from which view on in 99 %
of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from antecede.lab.claim import Claim, Effort, Row, Table, Verdict, grid
from antecede.lab.figures import STYLES, curves, plain, series_of
from antecede.lab.tidy import summarise
from antecede.spark.sweep import Cell

__all__ = ["CLAIM", "rule"]

MARGIN = 0.001
SURE = 0.99
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
    rest = [v for v in views if all(w in good for w in views if w >= v)]
    if rest:
        few = ", ".join(f"{by[n, v]['to_all_share']:.0%} of runs with views of {v}" for v in rest[:3])
        sure = [v for v in views if all(by[m, w]["to_all_share"] >= SURE for w in views if w >= v for m in sizes)]
        seen += f"; everybody is reached in {few}, {by[n, 0]['to_all_share']:.0%} with global views, and "
        seen += (
            f"in {SURE:.0%} at every n from views of {sure[0]} on" if sure else f"with none in {SURE:.0%} at every n"
        )
    if len(good) == len(views):
        return Verdict("holds", seen)
    if rest and bad:
        few = f"views hold at least {rest[0]} others, with a fan-out of {FANOUT}, and on average over processes"
        return Verdict("holds only if", f"{few} ({seen})")
    return Verdict("does not hold", seen) if len(bad) == len(views) else Verdict("undecided", seen)


def draw(figure: Any, table: Table) -> None:
    left, middle, right = figure.subplots(1, 3)
    local = [row for row in table if row["view"]]
    missed = [{**row, "missed": 100 * (1 - row["share"]), "missed_low": max(0.0, 100 * (1 - row["share_high"])),
               "missed_high": 100 * (1 - row["share_low"])} for row in local]  # fmt: skip
    curves(left, missed, "view", "missed", "subscribers", names=lambda n: f"{n:,} processes")
    left.axhline(100 * MARGIN, color="black", linewidth=0.8, linestyle=":")
    left.set(xlabel="others in a view", ylabel="correct processes not reached (%)", ylim=(0, 20))
    left.set_yscale("symlog", linthresh=0.001)
    plain(left.yaxis, 0, 0.001, 0.01, 0.1, 1, 10)
    curves(middle, [{**row, "all": 100 * row["to_all_share"]} for row in local], "view", "all", "subscribers",
           names=lambda n: f"{n:,}")  # fmt: skip
    middle.set(xlabel="others in a view", ylabel="runs in which all are reached (%)", ylim=(-2, 103))
    # A mean over the runs that got there would flatter whoever often does not.
    curves(right, [row if row["to_all_share"] >= SURE else {**row, "to_all": None} for row in local], "view", "to_all",
           "subscribers", names=lambda n: f"{n:,}")  # fmt: skip
    everybody = {row["subscribers"]: row["to_all"] for row in table if not row["view"]}
    for (colour, *_), n in zip(STYLES, series_of(local, "subscribers"), strict=False):
        if everybody.get(n) is not None:
            right.axhline(everybody[n], color=colour, linewidth=1.0, linestyle=":")
    right.set(xlabel="others in a view", ylabel="rounds until all have it (mean)", ylim=(0, None))
    right.text(0.98, 0.04, "dotted: global views", ha="right", fontsize=8, transform=right.transAxes)
    right.set_xlim(middle.get_xlim())
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=3)


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
    caption="Push with F = 3 over local views that never change: who is not reached (left; dotted: 0.1 points, nearly "
    "the same at every size), in how many runs all are reached (middle), and rounds until then where that is 99 % of "
    "them (right; dotted: global views). Loss 0.05, crash 0.01; bands: 95 % over seeds.",
    size=(9.0, 3.3),
)
