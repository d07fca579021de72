"""004 s4: acknowledgements implode at the sender; periodic summaries do not.

Decided here: by the model. A sender of 10 messages per second gets one ACK for each from everybody; with summaries it
gets `fanout` in each round, from whomever. The claim holds if ACKs grow in proportion to the group and summaries do
not grow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from antecede.lab.claim import Claim, Effort, Row, Table, Verdict
from antecede.lab.figures import curves, plain
from antecede.lab.models import acknowledgements
from antecede.spark.sweep import Cell

__all__ = ["CLAIM", "rule"]

RATE, FANOUT, ROUNDS_PER_S, LOSS = 10.0, 3, 20.0, 0.05
ACKS, SUMMARIES = "ACKs at one sender", "summaries at one member"


def cells(effort: Effort) -> list[Cell]:
    return [Cell({"members": n}, 0) for n in (2, 4, 6, 7, 8, 10, 20, 50, 100, 200, 500, 1000, 10_000, 100_000)]


def table(rows: Sequence[Row]) -> Table:
    out: Table = []
    for row in rows:
        n = row["members"]
        out.append({"what": ACKS, "members": n, "per_second": acknowledgements(n, RATE, LOSS)[0]})
        out.append({"what": SUMMARIES, "members": n, "per_second": FANOUT * ROUNDS_PER_S})
    return out


def rule(table: Table) -> Verdict:
    of = {(row["what"], row["members"]): row["per_second"] for row in table}
    ends: dict[str, tuple[Row, Row]] = {}
    for what in (ACKS, SUMMARIES):
        mine = sorted((row for row in table if row["what"] == what), key=lambda row: int(row["members"]))
        ends[what] = (mine[0], mine[-1])
    (first, last), (before, after) = ends[ACKS], ends[SUMMARIES]
    grows = last["per_second"] / first["per_second"] >= 0.5 * last["members"] / first["members"]
    flat = after["per_second"] <= 2 * before["per_second"]
    few = [n for n in sorted({row["members"] for row in table}) if of[ACKS, n] <= of.get((SUMMARIES, n), 0.0)]
    crossing = f"up to {few[-1]} members ACKs are not the more" if few else "ACKs are always the more"
    seen = (f"among {last['members']:,} members {last['per_second']:,.0f} ACKs per second at one sender, against "
            f"{after['per_second']:,.0f} summaries; {crossing}")  # fmt: skip
    if grows and flat:
        return Verdict("holds", seen)
    return Verdict("does not hold", seen)


def draw(figure: Any, table: Table) -> None:
    ax = figure.subplots()
    curves(ax, table, "members", "per_second", "what", band=False)
    ax.set(xscale="log", yscale="log", xlabel="members", ylabel="frames received per second",
           title="10 messages per second from one sender; F = 3, 20 rounds per second")  # fmt: skip
    plain(ax.xaxis, 2, 7, 20, 100, 1000, 10_000, 100_000)
    plain(ax.yaxis, 10, 60, 1000, 10_000, 100_000, 1_000_000)
    ax.legend()


CLAIM = Claim(
    name="acks",
    papers="004",
    place="004 s4",
    sentence="If all members send and receive ACK in broadcast, ACK implosion has incurred lots of problems, but "
    "gossip-style dissemination has no ACK because members periodically gossip about the summary of received messages.",
    asks="Frames per second at one process: ACKs for its messages, or summaries.",
    design="By the model alone, so the verdict follows from its formula: holds if ACKs grow in proportion to the "
    "group and summaries at most double.",
    chosen="10 messages per second, F = 3, 20 rounds per second, 5 % loss; the text gives nothing.",
    measure="antecede.lab.cells:nothing",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="Frames received per second by one process, by model: acknowledgements of its 10 messages per second, and "
    "summaries with F = 3 and 20 rounds per second. Both axes logarithmic.",
    beside=("implosion", "there frames are counted in runs of up to 200 members, whose buffers overflow"),
)
