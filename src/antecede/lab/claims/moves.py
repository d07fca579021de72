"""004 s4: what a subscriber's move costs depends on the number of brokers only.

Decided here: bytes of all frames of an attachment (attach, attached, detach), against brokers with a fixed number of
subscribers and against subscribers with a fixed number of brokers. Only on brokers means: it grows by less than a tenth
when there are four times as many subscribers, and by more when there are four times as many brokers.
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
    return summarise(rows, ("what", "times_four"), ("bytes_per_attachment", "attachments"))


def rule(table: Table) -> Verdict:
    def grows(what: str) -> float:
        found = {row["times_four"]: row["bytes_per_attachment"] for row in table if row["what"] == what}
        return float(found[MANY] / found[FEW] - 1)

    by_brokers, by_subscribers = grows(BROKERS), grows(SUBSCRIBERS)
    seen = (f"four times as many brokers: {by_brokers:+.0%} bytes per attachment; four times as many subscribers: "
            f"{by_subscribers:+.0%}")  # fmt: skip
    if by_subscribers >= SAME:
        return Verdict("does not hold", seen)
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
    design="Paired seeds. Only on brokers: less than 10 % more with four times as many subscribers.",
    chosen="4 to 16 brokers with 8 subscribers, 8 to 32 subscribers with 4 brokers; two moves per second each.",
    measure="antecede.lab.cells:attaching",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="Bytes per attachment (attach, attached, detach) of colour (004) while subscribers move. Bands: 95 % over "
    "seeds.",
)
