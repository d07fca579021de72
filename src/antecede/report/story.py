"""The demo as a page: the same question over three protocols, each drawn from its records, and every recipe in a storm.

Decided here: what stands on the page, in which order; it fetches nothing. The runs are those of the terminal.
"""

from __future__ import annotations

import html
from collections.abc import Sequence

from antecede.report.show.chosen import window
from antecede.report.show.layout import lay_out
from antecede.report.show.run import run_of
from antecede.report.show.svg import STYLE as DRAWN
from antecede.report.show.svg import drawing
from antecede.report.style import STYLE
from antecede.sim.opening import TEXTS, Act

__all__ = ["story"]

LEGEND = "◆ said, ● seen, ○ has come and waits, × left out, → a copy, ··· asked for, red: against causal order"


def story(
    acts: Sequence[Act], heads: Sequence[str], table: Sequence[Sequence[str]], words: str, commands: Sequence[str]
) -> str:
    """`table`: a line per recipe under `heads`; `words`: what it is of; `commands`: what to try next."""
    question, answer = (html.escape(text) for text in TEXTS.values())
    parts = [
        "<h1>Messages in cause-and-effect order, before their deadlines</h1>",
        f"<p>Ann asks: {question} Bob answers: {answer} One copy is lost on the way: the question to Eve. "
        f"Time runs down, a lane per person.</p><p class=small>{html.escape(LEGEND)}</p>",
        *map(_act, acts),
        f"<h2>Every recipe in the same storm</h2><p>{html.escape(words)}</p>",
        f"<div class=scroll><table><tr>{''.join(f'<th>{html.escape(head)}</th>' for head in heads)}</tr>",
        *map(_row, table),
        "</table></div><h2>Next</h2>",
        *(f"<p><code>{html.escape(command)}</code></p>" for command in commands),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>antecede: the point in one page</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}{DRAWN}</style></head><body>'
        f"{''.join(parts)}</body></html>\n"
    )


def _row(cells: Sequence[str]) -> str:
    numbers = [cell.rstrip("%").replace(",", "").replace(".", "").isdigit() for cell in cells]
    return (
        "<tr>"
        + "".join(
            f"<td{' class=n' if number else ''}>{html.escape(cell)}</td>"
            for cell, number in zip(cells, numbers, strict=True)
        )
        + "</tr>"
    )


def _act(act: Act) -> str:
    run = run_of(act.rows, {"recipe": act.scenario.recipe}, order="causal")
    found = ", ".join(f"{count} {verdict}" for verdict, count in act.report.counts.items() if count)
    fates = "".join(f" “{html.escape(text)}” to {receiver}: {fate}." for text, receiver, fate in act.left_out)
    picture = drawing(
        run, lay_out(run, window(run), run.report.findings if run.report is not None else []), alone=False
    )
    return (
        f"<h2>{html.escape(act.title)}</h2><figure class=scroll>{picture}</figure>"
        f"<p class='verdict {'not' if found else 'holds'}'>Judged from the records alone, by causal order: "
        f"<b>{found or 'clean'}</b>.{fates}</p>"
    )
