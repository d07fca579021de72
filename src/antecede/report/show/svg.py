"""A scene as SVG: readable by itself, in black and white, and by a script that knows which message an element is of.

Decided here: the shape says what happened (◆ published, ● delivered, ○ came and waits, × left out), the colour says
whose message it is, red is for findings only. Every element of a message has the attribute `data-m` with its id.
"""

from __future__ import annotations

import html
from collections.abc import Iterator

from antecede.report.show.chosen import lane_of
from antecede.report.show.layout import Arrow, Mark, Scene
from antecede.report.show.run import Run

__all__ = ["COLOURS", "STYLE", "drawing"]

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#8a5a9e", "#7a6a00", "#b0487c", "#33719c", "#555555")
"""Of senders, in the order of their first message; apart for eyes that do not see red and green."""

STYLE = """
.run { font: 12px system-ui, sans-serif; background: #fff; } .run text { fill: #1c1c1c; }
.run .lane { stroke: #bbb; stroke-width: 1.5; } .run .away { stroke: #fff; stroke-width: 3; }
.run .dash { stroke: #ccc; stroke-width: 1.5; stroke-dasharray: 2 4; }
.run .head { font-weight: 600; font-size: 13px; } .run .tick { fill: #777; font-size: 11px; text-anchor: end; }
.run .note { fill: #666; font-size: 11px; font-style: italic; }
.run .copy { fill: none; stroke-width: 1.2; opacity: .75; }
.run .asks { fill: none; stroke-width: 1.2; stroke-dasharray: 1 4; stroke-linecap: round; }
.run .wait { stroke-width: 5; opacity: .25; } .run .found { fill: none; stroke: #c0271d; stroke-width: 2; }
.run .bad { fill: #c0271d; font-weight: 600; }
.run .halo { stroke: #fff; stroke-width: 3; paint-order: stroke; stroke-linejoin: round; }
"""

SHORT = 6.3
"""Pixels of a character."""


def drawing(run: Run, scene: Scene, *, alone: bool = True) -> str:
    """The picture as text. `alone`: with its style in it, as a file of its own."""
    parts = [
        f'<svg class="run" xmlns="http://www.w3.org/2000/svg" width="{scene.width:.0f}" height="{scene.height:.0f}" '
        f'viewBox="0 0 {scene.width:.0f} {scene.height:.0f}" role="img">',
        "<defs><marker id='tip' viewBox='0 0 8 8' refX='7' refY='4' markerWidth='7' markerHeight='7' orient='auto'>"
        "<path d='M0 0.6 L8 4 L0 7.4 z' fill='context-stroke'/></marker></defs>",
    ]
    if alone:
        parts.append(f"<style>{STYLE}</style><rect width='100%' height='100%' fill='#fff'/>")
    parts += _parts(run, scene)
    return "".join([*parts, "</svg>"])


def _parts(run: Run, scene: Scene) -> Iterator[str]:
    senders = dict.fromkeys(lane_of(told.publisher) for told in run.history.messages)
    ink = {sender: COLOURS[place % len(COLOURS)] for place, sender in enumerate(senders)}

    def of(message: str | None) -> str:
        index = run.history.index.get(message or "")
        return COLOURS[-1] if index is None else ink[lane_of(run.history.messages[index].publisher)]

    yield '<text class="tick" x="62" y="24">ms</text>'
    for y, text in scene.ticks:
        yield f'<text class="tick" x="62" y="{y + 4:.1f}">{text}</text>'
    for x, _ in scene.lanes:
        yield f'<line class="lane" x1="{x:.1f}" x2="{x:.1f}" y1="32" y2="{scene.height:.1f}"/>'
    for one in scene.absences:
        line = f'x1="{one.x:.1f}" x2="{one.x:.1f}" y1="{one.y0:.1f}" y2="{one.y1:.1f}"'
        yield f'<line class="away" {line}/><line class="dash" {line}/>'
    for one in scene.waits:
        title = f"<title>{_text(one.message)} waits</title>"
        yield (
            f'<line class="wait" data-m="{_text(one.message)}" stroke="{of(one.message)}" x1="{one.x:.1f}" '
            f'x2="{one.x:.1f}" y1="{one.y0:.1f}" y2="{one.y1:.1f}">{title}</line>'
        )
    for arrow in scene.arrows:
        yield _arrow(arrow, of(arrow.message))
    for note in scene.notes:
        sign = {"crash": "✕ ", "restart": "↻ "}.get(note.kind, "")
        said = f"{sign}{_short(note.text, scene.pitch)}"
        yield f'<text class="note halo" x="{note.x + 8:.1f}" y="{note.y + 4:.1f}">{said}</text>'
    for y in scene.heads():
        for x, lane in scene.lanes:
            name = _short(lane, scene.pitch)
            yield f'<text class="head halo" x="{x:.1f}" y="{y:.0f}" text-anchor="middle">{name}</text>'
    for mark in scene.marks:
        yield _mark(run, mark, of(mark.line.message), scene.pitch)


