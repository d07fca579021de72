"""002 s4: every message must be kept in the memory of every member.

Decided here: what must be kept is what has to be kept to deliver as much: the repaired protocol collects what is stable
or expired. Counted are bytes, of messages with their stamps as they travel. The claim holds if a member keeps 90 % of
the bytes of all that was ever published, however much that is, and does not if it keeps half or less of the most that
was published; both by the whole interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from antecede.lab.claim import Claim, Effort, Row, Table, Verdict, grid
from antecede.lab.figures import curves, ticks_at
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
    rows = [{**row, "share_kept": row["kept_bytes_broker"] / row["published_bytes"], "undelivered": 1 - row["reach"],
             "most_kept": row["kept_broker"], "kilobytes_kept": row["kept_bytes_broker"] / 1000,
             "kilobytes_published": row["published_bytes"] / 1000} for row in rows]  # fmt: skip
    return summarise(
        rows,
        ("recipe", "messages"),
        ("kilobytes_kept", "kilobytes_published", "share_kept", "most_kept", "undelivered"),
    )


def rule(table: Table) -> Verdict:
    last = table[-1]
    seen = (f"of {last['kilobytes_published']:.1f} kB in {last['messages']} messages a member keeps at most "
            f"{last['kilobytes_kept']:.1f} kB at a time ({last['most_kept']:.0f} messages), and "
            f"{1 - last['undelivered']:.1%} of pairs are delivered")  # fmt: skip
    if all(row["share_kept_low"] >= KEEPS for row in table):
        return Verdict("holds", seen)
    if last["share_kept_high"] <= FEW:
        return Verdict("does not hold", f"a member can let go of what has expired and of what everybody has: {seen}")
    return Verdict("undecided", seen)


def draw(figure: Any, table: Table) -> None:
    ax = figure.subplots()
    curves(
        ax, table, "messages", "kilobytes_kept", "recipe", names=lambda _: "solicit, repaired: kept at once, at most"
    )
    ax.plot([row["messages"] for row in table], [row["kilobytes_published"] for row in table], color="black",
            linestyle=":", label="all that was published, as printed")  # fmt: skip
    ax.set(xlabel="messages published", ylabel="messages in one member's memory (kB)", ylim=(0, None))
    ticks_at(ax, table, "messages")
    ax.legend()


CLAIM = Claim(
    name="memory",
    papers="002",
    place="002 s4",
    sentence="Therefore, in order to satisfy these features, the protocol should maintain each message broadcast to a "
    "group into the volatile storage of every group member.",
    asks="The most bytes of messages any member keeps at once, against what was published.",
    design="Holds if that is 90 % of all; does not hold if it is half or less at the largest count; both by the whole "
    "95 % interval. At first messages were counted and means compared; the verdict stayed.",
    chosen="solicit, 5 members, 100 messages per second, payloads of 32 bytes, deadlines of 100 ms, 10 % loss. Bytes "
    "are those of messages with their stamps as they travel; a member's own vector and buffers are not among them.",
    measure="antecede.lab.cells:measured",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="Bytes of messages kept by a member of solicit (002, repaired: collects what is stable or expired) "
    "against messages published. 5 members, deadlines of 100 ms, 10 % loss; band: 95 % over seeds.",
)
