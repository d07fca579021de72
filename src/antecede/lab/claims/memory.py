"""002 s4: every message must be kept in the memory of every member.

Decided here: what must be kept is what has to be kept to deliver as much: the repaired protocol collects what is stable
or expired. The claim holds if a member keeps 90 % of all that was ever published, however much that is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from antecede.lab.claim import Claim, Effort, Row, Table, Verdict, grid
from antecede.lab.figures import curves
from antecede.lab.tidy import summarise
from antecede.spark.sweep import Cell

__all__ = ["CLAIM", "rule"]

KEEPS = 0.9
FEW = 0.5


def cells(effort: Effort) -> list[Cell]:
    counts = (30, 60, 120) if effort.quick else (30, 60, 120, 240, 480)
    return grid(effort.slow if effort.quick else effort.slow // 2 or 1, [
        {"recipe": "solicit", "messages": count, "brokers": 5, "subscribers": 0, "loss": 0.1, "delay_ms": [8.0, 12.0],
         "deadline_ms": [100.0, 100.0]} for count in counts
    ])  # fmt: skip


def table(rows: Sequence[Row]) -> Table:
    return summarise(rows, ("recipe", "messages"), ("most_kept", "undelivered"))


def rule(table: Table) -> Verdict:
    shares = [row["most_kept"] / row["messages"] for row in table]
    last = table[-1]
    seen = (f"of {last['messages']} messages a member keeps at most {last['most_kept']:.0f} at a time, and "
            f"{1 - last['undelivered']:.1%} of pairs are delivered")  # fmt: skip
    if min(shares) >= KEEPS:
        return Verdict("holds", seen)
    if shares[-1] <= FEW:
        return Verdict("does not hold", f"a member can let go of what has expired and of what everybody has: {seen}")
    return Verdict("undecided", seen)


def draw(figure: Any, table: Table) -> None:
    ax = figure.subplots()
    curves(ax, table, "messages", "most_kept", "recipe", names=lambda _: "solicit, repaired: kept at once, at most")
    counts = [row["messages"] for row in table]
    ax.plot(counts, counts, color="black", linestyle=":", label="all that was published, as printed")
    ax.set(xlabel="messages published", ylabel="messages in one member's memory", ylim=(0, None))
    ax.legend()


CLAIM = Claim(
    name="memory",
    papers="002",
    place="002 s4",
    sentence="Therefore, in order to satisfy these features, the protocol should maintain each message broadcast to a "
    "group into the volatile storage of every group member.",
    asks="The most messages any member keeps at once, against how many were published.",
    design="Holds if that is 90 % of all; does not hold if it is half or less at the largest count.",
    chosen="solicit, 5 members, 100 messages per second, deadlines of 100 ms, 10 % loss.",
    measure="antecede.lab.cells:events",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="Messages kept by a member of solicit (002, repaired: collects what is stable or expired) against messages "
    "published. 5 members, deadlines of 100 ms, 10 % loss; band: 95 % over seeds.",
)
