"""003 s1: fan-out and randomness give gossip its reliability.

Decided here: reliability is the share of correct subscribers reached by push that forwards once. The claim holds if one
more target always reaches more (up to where 99.9 % are reached), at every loss, by the intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from antecede.lab.claim import Claim, Effort, Row, Table, Verdict, grid
from antecede.lab.figures import curves
from antecede.lab.tidy import summarise
from antecede.spark.sweep import Cell

__all__ = ["CLAIM", "rule"]

FULL = 0.999


def cells(effort: Effort) -> list[Cell]:
    losses = (0.0, 0.05, 0.2, 0.4)
    return grid(effort.fast, [
        {"subscribers": 1000, "variant": "push", "forwards": 1, "fanout": fanout, "loss": loss}
        for loss in losses for fanout in range(1, 9)
    ])  # fmt: skip


def table(rows: Sequence[Row]) -> Table:
    rows = [{**row, "share": row["reached"] / row["correct"]} for row in rows]
    return summarise(rows, ("loss", "fanout"), ("share",))


def rule(table: Table) -> Verdict:
    open_ = worse = 0
    for loss in sorted({row["loss"] for row in table}):
        line = sorted((row for row in table if row["loss"] == loss), key=lambda row: int(row["fanout"]))
        for before, after in pairwise(line):
            if before["share"] < FULL:
                worse += after["share_high"] < before["share_low"]
                open_ += after["share_low"] <= before["share_high"]
    three = {row["loss"]: row["share"] for row in table if row["fanout"] == 3}
    seen = "F = 3 reaches, of all subscribers, " + ", ".join(
        f"{share:.1%} at {loss:.0%} loss" for loss, share in three.items()
    )
    if worse:
        return Verdict("does not hold", seen)
    return Verdict("undecided", f"intervals of neighbours overlap ({seen})") if open_ else Verdict("holds", seen)


def draw(figure: Any, table: Table) -> None:
    ax = figure.subplots()
    part = [{**row, **{k: 100 * row[k] for k in ("share", "share_low", "share_high")}} for row in table]
    curves(ax, part, "fanout", "share", "loss", names=lambda loss: f"{loss:.0%}")
    ax.set(xlabel="fan-out F", ylabel="subscribers reached (%)", title="push, forwarded once, 1,000 subscribers")
    ax.legend(title="loss", loc="lower right")


CLAIM = Claim(
    name="fanout",
    papers="003",
    place="003 s1",
    sentence="Fan-out and randomness relates reliability and robustness of gossip-based protocols [2,3,4].",
    asks="Share of subscribers reached by push that forwards once, against fan-out and loss.",
    design="Holds if one more target reaches more at every loss until 99.9 % are reached, by the 95 % intervals.",
    chosen="1,000 subscribers, forward once; the text gives nothing.",
    measure="antecede.lab.cells:spread",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="Subscribers reached by push that forwards once, by fan-out and loss. 1,000 subscribers; bands: 95 % over "
    "seeds.",
)
