"""001 s1: with global membership views every member is overloaded.

Decided here: by what a broker sends per message, among more and more brokers: graph with multicast (everybody knows
everybody) and graph with gossip over views of eight. Overloaded means that the bytes per broker and message more than
double from the smallest to the largest group; views help if theirs do not, or grow by less than half as much. Groups
that grow by less than a factor of eight are too small to say that nothing is overloaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from antecede.lab.claim import Claim, Effort, Row, Table, Verdict, grid
from antecede.lab.figures import curves, ticks_at
from antecede.lab.tidy import summarise
from antecede.sim.layout import broker_names
from antecede.spark.sweep import Cell

__all__ = ["CLAIM", "rule"]

DOUBLE = 2.0
SPAN = 8
"""By which factor groups must grow before the rule says that brokers are not overloaded."""
MESSAGES = 24
WAYS = {"global": {}, "local views of 8": {"spread": "gossip", "view": 8}}


def cells(effort: Effort) -> list[Cell]:
    sizes = (6, 12, 24) if effort.quick else (6, 12, 24, 48)
    return grid(max(2, effort.slow // 2), [
        {"views": way, "recipe": "graph", "brokers": n, "subscribers": 0, "messages": MESSAGES, "loss": 0.05,
         "delay_ms": [8.0, 12.0], "groups": "G1=" + ",".join(broker_names(n)), **knobs}
        for way, knobs in WAYS.items() for n in sizes
    ])  # fmt: skip


def table(rows: Sequence[Row]) -> Table:
    rows = [{**row, "load": row["bytes_per_member"] / MESSAGES, "frames": row["frames_per_member"] / MESSAGES}
            for row in rows]  # fmt: skip
    return summarise(rows, ("views", "brokers"), ("load", "frames", "undelivered"))


def rule(table: Table) -> Verdict:
    growth: dict[str, float] = {}
    ends: dict[str, tuple[float, float]] = {}
    for way in WAYS:
        mine = sorted((row for row in table if row["views"] == way), key=lambda row: int(row["brokers"]))
        growth[way] = mine[-1]["load"] / mine[0]["load"]
        ends[way] = (mine[0]["load"], mine[-1]["load"])
    sizes = [int(row["brokers"]) for row in table]
    smallest, largest = min(sizes), max(sizes)
    told = {"global": "global views"}
    seen = ", ".join(f"with {told.get(way, way)} {a:,.0f} to {b:,.0f} bytes" for way, (a, b) in ends.items())
    seen = f"from {smallest} to {largest} brokers each sends for a message, {seen}"
    if ends["local views of 8"][1] > ends["global"][1]:
        seen += ", so at these sizes global views are still the cheaper ones"
    if growth["global"] < DOUBLE:
        if largest < SPAN * smallest:
            return Verdict("undecided", f"the largest group is too small ({seen})")
        return Verdict("does not hold", seen)
    if growth["local views of 8"] < DOUBLE or growth["local views of 8"] - 1 < (growth["global"] - 1) / 2:
        return Verdict("holds", seen)
    return Verdict("holds only if", f"the stamps stay small too: views of eight grow as well, since the context graph "
                   f"does ({seen})")  # fmt: skip


def draw(figure: Any, table: Table) -> None:
    left, right = figure.subplots(1, 2)
    curves(left, table, "brokers", "load", "views")
    curves(right, table, "brokers", "frames", "views")
    left.set(xlabel="brokers", ylabel="bytes sent per broker and message", ylim=(0, None))
    right.set(xlabel="brokers", ylabel="frames sent per broker and message", ylim=(0, None))
    for ax in (left, right):
        ticks_at(ax, table, "brokers")
    left.legend(title="graph (001 s2.3), views", alignment="left")


CLAIM = Claim(
    name="views",
    papers="001",
    place="001 s1",
    sentence="In large-scale distributed applications of P/S systems, if causal ordering protocol is performed by "
    "the all "
    "brokers on global membership views, it is likely to be high overloaded on every member and not scalable.",
    asks="Bytes and frames a broker sends per published message, with global and with local views.",
    design="Overloaded: more than doubled from the smallest to the largest group. Views help if theirs are not, or "
    "grow "
    "by less than half as much.",
    chosen="graph; global: multicast to all; local: gossip to 3 of a view of 8. 24 messages, 5 % loss.",
    measure="antecede.lab.cells:events",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="What a broker sends per message among n brokers: graph (001 s2.3) by multicast over global views, and by "
    "gossip over local views of 8 (F = 3). 5 % loss; bands: 95 % over seeds.",
    size=(7.2, 3.2),
)
