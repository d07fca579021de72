"""The papers' worked examples as space-time drawings, each made from the run itself: `docs/figures.md`.

Decided here: which processes are drawn, what is lost in each figure, and that a copy takes 10 ms. The drawings are made
from the records of real machines; `python -m tests.papers.figures` writes the page anew, a test compares it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from antecede.core.order.round_clock import colours_for
from antecede.trace.diagram import draw
from tests.papers import test_colour, test_graph, test_pull, test_rounds
from tests.papers.rig import Rig

__all__ = ["FIGURES", "PAGE", "page"]

PAGE = Path(__file__).resolve().parents[2] / "docs" / "figures.md"
BOTH = "G1 G2"


@dataclass(frozen=True)
class Figure:
    title: str
    story: str
    lanes: str
    play: Callable[[], Rig]
    clean: bool = True
    """Whether the oracle finds nothing: not so where a previous algorithm is shown to lose messages it could have."""

    def drawn(self) -> str:
        rig = self.play()
        report = rig.report()
        assert report.clean == self.clean, report.findings
        lanes = self.lanes.split()
        longest = max(len(name) for name in rig.names.values())
        picture = draw(
            rig.records.rows, lanes=lanes, labels=rig.names, findings=report.findings, pitch=max(7, longest + 4)
        )  # fmt: skip
        lines = "\n".join(line.rstrip() for line in picture.render())
        story = textwrap.fill(self.story, 120)
        return f"## {self.title}\n\n{story}\n\n```text\n{lines}\n```\n\n{picture.legend()}\n"


# -- 000, 002 ----------------------------------------------------------------------------------------------------------


def three(recipe: str, members: str, senders: Sequence[str], reader: str, *, lost: bool) -> Rig:
    """m1, m2, m3, each after the one before; the reader gets m3 only, or the others late."""
    rig = Rig(recipe, members=members)
    gone = [rig.lose(to=reader, what=name) for name in ("m1", "m2")]
    for number, sender in enumerate(senders, 1):
        rig.publish(sender, deadline_ms=200, called=f"m{number}")
        rig.pass_ms(15)
    for end in gone if lost else ():
        end()  # what is asked for comes
    return rig


def figure_2_of_002() -> Rig:
    rig = Rig("dcco", members="p q r s")
    slow = []
    for number, sender in enumerate("pqs", 1):
        name = rig.publish(sender, deadline_ms=200, called=f"m{number}")
        if number < 3:
            slow += rig.flying(to="r", what=name)
            rig.drop(to="r", what=name)
        rig.pass_ms(15)
    for flight in reversed(slow):
        flight.sent_us = rig.now_us
        rig.flights.append(flight)
        rig.pass_ms(20)
    return rig


# -- 001 ---------------------------------------------------------------------------------------------------------------


def figures_4_to_6_of_001() -> Rig:
    rig = test_graph.graph()
    lost = {"S1": ("B1",), "S2": ("A1",), "S3": ("A2", "B1"), "S4": ("A1",)}
    for row in test_graph.ROWS_OF_FIGURE_4:
        for name in row:
            rig.publish(name[0], test_graph.TO[name[0]], called=name)
        ends = [rig.lose(to=who, what=name) for who, names in lost.items() for name in names if name in row]
        rig.pass_ms(11, delay_ms=5)
        for end in ends:
            end()
        rig.pass_ms(14, delay_ms=5)
    return rig


def figures_2_and_3_of_001() -> Rig:
    rig = test_rounds.rounds()
    ends = {2: [rig.lose(to=who, what="red_A1") for who in ("S2", "S4")],
            4: [rig.lose(to="S3", what=name) for name in ("red_A1", "yellow_A1", "blue_B1")]}  # fmt: skip
    for number, sent in test_rounds.ROUNDS_OF_FIGURE_2.items():
        rig.pass_ms((number - 1) * test_rounds.ROUND_MS - rig.now_us / 1000)
        for sender, topics, name in sent:
            rig.publish(sender, topics, called=name)
        rig.pass_ms(15)
        for end in ends.get(number, ()):
            end()  # what is asked for comes
    return rig


# -- 003 ---------------------------------------------------------------------------------------------------------------


def figure_2_of_003() -> Rig:
    rig = test_pull.pull({"S1": (BOTH, "A"), "S2": (BOTH, "B"), "S3": ("G2", "D")})
    ends = [rig.lose(to=who, what="B1") for who in ("S2", "S3")]
    for name in test_pull.ORDER:
        rig.publish(name[0], BOTH, called=name)
        rig.pass_ms(25)
        while ends:
            ends.pop()()
    return rig


# -- 004 ---------------------------------------------------------------------------------------------------------------


def figure_1_of_004() -> Rig:
    rig = test_colour.colour(subscribers={})
    rig.lose("D", what="request")
    held = []
    for number, sender, deadline_ms in ((1, "A", 900), (2, "B", 800), (3, "A", 700), (4, "B", 300)):
        rig.pass_ms((number - 1) * test_colour.ROUND_MS - rig.now_us / 1000)
        rig.publish(sender, BOTH, deadline_ms=deadline_ms, called=f"m{number}")
        if number == 1:
            held = rig.flying(to="D", what="m1")
            rig.drop(to="D", what="m1")
    rig.pass_ms(400)
    rig.flights += held
    return rig


def figure_3_of_004(recipe: str) -> Callable[[], Rig]:
    def play() -> Rig:
        rig = test_colour.colour(recipe)
        rig.lose("S3", what="request")
        held = []
        for number, name in enumerate(("red_B1", "yellow_A1", "blue_B2", "red_B3"), 1):
            rig.pass_ms((number - 1) * test_colour.ROUND_MS - rig.now_us / 1000)
            rig.publish(name[-2], BOTH, called=name)
            if number == 1:
                rig.pass_ms(10)
                held = rig.flying(to="S3", what=name)
                rig.drop(to="S3", what=name)
        rig.pass_ms(60)
        for flight in held:
            flight.sent_us = rig.now_us
        rig.flights += held
        rig.pass_ms(20)
        return rig

    return play


FIGURES = [
    Figure(
        "002 Fig. 2: delivery is delayed",
        "m1 and m2 come late to r: m3 waits until both are in. Recipe `dcco`, the "
        "algorithm before; `solicit` does the same and asks meanwhile.",
        "p q r s",
        figure_2_of_002,
    ),
    Figure(
        "002 Fig. 3: what went before",
        "r never gets m1 and m2 and delivers m3 alone, at its deadline. Recipe `dcco`.",
        "p q r s",
        lambda: three("dcco", "p q r s", "pqs", "r", lost=False),
    ),
    Figure(
        "002 Figs. 4 and 5: r solicits s",
        "The same loss: r asks the sender of m3 for what precedes it, and delivers "
        "all three long before the deadline. Recipe `solicit`.",
        "p q r s",
        lambda: three("solicit", "p q r s", "pqs", "r", lost=True),
    ),
    Figure(
        "000 Fig. 2: the same by its own names",
        "p3 receives m3 from p2 and asks p2 for m1 and m2. Who sent these the "
        "paper does not say: here p1 and p4. Recipe `solicit`.",
        "p1 p2 p3 p4",
        lambda: three("solicit", "p1 p2 p3 p4", ("p1", "p4", "p2"), "p3", lost=True),
    ),
    Figure(
        "001 Figs. 2 and 3: a colour per broker",
        "G1 = {A, B, C}, G2 = {A, C, D}, three colours, rounds of 50 ms. S2 "
        "loses red_A1 and asks on yellow_A1; S3 loses all and asks on red_B2, when red_A1 has expired; S4 asks D for "
        "red_A1. In the paper S3 is in both groups; it sits at B, which is not in G2, so here it is in G1. Recipe "
        "`rounds`.",
        "A B D S2 S3 S4",
        figures_2_and_3_of_001,
    ),
    Figure(
        "001 Figs. 4 to 6: immediate predecessors",
        "G1 = {A, B, C}, G2 = {A, B, D}; S1 at C, S2 at A, S3 at B, S4 at D. "
        "Each asks for exactly what it lost. Recipe `graph`.",
        "A B C D S1 S2 S3 S4",
        figures_4_to_6_of_001,
    ),
    Figure(
        "003 Fig. 2: gossip-pull",
        "B1 -> A1 -> B2 -> B3 to both groups. S1 gets all from A; S2 and S3 lose B1 and ask "
        "for it once. Recipe `pull`.",
        "A B D S1 S2 S3",
        figure_2_of_003,
    ),
    Figure(
        "004 Fig. 1: the logical deadline",
        "m1 is late at D. m2, m3 and m4 wait for it and go out, in order, when the "
        "deadline of m4 has come; m1 is then left out. Recipe `colour`, brokers only.",
        "A B D",
        figure_1_of_004,
    ),
    Figure(
        "004 Fig. 3: one scalar",
        "S3 misses red_B1. In round 4 it delivers yellow_A1, blue_B2 and red_B3, and "
        "red_B1 is too late. Recipe `colour-eager`.",
        "A B D S3",
        figure_3_of_004("colour-eager"),
    ),
    Figure(
        "004 Fig. 3 again: held",
        "The same under `colour`: in the same order, each at the end of its lifetime of three rounds.",
        "A B D S3",
        figure_3_of_004("colour"),
    ),
]


def page() -> str:
    assert colours_for(4, 1) == colours_for(3, 1) == 3  # 001 Fig 2, 004 Fig 2: log N + 1
    head = (
        "# The papers' figures, run\n\nOne drawing per worked example, made from the records of a run (`python -m "
        "tests.papers.figures`\nwrites this page; a test compares it). Time runs down, a lane per process; an arrow is "
        "drawn when its\ncopy arrives. The names are the papers' own.\n"
    )
    return "\n".join([head, *(figure.drawn() for figure in FIGURES)])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
