"""The lab's page: one self-contained HTML file, in the order of the papers.

Decided here: what stands beside each claim - the sentence with its place, the verdict, the figure with its caption, the
numbers, the design and the command that repeats it. Figures are inside the page; nothing is fetched.
"""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from antecede.lab.claim import TERMS, WORDS
from antecede.report.style import STYLE
from antecede.trace.report import how_many

__all__ = ["made_by", "page", "write_page"]

Body = dict[str, Any]

MOST = 60
"""Rows of a table that are shown; the file beside the figure has them all."""
OPEN = 16
"""Tables of at most so many rows are shown at once, longer ones when they are asked for."""

THOUSANDS = 1000.0
"""From here on numbers have no fractions, and no exponents."""
TITLES = {
    "000": "Message Dissemination Algorithm for Unreliable Broadcast Networks Guaranteeing Causal Order and Deadline "
    "Constraints (Ahn)",
    "001": "New Causally Ordered Delivery Protocol Using Information of Immediate Predecessor Messages between Brokers "
    "and Subscribers (Kim, Ahn)",
    "002": "the protocol of 000 again, in more words",
    "003": "Gossip-Pull System-based Dissemination Protocol Satisfying Message Causality Condition (Ahn, Kim)",
    "004": "Broadcast Protocol Guaranteeing Causal Delivery Order Consistency Condition for Social Networks (Kim, Ahn)",
    "ours": "what this project says of itself",
}

COLOURS = {"holds": "holds", "holds only if": "only", "does not hold": "not", "cannot hold": "not"}


