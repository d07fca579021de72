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

__all__ = ["page", "write_page"]

Body = dict[str, Any]

MOST = 60
"""Rows of a table that are shown; the file beside the figure has them all."""

STYLE = """
:root { --ink: #1c1c1c; --soft: #5c5c5c; --line: #d9d9d9; }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); max-width: 56rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; }
h2 { font-size: 1.25rem; margin-top: 3rem; border-top: 1px solid var(--line); padding-top: 1rem; }
h3 { font-size: 1.05rem; margin: 2.2rem 0 .3rem; } blockquote { margin: .4rem 0; padding-left: 1rem;
border-left: 3px solid var(--line); color: var(--soft); font-style: italic; } figure { margin: 1rem 0; }
img { max-width: 100%; } figcaption, .small { color: var(--soft); font-size: .86rem; }
table { border-collapse: collapse; font-size: .82rem; font-variant-numeric: tabular-nums; } td, th { text-align: right;
padding: .15rem .6rem; border-bottom: 1px solid var(--line); } td:first-child, th:first-child { text-align: left; }
.verdict { font-weight: 600; padding: .35rem .7rem; border-left: 6px solid; background: #f7f7f7; }
.holds { border-color: #2f7d4f; } .only { border-color: #a08000; } .not { border-color: #b03a2e; }
.open { border-color: #888; } code { background: #f3f3f3; padding: .1rem .3rem; } .scroll { overflow-x: auto; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e8e8; --soft: #b0b0b0; --line: #444; }
body { background: #161616; } .verdict, code { background: #242424; } img { background: white; } }
"""
COLOURS = {"holds": "holds", "holds only if": "only", "does not hold": "not", "cannot hold": "not"}


def _number(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _table(rows: Sequence[Body]) -> str:
    names = [name for name in dict.fromkeys(name for row in rows for name in row) if not name.endswith("_share")]
    head = "".join(f"<th>{html.escape(name.replace('_', ' '))}</th>" for name in names)
    lines = "".join(
        "<tr>" + "".join(f"<td>{html.escape(_number(row.get(name)))}</td>" for name in names) + "</tr>"
        for row in rows[:MOST]
    )
    more = f"<p class=small>{len(rows) - MOST} more rows are in table.csv.</p>" if len(rows) > MOST else ""
    return f"<div class=scroll><table><tr>{head}</tr>{lines}</table></div>{more}"


def _claim(body: Body, image: str | None) -> str:
    escape = html.escape
    parts = [
        f'<h3 id="{escape(body["claim"])}">{escape(body["claim"])}</h3>',
        f"<blockquote>“{escape(body['sentence'])}” <span class=small>({escape(body['place'])})</span></blockquote>",
        f'<p class="verdict {COLOURS.get(body["word"], "open")}">{escape(body["verdict"])}</p>',
    ]
    if image is not None:
        alt = escape(f"{body['caption']} Verdict: {body['verdict']}", quote=True)
        parts.append(
            f'<figure><img src="{image}" alt="{alt}"><figcaption>{escape(body["caption"])}</figcaption></figure>'
        )
    for failed in body["failed"]:
        parts.append(
            f"<p class=small>Failed: {escape(failed['error'])}; again: <code>{escape(failed['replay'])}</code></p>"
        )
    parts += [
        f"<p class=small><b>Measured:</b> {escape(body['asks'])} <b>Fixed before:</b> {escape(body['design'])} "
        f"<b>Not in the text:</b> {escape(body['chosen'])}</p>",
        f"<details><summary class=small>The numbers ({body['cells']:,} cells)</summary>"
        f"{_table(body['table'])}</details>",
        f"<p class=small>Again: <code>{escape(body['command'])}</code></p>",
    ]
    return "\n".join(parts)


def page(bodies: Sequence[tuple[Body, str | None]]) -> str:
    """The page of these results (what `result.json` holds, and the figure as a data address), in their order."""
    version = bodies[0][0]["antecede"] if bodies else ""
    counts: dict[str, int] = {}
    for body, _ in bodies:
        counts[body["word"]] = counts.get(body["word"], 0) + 1
    said = ", ".join(f"{count} {word}" for word, count in counts.items())
    rows = "".join(
        f'<tr><td><a href="#{html.escape(body["claim"])}">{html.escape(body["claim"])}</a></td>'
        f"<td>{html.escape(body['place'])}</td><td>{html.escape(body['word'])}</td></tr>"
        for body, _ in bodies
    )
    chunks, last = [], None
    for body, image in bodies:
        if body["papers"] != last:
            last = body["papers"]
            title = "Ours" if last == "ours" else f"Paper {last}" if "," not in last else f"Papers {last}"
            chunks.append(f"<h2>{html.escape(title)}</h2>")
        chunks.append(_claim(body, image))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>What the papers claim, measured</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head><body>'
        f"<h1>What the papers claim, measured</h1><p>{len(bodies)} claims: {html.escape(said)}. Every verdict "
        f"follows from a rule that sees only the table beside it; where a design changed after a first run it says so. "
        f"antecede {html.escape(version)}.</p>"
        f"<table><tr><th>claim</th><th>place</th><th>verdict</th></tr>{rows}</table>{''.join(chunks)}</body></html>\n"
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
