"""004 s4: subscribers need no big memory, for brokers aggregate what orders a message.

Decided here: bytes that a subscriber holds at once (messages that have come and are not out yet, with their stamps)
beside what a broker keeps, and what a member keeps where all are equal ([9] keeps nothing; `solicit` answers, and so
keeps). No big memory means: at every rate at most half of what a broker keeps, by the whole interval of that share,
seed by seed. `colour` holds everything to the end of its lifetime, `colour-eager` not.
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
BROKER = "a broker keeps"
HOLDS = {"colour": "a subscriber of colour (hold)", "colour-eager": "a subscriber of colour-eager"}
MEMBER = "a member of solicit keeps"
SAID = {HOLDS["colour"]: "held by a subscriber of colour (004)", BROKER: "kept by a broker of colour (004)",
        HOLDS["colour-eager"]: "held by a subscriber of colour-eager (004)",
        MEMBER: "kept by a member of solicit (000)"}  # fmt: skip


def cells(effort: Effort) -> list[Cell]:
    rates = (20.0, 80.0) if effort.quick else (10.0, 20.0, 40.0, 80.0)
    return grid(effort.slow, [
        {"recipe": recipe, "rate": rate, "messages": 60, "brokers": 4, "subscribers": 24, "homes": 1, "loss": 0.05,
         "delay_ms": [5.0, 15.0], "groups": "" if recipe == "solicit" else "G1=A,B,C,D",
         "deadline_ms": [400.0, 400.0] if recipe == "solicit" else None}
        for rate in rates for recipe in (*HOLDS, "solicit")
    ])  # fmt: skip


def table(rows: Sequence[Row]) -> Table:
    long: list[Row] = []

    def add(row: Row, what: str, where: str) -> None:
        bytes_, count = (("kept_bytes_broker", "kept_broker") if where == "kept" else
                         ("held_bytes_subscriber", "held_subscriber"))  # fmt: skip
        long.append({**row, "what": what, "kilobytes_at_once": row[bytes_] / 1000, "messages_at_once": row[count]})

    for row in rows:
        if row["recipe"] == "solicit":
            add(row, MEMBER, "kept")
        else:
            add(row, HOLDS[row["recipe"]], "held")
            if row["recipe"] == "colour":
                add(row, BROKER, "kept")
    means = summarise(long, ("rate", "what"), ("kilobytes_at_once", "messages_at_once"))
    for row in means:
        part = [one for one in long if one["rate"] == row["rate"]]
        found = ratio(part, (), "what", row["what"], BROKER, "kilobytes_at_once") if row["what"] != BROKER else []
        if found:
            put_ends(row, "of_a_broker", found[0], "ratio")
    return means


def rule(table: Table) -> Verdict:
    by = {(row["rate"], row["what"]): row for row in table}
    rates = sorted({rate for rate, _ in by})
    last = rates[-1]
    seen = f"kB at once, at {last:g} messages per second: " + ", ".join(
        f"{what} {by[last, what]['kilobytes_at_once']:.1f}" for what in (*HOLDS.values(), BROKER, MEMBER)
    )
    small = [what for what in HOLDS.values() if all(by[r, what]["of_a_broker_high"] <= HALF for r in rates)]
    wide = [what for what in HOLDS.values() if what not in small and all(by[r, what]["of_a_broker_low"] <= HALF
                                                                         for r in rates)]  # fmt: skip
    if len(small) == len(HOLDS):
        return Verdict("holds", seen)
    if wide:
        return Verdict("undecided", f"the intervals are too wide for {' and '.join(wide)} ({seen})")
    if small:
        return Verdict("holds only if", f"{' or '.join(w.partition(' of ')[2] for w in small)} is meant ({seen})")
    return Verdict("does not hold", seen)


def draw(figure: Any, table: Table) -> None:
    ax = figure.subplots()
    curves(ax, table, "rate", "kilobytes_at_once", "what", names=lambda what: SAID.get(what, what))
    ax.set(
        xlabel="messages published per second", ylabel="messages at one process at once, at most (kB)", ylim=(0, None)
    )
    ticks_at(ax, table, "rate")
    ax.legend()


CLAIM = Claim(
    name="small-memory",
    papers="004",
    place="004 s4",
    sentence="Especially in terms of memory requirements, there are no needs of big memory between brokers and "
    "subscribers because subscribers receive aggregated causal order delivery information from them.",
    asks="The most bytes of messages that are at one subscriber at once, beside what a broker and an equal member "
    "keep.",
    design="Paired seeds. No big memory: a subscriber has at most half of the bytes that a broker keeps, by the whole "
    "95 % interval of that share, at every rate. At first messages were counted and means compared; the verdict "
    "stayed.",
    chosen="4 brokers, 24 subscribers, payloads of 32 bytes, lifetimes of 8 rounds of 50 ms (solicit: deadlines of "
    "400 ms), 5 % loss. Bytes are those of messages with their stamps as they travel: two-dimensional between "
    "brokers, one scalar below; a process's own clocks are not among them.",
    measure="antecede.lab.cells:measured",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="Bytes of messages at one process at once: held by a subscriber of colour and colour-eager (004), kept by "
    "a broker of colour, kept by a member of solicit (000). 4 brokers, 24 subscribers, 5 % loss; bands: 95 % over "
    "seeds.",
)
