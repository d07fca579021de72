"""004 s4: with subscribers joining and leaving, [9] among all members is very expensive; between brokers it is not.

Decided here: who is there is found by the processes themselves (`membership="swim"`), so that pings, exchanges of
views, attachments and snapshots are paid for. Counted are control bytes (stamps and all frames that carry no message)
per member and second, against the rate at which members leave and others join; brokers of 004 stay. [9] is `dcco` among
all members; `solicit` is what its members need to catch up as well. Cheaper means: at most half of the bytes of `dcco`
at every rate above 0. What joining and leaving add is the ratio to a rate of 0, seed by seed: [9] grows dear by it if
at the highest rate it costs at least half as much again, and more so than 004. All by whole intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from antecede.lab.claim import Claim, Effort, Row, Table, Verdict, grid
from antecede.lab.figures import curves, ticks_at
from antecede.lab.tidy import put_ends, ratio, summarise
from antecede.spark.sweep import Cell

__all__ = ["CLAIM", "rule"]

HALF = 0.5
DEAR = 1.5
OURS, THEIRS = "colour-eager", "dcco"
NAMES = {OURS: "colour-eager (004): brokers manage", THEIRS: "dcco ([9]): all members",
         "solicit": "solicit (000): all members, and asking"}  # fmt: skip


def cells(effort: Effort) -> list[Cell]:
    rates = (0.0, 0.4) if effort.quick else (0.0, 0.1, 0.2, 0.4)
    return grid(max(2, effort.slow // 2), [
        {"recipe": recipe, "join": rate, "leave": rate, "brokers_stay": True, "membership": "swim", "brokers": 4,
         "subscribers": 36, "messages": 60, "rate": 20.0, "loss": 0.01, "delay_ms": [5.0, 15.0], "homes": 1,
         "groups": "" if recipe != OURS else "G1=A,B,C,D", "deadline_ms": None if recipe == OURS else [400.0, 400.0]}
        for rate in rates for recipe in NAMES
    ])  # fmt: skip


def table(rows: Sequence[Row]) -> Table:
    values = ("control_bytes", "control_frames", "managing_bytes", "reach", "violations")
    means = summarise(rows, ("join", "recipe"), values)
    for row in means:
        here = [one for one in rows if one["join"] == row["join"]]
        same = [one for one in rows if one["recipe"] == row["recipe"]]
        for name, found in (("of_theirs", ratio(here, (), "recipe", row["recipe"], THEIRS, "control_bytes")),
                            ("of_rate_0", ratio(same, (), "join", row["join"], 0.0, "control_bytes"))):  # fmt: skip
            if found:
                put_ends(row, name, found[0], "ratio")
    return means


def rule(table: Table) -> Verdict:
    by = {(row["join"], row["recipe"]): row for row in table}
    rates = sorted({rate for rate, _ in by if rate})
    last = rates[-1]
    ours, theirs = by[last, OURS], by[last, THEIRS]
    seen = "control bytes per member and second of 004 and of [9]: " + "; ".join(
        f"at {rate:g} per second {by[rate, OURS]['control_bytes']:,.0f} and {by[rate, THEIRS]['control_bytes']:,.0f}"
        for rate in (0.0, *rates)
    )
    seen += (f"; frames at {last:g}: {ours['control_frames']:.0f} and {theirs['control_frames']:.0f}; what joining and "
             f"leaving do to them: times {ours['of_rate_0']:.1f} and times {theirs['of_rate_0']:.1f}")  # fmt: skip
    cheap = [rate for rate in rates if by[rate, OURS]["of_theirs_high"] <= HALF]
    wide = [rate for rate in rates if by[rate, OURS]["of_theirs_low"] <= HALF < by[rate, OURS]["of_theirs_high"]]
    surely = theirs["of_rate_0_low"] >= DEAR and theirs["of_rate_0_low"] > ours["of_rate_0_high"]
    never = theirs["of_rate_0_high"] < DEAR or theirs["of_rate_0_high"] <= ours["of_rate_0_low"]
    if wide or (cheap and not surely and not never):
        return Verdict("undecided", f"the intervals are too wide: {seen}")
    if not cheap:
        return Verdict("does not hold", seen)
    told = (
        [] if cheap == rates else [f"members join and leave at {' or '.join(f'{rate:g}' for rate in cheap)} a second"]
    )
    if never:
        told.append("what it costs at any rate is meant, and not what joining and leaving add")
    return Verdict("holds only if", f"{' and '.join(told)} ({seen})") if told else Verdict("holds", f"in bytes: {seen}")


def draw(figure: Any, table: Table) -> None:
    left, right = figure.subplots(1, 2)
    shown = [{**row, **{f"control_bytes{end}": row[f"control_bytes{end}"] / 1000 for end in ("", "_low", "_high")}}
             for row in table]  # fmt: skip
    for ax, name, label in ((left, "control_bytes", "control kB per member and second"),
                            (right, "control_frames", "control frames per member and second")):  # fmt: skip
        curves(ax, shown, "join", name, "recipe", names=lambda recipe: NAMES[recipe])
        ax.set(xlabel="joins and leaves (per member and second)", ylabel=label, ylim=(0, None))
        ticks_at(ax, shown, "join")
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)


CLAIM = Claim(
    name="management",
    papers="004",
    place="004, s4",
    sentence="In perturbed networks with subscribers join and leave, deadline-constraints causal order for broadcast "
    "respecting Δ [9] is very expensive because events of sending and receiving messages are governed by all members "
    "without distinguishing between brokers and subscribers.",
    asks="Control bytes and frames per member and second while members find each other, join and leave.",
    design="Paired seeds. Cheaper: at most half of the control bytes of [9] at every rate above 0. Very expensive: at "
    "the highest rate [9] costs at least half as much again as without joins and leaves, and 004 grows by less. All "
    "by whole 95 % intervals. At first views were told for free, bytes counted per pair and means compared: that "
    "measured no management.",
    chosen="4 brokers, which stay, and 36 subscribers, or 40 members; 20 messages per second for three seconds, "
    "deadlines of 400 ms or lifetimes, 1 % loss; SWIM with periods of 50 ms finds who is there, among all members or "
    "among brokers and between a subscriber and its broker.",
    measure="antecede.lab.cells:managed",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="Control bytes and frames (stamps, pings, views, attachments, snapshots, summaries) per member and second "
    "while members join and leave: colour-eager (004), dcco [9] and solicit (000), 40 processes that find each other "
    "by SWIM, 4 of them brokers in 004. 1 % loss; bands: 95 % over seeds.",
    size=(8.2, 3.4),
)
