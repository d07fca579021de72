"""001 s2.2.2 and s2.3.2: causality is never violated.

Decided here: drawn scenarios - loss, duplicates, crashes, partitions, moves - judged by the oracle, for both protocols,
as printed and repaired. Violated means an inversion, or a gap: the proof says that a message "cannot be delivered
before" one that it follows, so one that is out while its predecessor is still to come decides too. Evidence, not
proof: one of either decides against a reading, none decides for it as far as it was tried. What else the oracle finds
is shown and not judged here: `liveness` asks what is delivered where nothing fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from antecede.lab.claim import Claim, Effort, Row, Table, Verdict, grid
from antecede.lab.figures import bars
from antecede.lab.tidy import by_points, pooled
from antecede.spark.sweep import Cell

__all__ = ["CLAIM", "rule"]

READINGS = (("graph", "repaired"), ("graph", "printed-a"), ("graph", "printed-b"), ("rounds", "repaired"),
            ("rounds", "printed"), ("rounds", "described"))  # fmt: skip
JUDGED = {"inversions": "inversions", "gaps": "gaps"}
BESIDE = {"undelivered": "stuck or undelivered", "idle": "held for nothing (idle)", "other": "other findings"}


def cells(effort: Effort) -> list[Cell]:
    return grid(2 * effort.slow, [{"recipe": recipe, "reading": reading} for recipe, reading in READINGS])


def table(rows: Sequence[Row]) -> Table:
    out: Table = []
    for (recipe, reading), group in by_points(rows, ("recipe", "reading")).items():
        pairs = sum(row["pairs"] for row in group) or 1
        row: Row = {"reading": f"{recipe}, {reading}", "runs": len(group), "pairs": pairs}
        for name in (*JUDGED, *BESIDE):
            share, half = pooled([one[name] for one in group], [one["pairs"] for one in group])
            row |= {name: share, f"{name}_low": max(0.0, share - half), f"{name}_high": share + half}
        out.append({**row, "unclean": sum(bool(one["what"]) for one in group)})
    return out


def rule(table: Table) -> Verdict:
    def fine(row: Row) -> bool:
        return all(row[name] == 0 for name in JUDGED)

    seen = "; ".join(
        f"{row['reading']}: {row['inversions']:.2%} inversions, {row['gaps']:.2%} gaps, {row['unclean']} of "
        f"{row['runs']} runs with any finding" for row in table
    )  # fmt: skip
    if all(map(fine, table)):
        return Verdict("holds", f"as far as it was tried: {seen}")
    if all(fine(row) for row in table if row["reading"].endswith("repaired")):
        good = [row["reading"] for row in table if fine(row)]
        return Verdict("holds only if", f"the text is read as {' or '.join(good)} ({seen})")
    return Verdict("does not hold", seen)


def draw(figure: Any, table: Table) -> None:
    axes = figure.subplots(2, 1, sharex=True)
    for ax, labels in zip(axes, (JUDGED, BESIDE), strict=True):
        long = [
            {"reading": row["reading"].replace(", ", "\n"), "what": label, "share": 100 * row[name],
             "share_high": 100 * row[f"{name}_high"]} for row in table for name, label in labels.items()
        ]  # fmt: skip
        bars(ax, long, "reading", "share", "what")
        for bar in ax.containers:
            if hasattr(bar, "datavalues"):
                ax.bar_label(bar, fmt="%.2g", fontsize=7, padding=1)
        ax.set(ylim=(0, 1.2 * max(0.1, *(row["share_high"] for row in long))))
        ax.legend(loc="upper left", title="violations" if labels is JUDGED else "what else is found", alignment="left")
    figure.supylabel("of all pairs (%)", fontsize=9)


CLAIM = Claim(
    name="safety",
    papers="001",
    place="001 s2.2.2, s2.3.2",
    sentence="Causality is never violated (Safety).",
    asks="Inversions and gaps under loss, crashes, partitions and moves; what else the oracle finds stands beside "
    "them.",
    design="Drawn scenarios, the same for all readings of a protocol, judged by the oracle; one inversion or gap "
    "decides. In a first design stuck messages decided too: they are the other half of the theorem, and have "
    "`liveness` now.",
    chosen="Scenarios as `antecede simulate --sweep` draws them; three quarters of those of graph have deadlines.",
    measure="antecede.lab.cells:drawn",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="Findings of the oracle in drawn scenarios with loss, crashes, partitions and moves, by reading of the "
    "text: violations of causality (above; inversion: delivered after what follows it, gap: while a predecessor is "
    "still to come), and what else is found (below). graph is 001 s2.3, rounds 001 s2.2; bars: 95 % over runs.",
    size=(6.8, 5.2),
)
