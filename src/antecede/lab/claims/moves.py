"""004 s4: what a subscriber's move costs depends on the number of brokers only.

Decided here: bytes of all frames of an attachment (attach, attached, detach), against brokers with a fixed number of
subscribers and against subscribers with a fixed number of brokers. Only on brokers means: it grows by less than a tenth
when there are four times as many subscribers, and by at least a tenth when there are four times as many brokers, each
by the whole interval of what it grows by, seed by seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from antecede.lab.claim import Claim, Effort, Row, Table, Verdict, grid
from antecede.lab.figures import curves, ticks_at
from antecede.lab.tidy import put_ends, ratio, summarise
from antecede.sim.layout import broker_names
from antecede.spark.sweep import Cell

__all__ = ["CLAIM", "rule"]

SAME = 0.1
FEW, MANY = 4, 16
BROKERS, SUBSCRIBERS = "more brokers (8 subscribers)", "more subscribers (4 brokers)"


def cells(effort: Effort) -> list[Cell]:
    counts = (FEW, MANY) if effort.quick else (FEW, 8, MANY, 32)
    points = [(BROKERS, n, n, 8) for n in counts] + [(SUBSCRIBERS, n, 4, 2 * n) for n in counts]
    return grid(max(2, effort.slow // 2), [
        {"recipe": "colour", "what": what, "times_four": n, "brokers": brokers, "subscribers": subscribers, "move": 2.0,
         "messages": 30, "rate": 20.0, "homes": 1, "delay_ms": [5.0, 15.0], "alpha": 3,
         "groups": "G1=" + ",".join(broker_names(brokers))}
        for what, n, brokers, subscribers in points
    ])  # fmt: skip


def table(rows: Sequence[Row]) -> Table:
    means = summarise(rows, ("what", "times_four"), ("bytes_per_attachment", "attachments"))
    times = {row["what"]: row for row in ratio(rows, ("what",), "times_four", MANY, FEW, "bytes_per_attachment")}
    for row in means:
        if row["times_four"] == MANY and row["what"] in times:
            put_ends(row, "times_as_many_bytes", times[row["what"]], "ratio")
    return means


def rule(table: Table) -> Verdict:
    """`times_as_many_bytes` stands in the rows of four times as many: 1.5 is half as much again."""
    by = {row["what"]: row for row in table if row["times_four"] == MANY}

    def grows(what: str) -> bool | None:
        low, high = by[what]["times_as_many_bytes_low"], by[what]["times_as_many_bytes_high"]
        return True if low >= 1 + SAME else False if high < 1 + SAME else None

    def said(what: str) -> str:
        mean, low, high = (by[what][f"times_as_many_bytes{end}"] - 1 for end in ("", "_low", "_high"))
        return f"{mean:+.0%} ({low:+.0%} to {high:+.0%})"

    seen = (f"four times as many brokers: {said(BROKERS)} bytes per attachment; four times as many subscribers: "
            f"{said(SUBSCRIBERS)}")  # fmt: skip
    if grows(SUBSCRIBERS):
        return Verdict("does not hold", seen)
    if grows(BROKERS) is False:
        return Verdict("does not hold", f"it does not depend on brokers either: {seen}")
    if grows(SUBSCRIBERS) is None or grows(BROKERS) is None:
        return Verdict("undecided", f"the intervals are too wide: {seen}")
    return Verdict("holds", seen)


def draw(figure: Any, table: Table) -> None:
    ax = figure.subplots()
    shown = [{**row, "factor": row["times_four"] / FEW} for row in table]
    curves(ax, shown, "factor", "bytes_per_attachment", "what")
    ax.set(xlabel=f"brokers, or subscribers: times as many as {FEW} and {2 * FEW}", ylabel="bytes per attachment",
           ylim=(0, None), xscale="log")  # fmt: skip
    ticks_at(ax, shown, "factor")
    ax.legend(title="colour (004)", alignment="left")


CLAIM = Claim(
    name="moves",
    papers="004",
    place="004, s4",
    sentence="Also, we think our proposed protocol is more attractive for mobility of subscribers because the message "
    "overhead of the mobility depends only on the number of brokers and brokers are more stable than subscribers.",
    asks="Bytes of an attachment when subscribers move, against brokers and against subscribers.",
    design="Paired seeds. Only on brokers: less than 10 % more with four times as many subscribers, and at least 10 % "
    "more with four times as many brokers, by the whole 95 % interval. That it must grow with brokers was added to "
    "the rule after a first run; the verdict stayed.",
    chosen="4 to 32 brokers with 8 subscribers, 8 to 64 subscribers with 4 brokers; two moves per second each; views "
    "are told, so that an attachment alone is counted.",
    measure="antecede.lab.cells:attaching",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="Bytes per attachment (attach, attached, detach) of colour (004) while subscribers move. Bands: 95 % over "
    "seeds.",
)