def _number(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= THOUSANDS else f"{value:,.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _cell(row: Body, name: str) -> str:
    """A value, with its interval where the table has one."""
    value = row.get(name)
    said = html.escape(_number(value))
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    if value is not None and low is not None and high is not None and low != high:
        said += f" <i>{_number(low)} to {_number(high)}</i>"
    text = isinstance(value, str | bool)
    return f"<td>{said}</td>" if text else f"<td class=n>{said}</td>"


def _table(rows: Sequence[Body]) -> str:
    known = dict.fromkeys(name for row in rows for name in row)
    beside = {f"{name}{end}" for name in known for end in ("_low", "_high", "_share")}
    names = [name for name in known if name not in beside]
    texts = {name for row in rows for name in names if isinstance(row.get(name), str | bool)}
    head = "".join(
        f"<th{'' if name in texts else ' class=n'}>{html.escape(name.replace('_', ' '))}</th>" for name in names
    )
    lines = "".join("<tr>" + "".join(_cell(row, name) for name in names) + "</tr>" for row in rows[:MOST])
    more = f"<p class=small>{len(rows) - MOST} more rows are in table.csv.</p>" if len(rows) > MOST else ""
    return f"<div class=scroll><table><tr>{head}</tr>{lines}</table></div>{more}"


def _verdict(body: Body) -> str:
    """The word stands out; what it follows from does not need to."""
    word, said = html.escape(body["word"]), html.escape(body["verdict"])
    return f"<b>{word}</b>{said.removeprefix(word)}" if said.startswith(word) else said


def made_by(body: Body) -> str:
    """Which code measured it, and when.

    >>> made_by({"antecede": "0.1.0", "code": "5f0c", "date": "2026-11-19"}), made_by({"antecede": "0.1.0"})
    ('antecede 0.1.0, code 5f0c, 2026-11-19', 'antecede 0.1.0')
    """
    code = f"code {body['code']}" if body.get("code") else ""
    return ", ".join(part for part in (f"antecede {body['antecede']}", code, body.get("date")) if part)


def _claim(body: Body, image: str | None) -> str:
    escape = html.escape
    rows: Sequence[Body] = body["table"]
    intervals = "; 95 % intervals in italics" if any(name.endswith("_low") for row in rows for name in row) else ""
    parts = [
        f'<h3 id="{escape(body["claim"])}">{escape(body["claim"])} <a href="#top">all claims</a></h3>',
        f"<blockquote>“{escape(body['sentence'])}” <span class=small>({escape(body['place'])})</span></blockquote>",
        f'<p class="verdict {COLOURS.get(body["word"], "open")}">{_verdict(body)}</p>',
    ]
    if image is not None:
        alt = escape(f"{body['caption']} Verdict: {body['verdict']}", quote=True)
        parts.append(
            f'<figure><div class=scroll><img src="{image}" alt="{alt}"></div>'
            f"<figcaption>{escape(body['caption'])}</figcaption></figure>"
        )
    for failed in body["failed"]:
        parts.append(
            f"<p class=small>Failed: {escape(failed['error'])}; again: <code>{escape(failed['replay'])}</code></p>"
        )
    parts += [
        f"<p class=small><b>Measured:</b> {escape(body['asks'])}<br><b>Fixed before:</b> {escape(body['design'])}<br>"
        f"<b>Not in the text:</b> {escape(body['chosen'])}<br><b>Varied:</b> {escape(body.get('varied', '-'))}."
        f"{_beside(body)}</p>",
        f"<details{' open' if len(rows) <= OPEN else ''}><summary class=small>The numbers ({len(rows):,} rows from "
        f"{body['cells']:,} cells{intervals})</summary>{_table(rows)}</details>",
        f"<p class=small>Again: <code>{escape(body['command'])}</code> ({escape(made_by(body))})</p>",
    ]
    return "\n".join(parts)


def _beside(body: Body) -> str:
    """The claim that judges the same sentence in another way."""
    if not body.get("beside"):
        return ""
    name, differs = (html.escape(text) for text in body["beside"])
    return f'<br><b>The same sentence:</b> <a href="#{name}">{name}</a>: {differs}.'


def _heading(papers: str) -> str:
    title = "Ours" if papers == "ours" else f"Paper {papers}" if "," not in papers else f"Papers {papers}"
    about = "<br>".join(
        html.escape(TITLES[name] if name == papers else f"{name}: {TITLES[name]}")
        for name in papers.split(", ")
        if name in TITLES
    )
    return f"<h2>{html.escape(title)}</h2><p class=small>{about}</p>"


def _designs(bodies: Sequence[tuple[Body, str | None]]) -> str:
    quick = sum(bool(body.get("effort", {}).get("quick")) for body, _ in bodies)
    if not quick:
        return ""
    which = "All" if quick == len(bodies) else f"{quick} of them"
    return (
        f"<b>{which} {'is' if which.startswith('1 ') else 'are'} of the quick design: few seeds and points</b>, so "
        "intervals are wide and more may be undecided; without --quick the default design is run. "
    )


def _terms() -> str:
    """Closed at first: whoever knows them goes on."""
    return "".join(f"<dt><b>{html.escape(term)}</b></dt><dd>{html.escape(said)}.</dd>" for term, said in TERMS.items())


def page(bodies: Sequence[tuple[Body, str | None]]) -> str:
    """The page of these results (what `result.json` holds, and the figure as a data address), in their order."""
    escape = html.escape
    version = bodies[0][0]["antecede"] if bodies else ""
    words = [body["word"] for body, _ in bodies]
    said = ", ".join(f"{words.count(word)} {word}" for word in WORDS if word in words)
    rows = "".join(
        f'<tr><td><a href="#{escape(body["claim"])}">{escape(body["claim"])}</a></td>'
        f'<td>{escape(body["place"])}</td><td class="mark {COLOURS.get(body["word"], "open")}">{escape(body["word"])}'
        f"</td><td class=wide>{escape(body['asks'])}</td></tr>"
        for body, _ in bodies
    )
    chunks, last = [], None
    for body, image in bodies:
        if body["papers"] != last:
            last = body["papers"]
            chunks.append(_heading(last))
        chunks.append(_claim(body, image))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>What the papers claim, measured</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head><body id="top">'
        f"<h1>What the papers claim, measured</h1><p>{how_many(len(bodies), 'claim')}: {escape(said)}. "
        f"{_designs(bodies)}Every verdict follows from a rule that sees only the table beside it; where a design "
        f"changed after a first run it says so. antecede {escape(version)}.</p>"
        f"<table><tr><th>claim</th><th>place</th><th>verdict</th><th class=wide>measured</th></tr>{rows}</table>"
        f"<details><summary>Words</summary><dl>{_terms()}</dl></details>{''.join(chunks)}</body></html>\n"
    )


def write_page(out: Path, names: Sequence[str]) -> Path:
    """report.html in `out`, of the claims in it with these names, in this order."""
    bodies: list[tuple[Body, str | None]] = []
    for name in names:
        file = out / name / "result.json"
        if file.is_file():
            drawn = out / name / "figure.svg"
            image = None
            if drawn.is_file():
                image = "data:image/svg+xml;base64," + base64.b64encode(drawn.read_bytes()).decode()
            bodies.append((json.loads(file.read_text("utf-8")), image))
    path = out / "report.html"
    path.write_text(page(bodies), encoding="utf-8")
    return path
