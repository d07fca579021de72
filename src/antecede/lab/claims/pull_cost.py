"""003: what pulling costs and saves in a run with causal order: copies, control frames, bytes and delay.

Decided here: the same order (`pull`) spread in four ways - pull (003), push to everybody who is attached, gossip push
and lazy push - over the same seeds. `redundancy` counts copies by rounds; here every byte and millisecond counts. The
claim holds in bytes if pull sends at most half of the bytes per pair of each way to push.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from antecede.lab.claim import Claim, Effort, Row, Table, Verdict, grid
from antecede.lab.figures import HATCHES, STYLES
from antecede.lab.tidy import summarise
from antecede.spark.sweep import Cell

__all__ = ["CLAIM", "rule"]

HALF = 0.5
PULL = "pull (003)"
WAYS = {PULL: "", "push to all": "multicast", "gossip push": "gossip", "lazy push": "lazy"}
VALUES = {"copies_per_pair": "payload copies per pair", "control_frames_per_pair": "control frames per pair",
          "bytes_per_pair": "bytes per pair", "p95_ms": "95th percentile of\ndelay (ms)"}  # fmt: skip
DIGITS = {"copies_per_pair": 2, "control_frames_per_pair": 2, "bytes_per_pair": 0, "p95_ms": 0}


def cells(effort: Effort) -> list[Cell]:
    return grid(effort.slow, [
        {"way": way, "recipe": "pull", "spread": spread, "brokers": 4, "subscribers": 24 if effort.quick else 48,
         "homes": 1, "groups": "G1=A,B,C,D", "messages": 30, "rate": 20.0, "loss": 0.05, "delay_ms": [5.0, 15.0],
         "payload_bytes": 256} for way, spread in WAYS.items()
    ])  # fmt: skip


def table(rows: Sequence[Row]) -> Table:
    return summarise(rows, ("way",), (*VALUES, "undelivered"))


def rule(table: Table) -> Verdict:
    by = {row["way"]: row for row in table}
    pull = by[PULL]
    others = [way for way in by if way != PULL]
    beaten = [way for way in others if pull["bytes_per_pair_high"] <= HALF * by[way]["bytes_per_pair_low"]]
    seen = "; ".join(f"{way}: {row['copies_per_pair']:.1f} copies, {row['control_frames_per_pair']:.1f} control "
                     f"frames, {row['bytes_per_pair']:.0f} bytes per pair, 95 % within {row['p95_ms']:.0f} ms"
                     for way, row in by.items())  # fmt: skip
    if len(beaten) == len(others):
        return Verdict("holds", f"in bytes too ({seen})")
    if beaten:
        return Verdict("holds only if", f"it is compared with {' or '.join(beaten)} ({seen})")
    return Verdict("does not hold", f"in bytes: {seen}")


def draw(figure: Any, table: Table) -> None:
    for ax, (name, label) in zip(figure.subplots(1, len(VALUES)), VALUES.items(), strict=True):
        for i, row in enumerate(table):
            ax.bar(i, row[name], 0.75, color=STYLES[i][0], hatch=HATCHES[i], edgecolor="white", alpha=0.85,
                   label=row["way"], yerr=max(0.0, row[f"{name}_high"] - row[name]),
                   error_kw={"elinewidth": 1, "capsize": 2})  # fmt: skip
            ax.text(i, row[f"{name}_high"], f"{row[name]:.{DIGITS[name]}f}", ha="center", va="bottom", fontsize=7.5)
        ax.set(title=label, xticks=[])
        ax.margins(y=0.12)
        ax.grid(axis="x", visible=False)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(WAYS))


CLAIM = Claim(
    name="pull-cost",
    papers="003",
    place="003, abstract",
    sentence="These advantageous aspects enable the proposed protocol to enormously lower the redundancy of gossip "
    "messages compared with the gossip-push systems.",
    asks="Payload copies, control frames, bytes and delay per pair: the same causal order, pulled and pushed.",
    design="Paired seeds. Enormously: at most half of the bytes per pair of each way to push, by both 95 % intervals.",
    chosen="4 brokers, 48 subscribers (quick: 24), one group, payloads of 256 bytes, F = 3, rounds of 50 ms, 5 % loss.",
    measure="antecede.lab.cells:events",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="The order of 003 (a vector per group), spread in four ways among 4 brokers and their subscribers: by "
    "pull (003), multicast, gossip in rounds, and lazy push. F = 3, 5 % loss, 256 bytes of payload; bars: 95 % over "
    "seeds.",
    size=(8.0, 3.3),
    beside=("redundancy", "there payload copies alone count, by rounds"),
)
