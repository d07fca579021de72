"""004 s5 on [9]: whoever arrives in time never misses its deadline because of its predecessors.

Decided here: by the oracle. `stuck` is a message that came in time, had no successor out, and was never delivered.
One such pair in any run is enough against the claim. One copy in twenty takes ten times as long, so that some come too
late and others in time and near their deadline.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from antecede.lab.claim import Claim, Effort, Row, Table, Verdict, grid
from antecede.lab.figures import bars
from antecede.lab.tidy import summarise
from antecede.spark.sweep import Cell

__all__ = ["CLAIM", "rule"]

FATES = {"fate_delivered": "delivered", "fate_superseded": "never came, a successor was out",
         "fate_expired": "never came", "fate_late": "came too late", "found_stuck": "in time, and missed"}  # fmt: skip


def cells(effort: Effort) -> list[Cell]:
    losses = (0.0, 0.1, 0.2) if effort.quick else (0.0, 0.05, 0.1, 0.2, 0.3)
    return grid(2 * effort.slow, [
        {"recipe": "dcco", "loss": loss, "brokers": 5, "subscribers": 0, "messages": 60, "delay_ms": [5.0, 30.0],
         "spike": 0.05, "deadline_ms": [40.0, 120.0]} for loss in losses
    ])  # fmt: skip


def table(rows: Sequence[Row]) -> Table:
    return summarise(rows, ("loss",), tuple(FATES))


def rule(table: Table) -> Verdict:
    stuck = max(row["found_stuck"] for row in table)
    runs = sum(row["runs"] for row in table)
    if stuck > 0:
        return Verdict("does not hold", f"up to {stuck:.2%} of pairs came in time and were never delivered")
    return Verdict(
        "holds",
        f"nobody missed what had come in time, in {runs} runs at up to {max(row['loss'] for row in table):.0%} loss, "
        f"where up to {max(row['fate_late'] for row in table):.1%} of pairs came too late",
    )


def draw(figure: Any, table: Table) -> None:
    ax = figure.subplots()
    long = [{"loss": f"{100 * row['loss']:g}", "fate": label, "share": 100 * row[name],
             "share_high": 100 * row[f"{name}_high"]}
            for row in table for name, label in FATES.items() if name != "fate_delivered"]  # fmt: skip
    seen = {row["fate"] for row in long if row["share"]}
    none = [label for label in dict.fromkeys(row["fate"] for row in long) if label not in seen]
    bars(ax, [row for row in long if row["fate"] in seen] or long, "loss", "share", "fate")
    ax.set(xlabel="loss (%)", ylabel="pairs (%)", title="what became of pairs that dcco ([9]) did not deliver")
    ax.legend(title=f"none at any loss: {'; '.join(none)}" if none else None, alignment="left")


CLAIM = Claim(
    name="in-time",
    papers="004",
    place="004 s5, of [9]",
    sentence="In deadline-constrained causal order, each message has its own deadline and, if it arrives on time, "
    "never "
    "misses its deadline due to preceding messages.",
    asks="Pairs that arrived in time at dcco and were never delivered though no successor was out.",
    design="The oracle's verdict `stuck`; one pair decides.",
    chosen="5 members, delays of 5 to 30 ms, one in twenty ten times as long, deadlines of 40 to 120 ms, loss of up to "
    "30 %. A first run had no long delays, so that no copy came too late.",
    measure="antecede.lab.cells:events",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="Fates of undelivered pairs with dcco (Rodrigues et al. 2000, [9] of 004), by loss. 5 members, deadlines "
    "of "
    "40 to 120 ms, delays of 5 to 30 ms, one in twenty ten times as long; bars: 95 % over seeds.",
)
