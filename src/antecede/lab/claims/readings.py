"""Ours: what each text does as it is printed, beside the repaired one.

Decided here: every reading of every protocol, on the same seeds, judged by the oracle: an inversion, a duplicate,
something overdue or stranded is a finding, and one pair can have several. Every text needs repair if each printed
reading has at least one finding per thousand pairs, or leaves one more pair in ten undelivered than the repaired one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from antecede.lab.claim import Claim, Effort, Row, Table, Verdict, grid
from antecede.lab.figures import HATCHES, STYLES
from antecede.lab.tidy import by_points
from antecede.spark.sweep import Cell

__all__ = ["CLAIM", "rule"]

MARGIN = 0.001
LOST = 0.1
READINGS = {
    "solicit": ("repaired", "printed", "charitable"),
    "graph": ("repaired", "printed-a", "printed-b"),
    "pull": ("repaired", "printed-a", "printed-b", "printed-c"),
    "rounds": ("repaired", "printed", "described"),
    "colour": ("repaired", "printed", "charitable"),
}
REPAIRED = "repaired"
LABELS = {"broken": "findings of the oracle", "missing": "pairs never delivered"}


def cells(effort: Effort) -> list[Cell]:
    return grid(2 * effort.slow, [
        {"recipe": recipe, "reading": reading, "brokers": 4, "subscribers": 6, "messages": 60, "loss": 0.1,
         "delay_ms": [5.0, 15.0], "deadline_ms": None if recipe in ("rounds", "colour") else [100.0, 300.0]}
        for recipe, readings in READINGS.items() for reading in readings
    ])  # fmt: skip


def table(rows: Sequence[Row]) -> Table:
    out: Table = []
    for (recipe, reading), group in by_points(rows, ("recipe", "reading")).items():
        pairs = sum(row["pairs"] for row in group) or 1
        found = {name: sum(row[name] * row["pairs"] for row in group) / pairs for name in group[0]
                 if name.startswith("found_")}  # fmt: skip
        out.append({"recipe": recipe, "reading": reading, "runs": len(group), "pairs": pairs,
                    "broken": sum(found.values()), "missing": sum(row["undelivered"] * row["pairs"] for row in group)
                    / pairs, **found})  # fmt: skip
    return out


def rule(table: Table) -> Verdict:
    repaired = {row["recipe"]: row for row in table if row["reading"] == "repaired"}
    others = [row for row in table if row["reading"] != "repaired"]

    def needs(row: Row) -> bool:
        return bool(row["broken"] >= MARGIN or row["missing"] >= repaired[row["recipe"]]["missing"] + LOST)

    fine = [f"{row['recipe']} {row['reading']}" for row in others if not needs(row)]
    seen = "per 100 pairs: " + "; ".join(f"{row['recipe']} {row['reading']}: {100 * row['broken']:.1f} findings and "
                     f"{100 * row['missing']:.1f} not delivered"
                     for row in others)  # fmt: skip
    if any(row["broken"] for row in repaired.values()):
        return Verdict("does not hold", f"a repaired protocol breaks a promise ({seen})")
    if not fine:
        return Verdict("holds", seen)
    if len(fine) < len(others):
        return Verdict("holds only if", f"{' and '.join(fine)} are left out, which did as well here ({seen})")
    return Verdict("does not hold", seen)


def draw(figure: Any, table: Table) -> None:
    axes = figure.subplots(1, 2, sharey=True)
    names = [f"{row['recipe']}, {row['reading']}" for row in table]
    for ax, (name, label), colour, hatch in zip(axes, LABELS.items(), STYLES, HATCHES, strict=False):
        values = [100 * row[name] for row in table]
        ax.barh(names, values, 0.72, color=colour[0], alpha=0.85, hatch=hatch, edgecolor="white")
        for place, (row, value) in enumerate(zip(table, values, strict=True)):
            ax.text(value, place, f" {value:.1f}" if value else " 0", va="center", fontsize=8)
            if row["reading"] == REPAIRED and place:
                ax.axhline(place - 0.5, color="#888888", linewidth=0.7)
        ax.set(xlabel=f"{label}\n(per 100 pairs)", xlim=(0, 1.15 * max(1.0, *values)))
        ax.grid(axis="y", visible=False)
    axes[0].set_ylim(len(table) - 0.4, -0.6)


CLAIM = Claim(
    name="readings",
    papers="ours",
    place="docs/papers.md",
    sentence="Every text needs repair: each way in which it can be read breaks a promise or loses messages.",
    asks="Findings of the oracle and pairs never delivered, for each way to read each text, beside the repaired one.",
    design="Paired seeds. Needs repair: one finding per thousand pairs, or one in ten more not delivered.",
    chosen="4 brokers, 6 subscribers, 10 % loss, 60 messages; deadlines of 100 to 300 ms, or lifetimes.",
    measure="antecede.lab.cells:events",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="Each protocol as repaired and as its text can be read (docs/papers.md): what the oracle finds "
    "(inversions, duplicates, overdue, gaps, stranded; a pair can have several) and pairs never delivered. 10 % loss.",
    size=(7.2, 4.6),
)
