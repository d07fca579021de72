"""004 s1: preferring local members saves long links, and so fewer messages miss their deadlines.

Decided here: by rounds, where every link takes one: crossings between sites, and who is not reached within a lifetime
of ceil(log2 N) + 1 rounds. Saves means at most half of the crossings; misses no more means that the share missed is not
larger than without preference, by the 95 % intervals. Whether shorter links are also faster is another question, for
which the text gives no delays.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from antecede.lab.claim import Claim, Effort, Row, Table, Verdict, grid
from antecede.lab.figures import curves
from antecede.lab.tidy import summarise
from antecede.spark.sweep import Cell

__all__ = ["CLAIM", "rule"]

N, SITES = 200, 4
LIFETIME = math.ceil(math.log2(N)) + 1
HALF = 0.5
HOW = {0: "unlimited forwarding", 2: "forwarded twice"}


def cells(effort: Effort) -> list[Cell]:
    return grid(effort.fast, [
        {"near": near, "forwards": forwards, "subscribers": N, "sites": SITES, "fanout": 3, "loss": 0.001,
         "crash": 0.001, "variant": "push", "rounds": LIFETIME}
        for forwards in HOW for near in (0.0, 0.25, 0.5, 0.75, 0.9, 0.97)
    ])  # fmt: skip


def table(rows: Sequence[Row]) -> Table:
    rows = [{**row, "gossip": HOW[row["forwards"]], "missed": 1 - row["reached"] / row["correct"],
             "crossed": row["crossings"] / row["copies"]} for row in rows]  # fmt: skip
    return summarise(rows, ("gossip", "near"), ("crossed", "missed"))


def rule(table: Table) -> Verdict:
    by = {(row["gossip"], row["near"]): row for row in table}
    ways = list(dict.fromkeys(way for way, _ in by))
    preferred = sorted({near for _, near in by if near > 0})
    saves = [p for p in preferred if all(by[w, p]["crossed_high"] <= HALF * by[w, 0.0]["crossed_low"] for w in ways)]
    worse = [p for p in saves if any(by[w, p]["missed_low"] > by[w, 0.0]["missed_high"] for w in ways)]
    last = max(preferred)
    seen = "; ".join(
        f"{w}: at P = {last:g} {by[w, last]['crossed']:.0%} of copies leave their site instead of "
        f"{by[w, 0.0]['crossed']:.0%}, and {by[w, last]['missed']:.1%} of subscribers are missed instead of "
        f"{by[w, 0.0]['missed']:.1%}" for w in ways)  # fmt: skip
    if not saves:
        return Verdict("does not hold", f"it does not halve the crossings: {seen}")
    fine = [p for p in saves if p not in worse]
    if not worse:
        return Verdict("holds", seen)
    if fine:
        return Verdict(
            "holds only if",
            f"P, the preference for the own site, is at most {max(fine):g}: beyond, what "
            f"must cross comes too late ({seen})",
        )
    return Verdict("does not hold", f"what must cross comes too late: {seen}")


def draw(figure: Any, table: Table) -> None:
    left, right = figure.subplots(1, 2)
    for ax, name, label in ((left, "crossed", "copies that leave their site (%)"),
                            (right, "missed", f"not reached within {LIFETIME} rounds (%)")):  # fmt: skip
        part = [{**row, **{k: 100 * row[k] for k in (name, f"{name}_low", f"{name}_high")}} for row in table]
        curves(ax, part, "near", name, "gossip")
        ax.set(xlabel="preference P for the own site", ylabel=label, ylim=(0, None))
        points = sorted({row["near"] for row in part})
        # The last two are too close for two labels in a line.
        ax.set_xticks(points, ["\n" * (point == points[-1]) + f"{point:g}" for point in points])
    left.legend(title="push, F = 3")


CLAIM = Claim(
    name="near",
    papers="004",
    place="004 s1",
    sentence="So, in gossip protocols, it is turned out that reducing the long traversing makes reducing messages "
    "bypassing "
    "their deadlines.",
    asks="Copies that cross between sites, and subscribers not reached within a lifetime, against the preference.",
    design="Saves: at most half of the crossings. Misses no more: not more than without preference, by the 95 % "
    "intervals.",
    chosen="200 subscribers in 4 equal sites, F = 3, lifetime ceil(log2 N) + 1 rounds, loss and crash 0.001 as in "
    "004; every "
    "link takes one round, since the text gives no delays.",
    measure="antecede.lab.cells:spread",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="Preferring one's own site: copies that cross between 4 sites, and subscribers not reached within 9 "
    "rounds; push "
    "with F = 3, 200 subscribers, loss and crash 0.001; bands: 95 % over seeds.",
    size=(7.2, 3.2),
)
