"""001 s2.2.1, 004: log N + alpha colours suffice, since a message is everywhere after log N rounds.

Decided here: suffices means that all correct processes have it with probability 0.95 after ceil(log2 N) + 1 rounds, at
every N, by the whole 95 % interval; per fan-out. Whether rounds grow with log N at all is `log-rounds`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from antecede.lab.claim import Claim, Effort, Row, Table, Verdict, grid
from antecede.lab.claims.certainty import _wilson
from antecede.lab.figures import curves, series_of
from antecede.lab.models import coverage
from antecede.lab.tidy import by_points
from antecede.spark.sweep import Cell

__all__ = ["CLAIM", "rule"]

ENOUGH = 0.95
SURE = 0.99
"""Fan-outs that are above this everywhere share one line."""
ALPHA = 1


def cells(effort: Effort) -> list[Cell]:
    sizes = (50, 200, 1000) if effort.quick else (50, 100, 200, 500, 1000, 10_000)
    return grid(2 * effort.fast, [
        {"subscribers": n, "fanout": fanout, "variant": "push", "loss": 0.001, "crash": 0.001,
         "rounds": math.ceil(math.log2(n)) + 3} for fanout in range(1, 7) for n in sizes
    ])  # fmt: skip


def table(rows: Sequence[Row]) -> Table:
    out: Table = []
    for (fanout, n), group in by_points(rows, ("fanout", "subscribers")).items():
        for alpha in (0, 1, 2, 3):
            rounds = math.ceil(math.log2(n)) + alpha
            k = sum(row["to_all"] is not None and row["to_all"] <= rounds for row in group)
            low, high = _wilson(k, len(group))
            model = coverage(n, fanout, 0.001, 0.001, alpha=alpha)[2] if n <= 200 and alpha == ALPHA else None
            out.append({"fanout": fanout, "subscribers": n, "alpha": alpha, "rounds": rounds, "runs": len(group),
                        "all": k / len(group), "all_low": low, "all_high": high, "model": model})  # fmt: skip
    return out


def rule(table: Table) -> Verdict:
    at = [row for row in table if row["alpha"] == ALPHA]
    fanouts = sorted({row["fanout"] for row in at})
    lowest = {f: min(row["all_low"] for row in at if row["fanout"] == f) for f in fanouts}
    highest = {f: min(row["all_high"] for row in at if row["fanout"] == f) for f in fanouts}
    seen = ", ".join(f"F = {f}: {min(row['all'] for row in at if row['fanout'] == f):.2f}" for f in fanouts)
    seen = f"P(all have it) after ceil(log2 N) + {ALPHA} rounds, at the N where it is lowest: {seen}"
    if min(lowest.values()) >= ENOUGH:
        return Verdict("holds", seen)
    enough = [f for f in fanouts if all(lowest[g] >= ENOUGH for g in fanouts if g >= f)]
    if enough:
        return Verdict("holds only if", f"the fan-out is at least {enough[0]} ({seen})")
    if max(highest.values()) < ENOUGH:
        return Verdict("does not hold", seen)
    return Verdict("undecided", seen)


def draw(figure: Any, table: Table) -> None:
    left, right = figure.subplots(1, 2, sharey=True)
    sure = [f for f in series_of(table, "fanout") if all(row["all"] >= SURE for row in table if row["fanout"] == f)]
    for ax, alpha in ((left, 0), (right, ALPHA)):
        part = [row for row in table if row["alpha"] == alpha and row["fanout"] not in sure[1:]]
        curves(
            ax,
            part,
            "subscribers",
            "all",
            "fanout",
            names=lambda f: f"F = {', '.join(map(str, sure))}" if f in sure else f"F = {f}",
        )
        ax.axhline(ENOUGH, color="black", linewidth=0.8, linestyle=":", label=f"enough: {ENOUGH:g}")
        ax.set(
            xscale="log",
            xlabel="processes N, and rounds",
            title=f"after ceil(log2 N){f' + {alpha}' if alpha else ''} rounds",
            ylim=(-0.03, 1.04),
        )
        rounds = {row["subscribers"]: row["rounds"] for row in part}
        ax.set_xticks(list(rounds), [f"{n:,}\n{rounds[n]}" for n in rounds], fontsize=8)
        ax.minorticks_off()
    left.set_ylabel("P(all correct have it)")
    right.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), title="fan-out")


CLAIM = Claim(
    name="colours",
    papers="001",
    place="001 s2.2.1",
    sentence="The proposed protocol needs log N + alpha colors because the maximum number of gossip rounds in which "
    "all processes receive all messages eventually is log N and alpha may be application specific for buffering.",
    asks="P(all correct processes have a message) after ceil(log2 N) + alpha rounds of push.",
    design="Suffices: at least 0.95 with alpha = 1 at every N, by the whole 95 % interval (Wilson), per fan-out. "
    "Seeds were doubled after a run that said F at least 4; margins and rule stayed. The claim was first run under the "
    "sentence of `log-rounds`, which says less.",
    chosen="The fan-out is not given: 1 to 6; nor the base of the logarithm: 2, as in the example of Fig. 2 (N = 4, "
    "log N = 2, alpha = 1). Unlimited forwarding; loss and crash 0.001 as in 004.",
    measure="antecede.lab.cells:spread",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="P(all correct processes have the message) after ceil(log2 N) rounds and one more, by fan-out; push with "
    "unlimited forwarding, loss and crash 0.001. Dotted: 0.95; bands: 95 % (Wilson).",
    size=(7.4, 3.3),
)
