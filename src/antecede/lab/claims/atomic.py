"""001 s3 against [6], Probabilistic Atomic Broadcast: what a comparison would need, and what there is.

Decided here: a comparison can be decided if every parameter it needs is given by some text at hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from antecede.lab.claim import Claim, Effort, Row, Table, Verdict
from antecede.spark.sweep import Cell

__all__ = ["CLAIM", "rule"]

NEEDED: tuple[tuple[str, bool], ...] = (
    ("loss of a message (0.05)", True),
    ("crash of a broker (0.01)", True),
    ("the fan-out of either protocol", False),
    ("how many brokers there are", False),
    ("the size of a view", False),
    ("what a step of [6] is, whose rounds also vote", False),
    ("how [6] spreads: its text is not at hand", False),
)


def cells(effort: Effort) -> list[Cell]:
    return [Cell({"needed": name, "given": given}, 0) for name, given in NEEDED]


def table(rows: Sequence[Row]) -> Table:
    return [{"needed": row["needed"], "given": row["given"]} for row in rows]


def rule(table: Table) -> Verdict:
    missing = [row["needed"] for row in table if not row["given"]]
    if missing:
        return Verdict("not decidable", "; ".join(missing))
    return Verdict("undecided", "everything needed is given, but nothing was measured")


def draw(figure: Any, table: Table) -> None:
    ax = figure.subplots()
    ax.axis("off")
    for y, row in enumerate(table):
        ax.text(0.02, 1 - (y + 0.5) / len(table), "given" if row["given"] else "missing", va="center",
                fontweight="bold", color="#2f7d4f" if row["given"] else "#c2571a", transform=ax.transAxes)  # fmt: skip
        ax.text(0.2, 1 - (y + 0.5) / len(table), row["needed"], va="center", transform=ax.transAxes)


CLAIM = Claim(
    name="atomic",
    papers="001",
    place="001 s3, of [6]",
    sentence="The number of steps increases with the logarithm of the number of subscribers, which is also "
    "demonstrated "
    "in [6].",
    asks="What a comparison with Probabilistic Atomic Broadcast (Felber, Pedone 2002) would need.",
    design="Decidable if every parameter is given.",
    chosen="Nothing: the four variants of lpbcast and pbcast stand in Figs 7 to 10 instead.",
    measure="antecede.lab.cells:nothing",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="What a comparison of 001 with Probabilistic Atomic Broadcast [6] needs, and whether a text gives it.",
    size=(6.4, 2.6),
)
