"""003: only the minimum of causal information is needed.

Decided here: what a subscriber needs at least are the predecessors that concern it and precede no other that does
(`lab/stamps`). 003's vector per group is counted against that, in three situations: all brokers publish at once, one
after the other in a chain, and at once in groups of four of which the subscriber wants one. Beside it immediate
predecessors (001 s2.3), one colour per broker (001 s2.2) and one scalar (004), which names too little to order exactly.
The claim holds if 003's stamp names at most a tenth more than is needed at every n in every situation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from antecede.lab.claim import Claim, Effort, Row, Table, Verdict
from antecede.lab.figures import curves, plain
from antecede.lab.stamps import AT_ONCE, CHAIN, GROUPS, SITUATIONS
from antecede.spark.sweep import Cell

__all__ = ["CLAIM", "rule"]

MARGIN = 1.1
OURS = "vector per group (003)"
INEXACT = "one scalar (004), not exact"
NAMES = {
    "vector per group": OURS,
    "context graph": "immediate predecessors (001)",
    "round colours": "a colour per broker (001)",
    "matrix, one colour": INEXACT,
}


NEEDED = "needed"
MEANING = {AT_ONCE: "all is concurrent and in one group", CHAIN: "each message follows the one before",
           GROUPS: "there are several groups"}  # fmt: skip


def cells(effort: Effort) -> list[Cell]:
    sizes = (4, 8, 16, 32, 64) if effort.quick else (4, 8, 16, 32, 64, 128)
    return [Cell({"situation": situation, "encoding": encoding, "brokers": n}, 0)
            for situation in SITUATIONS for encoding in NAMES for n in sizes]  # fmt: skip


def table(rows: Sequence[Row]) -> Table:
    return [
        {"situation": row["situation"], "stamp": NAMES[row["encoding"]], "brokers": row["brokers"],
         "entries": row["entries_to_subscriber"], NEEDED: row["entries_needed"], "bytes": row["to_subscriber"]}
        for row in rows
    ]  # fmt: skip


def rule(table: Table) -> Verdict:
    situations = list(dict.fromkeys(row["situation"] for row in table))
    ours = [row for row in table if row["stamp"] == OURS]
    n = max(row["brokers"] for row in ours)
    last = {row["situation"]: row for row in ours if row["brokers"] == n}
    seen = f"among {n} brokers a stamp to a subscriber names " + ", ".join(
        f"{one} {last[one]['entries']} of {last[one][NEEDED]} needed ({last[one]['bytes']:,} bytes)"
        for one in situations
    )
    least = [stamp for stamp in dict.fromkeys(row["stamp"] for row in table)
             if stamp not in (OURS, INEXACT) and all(
        row["entries"] <= MARGIN * row[NEEDED] for row in table if row["stamp"] == stamp)]  # fmt: skip
    if least:
        seen += f"; no more than is needed name: {' and '.join(least)}"
    good = [one for one in situations if all(
        row["entries"] <= MARGIN * row[NEEDED] for row in ours if row["situation"] == one)]  # fmt: skip
    if len(good) == len(situations):
        return Verdict("holds", seen)
    if good:
        return Verdict("holds only if", f"{' or '.join(MEANING.get(one, one) for one in good)} ({seen})")
    return Verdict("does not hold", seen)


def draw(figure: Any, table: Table) -> None:
    situations = list(dict.fromkeys(row["situation"] for row in table))
    axes = figure.subplots(1, len(situations), sharey=True, squeeze=False)[0]
    for ax, situation in zip(axes, situations, strict=True):
        part = [row for row in table if row["situation"] == situation]
        need = {row["brokers"]: row[NEEDED] for row in part}
        ax.plot(list(need), list(need.values()), color="#bbbbbb", linewidth=5, solid_capstyle="butt", label=NEEDED)
        curves(ax, part, "brokers", "entries", "stamp")
        ax.set(xscale="log", yscale="log", title=situation, xlabel="brokers n")
        plain(ax.xaxis, 4, 16, 64)
        plain(ax.yaxis, 1, 3, 10, 30, 100)
    axes[0].set_ylabel("entries of a stamp to a subscriber")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)


CLAIM = Claim(
    name="minimum",
    papers="003",
    place="003, conclusions",
    sentence="These advantageous aspects enable the proposed protocol to enormously lower the redundancy of gossip "
    "messages compared with the gossip-push systems and be highly scalable for the area of the applications requiring "
    "only the minimum causal information.",
    asks="Entries of the stamp to a subscriber against those needed, when brokers publish at once, in a chain, in "
    "groups.",
    design="Holds if 003's stamp names at most a tenth more than is needed, at every n and in every situation. At "
    "first bytes were compared, at once only; there all stamps name the same, so that only the wire's encoding was "
    "judged.",
    chosen="All but one of n brokers have published, nothing stable yet; in groups: n / 4 groups of four brokers "
    "each, the subscriber in one. Bytes are those of the wire's own encoding.",
    measure="antecede.lab.stamps:weigh_stamps",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="Entries of a stamp to a subscriber, and how many it needs: a vector per group (003: pull), immediate "
    "predecessors (001: graph), a colour per broker (001: rounds), one scalar (004: colour). The last message follows "
    "those of all other brokers, which were published at once, each after the one before, or at once in groups of "
    "four. Both axes logarithmic.",
    size=(8.2, 3.3),
)
