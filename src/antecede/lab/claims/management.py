"""004 s4: with subscribers joining and leaving, [9] among all members is very expensive; between brokers it is not.

Decided here: control bytes (stamps and all frames that carry no message) per pair, against the rate at which every
process leaves and others join. [9] is `dcco` among all members; `solicit` is what its members need to begin at a cut
and catch up. Cheaper means: at every rate at most half of the bytes of `dcco`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from antecede.lab.claim import Claim, Effort, Row, Table, Verdict, grid
from antecede.lab.figures import curves
from antecede.lab.tidy import summarise
from antecede.spark.sweep import Cell

__all__ = ["CLAIM", "rule"]

HALF = 0.5
OURS, THEIRS = "colour-eager", "dcco"
NAMES = {OURS: "colour-eager (004): brokers manage", THEIRS: "dcco ([9]): all members",
         "solicit": "solicit (000): all members, and asking"}  # fmt: skip


def cells(effort: Effort) -> list[Cell]:
    rates = (0.0, 0.4) if effort.quick else (0.0, 0.1, 0.2, 0.4)
    return grid(max(2, effort.slow // 2), [
        {"recipe": recipe, "join": rate, "leave": rate, "brokers": 4, "subscribers": 36, "messages": 30, "rate": 20.0,
         "loss": 0.01, "delay_ms": [5.0, 15.0], "homes": 1, "groups": "" if recipe != OURS else "G1=A,B,C,D",
         "deadline_ms": None if recipe == OURS else [400.0, 400.0]}
        for rate in rates for recipe in NAMES
    ])  # fmt: skip


def table(rows: Sequence[Row]) -> Table:
    return summarise(rows, ("join", "recipe"), ("control_per_pair", "bytes_per_pair", "reach", "violations"))


def rule(table: Table) -> Verdict:
    found = {(row["join"], row["recipe"]): row["control_per_pair"] for row in table}
    rates = sorted({rate for rate, _ in found})
    shares = [found[rate, OURS] / found[rate, THEIRS] for rate in rates]
    seen = "; ".join(
        f"at {rate:g} per second {found[rate, OURS]:.0f} against {found[rate, THEIRS]:.0f}" for rate in rates
    )
    seen = f"control bytes per pair of 004 against those of [9]: {seen}"  # fmt: skip
    if all(share <= HALF for share in shares):
        return Verdict("holds", seen)
    cheap = [rate for rate, share in zip(rates, shares, strict=True) if share <= HALF]
    if cheap:
        told = " or ".join(f"{rate:g}" for rate in cheap)
        return Verdict("holds only if", f"processes join and leave, at {told} per process and second ({seen})")
    return Verdict("does not hold", seen)


def draw(figure: Any, table: Table) -> None:
    ax = figure.subplots()
    curves(ax, table, "join", "control_per_pair", "recipe", names=lambda recipe: NAMES[recipe])
    ax.set(xlabel="joins and leaves (per process and second)", ylabel="control bytes per pair", ylim=(0, None))
    ax.legend()


CLAIM = Claim(
    name="management",
    papers="004",
    place="004, s4",
    sentence="In perturbed networks with subscribers join and leave, deadline-constraints causal order for broadcast "
    "respecting Δ [9] is very expensive because events of sending and receiving messages are governed by all members "
    "without distinguishing between brokers and subscribers.",
    asks="Control bytes per pair while processes join and leave.",
    design="Paired seeds. Cheaper: at most half of the control bytes of [9], at every rate.",
    chosen="4 brokers, 36 subscribers, 20 messages per second, deadlines of 400 ms or lifetimes; views are told.",
    measure="antecede.lab.cells:measured",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="Control bytes per pair while processes join and leave: colour-eager (004), dcco [9] and solicit (000), "
    "40 processes, 4 of them brokers in 004. 1 % loss; bands: 95 % over seeds.",
)
