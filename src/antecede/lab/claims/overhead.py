"""001 s1, s2: what orders messages weighs very little from brokers to subscribers.

Decided here: by the bytes of the stamp on the wire, when all brokers have just published (`lab/stamps`). Very low
means at most half of what travels between brokers, at every n from 16 on, for both protocols of 001.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from antecede.lab.claim import Claim, Effort, Row, Table, Verdict
from antecede.lab.figures import curves, plain
from antecede.spark.sweep import Cell

__all__ = ["CLAIM", "rule"]

HALF = 0.5
FROM = 16
PROTOCOLS = {"context graph": "graph (001 s2.3)", "round colours": "rounds (001 s2.2)"}


def cells(effort: Effort) -> list[Cell]:
    return [Cell({"encoding": encoding, "brokers": n}, 0) for encoding in PROTOCOLS
            for n in (4, 8, 16, 32, 64, 128, 256, 512, 1024)]  # fmt: skip


def table(rows: Sequence[Row]) -> Table:
    return [
        {"protocol": PROTOCOLS[row["encoding"]], "hop": hop, "brokers": row["brokers"], "bytes": row[column]}
        for row in rows
        for hop, column in (("broker to broker", "to_broker"), ("broker to subscriber", "to_subscriber"))
    ]


def rule(table: Table) -> Verdict:
    size = {(row["protocol"], row["hop"], row["brokers"]): row["bytes"] for row in table}
    shares: dict[str, float] = {}
    for protocol, hop, n in size:
        if hop == "broker to subscriber" and n >= FROM:
            share = size[protocol, hop, n] / size[protocol, "broker to broker", n]
            shares[protocol] = max(share, shares.get(protocol, 0.0))
    largest = max(n for _, _, n in size)
    seen = "; ".join(
        f"{p}: {size[p, 'broker to subscriber', largest]:,} bytes instead of "
        f"{size[p, 'broker to broker', largest]:,}, from n = {FROM} on at most {share:.0%}"
        for p, share in shares.items()
    )
    seen = f"stamps to subscribers instead of to brokers at n = {largest:,}: {seen}"  # fmt: skip
    low = [protocol for protocol, share in shares.items() if share <= HALF]
    if len(low) == len(shares):
        return Verdict("holds", seen)
    if low:
        return Verdict("holds only if", f"{' or '.join(low)} is meant ({seen})")
    return Verdict("does not hold", seen)


def draw(figure: Any, table: Table) -> None:
    axes = figure.subplots(1, 2, sharey=True)
    for ax, protocol in zip(axes, PROTOCOLS.values(), strict=True):
        part = [row for row in table if row["protocol"] == protocol]
        curves(ax, part, "brokers", "bytes", "hop")
        ax.set(xscale="log", yscale="log", title=protocol, xlabel="brokers n, all of which have just published")
        ax.set_xticks([4, 16, 64, 256, 1024], ["4", "16", "64", "256", "1,024"])
        ax.minorticks_off()
    plain(axes[0].yaxis, 10, 30, 100, 300, 1000, 3000, 10_000)
    axes[0].set_ylabel("stamp on the wire (bytes)")
    axes[0].legend()


CLAIM = Claim(
    name="overhead",
    papers="001",
    place="001 s1",
    sentence="Its features might result in its very low communication overhead between brokers and subscribers "
    "because the "
    "immediate predecessors are in the structure of one-dimensional vector.",
    asks="Bytes of the stamp per hop, when every broker has just published.",
    design="Very low: at most half of the stamp between brokers at every n from 16 on, for both protocols.",
    chosen="n brokers in one group, nothing stable yet: the most a stamp holds in such a round. Names of one to three "
    "letters; the wire's own encoding.",
    measure="antecede.lab.stamps:weigh_stamps",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="Stamps between brokers and to subscribers, in bytes on the wire, when all of n brokers have just "
    "published: "
    "graph (immediate predecessors below) and rounds (one colour per broker below). Both axes logarithmic.",
    size=(7.2, 3.3),
)
