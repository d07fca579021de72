"""000, 002: fewer messages are lost to their deadlines than with the deadline-constrained orders before it.

Decided here: against `dcco` [8] and `delta` [2, 3], over deadline in round trips and loss. One copy in twenty takes ten
times as long, so copies come late where the deadline is shorter than that. Better means: at least one pair in a hundred
less undelivered, by the whole 95 % interval of the paired difference, against both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from antecede.lab.claim import Claim, Effort, Row, Table, Verdict, grid
from antecede.lab.figures import curves, ticks_at
from antecede.lab.tidy import difference, summarise
from antecede.spark.sweep import Cell

__all__ = ["CLAIM", "rule"]

RECIPES = ("solicit", "dcco", "delta")
SAID = {"solicit": "solicit (000, 002)", "dcco": "dcco (Rodrigues 2000)", "delta": "delta (Baldoni 1996)"}
BOTH = "dcco (Rodrigues 2000) and delta (Baldoni 1996): equally many"
TRIP_MS = 20.0
SPIKE = 0.05
MARGIN = 0.01
FATES = ("fate_late", "fate_superseded", "fate_expired")


def cells(effort: Effort) -> list[Cell]:
    trips = (1.0, 2.0, 5.0) if effort.quick else (1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
    losses = (0.1,) if effort.quick else (0.05, 0.1, 0.2)
    return grid(effort.slow, [
        {"recipe": recipe, "round_trips": t, "loss": loss, "brokers": 5, "subscribers": 0, "messages": 60,
         "delay_ms": [8.0, 12.0], "spike": SPIKE, "deadline_ms": [t * TRIP_MS, t * TRIP_MS]}
        for loss in losses for t in trips for recipe in RECIPES
    ])  # fmt: skip


def table(rows: Sequence[Row]) -> Table:
    means = summarise(rows, ("loss", "round_trips", "recipe"), ("undelivered", *FATES, "control_frames_per_pair"))
    for other in RECIPES[1:]:
        for found in difference(rows, ("loss", "round_trips"), "recipe", "solicit", other, "undelivered"):
            mine = next(
                r for r in means if r["recipe"] == other and all(r[k] == found[k] for k in ("loss", "round_trips"))
            )
            mine |= {f"solicit_minus_this{end}": found[f"difference{end}"] for end in ("", "_low", "_high")}
    return means


def rule(table: Table) -> Verdict:
    against = [row for row in table if row["recipe"] != "solicit"]
    points = sorted({row["round_trips"] for row in against})
    better = {
        t: all(row["solicit_minus_this_high"] < -MARGIN for row in against if row["round_trips"] == t) for t in points
    }
    open_ = {
        t: any(row["solicit_minus_this_low"] < -MARGIN < row["solicit_minus_this_high"]
               for row in against if row["round_trips"] == t) for t in points
    }  # fmt: skip
    last = against[-1]
    seen = (f"at {last['round_trips']:g} round trips and {last['loss']:.0%} loss {last['undelivered']:.1%} of "
            f"pairs are undelivered with {last['recipe']}, {last['undelivered'] + last['solicit_minus_this']:.1%} with "
            "solicit; of all pairs "
            f"{max(row['fate_late'] for row in against):.1%} come late at the shortest deadlines")  # fmt: skip
    if all(better.values()):
        return Verdict("holds", seen)
    enough = [t for t in points if all(better[u] for u in points if u >= t)]
    if enough:
        return Verdict("holds only if", f"the deadline is at least {enough[0]:g} round trips ({seen})")
    if any(open_.values()):
        return Verdict("undecided", f"the intervals are too wide ({seen})")
    return Verdict("does not hold", seen)


def _coincide(table: Table) -> bool:
    """Whether both baselines leave as many pairs undelivered at every point."""
    left = {name: [row["undelivered"] for row in table if row["recipe"] == name] for name in RECIPES[1:]}
    return left[RECIPES[1]] == left[RECIPES[2]]


def draw(figure: Any, table: Table) -> None:
    losses = sorted({row["loss"] for row in table})
    axes = figure.subplots(1, len(losses), sharey=True, squeeze=False)[0]
    same = _coincide(table)
    names = {**SAID, RECIPES[1]: BOTH} if same else SAID
    for ax, loss in zip(axes, losses, strict=True):
        part = [{**row, **{k: 100 * row[k] for k in ("undelivered", "undelivered_low", "undelivered_high")}}
                for row in table if row["loss"] == loss]  # fmt: skip
        curves(ax, [row for row in part if not (same and row["recipe"] == RECIPES[2])], "round_trips", "undelivered",
               "recipe", names=lambda name: names[name])  # fmt: skip
        ax.set(title=f"loss {loss:.0%}", xlabel="deadline (round trips of a link)", xscale="log")
        ticks_at(ax, part, "round_trips")
    axes[0].set_ylim(bottom=0)  # once all are drawn: they share it, and it would stay as the first needs it
    axes[0].set_ylabel("undelivered pairs (%)")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)


CLAIM = Claim(
    name="late",
    papers="000, 002",
    place="000, abstract",
    sentence="In this paper, we propose a highly efficient real-time constrained causal order broadcast algorithm to "
    "highly improve responsiveness and minimize the number of late messages discarded.",
    asks="Which share of (message, receiver) pairs is never delivered: late, superseded or expired.",
    design="The same seeds for all recipes, differences in pairs. Better: at least one pair in a hundred less, by the "
    "whole 95 % interval, against dcco and delta.",
    chosen="The text gives no numbers: 5 members, 60 messages at 100 per second, half of them replies, link delays of "
    "8 to 12 ms, one in twenty ten times as long, deadlines of 1 to 10 round trips (20 ms each), loss of 5 to 20 %. "
    "All deadlines of a run are equal, since delta needs that; dcco then leaves as many pairs undelivered, those "
    "whose one copy does not come in time. A first run had no long delays, so that no copy came late.",
    measure="antecede.lab.cells:events",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="Undelivered pairs against the deadline, by loss: solicit (000, 002, repaired), dcco (Rodrigues et al. "
    "2000), delta (Baldoni et al. 1996), which leave equally many where all deadlines are equal. 5 members, one copy "
    "in twenty takes ten times as long; bands: 95 % over seeds.",
    size=(7.2, 3.7),
)