def _arrow(arrow: Arrow, ink: str) -> str:
    way = 1 if arrow.x1 > arrow.x0 else -1
    kind = "asks" if arrow.asks else "copy"
    dash = "" if arrow.known else ' stroke-dasharray="5 3"'
    said = "is asked for" if arrow.asks else "on its way"
    return (
        f'<path class="{kind}" data-m="{_text(arrow.message)}" stroke="{ink}"{dash} marker-end="url(#tip)" '
        f'd="M{arrow.x0 + way * 6:.1f} {arrow.y0:.1f} L{arrow.x1 - way * 6:.1f} {arrow.y1:.1f}">'
        f"<title>{_text(arrow.message)} {said}</title></path>"
    )


def _mark(run: Run, mark: Mark, ink: str, pitch: float) -> str:
    line, x, y = mark.line, mark.x, mark.y
    sign = {
        "publish": f'<path d="M{x:.1f} {y - 6:.1f} l6 6 l-6 6 l-6 -6 z" fill="{ink}"/>',
        "deliver": f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{ink}"/>',
        "hold": f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="#fff" stroke="{ink}" stroke-width="1.6"/>',
        "discard": f'<path d="M{x - 4:.1f} {y - 4:.1f} l8 8 m0 -8 l-8 8" stroke="{ink}" stroke-width="2"/>',
        "asks": "",
    }[line.sign]
    label = {"asks": f"{line.message}?", "discard": f"{line.message} {line.reason}"}.get(line.sign, line.message)
    below = ""
    style = "halo"
    if mark.findings:
        one = mark.findings[0]
        sign += f'<circle class="found" cx="{x:.1f}" cy="{y:.1f}" r="9"/>'
        label, below = (
            line.message,
            {"inversion": f"after {one.other}", "gap": f"without {one.other}"}.get(one.verdict, one.verdict),
        )
        style = "halo bad"
    elif line.sign == "publish":
        style = 'halo" font-weight="600'
    side = f'x="{x + 12:.1f}"' if mark.right else f'x="{x - 12:.1f}" text-anchor="end"'
    said = [f'<text class="{style}" {side} y="{y + 4:.1f}">{_short(label, pitch)}</text>']
    if below:
        said.append(f'<text class="{style}" {side} y="{y + 16:.1f}">{_short(below, pitch)}</text>')
    return f'<g data-m="{_text(line.message)}"><title>{_text(_sentence(run, mark))}</title>{sign}{"".join(said)}</g>'


def _sentence(run: Run, mark: Mark) -> str:
    line = mark.line
    at = f"{(line.at_us - run.begin_us) / 1000:,.1f} ms"
    if mark.findings:
        return f"{line.process}, {at}: {mark.findings[0].text}"
    if line.sign == "publish":
        return f"{line.process} publishes {line.message} at {at}"
    if line.sign == "asks":
        return f"{line.process} asks {line.peer} for {line.message} at {at}"
    if line.sign == "hold":
        return f"{line.message} comes to {line.process} from {line.peer} at {at} and waits for its causes"
    if line.sign == "discard":
        return f"{line.process} leaves {line.message} out at {at}: {line.reason}"
    why = " at its deadline" if line.reason == "deadline" else ""
    return f"{line.process} delivers {line.message} at {at}{why}"


def _short(text: str, pitch: float) -> str:
    most = max(6, int((pitch - 18) / SHORT))
    return _text(text if len(text) <= most else text[: most - 1] + "…")


def _text(text: str | None) -> str:
    return html.escape(text or "", quote=True)
