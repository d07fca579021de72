"""004 Fig. 6: what "perturbed" means, as a factor: one member asleep, some, all in turn, or joining and leaving.

Decided here: half of everything is perturbed - one member sleeps half of its time, half of the members do, all do, or
members leave and others join at 0.5 per member and second - for 004 and [9] as a matrix, links and processors costing
as in `perturbed`. Flat is judged as there: the larger group keeps 85 % of the smaller one's throughput. The claim holds
for a reading if 004's is flat and [9]'s is not.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from antecede.lab.claim import Claim, Effort, Row, Table, Verdict, grid
from antecede.lab.claims.perturbed import BASE, COSTS, FLAT, MATRIX, OURS, series
from antecede.lab.figures import bars
from antecede.lab.tidy import summarise
from antecede.spark.sweep import Cell

__all__ = ["CLAIM", "rule"]

READINGS: dict[str, Row] = {
    "one sleeps": {"perturb": "one:0.5"},
    "half of them sleep": {"perturb": "some:0.5"},
    "all sleep in turn": {"perturb": "all:0.5"},
    "join and leave": {"join": 0.5, "leave": 0.5},
}


def cells(effort: Effort) -> list[Cell]:
    sizes = (25, 75) if effort.quick else (50, 100)
    return grid(effort.seeds or (2 if effort.quick else 10), [
        {**BASE, **series(n)[what], **COSTS, "subscribers": n - 4, "members": n, "what": what, "perturbed": reading,
         "messages": 8 if effort.quick else 24, **knobs}
        for reading, knobs in READINGS.items() for n in sizes for what in (OURS, MATRIX)
    ])  # fmt: skip


def table(rows: Sequence[Row]) -> Table:
    return summarise(rows, ("perturbed", "members", "what"), ("throughput", "reach"))


def rule(table: Table) -> Verdict:
    small, large = min(row["members"] for row in table), max(row["members"] for row in table)
    got = {(row["perturbed"], row["members"], row["what"]): row["throughput"] for row in table}
    kept = {(r, what): got[r, large, what] / got[r, small, what] for r in READINGS for what in (OURS, MATRIX)}
    good = [r for r in READINGS if kept[r, OURS] >= FLAT > kept[r, MATRIX]]
    seen = f"of the throughput of {small} members {large} have, with 004 and with [9]: " + "; ".join(
        f"{kept[r, OURS]:.0%} and {kept[r, MATRIX]:.0%} ({r})" for r in READINGS
    )
    if any(value != value for value in kept.values()):
        return Verdict("undecided", f"nobody delivered anything in some runs ({seen})")
    if len(good) == len(READINGS):
        return Verdict("holds", seen)
    if good:
        return Verdict("holds only if", f"perturbed means: {' or '.join(good)} ({seen})")
    return Verdict("does not hold", seen)


def draw(figure: Any, table: Table) -> None:
    axes = figure.subplots(1, 2, sharey=True)
    for ax, what, name in zip(axes, (OURS, MATRIX), ("004 (colour-eager)", "[9] (dcco) as a matrix"), strict=True):
        part = [{**row, "perturbed": textwrap.fill(row["perturbed"], 10)} for row in table if row["what"] == what]
        bars(ax, part, "perturbed", "throughput", "members", names=lambda n: f"{n} members")
        ax.set(title=name)
        ax.tick_params(axis="x", labelsize=8)
    axes[0].set_ylabel("deliveries per second and member\n(that is awake, if any is)")
    axes[1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))


CLAIM = Claim(
    name="perturb-readings",
    papers="004",
    place="004, s4, Fig. 6",
    sentence="In the four subfigures from 6(a) to 6(d), the average throughput of causally ordered delivery protocol "
    "based on gossip protocols from brokers to subscribers is not a rapid change than that of the protocol based on "
    "traditional reliable broadcast between all members.",
    asks="Throughput of a small and a large group, for each meaning of perturbed.",
    design="Paired seeds. Holds for a reading if 004 keeps 85 % of its throughput in the larger group, and [9] not. "
    "Where all sleep, throughput is taken on all, since a first run had nobody awake to take it on.",
    chosen="What perturbed means is not said: four readings, half of everything each; costs and rates as in perturbed.",
    measure="antecede.lab.cells:measured",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="Throughput by what perturbed means (004 Fig. 6), small and large group: 004, and [9] with a matrix of n x "
    "n entries. 2 MB/s per sender, 0.2 ms per frame, naps of 200 ms; bars: 95 % over seeds.",
    size=(8.4, 3.4),
)
