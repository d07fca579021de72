"""004 s1: only one member sends in each round, so a colour leads to one message and colours are an order.

Decided here: `colour-eager` with turns (`--turns`) and without, over loss. With turns the one scalar is enough if
nothing is delivered out of order and at most 1 % of pairs stay undelivered, by the whole interval, at every loss.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from antecede.lab.claim import Claim, Effort, Row, Table, Verdict, grid
from antecede.lab.figures import curves
from antecede.lab.tidy import summarise
from antecede.spark.sweep import Cell

__all__ = ["CLAIM", "rule"]

LOST = 0.01
NAMES = {True: "one sender per round", False: "every broker in every round"}


def cells(effort: Effort) -> list[Cell]:
    losses = (0.0, 0.1) if effort.quick else (0.0, 0.01, 0.02, 0.05, 0.1)
    return grid(effort.slow, [
        {"recipe": "colour-eager", "turns": turns, "loss": loss, "brokers": 4, "subscribers": 8, "homes": 1,
         "groups": "G1=A,B,C,D", "messages": 40, "rate": 12.0, "delay_ms": [5.0, 15.0]}
        for loss in losses for turns in NAMES
    ])  # fmt: skip


def table(rows: Sequence[Row]) -> Table:
    return summarise(rows, ("loss", "turns"), ("undelivered", "p50_ms", "found_inversion"))


def rule(table: Table) -> Verdict:
    mine = [row for row in table if row["turns"]]
    others = {row["loss"]: row for row in table if not row["turns"]}
    last = mine[-1]
    seen = (f"at {last['loss']:.0%} loss {last['undelivered']:.1%} of pairs undelivered and a median delay of "
            f"{last['p50_ms']:.0f} ms with one sender per round, {others[last['loss']]['undelivered']:.1%} and "
            f"{others[last['loss']]['p50_ms']:.0f} ms without")  # fmt: skip
    wrong = [row["loss"] for row in mine if row["found_inversion"] > 0]
    if wrong:
        told = " and ".join(f"{loss:.0%}" for loss in wrong)
        return Verdict(
            "does not hold", f"colours do not order: at {told} loss some deliveries are out of order ({seen})"
        )
    fine = [row["loss"] for row in mine if row["undelivered_high"] <= LOST]
    wide = [row["loss"] for row in mine if row["undelivered_low"] <= LOST < row["undelivered_high"]]
    if len(fine) == len(mine):
        return Verdict("holds", f"nothing is out of order; {seen}")
    if wide:
        told = " and ".join(f"{loss:.0%}" for loss in wide)
        return Verdict("undecided", f"the intervals are too wide at {told} loss ({seen})")
    if fine:
        return Verdict("holds only if", f"at most {max(fine):.0%} of copies are lost ({seen})")
    return Verdict("does not hold", seen)


def draw(figure: Any, table: Table) -> None:
    left, right = figure.subplots(1, 2)
    shown = [{**row, "loss": 100 * row["loss"], **{f"undelivered{end}": 100 * row[f"undelivered{end}"] for end in
                                                   ("", "_low", "_high")}} for row in table]  # fmt: skip
    curves(left, shown, "loss", "undelivered", "turns", names=lambda turns: NAMES[turns])
    curves(right, shown, "loss", "p50_ms", "turns", names=lambda turns: NAMES[turns])
    left.set(xlabel="lost copies (%)", ylabel="undelivered pairs (%)", ylim=(0, None))
    right.set(xlabel="lost copies (%)", ylabel="median delay (ms)", ylim=(0, None))
    left.legend(title="colour-eager (004)", alignment="left")


CLAIM = Claim(
    name="one-sender",
    papers="004",
    place="004, s1",
    sentence="But, from brokers to subscribers, because all messages are based on P/S using gossip protocols and "
    "dependent on each periodic gossip round in which only one member can generate and send a message and the maximum "
    "number of gossip rounds is deadline(lifetime), all messages disseminated by brokers have the same lifetime as the "
    "maximum number of gossip rounds.",
    asks="Inversions, undelivered pairs and median delay of eager delivery by one scalar, with one sender per round "
    "and without.",
    design="Paired seeds. Enough: with turns no inversion and at most 1 % undelivered, by the whole 95 % interval, at "
    "every loss. That no inversion may be found, and the interval, were added after a first run; the verdict stayed.",
    chosen="How turns are taken: round r belongs to broker r mod n. 4 brokers, 8 subscribers, 12 messages per second, "
    "rounds of 50 ms.",
    measure="antecede.lab.cells:events",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="One scalar, delivered eagerly (004: colour-eager): each round belongs to one broker, or all send in "
    "every round. 4 brokers, 8 subscribers, rounds of 50 ms; bands: 95 % over seeds.",
    size=(7.6, 3.2),
)
