"""Ours: which repair of the papers' protocols buys how much. Each is undone alone, all others stay.

Decided here: a repair is needed if without it the oracle finds a violation that it does not find with it, or if one
pair in five hundred more stays undelivered, by the whole 95 % interval of the paired difference. The design makes
chains of causes run through groups that a receiver is not in: some repairs are for nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from antecede.core.printed.undone import REPAIRS
from antecede.core.recipes import WITHOUT
from antecede.lab.claim import Claim, Effort, Row, Table, Verdict, grid
from antecede.lab.figures import STYLES, plain
from antecede.lab.tidy import by_points, difference, interval
from antecede.spark.sweep import Cell

__all__ = ["CLAIM", "FOUND", "rule"]

MARGIN = 0.002
WHOLE = "repaired"
FOUND = ("inversion", "gap", "overdue", "duplicate", "stuck", "idle", "false")
MARKS = {"inversion": "o", "gap": "s", "duplicate": "^", "idle": "D", "stuck": "v", "false": "x", "overdue": "P"}
BASE: Row = {"messages": 60, "loss": 0.2, "delay_ms": [5.0, 15.0], "choice": "one", "homes": 1, "reply": 0.7,
             "duplicate": 0.05}  # fmt: skip
GROUPS = "G1=A,B,D;G2=B,C;G3=C,D"


def cells(effort: Effort) -> list[Cell]:
    points: list[Row] = []
    for recipe, repairs in REPAIRS.items():
        lives = recipe in ("rounds", "colour", "colour-eager")
        knobs = {**BASE, "recipe": recipe, "groups": "" if recipe == "solicit" else GROUPS,
                 "deadline_ms": None if lives else [60.0, 200.0]}  # fmt: skip
        points.append({**knobs, "repair": WHOLE, "reading": WHOLE})
        points += [{**knobs, "repair": name, "reading": WITHOUT + name} for name in repairs]
    return grid(max(2, effort.slow // 2) if effort.quick else effort.slow, points)


def table(rows: Sequence[Row]) -> Table:
    out: Table = []
    for (recipe, repair), group in by_points(rows, ("recipe", "repair")).items():
        pairs = sum(row["pairs"] for row in group) or 1
        found = {name: sum(row.get(f"found_{name}", 0.0) * row["pairs"] for row in group) / pairs for name in FOUND}
        mean, half = interval([row["undelivered"] for row in group])
        out.append({
            "recipe": recipe, "repair": repair, "runs": len(group), "pairs": pairs, "undelivered": mean,
            "undelivered_low": mean - half, "undelivered_high": mean + half, **found, "violations": sum(found.values()),
        })  # fmt: skip
    for row in out:
        if row["repair"] != WHOLE:
            own = [one for one in rows if one["recipe"] == row["recipe"]]
            [paired] = difference(own, (), "repair", row["repair"], WHOLE, "undelivered")
            row |= {f"lost{end}": paired[f"difference{end}"] for end in ("", "_low", "_high")}
    return out


def rule(table: Table) -> Verdict:
    whole = {row["recipe"]: row for row in table if row["repair"] == WHOLE}
    undone = [row for row in table if row["repair"] != WHOLE]

    def breaks(row: Row) -> bool:
        return bool(row["violations"] > whole[row["recipe"]]["violations"])

    broken = [row for row in undone if breaks(row)]
    dearer = [row for row in undone if not breaks(row) and row["lost_low"] > MARGIN]
    unseen = [f"{row['recipe']}: {row['repair']}" for row in undone if row not in broken and row not in dearer]
    seen = f"of {len(undone)} repairs {len(broken)} keep a promise, without {len(dearer)} others more stays undelivered"
    if any(row["violations"] for row in whole.values()):
        return Verdict("does not hold", "a protocol with all its repairs breaks a promise")
    if not unseen:
        return Verdict("holds", seen)
    if len(unseen) == len(undone):
        return Verdict("undecided", "no repair made a difference in these runs")
    return Verdict("holds only if", f"{', '.join(unseen)} are left out, of which these runs show nothing ({seen})")


def draw(figure: Any, table: Table) -> None:
    left, right = figure.subplots(1, 2, sharey=True)
    rows = [row for row in table if row["repair"] != WHOLE][::-1]
    places = range(len(rows))
    left.barh(places, [100 * row["lost"] for row in rows], 0.7, color="#1b4f8a", alpha=0.85,
              xerr=[100 * max(0.0, row["lost_high"] - row["lost"]) for row in rows],
              error_kw={"elinewidth": 0.8, "capsize": 1.5})  # fmt: skip
    left.set_yticks(places, [f"{row['recipe']}: {row['repair']}" for row in rows], fontsize=8)
    left.set(xlabel="more undelivered without it\n(percentage points)", xscale="symlog")
    left.axvline(0, color="black", linewidth=0.8)
    for index, ((name, mark), (colour, *_)) in enumerate(zip(MARKS.items(), STYLES, strict=False)):
        beside = (index - 3) * 0.09  # two kinds of violation at one rate stay apart
        seen = [(1000 * row[name], place - beside) for row, place in zip(rows, places, strict=True) if row[name]]
        if seen:
            right.plot(*zip(*seen, strict=True), mark, color=colour, markerfacecolor="none", markersize=5.5,
                       markeredgewidth=1.3, label=name)  # fmt: skip
    right.set(xlabel="violations per 1,000 pairs", xscale="symlog", xlim=(0, 1000))
    if right.lines:
        figure.legend(loc="outside lower center", ncols=7)
    ends = left.get_xlim()
    plain(left.xaxis, -1, 0, 1, 10, 50)
    left.set_xlim(ends[0], max(ends[1], 100))
    plain(right.xaxis, 0, 1, 10, 100, 500)
    left.set_ylim(-0.7, len(rows) - 0.3)
    for ax in (left, right):
        ax.grid(axis="y", visible=False)
        for place in places[::2]:  # one sees which mark is in which line
            ax.axhspan(place - 0.5, place + 0.5, color="#f0f0f0", linewidth=0, zorder=0)


CLAIM = Claim(
    name="repairs",
    papers="ours",
    place="docs/papers.md",
    sentence="Every repair is needed: without any single one a promise is broken or more stays undelivered.",
    asks="Undelivered pairs and violations of every protocol with one repair undone, against all repairs in place.",
    design="Paired seeds. Needed: a violation that is not there otherwise, or 0.2 percentage points more undelivered, "
    "by the whole 95 % interval.",
    chosen="Brokers G1 = {A, B, D}, G2 = {B, C}, G3 = {C, D}, each message to one group, 70 % of them replies, 20 % "
    "loss; deadlines of 60 to 200 ms, or lifetimes.",
    measure="antecede.lab.cells:events",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="What is lost when one repair is undone and all others stay: undelivered pairs (left, paired difference, "
    "bars: 95 %) and violations that the oracle finds (right). Axes are linear near zero, then logarithmic. 20 % loss.",
    size=(7.6, 7.4),
)
