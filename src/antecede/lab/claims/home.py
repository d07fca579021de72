"""Ours: `home` - brokers order, each client has one - against the repaired protocols of the papers.

Decided here: the same load, loss and deadlines for all. It holds if home has no finding of the oracle and leaves at
most one pair in a hundred more undelivered than the best of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from antecede.core.recipes import RECIPES
from antecede.lab.claim import Claim, Effort, Row, Table, Verdict, grid
from antecede.lab.tidy import summarise
from antecede.spark.sweep import Cell

__all__ = ["CLAIM", "rule"]

MARGIN = 0.01
SHOWN = ("home", "graph", "pull", "rounds", "colour", "colour-eager", "solicit")
SAID = {"home": "home (ours)", "graph": "graph (001)", "pull": "pull (003)", "rounds": "rounds (001)",
        "colour": "colour (004)", "colour-eager": "colour-eager (004)", "solicit": "solicit (000, 002)"}  # fmt: skip
PARTS = (("undelivered", "undelivered pairs (%)", 100.0, 2), ("p50_ms", "median delay (ms)", 1.0, 0),
         ("bytes_per_pair", "bytes per pair", 1.0, 0))  # fmt: skip


def cells(effort: Effort) -> list[Cell]:
    def point(recipe: str) -> Row:
        lifetime = RECIPES[recipe].deadlines == "lifetime"
        return {"recipe": recipe, "brokers": 4, "subscribers": 6, "messages": 60, "loss": 0.1, "delay_ms": [8.0, 12.0],
                "groups": "G1=A,B,C;G2=A,B,D", "deadline_ms": None if lifetime else [300.0, 300.0]}  # fmt: skip

    return grid(effort.slow, [point(recipe) for recipe in SHOWN])


def table(rows: Sequence[Row]) -> Table:
    rows = [{**row, "findings": sum(v for k, v in row.items() if k.startswith("found_"))} for row in rows]
    return summarise(rows, ("recipe",), ("undelivered", "p50_ms", "p95_ms", "bytes_per_pair", "findings"))


def rule(table: Table) -> Verdict:
    mine = next(row for row in table if row["recipe"] == "home")
    best = min((row for row in table if row["recipe"] != "home"), key=lambda row: float(row["undelivered"]))
    seen = (f"home leaves {mine['undelivered']:.2%} of pairs undelivered at a median delay of {mine['p50_ms']:.0f} "
            f"ms; the protocol that leaves fewest, {best['recipe']}, {best['undelivered']:.2%} at "
            f"{best['p50_ms']:.0f} ms")  # fmt: skip
    if mine["findings"] > 0:
        return Verdict("does not hold", f"the oracle has findings: {seen}")
    if mine["undelivered_low"] > best["undelivered"] + MARGIN:
        return Verdict("does not hold", seen)
    if mine["undelivered_high"] <= best["undelivered"] + MARGIN:
        return Verdict("holds", seen)
    return Verdict("undecided", seen)


def draw(figure: Any, table: Table) -> None:
    axes = figure.subplots(1, 3, sharey=True)
    names = [SAID.get(row["recipe"], row["recipe"]) for row in table]
    for ax, (name, label, times, digits) in zip(axes, PARTS, strict=True):
        values = [times * row[name] for row in table]
        errors = [times * max(0.0, row[f"{name}_high"] - row[name]) for row in table]
        ax.barh(names, values, 0.7, xerr=errors, color=["#1b4f8a"] + ["#9a9a9a"] * (len(names) - 1),
                hatch=["///"] + [""] * (len(names) - 1), edgecolor="white", capsize=2)  # fmt: skip
        for y, (value, error) in enumerate(zip(values, errors, strict=True)):
            ax.text(value + error, y, f"  {value:.{digits}f}", va="center", fontsize=8)
        ax.set(xlabel=label, xlim=(0, 1.3 * max(0.1, *(v + e for v, e in zip(values, errors, strict=True)))))
        ax.grid(axis="y", visible=False)
    axes[0].invert_yaxis()


CLAIM = Claim(
    name="home",
    papers="ours",
    place="README.md",
    sentence="Nobody sees an answer before its question, and nothing is shown after it has expired.",
    asks="Undelivered pairs, delay and bytes of home beside the repaired protocols of the papers.",
    design="Holds if the oracle finds nothing and home leaves at most one pair in a hundred more undelivered than "
    "the best "
    "other.",
    chosen="4 brokers in two overlapping groups, 6 subscribers, 10 % loss, deadlines of 300 ms (lifetimes where a "
    "protocol "
    "has those). In home clients publish, in solicit all members do, elsewhere brokers.",
    measure="antecede.lab.cells:events",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="home (ours) and the repaired protocols of the papers under 10 % loss: undelivered pairs, median delay, "
    "bytes "
    "per pair. 4 brokers, 6 subscribers; bars: 95 % over seeds.",
    size=(7.8, 3.0),
)
