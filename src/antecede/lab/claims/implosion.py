"""004 s4: acknowledgements implode at the sender, measured where a receiver has limits.

Decided here: `ackcast` (everybody acknowledges) beside `colour` (004: brokers compare summaries), in event-driven runs
where a frame costs time at its receiver and few can wait. Implosion is: at least one frame in a hundred finds a full
buffer with ACKs, by the whole 95 % interval, and at most a tenth as many do with summaries. `acks` has the same by the
model, up to 100,000 members.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from antecede.lab.claim import Claim, Effort, Row, Table, Verdict, grid
from antecede.lab.claims.acks import CLAIM as BY_MODEL
from antecede.lab.figures import curves, plain, ticks_at
from antecede.lab.tidy import summarise
from antecede.spark.sweep import Cell

__all__ = ["CLAIM", "rule"]

MARGIN = 0.01
TENTH = 0.1
BROKERS = 4
ACKS, SUMMARIES = "ACKs from all members (ackcast)", "summaries among brokers (004: colour)"
LOAD: Row = {"messages": 20, "rate": 20.0, "loss": 0.001, "delay_ms": [5.0, 15.0], "cpu_us": 200.0, "buffer": 20}


def cells(effort: Effort) -> list[Cell]:
    sizes = (25, 100) if effort.quick else (25, 50, 100, 150, 200)
    points: list[Row] = []
    for n in sizes:
        points.append({"what": ACKS, "members": n, "recipe": "ackcast", "brokers": n, "subscribers": 0, **LOAD})
        points.append({"what": SUMMARIES, "members": n, "recipe": "colour", "brokers": BROKERS,
                       "subscribers": n - BROKERS, "homes": 1, **LOAD})  # fmt: skip
    return grid(effort.slow, points)


def table(rows: Sequence[Row]) -> Table:
    rows = [{**row, "control_frames_per_message": row["control_frames"] / row["messages"],
             "found_full": row["overflowed"] / row["frames"], "control_bytes_per_pair": row["control_per_pair"]}
            for row in rows]  # fmt: skip
    return summarise(rows, ("what", "members"), ("control_frames_per_message", "found_full", "control_bytes_per_pair"))


def rule(table: Table) -> Verdict:
    by = {(row["what"], row["members"]): row for row in table}
    sizes = sorted({n for _, n in by})
    last, ours = by[ACKS, sizes[-1]], by[SUMMARIES, sizes[-1]]
    seen = (f"among {sizes[-1]} members {last['control_frames_per_message']:,.0f} ACKs for each message and "
            f"{last['found_full']:.1%} of all frames lost at full buffers, against "
            f"{ours['control_frames_per_message']:,.0f} summaries and attachments, and "
            f"{ours['found_full']:.1%} lost")  # fmt: skip
    calm = [n for n in sizes if by[SUMMARIES, n]["found_full_high"] <= TENTH * by[ACKS, n]["found_full_low"]]
    bad = [n for n in sizes if n in calm and by[ACKS, n]["found_full_low"] >= MARGIN]
    if bad == sizes:
        return Verdict("holds", seen)
    if bad and bad == sizes[-len(bad) :]:
        return Verdict("holds only if", f"there are {bad[0]} members or more ({seen})")
    if last["found_full_low"] < MARGIN <= last["found_full_high"]:
        return Verdict("undecided", seen)
    return Verdict("does not hold", seen)


def draw(figure: Any, table: Table) -> None:
    left, right = figure.subplots(1, 2)
    curves(left, table, "members", "control_frames_per_message", "what")
    left.set(ylabel="control frames per message", yscale="log")
    plain(left.yaxis, 10, 20, 50, 100, 200, 400)
    shown = [{**row, **{name: 100 * row[name] for name in ("found_full", "found_full_low", "found_full_high")}}
             for row in table]  # fmt: skip
    curves(right, shown, "members", "found_full", "what")
    right.set(ylabel="frames lost at full buffers (%)", ylim=(0, None))
    for ax in (left, right):
        ax.set_xlabel("members")
        ticks_at(ax, table, "members")
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)


CLAIM = Claim(
    name="implosion",
    papers="004",
    place="004 s4",
    sentence=BY_MODEL.sentence,
    asks="Control frames for each message, and frames lost at receivers that have no room for more.",
    design="Paired seeds. Implosion: at least one frame in a hundred finds a full buffer with ACKs, by the whole 95 % "
    "interval, and at most a tenth as many with summaries, by both intervals. The buffer was chosen after a look at "
    "one seed, in which 100 members lost 5 % of frames and 50 lost none.",
    chosen="20 messages per second, delays of 5 to 15 ms, 0.2 ms of work per frame, 20 frames can wait; 4 brokers, "
    "the rest subscribers, or all of them members. The text gives nothing.",
    measure="antecede.lab.cells:measured",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="ackcast (everybody acknowledges every message) and colour (004: 4 brokers compare summaries): control "
    "frames per message (logarithmic; ACKs, also repeated ones; summaries and attachments), and frames that find a "
    "receiver's buffer full. 0.2 ms per frame, 20 frames can wait; bands: 95 % over seeds.",
    size=(7.6, 3.4),
    beside=("acks", "there frames are counted by a model, up to 100,000 members, and no buffer overflows"),
)
