"""The point in one page: a question, its answer and a lost copy; over plain gossip, in causal order, with a deadline.

Decided in this file: the story and its words. The three runs are real ones of the same seed, judged by the oracle and
drawn from their records; nothing here needs a package, so `run.py` shows it while packages are being fetched.
"""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TextIO

from antecede.core.message import UNORDERED
from antecede.sim.replay import order_history
from antecede.sim.run import simulate
from antecede.sim.scenario import Scenario
from antecede.trace.check import check
from antecede.trace.diagram import ASCII, BOX, Picture, Signs, draw
from antecede.trace.record import Row
from antecede.trace.report import Report

__all__ = ["Act", "acts", "main", "tell"]

PEOPLE = {"A": "Ann", "B": "Bob", "C": "Cid", "D": "Eve"}
EVE = "D"
LABELS = {"A:1": "Q", "B:1": "A"}
WORDS = {"A:1": "the question", "B:1": "the answer"}
TEXTS = {"A:1": "where do we meet?", "B:1": "at the usual place."}

SCENE = Scenario(seed=345, brokers=4, subscribers=0, groups="G1=A,B,C,D", loss=0.25)
"""One copy in four is lost; of this seed the one of the question to Eve. The rest is drawn from the same dice."""
WIDTH = 80
PROMPT_MS = 40.0
"""In the third act: so short that there is time to ask for the question, and none for it to come."""


@dataclass(slots=True)
class Act:
    title: str
    scenario: Scenario
    rows: list[Row]
    """The run, under the people's names."""
    picture: Picture
    report: Report
    left_out: list[tuple[str, str, str]]
    """What was said, to whom, and which fate it had there instead of being seen."""


def act(title: str, scenario: Scenario, signs: Signs = BOX) -> Act:
    """Run, judge as if causal order had been asked for, and draw."""
    history = order_history(["question", "answer"], ["Ann", "Bob"], [[], ["question"]], None, "the story")
    run = simulate(scenario, history=history, measure=lambda frame: (0, 0))
    report = check(run, order="causal")
    rows = list(map(Row._make, run.rows))
    published = [row for row in rows if row.kind == "publish"]
    plain = {str(row.message): str(row.message).replace("~", "") for row in published}
    picture = draw(
        run.rows,
        names=PEOPLE,
        labels={message: LABELS[id] for message, id in plain.items()},
        words={message: WORDS[id] for message, id in plain.items()},
        texts={message: TEXTS[id] for message, id in plain.items()},
        findings=report.findings,
        signs=signs,
    )
    left_out = [(TEXTS[plain[message]], PEOPLE[receiver], fate) for message, receiver, fate in report.left_out]
    return Act(title, scenario, list(map(_under_their_names, rows)), picture, report, left_out)


def _under_their_names(row: Row) -> Row:
    """The same row, of Ann and Bob instead of A and B.

    >>> row = Row("run", "B", "member", 1, 0, "arrive", "A:1", peer="A")
    >>> _under_their_names(row)[1], _under_their_names(row).message, _under_their_names(row).peer
    ('Bob', 'Ann:1', 'Ann')
    """

    def told(message: str) -> str:
        sender, _, number = message.rpartition(":")
        bare = sender.rstrip("~")
        return f"{PEOPLE.get(bare, bare)}{sender[len(bare) :]}:{number}"

    return row._replace(
        process=PEOPLE.get(row.process, row.process),
        peer=row.peer and PEOPLE.get(row.peer, row.peer),
        message=row.message and told(row.message),
        after=row.after if row.after in (None, UNORDERED) else tuple(map(told, row.after)),
        cut=row.cut and tuple(map(told, row.cut)),
    )


def acts(signs: Signs = BOX) -> tuple[Act, Act, Act]:
    """Plain gossip, causal order, causal order with deadlines: the same seed and the same lost copy."""
    gossip, causal = replace(SCENE, recipe="pbcast"), replace(SCENE, recipe="solicit")
    prompt = replace(causal, deadline_ms=(PROMPT_MS, PROMPT_MS))
    return (
        act("1. Plain gossip: everybody sees what comes, when it comes.", gossip, signs),
        act("2. The same network, in causal order: no answer before its question.", causal, signs),
        act(f"3. The same, and what is said is of no use after {PROMPT_MS:.0f} ms.", prompt, signs),
    )


def tell(*, signs: Signs = BOX, ink: bool = False) -> Iterator[str]:
    """The page, line by line."""
    gossip, causal, prompt = acts(signs)
    yield "Ann asks, Bob answers. One copy is lost on the way: the question to Eve."
    yield "Time runs down; an arrow is drawn when its copy arrives. Q question, A answer,"
    yield prompt.picture.legend()
    yield ""
    yield from _shown(gossip, ink)
    wrong = [line.number for line in gossip.picture.lines if line.findings]
    yield from _look(f"lines {_listed(wrong)}", "the answer came before its question.", gossip)
    yield ""
    yield from _shown(causal, ink)
    held, asked, seen = (causal.picture.of(EVE, sign)[0] for sign in ("hold", "asks", "deliver"))
    yield from _look(
        f"lines {held} to {seen + 1}",
        f"the answer is held ({held}), the question asked for ({asked}), then both are seen, in order.",
        causal,
    )
    yield ""
    yield from _shown(prompt, ink)
    released = prompt.picture.of(EVE, "deliver")[0]
    named = ", ".join(f'"{text}" to {receiver}: {fate}' for text, receiver, fate in prompt.left_out)
    yield from _look(f"line {released}", f"the answer can wait no longer. What was left out is named: {named}.", prompt)


def _shown(shown: Act, ink: bool) -> Iterator[str]:
    yield f"\x1b[1m{shown.title}\x1b[0m" if ink else shown.title
    yield from shown.picture.render(ink=ink)


def _look(where: str, words: str, shown: Act) -> Iterator[str]:
    """Where to look and what is there; then the oracle's verdict, all on causal order whoever asked for it."""
    found = ", ".join(f"{count} {verdict}" for verdict, count in shown.report.counts.items() if count)
    yield from textwrap.wrap(
        f"Look at {PEOPLE[EVE]}, {where}: {words}", WIDTH, initial_indent="  ", subsequent_indent="  "
    )
    yield f"  Judged from the records alone, by causal order: {found or 'clean'}."


def _listed(numbers: list[int]) -> str:
    return " and ".join(map(str, numbers))


def main(out: TextIO) -> None:
    """Write the page as the stream can show it: with colours only to a terminal, in ASCII where it must be."""
    ink = out.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    try:
        "".join(BOX).encode(out.encoding or "ascii")
        signs = BOX
    except UnicodeEncodeError:
        signs = ASCII
    for line in tell(signs=signs, ink=ink):
        print(line, file=out, flush=True)


if __name__ == "__main__":
    try:
        main(sys.stdout)
    except BrokenPipeError:  # somebody has read enough (`| head`); the end of Python shall not stumble over it either
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
