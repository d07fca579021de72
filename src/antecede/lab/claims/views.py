"""001 s1: with global membership views every member is overloaded.

Decided here: by what a broker sends per message and keeps, among more and more brokers: graph with multicast (everybody
knows everybody), with gossip to everybody known, and with gossip over views of eight, so that what views save is told
from what gossip costs. Overloaded means that the bytes per broker and message of global views by multicast, the
cheapest, more than double from the smallest to the largest group. Views help where theirs are fewer than those of
either way with global views, by the 95 % intervals. Groups that grow by less than a factor of eight are too small to
say that nothing is overloaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from antecede.lab.claim import Claim, Effort, Row, Table, Verdict, grid
from antecede.lab.figures import curves, ticks_at
from antecede.lab.tidy import summarise
from antecede.sim.layout import broker_names
from antecede.spark.sweep import Cell

__all__ = ["CLAIM", "rule"]

DOUBLE = 2.0
SPAN = 8
"""By which factor groups must grow before the rule says that brokers are not overloaded."""
MESSAGES = 24
GLOBAL, LOCAL = "global views, multicast", "local views of 8, gossip"
WAYS: dict[str, Row] = {GLOBAL: {}, "global views, gossip": {"spread": "gossip"},
                        LOCAL: {"spread": "gossip", "view": 8}}  # fmt: skip
PARTS = ("load", "payload_bytes", "digest_bytes", "request_bytes", "kept_bytes", "frames", "undelivered")


def cells(effort: Effort) -> list[Cell]:
    sizes = (6, 24, 144) if effort.quick else (6, 12, 24, 48, 96, 144)
    return grid(max(2, effort.slow // 2), [
        {"views": way, "recipe": "graph", "brokers": n, "subscribers": 0, "messages": MESSAGES, "loss": 0.05,
         "delay_ms": [8.0, 12.0], "groups": "G1=" + ",".join(broker_names(n)), **knobs}
        for way, knobs in WAYS.items() for n in sizes
    ])  # fmt: skip


def table(rows: Sequence[Row]) -> Table:
    return summarise(rows, ("views", "brokers"), PARTS)


def rule(table: Table) -> Verdict:
    by = {(row["views"], row["brokers"]): row for row in table}
    sizes = sorted({n for _, n in by})
    smallest, largest = sizes[0], sizes[-1]
    seen = f"from {smallest} to {largest} brokers each sends for a message, " + ", ".join(
        f"with {way} {by[way, smallest]['load']:,.0f} to {by[way, largest]['load']:,.0f} bytes (of which digests "
        f"{by[way, smallest]['digest_bytes']:,.0f} to {by[way, largest]['digest_bytes']:,.0f})" for way in WAYS
    )  # fmt: skip
    if by[GLOBAL, largest]["load"] < DOUBLE * by[GLOBAL, smallest]["load"]:
        if largest < SPAN * smallest:
            return Verdict("undecided", f"the largest group is too small ({seen})")
        return Verdict("does not hold", seen)
    others = [way for way in WAYS if way != LOCAL]
    cheaper = [n for n in sizes if all(by[LOCAL, n]["load_high"] < by[way, n]["load_low"] for way in others)]
    if cheaper == sizes:
        return Verdict("holds", seen)
    since = [n for n in sizes if all(m in cheaper for m in sizes if m >= n)]
    if since:
        below = sizes[sizes.index(since[0]) - 1]
        return Verdict("holds only if", f"there are more than {below} brokers: up to there local views are the dearer "
                       f"ones, since gossip sends each message several times ({seen})")  # fmt: skip
    return Verdict("undecided", f"global views cost ever more, and local ones are not cheaper at any size yet ({seen})")


def draw(figure: Any, table: Table) -> None:
    axes = figure.subplots(1, 3)
    parts = (
        ("load", "bytes sent, all"),
        ("digest_bytes", "of which digests"),
        ("kept_bytes", "bytes of messages kept"),
    )
    for ax, (name, title) in zip(axes, parts, strict=True):
        part = [{**row, **{f"{name}{end}": row[f"{name}{end}"] / 1000 for end in ("", "_low", "_high")}}
                for row in table] if name == "kept_bytes" else table  # fmt: skip
        curves(ax, part, "brokers", name, "views")
        ax.set(xlabel="brokers", title=title, xscale="log", ylim=(0, None))
        ticks_at(ax, table, "brokers")
    axes[0].set_ylabel("per broker and message")
    axes[2].set_ylabel("kB at one broker, at most")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)


CLAIM = Claim(
    name="views",
    papers="001",
    place="001 s1",
    sentence="In large-scale distributed applications of P/S systems, if causal ordering protocol is performed by "
    "the all "
    "brokers on global membership views, it is likely to be high overloaded on every member and not scalable.",
    asks="Bytes a broker sends per published message, of which digests, and bytes it keeps, with global and local "
    "views.",
    design="Overloaded: with global views by multicast bytes more than double from the smallest to the largest group. "
    "Views help where local ones need fewer bytes than global ones, by the 95 % intervals. A first design went to 48 "
    "brokers, compared growth alone, and had no gossip over global views beside it.",
    chosen="graph; global: multicast to all, or gossip to 3 of all; local: gossip to 3 of a view of 8, digests too. 24 "
    "messages, 5 % loss. Who is there everybody is told, whatever its view (`management` counts that).",
    measure="antecede.lab.loads:weigh_load",
    cells=cells,
    table=table,
    rule=rule,
    draw=draw,
    caption="What a broker among n sends per message (left), what of it are digests (middle), and what it keeps "
    "(right): graph (001 s2.3) by multicast and by gossip over global views, and by gossip over local views of 8 (F = "
    "3). 5 % loss; bands: 95 % over seeds.",
    size=(8.8, 3.4),
)
