"""The page of a run: verdict, diagram, one small diagram for each finding, and what was not delivered, with its fate.

Decided here: what stands on it and in which order. One file that fetches nothing; everything that comes from records is
escaped. A script of some thirty lines lights up all steps of the message under the pointer, and its causes when it is
clicked; without it the page says the same, less comfortably.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Sequence
from typing import Any

from antecede.report.show.chosen import Chosen, around
from antecede.report.show.layout import lay_out
from antecede.report.show.run import Run
from antecede.report.show.svg import STYLE as DRAWN
from antecede.report.show.svg import drawing
from antecede.report.style import STYLE
from antecede.trace.history import time_of
from antecede.trace.report import FATES, Finding, Report, ms

__all__ = ["page"]

PICTURES = 6
"""Findings that get a diagram of their own."""
FINDINGS = 100
PAIRS = 60
"""Pairs not delivered that are listed."""
TOLD = (
    "recipe",
    "reading",
    "brokers",
    "subscribers",
    "groups",
    "messages",
    "rate",
    "loss",
    "duplicate",
    "crash",
    "seed",
)
"""Of the scenario, what the page says where it is set."""

EXTRA = """
body { max-width: 76rem; } .cols { display: flex; gap: 1.5rem; flex-wrap: wrap; align-items: flex-start; }
.run { border: 1px solid var(--line); max-width: none; }
.run.dim [data-m] { opacity: .13; } .run.dim [data-m].on { opacity: 1; }
.run.dim [data-m].cause { opacity: .75; } .run [data-m] { cursor: pointer; }
#about { position: sticky; bottom: 0; background: var(--ground); padding: .5rem .8rem;
border-top: 3px solid var(--link); min-height: 3.1rem; font-size: .9rem; }
#about a { cursor: pointer; text-decoration: underline; }
.legend span { margin-right: 1.1rem; white-space: nowrap; }
"""

SCRIPT = """
const told = JSON.parse(document.getElementById('told').textContent), about = document.getElementById('about');
const first = about.innerHTML; let pinned = null;
const esc = text => { const span = document.createElement('span'); span.textContent = text; return span.innerHTML; };
function light(id) {
  const causes = id && told[id] ? told[id].causes : [];
  for (const svg of document.querySelectorAll('svg.run')) {
    svg.classList.toggle('dim', Boolean(id));
    for (const one of svg.querySelectorAll('[data-m]')) {
      one.classList.toggle('on', one.dataset.m === id); one.classList.toggle('cause', causes.includes(one.dataset.m));
    }
  }
  if (!id || !told[id]) { about.innerHTML = first; return; }
  const m = told[id], link = name => '<a data-go="' + esc(name) + '">' + esc(name) + '</a>';
  about.innerHTML = '<b>' + esc(id) + '</b> published by ' + esc(m.by) + ' to ' + esc(m.topics) + ' at ' + esc(m.at) +
    (m.deadline ? ', deadline ' + esc(m.deadline) : '') + '. ' +
    (m.causes.length ? 'It follows ' + m.causes.map(link).join(', ') + '. ' : 'It follows nothing. ') + esc(m.fates);
}
document.addEventListener('mouseover', e => {
  const g = e.target.closest('[data-m]');
  if (!pinned) light(g && g.dataset.m);
});
document.addEventListener('click', e => {
  const go = e.target.closest('[data-go]'), g = e.target.closest('[data-m]');
  if (go) { pinned = go.dataset.go; light(pinned); }
  else if (g) { pinned = pinned === g.dataset.m ? null : g.dataset.m; light(pinned); }
  else if (!e.target.closest('#about')) { pinned = null; light(null); }
});
"""

LEGEND = (
    ("◆", "published"), ("●", "delivered"), ("○", "came, and waits for its causes"), ("×", "left out, and why"),
    ("→", "a copy on its way"), ("┈", "asked for"),
)  # fmt: skip


def page(run: Run, chosen: Chosen, *, where: str, version: str) -> str:
    """`where`: the directory or file, as a command names it."""
    report = run.report
    findings = report.findings if report is not None else []
    name = run.rows[0].run
    body = [
        f"<h1>{_text(name)}</h1>",
        f"<p class=small>{_facts(run, where)}</p>",
        _verdict(report, run, where),
        "<h2>What happened</h2>",
        "<p class=small>Time runs down, a lane per process. Point at a step to see all steps of its message, click it "
        f"to keep it and go to what it follows. {_text(chosen.left_out)}</p>",
        f"<p class='small legend'>{''.join(f'<span>{sign} {words}</span>' for sign, words in LEGEND)}</p>",
        _figure(run, chosen, findings) if chosen.lines else "<p>Nothing was published or delivered in this part.</p>",
    ]
    shown: set[str] = {line.message for line in chosen.lines}
    if findings:
        body.append(f"<h2>{_count(len(findings), 'finding')}</h2>")
        for one in findings[:PICTURES]:
            small = around(run, one)
            shown.update(line.message for line in small.lines)
            body.append(f"<p class='verdict not'><b>{one.verdict}</b> {_text(one.text)}</p>")
            body.append(_figure(run, small, [one]) if small.lines else "")
        body.append(_rest(findings))
    body.append(_left_out(report))
    body.append("<p id=about>Point at a step in a diagram.</p>")
    data = json.dumps(_told(run, shown)).replace("<", "\\u003c")
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{_text(name)}: a run, shown</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}{DRAWN}{EXTRA}</style></head><body>'
        f"{''.join(body)}<p class=small>antecede {_text(version)}</p>"
        f'<script type="application/json" id="told">{data}</script><script>{SCRIPT}</script></body></html>\n'
    )


def _facts(run: Run, where: str) -> str:
    said = [
        f"{key.replace('_', ' ')} {run.scenario[key]}" for key in TOLD if run.scenario.get(key) not in (None, "", 0)
    ]
    last = time_of(run.rows[-1])
    counted = (
        f"{_count(len(run.history.processes), 'process', 'es')}, {_count(len(run.history.messages), 'message')}, "
        f"{_count(len(run.rows), 'row')}, {ms(last - run.begin_us)}"
    )
    return _text(f"{counted}. {', '.join(said) + '. ' if said else ''}") + f"<code>antecede show {_text(where)}</code>"


def _verdict(report: Report | None, run: Run, where: str) -> str:
    if report is None:
        return (
            f"<p class='verdict open'><b>Not judged here</b>: {len(run.history.messages):,} messages are too many for "
            f"a page; <code>antecede audit {_text(where)}</code> judges them.</p>"
        )
    if report.clean:
        kind, said = "holds", "<b>Clean</b>: no inversion, no gap, nothing overdue, doubled, stuck or falsely explained"
        if report.exempt:
            said += f" (not judged: {_text(', '.join(report.exempt))})"
    elif report.findings:
        counts = ", ".join(f"{count} {name}" for name, count in report.counts.items() if count)
        kind, said = "not", f"<b>{_count(len(report.findings), 'finding')}</b>: {counts}"
    else:
        kind = "open"
        said = (
            f"<b>Not clean</b>: the records of {_text(', '.join(report.unknown_tails[:8]))} stop without an end, so "
            "nobody knows what happened there later"
        )
    fates = ", ".join(f"{report.fates[name]:,} {name}" for name in FATES if report.fates[name])
    pairs = f"Of {report.pairs:,} pairs of a message and a receiver: {fates}." if report.pairs else ""
    return f"<p class='verdict {kind}'>{said}. {pairs}</p>"


def _figure(run: Run, chosen: Chosen, findings: Sequence[Finding]) -> str:
    return f"<figure class=scroll>{drawing(run, lay_out(run, chosen, findings), alone=False)}</figure>"


def _rest(findings: Sequence[Finding]) -> str:
    rest = findings[PICTURES:FINDINGS]
    lines = "".join(f"<tr><td>{one.verdict}</td><td>{_text(one.text)}</td></tr>" for one in rest)
    more = f"<p class=small>{len(findings) - FINDINGS:,} more: <code>antecede check --json</code></p>"
    table = f"<table><tr><th>verdict</th><th>what</th></tr>{lines}</table>" if rest else ""
    return table + (more if len(findings) > FINDINGS else "")


def _left_out(report: Report | None) -> str:
    """Every pair that was not delivered has a fate; they are shown by fate, the rare fates first."""
    if report is None or not report.left_out:
        return ""
    told = sorted(report.left_out, key=lambda pair: (report.fates[pair[2]], pair[2]))
    rows = "".join(
        f"<tr><td data-m='{_text(message)}'>{_text(message)}</td><td>{_text(receiver)}</td><td>{fate}</td></tr>"
        for message, receiver, fate in told[:PAIRS]
    )
    more = f"<p class=small>{len(told) - PAIRS:,} more.</p>" if len(told) > PAIRS else ""
    head = "<tr><th>message</th><th>receiver</th><th>fate</th></tr>"
    return f"<h2>Not delivered</h2><div class=scroll><table>{head}{rows}</table></div>{more}"


def _told(run: Run, shown: Iterable[str]) -> dict[str, dict[str, Any]]:
    """What the page says of a message when it is pointed at."""
    published = {row.message: row for row in run.rows if row.kind == "publish"}
    found: dict[str, dict[str, Any]] = {}
    for message in shown:
        row = published.get(message)
        if row is None:
            continue
        fates = run.fates[message]
        due_us = None if row.deadline_us is None else row.deadline_us - row.at_us
        found[message] = {
            "by": row.process, "topics": ", ".join(row.groups or ()), "at": ms(time_of(row) - run.begin_us),
            "deadline": None if due_us is None else f"{ms(due_us)} later", "causes": list(run.causes(message)),
            "fates": ", ".join(f"{fates[name]} {name}" for name in FATES if fates.get(name)),
        }  # fmt: skip
    return found


def _count(number: int, noun: str, plural: str = "s") -> str:
    return f"{number:,} {noun}{'' if number == 1 else plural}"


def _text(text: object) -> str:
    return html.escape(str(text), quote=True)
