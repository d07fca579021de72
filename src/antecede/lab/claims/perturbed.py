"""004 Fig. 6: throughput stays flat as the group grows and members are perturbed, unlike that of [9].

Decided here: [9] is `dcco` among all members, as a vector and as the matrix it is printed with (two bytes for each of
n x n entries, charged as payload); `ackcast` with a window stands for traditional reliable broadcast. "Perturbed" is
read as: that share of all processes sleeps half of its time, 200 ms at a stretch. Throughput is taken on those who do
not sleep. Flat means: the largest group gets at least 85 % of what the smallest gets. Without a cost model throughput
is what is offered, so every point is run with and without.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from antecede.lab.claim import Claim, Effort, Row, Table, Verdict, grid
from antecede.lab.figures import curves, ticks_at
from antecede.lab.tidy import summarise
from antecede.spark.sweep import Cell

__all__ = ["CLAIM", "rule"]

OURS = "004: brokers to subscribers"
VECTOR, MATRIX, ACKS = "[9] as a vector", "[9] as a matrix", "ACKs, window 4"
DRAWN = {OURS: "004 (colour-eager)", VECTOR: "[9] (dcco) as a vector", MATRIX: "[9] (dcco) as a matrix",
         ACKS: "ackcast, window 4"}  # fmt: skip
FLAT = 0.85
LARGEST = 150
"""Members whose matrix fits a message: 2 x 200 x 200 bytes do not (at most 49,152 travel)."""
FREE, COSTLY = "no costs", "links and processors cost"
COSTS: Row = {"link_kbytes_s": 2000.0, "cpu_us": 200.0, "buffer": 200}
BASE: Row = {"rate": 20.0, "loss": 0.001, "crash": 0.001, "restart": 0.0, "reply": 0.0, "delay_ms": [5.0, 15.0],
             "nap_ms": 200.0, "brokers": 4}  # fmt: skip


def series(n: int) -> dict[str, Row]:
    flat: Row = {"recipe": "dcco", "deadline_ms": [400.0, 400.0]}
    return {
        OURS: {"recipe": "colour-eager", "groups": "G1=A,B,C,D", "homes": 1},
        VECTOR: flat,
        MATRIX: {**flat, "payload_bytes": 32 + 2 * n * n},
        ACKS: {"recipe": "ackcast", "window": 4},
    }


def cells(effort: Effort) -> list[Cell]:
    sizes = (25, 75) if effort.quick else (50, 100, 150, 200)
    rates = (0.5,) if effort.quick else (0.2, 0.3, 0.4, 0.5)
    return grid(effort.seeds or (2 if effort.quick else 10), [
        {**BASE, **knobs, **(COSTS if costs == COSTLY else {}), "subscribers": n - 4, "members": n, "what": name,
         "costs": costs, "perturbed": rate, "perturb": f"some:{rate}", "messages": 12 if effort.quick else 40}
        for costs in (FREE, COSTLY) for rate in rates for n in sizes for name, knobs in series(n).items()
        if name != MATRIX or n <= LARGEST
    ])  # fmt: skip


def table(rows: Sequence[Row]) -> Table:
    return summarise(rows, ("costs", "perturbed", "members", "what"), ("throughput", "reach", "overflowed"))


def rule(table: Table) -> Verdict:
    def kept(what: str, costs: str) -> float:
        """The least share of the smallest group's throughput that the largest has, over all rates."""
        mine = [row for row in table if row["what"] == what and row["costs"] == costs]
        shares = []
        for rate in sorted({row["perturbed"] for row in mine}):
            ends = sorted((row for row in mine if row["perturbed"] == rate), key=lambda row: int(row["members"]))
            shares.append(ends[-1]["throughput"] / ends[0]["throughput"])
        return float(min(shares))

    shares = {(what, costs): kept(what, costs) for what in (OURS, VECTOR, MATRIX, ACKS) for costs in (FREE, COSTLY)}
    seen = "; ".join(f"{what}: {shares[what, FREE]:.0%} without costs, {shares[what, COSTLY]:.0%} with them" for what in
                     (OURS, VECTOR, MATRIX, ACKS))  # fmt: skip
    seen = f"of the smallest group's throughput the largest keeps: {seen}"
    if any(shares[OURS, costs] < FLAT for costs in (FREE, COSTLY)):
        return Verdict("does not hold", seen)
    falls = {(what, costs) for (what, costs), share in shares.items() if what != OURS and share < FLAT}
    if {(VECTOR, FREE), (MATRIX, FREE)} <= falls:
        return Verdict("holds", seen)
    if falls:
        which = sorted({what for what, _ in falls})
        return Verdict(
            "holds only if",
            f"links and processors cost something and it is compared with {' and '.join(which)} ({seen})",
        )
    return Verdict("does not hold", f"nobody's throughput falls: {seen}")


def draw(figure: Any, table: Table) -> None:
    rates = sorted({row["perturbed"] for row in table})
    axes = figure.subplots(2, len(rates), sharex=True, sharey=True, squeeze=False)
    for row, costs in enumerate((FREE, COSTLY)):
        for column, rate in enumerate(rates):
            ax = axes[row][column]
            part = [one for one in table if one["costs"] == costs and one["perturbed"] == rate]
            curves(ax, part, "members", "throughput", "what")
            if not row:
                ax.set_title(f"{rate:.0%} perturbed")
            ticks_at(ax, part, "members")
            if row:
                ax.set_xlabel("members")
            if not column:
                ax.set_ylabel(f"{costs}:\ndeliveries per second\nand awake member")
    axes[0][0].set_ylim(bottom=0)  # once all are drawn, for they share it
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, [DRAWN.get(label, label) for label in labels], loc="outside lower center", ncols=4)


CLAIM = Claim(
    name="perturbed",
    papers="004",
    place="004, s4, Fig. 6 (a) to (d)",
    sentence="In the four subfigures from 6(a) to 6(d), the average throughput of causally ordered delivery protocol "
    "based on gossip protocols from brokers to subscribers is not a rapid change than that of the protocol based on "
    "traditional reliable broadcast between all members.",
    asks="Deliveries per second and member that does not sleep, against group size and perturbed share.",
    design="Paired seeds. Flat: the largest group keeps 85 % of the smallest one's throughput at every perturb rate. "
    "[9] as a matrix up to 150 members: that of 200 does not fit a message, as a first run showed. Quick: groups of 25 "
    "and 75, 12 messages.",
    chosen="4 brokers, 20 messages per second, naps of 200 ms, half of the time; links of 2 MB/s, 0.2 ms per frame, "
    "buffers of 200 frames; a matrix entry is 2 bytes.",
    measure="antecede.lab.cells:measured",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="Throughput against group size (004 Fig. 6). Top: links and processors cost nothing; bottom: 2 MB/s per "
    "sender, 0.2 ms per frame. A matrix of 200 x 200 fits no message. Loss and crash 0.1 %; bands: 95 % over seeds.",
    size=(8.4, 5.0),
)
