"""001 s1, s2: what orders messages weighs very little from brokers to subscribers.

Decided here: by the bytes of the stamp on the wire, when all brokers have published at once, each after the one before,
or at once in groups of four (`lab/stamps`). Very low means at most half of what travels between brokers, at every n
from 16 on, for both protocols of 001 and in each situation. Entries are counted beside.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from antecede.lab.claim import Claim, Effort, Row, Table, Verdict
from antecede.lab.figures import curves, plain
from antecede.lab.stamps import GROUPS, SITUATIONS
from antecede.spark.sweep import Cell

__all__ = ["CLAIM", "rule"]

HALF = 0.5
FROM = 16
MOST = 512
"""Brokers in groups: 1,023 senders in 256 groups are more streams than fit a stamp."""
PROTOCOLS = {"context graph": "graph (001 s2.3)", "round colours": "rounds (001 s2.2)"}


ABOVE, BELOW = "broker to broker", "broker to subscriber"


def cells(effort: Effort) -> list[Cell]:
    sizes = (4, 16, 64, 256) if effort.quick else (4, 8, 16, 32, 64, 128, 256, 512, 1024)
    return [Cell({"encoding": encoding, "situation": situation, "brokers": n}, 0)
            for encoding in PROTOCOLS for situation in SITUATIONS for n in sizes
            if situation != GROUPS or n <= MOST]  # fmt: skip


def table(rows: Sequence[Row]) -> Table:
    return [
        {"protocol": PROTOCOLS[row["encoding"]], "situation": row["situation"], "hop": hop, "brokers": row["brokers"],
         "bytes": row[column], "entries": row[f"entries_{column}"]}
        for row in rows for hop, column in ((ABOVE, "to_broker"), (BELOW, "to_subscriber"))
    ]  # fmt: skip


def rule(table: Table) -> Verdict:
    size = {(row["protocol"], row["situation"], row["hop"], row["brokers"]): row["bytes"] for row in table}
    shares: dict[tuple[str, str], float] = {}
    for protocol, situation, hop, n in size:
        if hop == BELOW and n >= FROM:
            share = size[protocol, situation, BELOW, n] / size[protocol, situation, ABOVE, n]
            shares[protocol, situation] = max(share, shares.get((protocol, situation), 0.0))
    largest = {(p, s): max(n for one, where, _, n in size if (one, where) == (p, s)) for p, s in shares}
    seen = "; ".join(
        f"{p} {s}: {size[p, s, BELOW, n]:,} bytes instead of {size[p, s, ABOVE, n]:,} at n = {n:,}, from n = {FROM} on "
        f"at most {shares[p, s]:.0%}" for (p, s), n in largest.items()
    )  # fmt: skip
    seen = f"stamps to subscribers instead of to brokers: {seen}"
    low = [point for point, share in shares.items() if share <= HALF]
    if len(low) == len(shares):
        return Verdict("holds", seen)
    if low:
        told: list[str] = []
        for protocol in dict.fromkeys(p for p, _ in shares):
            all_of, mine = ([s for p, s in points if p == protocol] for points in (shares, low))
            if mine:
                told.append(protocol if mine == all_of else f"{protocol} {' or '.join(mine)}")
        return Verdict("holds only if", f"{', or '.join(told)} is meant ({seen})")
    return Verdict("does not hold", seen)


def draw(figure: Any, table: Table) -> None:
    situations = list(dict.fromkeys(row["situation"] for row in table))
    axes = figure.subplots(len(PROTOCOLS), len(situations), sharex=True, sharey=True, squeeze=False)
    for below, (line, protocol) in enumerate(zip(axes, PROTOCOLS.values(), strict=True)):
        for ax, situation in zip(line, situations, strict=True):
            part = [row for row in table if row["protocol"] == protocol and row["situation"] == situation]
            curves(ax, part, "brokers", "bytes", "hop")
            ax.set(xscale="log", yscale="log")
            plain(ax.xaxis, 4, 16, 64, 256, 1024)
            ax.set(title="" if below else situation, xlabel="brokers n" if below else "")
        line[0].set_ylabel(f"{protocol}:\nstamp on the wire (bytes)")
    plain(axes[0][0].yaxis, 10, 100, 1000, 10_000)
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)


CLAIM = Claim(
    name="overhead",
    papers="001",
    place="001 s1",
    sentence="Its features might result in its very low communication overhead between brokers and subscribers "
    "because the immediate predecessors are in the structure of one-dimensional vector.",
    asks="Bytes of the stamp per hop, when brokers have published at once, in a chain, in groups.",
    design="Very low: at most half of the stamp between brokers at every n from 16 on, for both protocols and in each "
    "situation. At first there was one situation, at once, in which as much is needed below as above.",
    chosen="All but one of n brokers have published, nothing stable yet; in groups: n / 4 groups of four brokers "
    "each, the subscriber in one, up to n = 512 (a stamp has no room for more streams). Names of one to three "
    "letters; the wire's own encoding.",
    measure="antecede.lab.stamps:weigh_stamps",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="Stamps between brokers and to subscribers, in bytes on the wire: graph (immediate predecessors below) "
    "and rounds (one colour per broker below). The last message follows those of all other brokers, which were "
    "published at once, each after the one before, or at once in groups of four. Both axes logarithmic.",
    size=(8.2, 4.6),
)
