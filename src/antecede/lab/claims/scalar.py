"""004: one scalar from brokers to subscribers suffices, and costs very little.

Decided here: what it costs is bytes, delay and messages. `colour` holds to the end of a lifetime, `colour-eager` does
not wait; `rounds` carries a colour per broker instead. Without a price means: eager loses at most 1 % of pairs, or hold
is at most twice as slow as rounds. Ratios are taken seed by seed and judged by their intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from antecede.lab.claim import Claim, Effort, Row, Table, Verdict, grid
from antecede.lab.tidy import put_ends, ratio, summarise
from antecede.spark.sweep import Cell

__all__ = ["CLAIM", "rule"]

HALF = 0.5
LOST = 0.01
SLOW = 2.0
VECTOR = "rounds"
NAMES = {"colour": "one colour, hold", "colour-eager": "one colour, eager", VECTOR: "a colour per broker"}
PARTS = (("stamp_to_subscriber", "stamp to a subscriber (bytes)", 1.0, 1), ("p50_ms", "median delay (ms)", 1.0, 0),
         ("undelivered", "undelivered pairs (%)", 100.0, 2))  # fmt: skip


def cells(effort: Effort) -> list[Cell]:
    return grid(effort.slow, [
        {"recipe": recipe, "brokers": 8, "subscribers": 8, "messages": 60, "loss": 0.05, "delay_ms": [8.0, 12.0],
         "groups": "G1=A,B,C,D,E,F,G,H", "homes": 1} for recipe in NAMES
    ])  # fmt: skip


def table(rows: Sequence[Row]) -> Table:
    means = summarise(rows, ("recipe",), ("stamp_to_subscriber", "p50_ms", "p95_ms", "undelivered"))
    for row in means:
        for name, value in (("times_the_stamp", "stamp_to_subscriber"), ("times_the_delay", "p50_ms")):
            found = ratio(rows, (), "recipe", row["recipe"], VECTOR, value)
            if found:
                put_ends(row, name, found[0], "ratio")
    return means


def rule(table: Table) -> Verdict:
    hold, eager, vector = (next(row for row in table if row["recipe"] == name) for name in NAMES)
    seen = (f"{hold['stamp_to_subscriber']:.0f} bytes instead of {vector['stamp_to_subscriber']:.0f}; median delay "
            f"{hold['p50_ms']:.0f} ms (hold), {eager['p50_ms']:.0f} (eager), {vector['p50_ms']:.0f} (a colour per "
            f"broker); pairs undelivered {hold['undelivered']:.1%}, {eager['undelivered']:.1%}, "
            f"{vector['undelivered']:.1%}")  # fmt: skip
    small = _below(hold, "times_the_stamp", HALF)
    quick, exact = _below(hold, "times_the_delay", SLOW), _below(eager, "undelivered", LOST)
    if small is False:
        return Verdict("does not hold", f"one scalar is not half as large: {seen}")
    if small and (quick or exact):
        return Verdict("holds", seen)
    if small is None or quick is None or exact is None:
        return Verdict("undecided", f"the intervals are too wide: {seen}")
    return Verdict("holds only if", f"the application can wait for a lifetime or do without some messages ({seen})")


def _below(row: Row, name: str, most: float) -> bool | None:
    """By the whole interval; None where that lies on both sides."""
    return True if row[f"{name}_high"] <= most else False if row[f"{name}_low"] > most else None


def draw(figure: Any, table: Table) -> None:
    axes = figure.subplots(1, 3)
    labels = [NAMES[row["recipe"]].replace(", ", ",\n").replace(" per ", "\nper ") for row in table]
    for ax, (name, label, times, digits) in zip(axes, PARTS, strict=True):
        values = [times * row[name] for row in table]
        errors = [times * max(0.0, row[f"{name}_high"] - row[name]) for row in table]
        for x, (value, error, hatch, colour) in enumerate(
            zip(values, errors, ("", "///", "..."), ("#1b4f8a", "#c2571a", "#2f7d4f"), strict=True)
        ):
            ax.bar(x, value, 0.7, yerr=error, hatch=hatch, color=colour, alpha=0.85, edgecolor="white", capsize=2)
            ax.text(x, value + error + 0.02 * max(values), f"{value:.{digits}f}", ha="center", va="bottom", fontsize=8)
        ax.set_xticks(range(len(labels)), labels, fontsize=7.5)
        ax.set(title=label, ylim=(0, 1.2 * max(0.1, *(v + e for v, e in zip(values, errors, strict=True)))))
        ax.grid(axis="x", visible=False)


CLAIM = Claim(
    name="scalar",
    papers="004",
    place="004, abstract",
    sentence="Therefore, the proposed protocol implemented for P/S based on gossip protocols results in very low "
    "communication overhead from brokers to subscribers in the context of broadcast respecting Δ.",
    asks="Bytes of the stamp to a subscriber, median delay and undelivered pairs.",
    design="Paired seeds. Low: at most half of the bytes. Without a price: eager loses at most 1 %, or hold is at "
    "most twice as slow as a colour per broker; each by the whole 95 % interval, ratios seed by seed.",
    chosen="8 brokers in one group, 8 subscribers, rounds of 50 ms, lifetime ceil(log2 N) + 3 rounds, 5 % loss.",
    measure="antecede.lab.cells:events",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="One scalar (004: colour, held to the end of a lifetime; colour-eager) and one colour per broker (001: "
    "rounds): bytes, delay, undelivered. 8 brokers, 8 subscribers, 5 % loss; bars: 95 % over seeds.",
    size=(7.6, 3.1),
)
