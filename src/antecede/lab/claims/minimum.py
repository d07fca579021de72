"""003: only the minimum of causal information is needed.

Decided here: minimum is the smallest stamp to a subscriber that orders exactly among those built here: 003's vector per
group beside immediate predecessors (001 s2.3) and one colour per broker (001 s2.2). One scalar (004) is shown too, but
does not order exactly. The claim holds if 003's stamp is at most a tenth larger than the smallest exact one at every n.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from antecede.lab.claim import Claim, Effort, Row, Table, Verdict
from antecede.lab.figures import curves, plain, ticks_at
from antecede.spark.sweep import Cell

__all__ = ["CLAIM", "rule"]

MARGIN = 1.1
OURS = "vector per group (003)"
INEXACT = "one scalar (004), not exact"
NAMES = {
    "vector per group": OURS,
    "context graph": "immediate predecessors (001)",
    "round colours": "a colour per broker (001)",
    "matrix, one colour": INEXACT,
}


def cells(effort: Effort) -> list[Cell]:
    sizes = (4, 8, 16, 32, 64) if effort.quick else (4, 8, 16, 32, 64, 128)
    return [Cell({"encoding": encoding, "brokers": n}, 0) for encoding in NAMES for n in sizes]


def table(rows: Sequence[Row]) -> Table:
    return [
        {"stamp": NAMES[row["encoding"]], "brokers": row["brokers"], "bytes": row["to_subscriber"]} for row in rows
    ]  # fmt: skip


def rule(table: Table) -> Verdict:
    ours = {row["brokers"]: row["bytes"] for row in table if row["stamp"] == OURS}
    others = [row for row in table if row["stamp"] not in (OURS, INEXACT)]
    least = {n: min(row["bytes"] for row in others if row["brokers"] == n) for n in ours}
    n = max(ours)
    other = next(row["stamp"] for row in others if row["brokers"] == n and row["bytes"] == least[n])
    seen = f"{ours[n]:,} bytes to a subscriber among {n} brokers, where {least[n]:,} order as well ({other})"
    if all(ours[n] <= MARGIN * least[n] for n in ours):
        return Verdict("holds", seen)
    return Verdict("does not hold", f"it carries all vectors: {seen}")


def draw(figure: Any, table: Table) -> None:
    ax = figure.subplots()
    curves(ax, table, "brokers", "bytes", "stamp")
    ax.set(xscale="log", yscale="log", xlabel="brokers n, all of which have just published",
           ylabel="stamp to a subscriber (bytes)")  # fmt: skip
    ticks_at(ax, table, "brokers")
    plain(ax.yaxis, 5, 10, 20, 50, 100, 200, 500)
    ax.legend()


CLAIM = Claim(
    name="minimum",
    papers="003",
    place="003, conclusions",
    sentence="These advantageous aspects enable the proposed protocol to enormously lower the redundancy of gossip "
    "messages "
    "compared with the gossip-push systems and be highly scalable for the area of the applications requiring only the "
    "minimum causal information.",
    asks="Bytes of the stamp to a subscriber, beside other stamps that order as well.",
    design="Holds if 003's stamp is at most a tenth larger than the smallest exact one, at every n.",
    chosen="n brokers in one group that have just published, nothing stable yet; the wire's own encoding.",
    measure="antecede.lab.stamps:weigh_stamps",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="Stamps to a subscriber in bytes on the wire: a vector per group (003: pull), immediate predecessors (001: "
    "graph), a colour per broker (001: rounds), one scalar (004: colour). Both axes logarithmic.",
)
