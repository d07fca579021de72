"""003 s2.A: brokers that are told who lost interest send significantly less in vain.

Decided here: subscribers change their filters while messages are published. In vain is a copy that reaches a subscriber
whose filters did not match it any more when it was published. Without the update every message of a group that a
subscriber once wanted would go on to it: so many pairs there are. Significantly less: at most half of that, by both
95 % intervals, at every rate. The same is measured where brokers push: then it is the update that saves, not the pull.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from antecede.lab.claim import Claim, Effort, Row, Table, Verdict, grid
from antecede.lab.figures import curves, ticks_at
from antecede.lab.tidy import summarise
from antecede.spark.sweep import Cell

__all__ = ["CLAIM", "rule"]

HALF = 0.5
PULL, PUSH, NEVER = "003: pull", "push to all who are attached", "brokers that are not told"
WAYS = {PULL: {}, PUSH: {"spread": "multicast"}}


def cells(effort: Effort) -> list[Cell]:
    rates = (0.5, 2.0) if effort.quick else (0.25, 0.5, 1.0, 2.0)
    return grid(effort.slow, [
        {"way": way, "recipe": "pull", "grow": rate, "brokers": 4, "subscribers": 24, "homes": 1, "choice": "one",
         "groups": "G1=A,B,C,D;G2=A,B,C,D;G3=A,B,C,D", "messages": 80, "rate": 40.0, "loss": 0.05,
         "delay_ms": [5.0, 15.0], **knobs} for rate in rates for way, knobs in WAYS.items()
    ])  # fmt: skip


def table(rows: Sequence[Row]) -> Table:
    each = [{**row, "in_vain": 100 * row["copies_in_vain"] / row["wanted"]} for row in rows]
    never = [{**row, "way": NEVER, "in_vain": 100 * row["lapsed"] / row["wanted"]} for row in rows
             if row["way"] == PULL]  # fmt: skip
    return summarise([*each, *never], ("grow", "way"), ("in_vain",))


def rule(table: Table) -> Verdict:
    by = {(row["grow"], row["way"]): row for row in table}
    rates = sorted({rate for rate, _ in by})

    def less(way: str) -> list[float]:
        return [r for r in rates if by[r, way]["in_vain_high"] <= HALF * by[r, NEVER]["in_vain_low"]]

    last = rates[-1]
    seen = f"at {last:g} changes of filters per subscriber and second, for 100 pairs that are wanted: " + ", ".join(
        f"{by[last, way]['in_vain']:.1f} copies in vain with {way}" for way in (PULL, PUSH)
    ) + f", {by[last, NEVER]['in_vain']:.1f} with {NEVER}"  # fmt: skip
    if less(PULL) == rates:
        why = "; pushing saves as much: it is the update that does it" if less(PUSH) == rates else ""
        return Verdict("holds", f"{seen}{why}")
    if less(PULL):
        told = " or ".join(f"{rate:g}" for rate in less(PULL))
        return Verdict("holds only if", f"filters change at {told} per subscriber and second ({seen})")
    if any(by[r, PULL]["in_vain_low"] < HALF * by[r, NEVER]["in_vain_high"] for r in rates):
        return Verdict("undecided", f"the intervals are too wide ({seen})")
    return Verdict("does not hold", seen)


def draw(figure: Any, table: Table) -> None:
    ax = figure.subplots()
    curves(ax, table, "grow", "in_vain", "way")
    ax.set(xlabel="changes of filters (per subscriber and second)", ylim=(0, None),
           ylabel="copies to those who lost interest\n(per 100 pairs of message and who wants it)")  # fmt: skip
    ticks_at(ax, table, "grow")
    ax.legend()


CLAIM = Claim(
    name="lost-interest",
    papers="003",
    place="003 s2.A",
    sentence="In gossip-pull protocol, if some subscribers in a grid lose their interests in information published on "
    "a particular topic, the brokers representing the sensor grid update properly leaving subscribers to acquire "
    "significantly less redundancy.",
    asks="Copies sent to subscribers that lost interest before the message was published.",
    design="Paired seeds. Significantly less: at most half of what brokers would send that are not told, by both 95 % "
    "intervals, at every rate.",
    chosen="4 brokers, 24 subscribers, 3 groups, 40 messages per second to one group each, 5 % loss; rates of change.",
    measure="antecede.lab.cells:interests",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="Copies that reach subscribers whose filters do not match any more: pull (003), the same with push, and "
    "what brokers would send that are never told (counted from the same runs). 24 subscribers, 4 brokers, 5 % loss; "
    "bands: 95 % over seeds.",
)
