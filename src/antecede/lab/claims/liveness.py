"""001 s2.2.2 and s2.3.2: in the absence of failures every message is delivered.

Decided here: nobody crashes, leaves, moves or sleeps, nothing is partitioned, and there are no deadlines (`rounds` has
lifetimes, which are its own). The proof allows links that lose copies, since what is lost is sent again; so both are
run: no loss, and 10 % of it. Delivered means every pair, in every run; one that is not decides against a reading, none
decides for it as far as it was tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from antecede.lab.claim import Claim, Effort, Row, Table, Verdict, grid
from antecede.lab.claims.safety import READINGS
from antecede.lab.figures import stacked
from antecede.lab.tidy import by_points, pooled
from antecede.spark.sweep import Cell

__all__ = ["CLAIM", "rule"]

LOSSES = (0.0, 0.1)
FATES = {"fate_pending": "waiting for ever", "fate_late": "held until its lifetime ended",
         "fate_superseded": "a successor was out", "fate_expired": "never came"}  # fmt: skip


def cells(effort: Effort) -> list[Cell]:
    return grid(effort.slow, [
        {"recipe": recipe, "reading": reading, "loss": loss, "brokers": 4, "subscribers": 6, "messages": 60,
         "groups": "G1=A,B,C;G2=A,B,D", "delay_ms": [5.0, 15.0], "deadline_ms": None}
        for loss in LOSSES for recipe, reading in READINGS
    ])  # fmt: skip


def table(rows: Sequence[Row]) -> Table:
    out: Table = []
    for (loss, recipe, reading), group in by_points(rows, ("loss", "recipe", "reading")).items():
        pairs = [one["pairs"] for one in group]
        row: Row = {"reading": f"{recipe}, {reading}", "loss": loss, "runs": len(group), "pairs": sum(pairs)}
        for name in ("undelivered", *FATES):
            share, half = pooled([one[name] * one["pairs"] for one in group], pairs)
            row |= {name: share, f"{name}_low": max(0.0, share - half), f"{name}_high": min(1.0, share + half)}
        out.append({**row, "restless": sum(not one["quiet"] for one in group)})
    return out


def rule(table: Table) -> Verdict:
    left = {(row["reading"], row["loss"]): row["undelivered"] for row in table}
    readings = list(dict.fromkeys(row["reading"] for row in table))
    losses = sorted({loss for _, loss in left})
    seen = "; ".join(f"{name}: {' and '.join(f'{left[name, loss]:.2%}' for loss in losses)}" for name in readings)
    seen = f"never delivered where nothing fails, without loss and at {losses[-1]:.0%}: {seen}"
    fine = [name for name in readings if all(left[name, loss] == 0 for loss in losses)]
    if len(fine) == len(readings):
        return Verdict("holds", f"as far as it was tried: {seen}")
    if fine:
        ends = "; rounds ends a message with its lifetime, whoever still lacks it" if any(map(_lives, readings)) else ""
        return Verdict("holds only if", f"the text is read as {' or '.join(fine)} ({seen}{ends})")
    return Verdict("does not hold", seen)


def _lives(reading: str) -> bool:
    return reading.startswith("rounds")


def draw(figure: Any, table: Table) -> None:
    axes = figure.subplots(1, len(LOSSES), sharey=True)
    for ax, loss in zip(axes, LOSSES, strict=True):
        long = [
            {"reading": row["reading"].replace(", ", "\n"), "what": label, "share": 100 * row[name],
             "undelivered": 100 * row["undelivered"], "undelivered_high": 100 * row["undelivered_high"]}
            for row in table if row["loss"] == loss for name, label in FATES.items()
        ]  # fmt: skip
        stacked(ax, long, "reading", "share", "what", "undelivered")
        ax.set(title=f"{loss:.0%} of copies lost" if loss else "no copy is lost", ylim=(0, 100))
        ax.tick_params(axis="x", labelsize=7)
    axes[0].set_ylabel("pairs never delivered (%)")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)


CLAIM = Claim(
    name="liveness",
    papers="001",
    place="001 s2.2.2, s2.3.2",
    sentence="In the absence of failures, every message in overlapping groups is indeed delivered (Liveness).",
    asks="Pairs of a message and a receiver that are never delivered, where nobody fails and nothing has a deadline.",
    design="Paired seeds, every reading of both protocols, without loss and with the links of the proof, which lose "
    "copies that are sent again. Delivered: every pair in every run; one that is not decides against a reading. A "
    "first rule asked for both repaired protocols; a run then had one pair in 8,000 of rounds that did not come "
    "within its lifetime, so the verdict names the readings that deliver everything.",
    chosen="Brokers in G1 = {A, B, C} and G2 = {A, B, D} as in 001, 6 subscribers, 60 messages at 100 per second, "
    "delays of 5 to 15 ms. rounds cannot run without lifetimes, here of 6 rounds of 50 ms.",
    measure="antecede.lab.cells:events",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="Pairs that are never delivered though nobody fails and nothing has a deadline, by reading of the text, "
    "and what became of them: graph (001 s2.3) and rounds (001 s2.2). 4 brokers, 6 subscribers; bars: 95 % over runs.",
    size=(8.4, 3.4),
)
