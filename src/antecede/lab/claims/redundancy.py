"""003: pulling lowers redundancy enormously, compared with pushing.

Decided here: redundancy is payload copies per subscriber reached. Enormously: at most half of the copies, at every n.
Push by name, since forwarding once and forwarding without limit differ by more than push and pull do. Requests are
counted beside.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from antecede.lab.claim import Claim, Effort, Row, Table, Verdict, grid
from antecede.lab.figures import bars
from antecede.lab.tidy import summarise
from antecede.spark.sweep import Cell

__all__ = ["CLAIM", "rule"]

HALF = 0.5
PULL = "pull from brokers (003)"
WAYS: dict[str, Row] = {
    PULL: {"variant": "pull", "brokers": 4, "relay": False, "fanout": 1},
    "push, forward once": {"variant": "push", "forwards": 1},
    "push, forward three times": {"variant": "push", "forwards": 3},
    "push, unlimited": {"variant": "push"},
}


def cells(effort: Effort) -> list[Cell]:
    sizes = (125, 1000) if effort.quick else (125, 1000, 10_000)
    return grid(effort.fast, [
        {"way": way, "subscribers": n, "fanout": 3, "loss": 0.05, **knobs} for n in sizes for way, knobs in WAYS.items()
    ])  # fmt: skip


def table(rows: Sequence[Row]) -> Table:
    rows = [{**row, "copies_each": row["copies"] / max(1, row["reached"]), "share": row["reached"] / row["correct"],
             "requests_each": row["requests"] / max(1, row["reached"])} for row in rows]  # fmt: skip
    return summarise(rows, ("subscribers", "way"), ("copies_each", "requests_each", "share", "rounds_run"))


def rule(table: Table) -> Verdict:
    by = {(row["subscribers"], row["way"]): row for row in table}
    sizes = sorted({n for n, _ in by})
    beaten = [way for way in WAYS if way != PULL and all(
        by[n, PULL]["copies_each_high"] <= HALF * by[n, way]["copies_each_low"] for n in sizes)]  # fmt: skip
    n = sizes[-1]
    seen = f"per subscriber reached, of {n:,}: " + "; ".join(
        f"{way}: {by[n, way]['copies_each']:.1f} copies and {by[n, way]['requests_each']:.1f} requests, "
        f"{by[n, way]['share']:.2%} reached" for way in WAYS)  # fmt: skip
    if len(beaten) == len(WAYS) - 1:
        return Verdict("holds", f"for payload copies; every copy costs a request as well ({seen})")
    if beaten:
        return Verdict("holds only if", f"it is compared with {' or '.join(beaten)} ({seen})")
    return Verdict("does not hold", seen)


def draw(figure: Any, table: Table) -> None:
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    largest = max(row["subscribers"] for row in table)
    part = [row for row in table if row["subscribers"] == largest]
    long = [{"way": textwrap.fill(row["way"], 12), "what": what, "each": row[name],
             "each_high": row[f"{name}_high"]} for row in part
            for name, what in (("copies_each", "payload copies"), ("requests_each", "requests"))]  # fmt: skip
    bars(left, long, "way", "each", "what")
    left.set(ylabel="sent per subscriber reached", title=f"{largest:,} subscribers")
    left.tick_params(axis="x", labelsize=8)
    left.legend()
    names = [row["way"].replace(", ", ",\n").replace(" brokers", "\nbrokers") for row in part]
    right.barh(names, [100 * row["share"] for row in part], color="#888888", hatch="///", edgecolor="white")
    right.set(xlabel="subscribers reached (%)", xlim=(0, 118))
    for y, row in enumerate(part):
        right.text(100 * row["share"] + 1.5, y, f"{row['share']:.2%}", va="center", fontsize=8)
    right.tick_params(axis="y", labelsize=8)
    right.grid(axis="y", visible=False)
    right.invert_yaxis()


CLAIM = Claim(
    name="redundancy",
    papers="003",
    place="003, abstract",
    sentence="These advantageous aspects enable the proposed protocol to enormously lower the redundancy of gossip "
    "messages "
    "compared with the gossip-push systems.",
    asks="Payload copies and requests per subscriber reached, and how many are reached.",
    design="Enormously: at most half of the copies of push, by both 95 % intervals, at every n; per way of pushing.",
    chosen="F = 3, loss 0.05, 4 brokers; which push is meant is not said: three kinds.",
    measure="antecede.lab.cells:spread",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="Copies and requests per subscriber reached, and subscribers reached: pull from 4 brokers (003) and push "
    "with F = 3, forwarded once, in three rounds, without limit. Loss 0.05; bars: 95 % over seeds.",
    size=(8.0, 3.3),
    beside=("pull-cost", "there every byte of a run with causal order counts, requests and digests too"),
)
