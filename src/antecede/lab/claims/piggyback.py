"""002 s3A: carrying predecessors inside messages delivers sooner and costs more.

Decided here: piggyback against solicit without deadlines, so that everything is delivered. Sooner: the 95th percentile
by at least 1 ms; dearer: at least 1.5 times the bytes; both by the whole interval, at every loss above 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from antecede.lab.claim import Claim, Effort, Row, Table, Verdict, grid
from antecede.lab.figures import curves
from antecede.lab.tidy import difference, summarise
from antecede.spark.sweep import Cell

__all__ = ["CLAIM", "rule"]

MARGIN_MS = 1.0
DEARER = 1.5


def cells(effort: Effort) -> list[Cell]:
    losses = (0.0, 0.1) if effort.quick else (0.0, 0.05, 0.1, 0.2)
    return grid(effort.slow, [
        {"recipe": recipe, "loss": loss, "brokers": 5, "subscribers": 0, "messages": 60, "delay_ms": [8.0, 12.0],
         "deadline_ms": None} for loss in losses for recipe in ("piggyback", "solicit")
    ])  # fmt: skip


def table(rows: Sequence[Row]) -> Table:
    out = summarise(rows, ("loss", "recipe"), ("p50_ms", "p95_ms", "bytes_per_pair"))
    for found in difference(rows, ("loss",), "recipe", "piggyback", "solicit", "p95_ms"):
        mine = next(r for r in out if r["recipe"] == "piggyback" and r["loss"] == found["loss"])
        mine |= {"p95_minus_solicit_ms": found["difference"], "p95_minus_solicit_ms_high": found["difference_high"],
                 "p95_minus_solicit_ms_low": found["difference_low"]}  # fmt: skip
    return out


def rule(table: Table) -> Verdict:
    lossy = [row for row in table if row["recipe"] == "piggyback" and row["loss"] > 0]
    plain = {row["loss"]: row for row in table if row["recipe"] == "solicit"}
    ratios = [row["bytes_per_pair"] / plain[row["loss"]]["bytes_per_pair"] for row in lossy]
    sooner = all(row["p95_minus_solicit_ms_high"] < -MARGIN_MS for row in lossy)
    never = all(row["p95_minus_solicit_ms_low"] > -MARGIN_MS for row in lossy)
    last = lossy[-1]
    saved = -last["p95_minus_solicit_ms"]
    seen = (f"at {last['loss']:.0%} loss the 95th percentile of the delay is {abs(saved):.0f} ms "
            f"{'shorter' if saved > 0 else 'longer'} than with solicit, for {ratios[-1]:.1f} times the "
            "bytes")  # fmt: skip
    if sooner and min(ratios) >= DEARER:
        return Verdict("holds", seen)
    if never or max(ratios) < 1:
        return Verdict("does not hold", seen)
    return Verdict("undecided", seen)


def draw(figure: Any, table: Table) -> None:
    left, right = figure.subplots(1, 2)
    percent = [{**row, "loss": 100 * row["loss"]} for row in table]
    curves(left, percent, "loss", "p95_ms", "recipe")
    curves(right, percent, "loss", "bytes_per_pair", "recipe")
    left.set(xlabel="loss (%)", ylabel="95th percentile of the delay (ms)")
    right.set(xlabel="loss (%)", ylabel="bytes sent per delivery")
    for ax in (left, right):
        ax.set_ylim(bottom=0)
    left.legend()


CLAIM = Claim(
    name="piggyback",
    papers="002",
    place="002 s3A",
    sentence="The second one is to try to reduce the delivery time of the message to the corresponding application by "
    "piggybacking all of its predecessors on each sent message.",
    asks="Delay and bytes of piggyback beside solicit.",
    design="Paired seeds, no deadlines. Sooner: 95th percentile at least 1 ms less; dearer: at least 1.5 times the "
    "bytes; at every loss above 0.",
    chosen="5 members, 60 messages, half replies, delays of 8 to 12 ms; at most 32 predecessors in a message.",
    measure="antecede.lab.cells:events",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="piggyback (002 s3A, second approach) and solicit (000, 002, repaired): 95th percentile of the delay, and "
    "bytes on the wire, against loss. 5 members, no deadlines; bands: 95 % over seeds.",
    size=(7.2, 3.2),
)
