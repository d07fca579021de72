"""004 s4: [9] is cheaper for broadcast than for multicast.

Decided here: for broadcast all columns of its matrix are equal, so a vector says the same: vector against matrix, by
the bytes on the wire and, beyond 128 brokers, by eight bytes an entry. Holds if the vector is smaller at every n.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from antecede.lab.claim import Claim, Effort, Row, Table, Verdict
from antecede.lab.figures import curves
from antecede.lab.models import metadata_bytes
from antecede.spark.sweep import Cell

__all__ = ["CLAIM", "rule"]

NAMES = {"vector": "broadcast (vector), on the wire", "matrix, one colour": "multicast (matrix), on the wire"}
MODEL = {"vector": "broadcast, 8 bytes an entry", "matrix": "multicast, 8 bytes an entry"}
DATAGRAM = 65_507


def cells(effort: Effort) -> list[Cell]:
    sizes = (4, 8, 16, 32, 64) if effort.quick else (4, 8, 16, 32, 64, 128)
    return [Cell({"encoding": encoding, "brokers": n}, 0) for encoding in NAMES for n in sizes]


def table(rows: Sequence[Row]) -> Table:
    out = [{"what": NAMES[row["encoding"]], "members": row["brokers"], "bytes": row["to_broker"]} for row in rows]
    for n in (4, 16, 64, 256, 1024):
        sizes = metadata_bytes(n)
        out += [{"what": name, "members": n, "bytes": sizes[key]} for key, name in MODEL.items()]
    return out


def rule(table: Table) -> Verdict:
    by = {(row["what"], row["members"]): row["bytes"] for row in table}
    ratios = {
        n: by[NAMES["matrix, one colour"], n] / by[NAMES["vector"], n] for what, n in by if what == NAMES["vector"]
    }
    n = max(ratios)
    seen = (f"among {n} a stamp for multicast takes {by[NAMES['matrix, one colour'], n]:,} bytes on the wire, one for "
            f"broadcast {by[NAMES['vector'], n]:,}")  # fmt: skip
    if min(ratios.values()) > 1:
        return Verdict("holds", f"{seen}; the reason is that all have the same destinations, not the same deadlines")
    return Verdict("does not hold", seen)


def draw(figure: Any, table: Table) -> None:
    ax = figure.subplots()
    curves(ax, table, "members", "bytes", "what")
    ax.axhline(DATAGRAM, color="black", linewidth=0.8, linestyle=":")
    ax.text(4, DATAGRAM * 1.15, "largest UDP datagram", fontsize=7.5, va="bottom")
    ax.set(xscale="log", yscale="log", xlabel="members", ylabel="stamp (bytes)")
    ax.set_xticks([4, 16, 64, 256, 1024], ["4", "16", "64", "256", "1,024"])
    ax.minorticks_off()
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))


CLAIM = Claim(
    name="broadcast",
    papers="004",
    place="004 s4, of [9]",
    sentence="Deadline-constraints causal order for broadcast respecting Δ [9] is less expensive than the protocol for "
    "multicast because of having the same timeliness constraints.",
    asks="Bytes of a stamp of [9]: a vector where all messages go to all, a matrix otherwise.",
    design="Holds if the vector is smaller at every n, on the wire.",
    chosen="All members have just published; the wire's own encoding, and eight bytes an entry beside it.",
    measure="antecede.lab.stamps:weigh_stamps",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="Stamps of deadline-constrained causal order [9] for broadcast (vector) and multicast (matrix): measured "
    "on the "
    "wire, and at eight bytes an entry. Both axes logarithmic.",
    size=(7.6, 3.4),
)
