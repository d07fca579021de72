"""001 s2.2.2 and s2.3.2: causality is never violated, and without failures everything is delivered.

Decided here: drawn scenarios - loss, duplicates, crashes, partitions, moves - judged by the oracle, for both protocols,
as printed and repaired. Evidence, not proof: one inversion decides against a reading, none decides for it as far as it
was tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from antecede.lab.claim import Claim, Effort, Row, Table, Verdict, grid
from antecede.lab.figures import bars
from antecede.lab.tidy import by_points
from antecede.spark.sweep import Cell

__all__ = ["CLAIM", "rule"]

READINGS = (("graph", "repaired"), ("graph", "printed-a"), ("graph", "printed-b"), ("rounds", "repaired"),
            ("rounds", "printed"), ("rounds", "described"))  # fmt: skip
LABELS = {"inversions": "inverted (safety)", "undelivered": "stuck or undelivered (liveness)"}


def cells(effort: Effort) -> list[Cell]:
    return grid(2 * effort.slow, [{"recipe": recipe, "reading": reading} for recipe, reading in READINGS])


def table(rows: Sequence[Row]) -> Table:
    out: Table = []
    for (recipe, reading), group in by_points(rows, ("recipe", "reading")).items():
        pairs = sum(row["pairs"] for row in group) or 1
        out.append({
            "reading": f"{recipe}, {reading}", "runs": len(group), "pairs": pairs,
            "inversions": sum(row["inversions"] for row in group) / pairs,
            "undelivered": sum(row["undelivered"] for row in group) / pairs,
            "unclean": sum(bool(row["what"]) for row in group),
        })  # fmt: skip
    return out


def rule(table: Table) -> Verdict:
    def fine(row: Row) -> bool:
        return bool(row["inversions"] == 0 and row["undelivered"] == 0)

    seen = "; ".join(f"{row['reading']}: {row['inversions']:.2%} inversions, {row['undelivered']:.2%} never "
                     "delivered" for row in table)  # fmt: skip
    if all(map(fine, table)):
        return Verdict("holds", f"as far as it was tried: {seen}")
    if all(fine(row) for row in table if row["reading"].endswith("repaired")):
        return Verdict("holds only if", f"the text is repaired ({seen})")
    return Verdict("does not hold", seen)


def draw(figure: Any, table: Table) -> None:
    ax = figure.subplots()
    long = [{"reading": row["reading"].replace(", ", "\n"), "what": label, "share": 100 * row[name]} for row in table
            for name, label in LABELS.items()]  # fmt: skip
    bars(ax, long, "reading", "share", "what")
    for bar in ax.containers:
        if hasattr(bar, "datavalues"):
            ax.bar_label(bar, fmt="%.2g", fontsize=7.5, padding=2)
    ax.set(ylabel="of all pairs (%)", ylim=(0, 1.18 * max(1, *(row["share"] for row in long))))
    ax.legend()


CLAIM = Claim(
    name="safety",
    papers="001",
    place="001 s2.2.2, s2.3.2",
    sentence="Causality is never violated (Safety).",
    asks="Inversions, and messages that came in time or could be had and were never delivered.",
    design="Drawn scenarios, the same for all readings of a protocol, judged by the oracle.",
    chosen="Scenarios as `antecede simulate --sweep` draws them.",
    measure="antecede.lab.cells:drawn",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="Findings of the oracle in drawn scenarios with loss, crashes, partitions and moves: graph (001 s2.3) and "
    "rounds (001 s2.2), by reading of the text.",
)
