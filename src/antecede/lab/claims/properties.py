"""002 s1: no earlier algorithm orders causally, keeps deadlines and is responsive at once.

Decided here: what the three mean. Order: no inversion. Deadlines: there are some, and nothing is delivered after its
own. Responsive: at least 95 % of pairs delivered by a deadline of five round trips at 10 % loss. Earlier are dcco,
delta and cbcast; piggyback is the second approach of 002 s3A, here with deadlines it never had.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from antecede.core.recipes import RECIPES
from antecede.lab.claim import Claim, Effort, Row, Table, Verdict, grid
from antecede.lab.tidy import summarise
from antecede.spark.sweep import Cell

__all__ = ["CLAIM", "rule"]

ENOUGH = 0.95
EARLIER = ("dcco", "delta", "cbcast")
SHOWN = (*EARLIER, "piggyback", "solicit")
NAMES = {"order": "causal order", "deadlines": "deadlines kept", "responsive": "responsive"}


def cells(effort: Effort) -> list[Cell]:
    def point(recipe: str) -> Row:
        dated = RECIPES[recipe].deadlines != "none"
        return {"recipe": recipe, "brokers": 5, "subscribers": 0, "messages": 60, "loss": 0.1, "groups": "G1=A,B,C,D,E",
                "delay_ms": [8.0, 12.0], "deadline_ms": [100.0, 100.0] if dated else None}  # fmt: skip

    return grid(2 * effort.slow, [point(recipe) for recipe in SHOWN])


def table(rows: Sequence[Row]) -> Table:
    out = summarise(rows, ("recipe",), ("found_inversion", "found_overdue", "undelivered"))
    for row in out:
        dated = RECIPES[row["recipe"]].deadlines != "none"
        row["order"] = row["found_inversion"] == 0
        row["deadlines"] = dated and row["found_overdue"] == 0
        row["responsive"] = dated and row["undelivered_high"] <= 1 - ENOUGH
    return out


def rule(table: Table) -> Verdict:
    having = [row["recipe"] for row in table if row["order"] and row["deadlines"] and row["responsive"]]
    earlier = [name for name in having if name in EARLIER]
    if earlier:
        return Verdict("does not hold", f"{', '.join(earlier)} has all three as well")
    if "solicit" not in having:
        lacks = next(row for row in table if row["recipe"] == "solicit")
        what = ", ".join(NAMES[name] for name in NAMES if not lacks[name])
        return Verdict("does not hold", f"solicit lacks {what} ({lacks['undelivered']:.1%} undelivered)")
    also = "; so has piggyback (002 s3A), once it is given deadlines" if "piggyback" in having else ""
    return Verdict("holds", f"{', '.join(EARLIER)} have two of the three at most, solicit has all{also}")


def draw(figure: Any, table: Table) -> None:
    ax = figure.subplots()
    ax.grid(visible=False)
    for y, row in enumerate(table):
        for x, name in enumerate(NAMES):
            ax.text(x, y, "yes" if row[name] else "no", ha="center", va="center", color="black",
                    fontweight="bold" if row[name] else "normal",
                    bbox={"boxstyle": "round,pad=0.45", "facecolor": "#cfe3d4" if row[name] else "white",
                          "edgecolor": "#888888"})  # fmt: skip
        untimed = RECIPES[row["recipe"]].deadlines == "none"
        share = "no deadlines" if untimed else f"{1 - row['undelivered']:.1%} in time"
        ax.text(len(NAMES) - 0.3, y, share, ha="left", va="center")
    ax.set_xticks(range(len(NAMES)), [*list(NAMES.values())[:-1], f"responsive\n(at least {ENOUGH:.0%} in time)"])
    ax.set_yticks(range(len(table)), [row["recipe"] for row in table])
    ax.set(xlim=(-0.5, len(NAMES) + 0.3), ylim=(len(table) - 0.5, -0.5))
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    for side in ax.spines.values():
        side.set_visible(False)


CLAIM = Claim(
    name="properties",
    papers="002",
    place="002 s1",
    sentence="But, to the best of our knowledge, there exists no algorithm to satisfy all the three properties so far "
    "[2, 3, 8].",
    asks="Which recipes order causally, keep deadlines and deliver nearly everything in time.",
    design="The oracle judges every run. Responsive: at least 95 % of pairs in time, by the whole 95 % interval.",
    chosen="Deadlines of five round trips (100 ms), 10 % loss, 5 members in one group.",
    measure="antecede.lab.cells:events",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="Properties by recipe, from judged runs: dcco, delta, cbcast as published; piggyback (002 s3A) with "
    "deadlines; solicit (000, 002, repaired). 10 % loss, deadlines of 100 ms.",
    size=(6.4, 2.9),
)
