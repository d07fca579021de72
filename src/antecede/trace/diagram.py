"""A run as a space-time diagram in plain text: a lane per process, time runs down, an arrow when a copy arrives.

Decided in this file: which rows of a trace become a line (publications, first arrivals, deliveries, requests, what is
left out), what stands in it, and which lines are marked: those the oracle has a finding for. Drawn from records alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from antecede.trace.history import time_of
from antecede.trace.record import Row
from antecede.trace.report import Finding

__all__ = ["ASCII", "BOX", "Line", "Picture", "Signs", "draw", "lines_of"]


class Signs(NamedTuple):
    """What a picture is made of."""

    lane: str
    leaves: str
    """Where an arrow leaves its lane, to the right and to the left."""
    arrow: str
    asks: str
    heads: str
    """Of arrows to the left and to the right."""
    publish: str
    deliver: str
    hold: str
    discard: str


BOX = Signs("│", "├┤", "─", "·", "◀▶", "◆", "●", "○", "×")
ASCII = Signs("|", "||", "-", ".", "<>", "+", "*", "o", "x")

LEGEND = (
    ("publish", "said"), ("deliver", "seen"), ("hold", "has come, is not shown yet"), ("discard", "left out"),
    ("asks", "asked for"),
)  # fmt: skip

FIRST_LANE = 14
"""Columns before the middle of the first lane: the number of the line and the time."""
PITCH = 9
"""From lane to lane, unless said otherwise: room for a label of six characters on an arrow. Four lanes and a note fit
into 80 columns."""


@dataclass(slots=True)
class Line:
    """One instant of one process."""

    process: str
    at_us: int
    message: str
    sign: str
    """Which of the signs stands in its lane: publish, deliver, hold, discard or asks."""
    peer: str | None = None
    """Who sent the copy; of a request, who is asked."""
    reason: str | None = None
    number: int = 0
    findings: list[Finding] = field(default_factory=list)


@dataclass(slots=True)
class Picture:
    lanes: Sequence[str]
    lines: list[Line]
    names: Mapping[str, str]
    labels: Mapping[str, str]
    words: Mapping[str, str]
    texts: Mapping[str, str]
    signs: Signs
    pitch: int = PITCH

    def render(self, *, ink: bool = False) -> Iterator[str]:
        """Line by line, without line ends; `ink`: with colours for a terminal."""
        if not self.lines:
            return
        begin_us = self.lines[0].at_us
        head = " line    ms  ".ljust(FIRST_LANE + self.pitch * len(self.lanes))
        for place, lane in enumerate(self.lanes):
            name = self.name(lane)
            start = FIRST_LANE + self.pitch * place - len(name) // 2
            head = head[:start] + name + head[start + len(name) :]
        yield head.rstrip()
        for line in self.lines:
            drawn = f"{line.number:>5} {(line.at_us - begin_us) / 1000:>5.0f}  "
            whole = f"{drawn}{self._lanes(line)[len(drawn) :]}  {self.note(line)}".rstrip()
            yield f"\x1b[1;31m{whole}\x1b[0m" if ink and line.findings else whole

    def legend(self) -> str:
        parts = []
        for name, words in LEGEND:
            if any(line.sign == name for line in self.lines):
                sign = getattr(self.signs, name)
                parts.append(f"{sign * 3 if name == 'asks' else sign} {words}")
        return ", ".join(parts)

    def name(self, process: str) -> str:
        return self.names.get(process, process)

    def label(self, message: str | None) -> str:
        return self.labels.get(message or "", message or "")

    def called(self, message: str | None) -> str:
        return self.words.get(message or "") or self.label(message)

    def of(self, process: str, *signs: str) -> list[int]:
        """Numbers of the lines of a process that have one of these signs."""
        return [line.number for line in self.lines if line.process == process and line.sign in signs]

    def note(self, line: Line) -> str:
        """What a person reads beside the line; findings first."""
        label = self.called(line.message)
        for finding in line.findings:
            other = self.called(finding.other)
            if finding.verdict in ("inversion", "gap"):
                return f"{label} {'after' if finding.verdict == 'inversion' else 'without'} {other}!"
        if line.findings:
            return f"{label}: {line.findings[0].verdict}!"
        if line.sign == "publish":
            text = self.texts.get(line.message)
            return f"{self.name(line.process)}: {text}" if text else f"publishes {label}"
        if line.sign == "asks":
            return f"asks {self.name(line.peer or '')} for {label}"
        if line.sign == "hold":
            return f"{label} is held"
        if line.sign == "discard":
            return f"{label} is left out: {line.reason}"
        if line.reason == "deadline":
            return f"{label}, at its deadline"
        return "" if line.peer else f"now {label}"

    def _lanes(self, line: Line) -> str:
        cells = [" "] * (FIRST_LANE + self.pitch * (len(self.lanes) - 1) + 4)
        place = {lane: FIRST_LANE + self.pitch * number for number, lane in enumerate(self.lanes)}
        for column in place.values():
            cells[column] = self.signs.lane
        here, there = place[line.process], place.get(line.peer or "")
        if there is not None:
            asks = line.sign == "asks"
            begin, end = (here, there) if asks else (there, here)
            step = 1 if begin < end else -1
            for column in range(begin + step, end, step):
                cells[column] = self.signs.asks if asks else self.signs.arrow
            cells[begin] = self.signs.leaves[step < 0]
            cells[end - step] = self.signs.heads[step > 0]
            label = f"{self.label(line.message)}{'?' * asks}"[: self.pitch - 3]
            left = min(begin, end) + (abs(end - begin) - len(label)) // 2 + (step < 0)
            cells[left : left + len(label)] = label
        elif not line.peer:
            label = self.label(line.message)[: self.pitch - 3]
            cells[here + 2 : here + 2 + len(label)] = label
        cells[here] = getattr(self.signs, line.sign) if line.sign != "asks" else self.signs.lane
        return "".join(cells)


def draw(
    rows: Iterable[Sequence[Any]],
    *,
    lanes: Sequence[str] | None = None,
    names: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    words: Mapping[str, str] | None = None,
    texts: Mapping[str, str] | None = None,
    findings: Iterable[Finding] = (),
    signs: Signs = BOX,
    pitch: int = PITCH,
) -> Picture:
    """The picture of these rows.

    `lanes`: which processes, from left to right (all, by name); `names`: what to call them; `labels`: message -> what
    stands on its arrows; `words`: message -> what it is in a sentence; `texts`: message -> what it says;
    `pitch`: columns from lane to lane.
    """
    told = [Row._make(row) for row in rows]
    lanes = lanes or sorted({row.process for row in told})
    told = sorted((row for row in told if row.process in lanes), key=lambda row: (time_of(row), row.process, row.step))
    lines = list(lines_of(told))
    where: dict[tuple[str, str | None], list[Finding]] = {}
    for finding in findings:
        where.setdefault((finding.process, finding.message), []).append(finding)
    for number, line in enumerate(lines, 1):
        line.number = number
        if line.sign == "deliver":
            line.findings = where.get((line.process, line.message), [])
    return Picture(lanes, lines, names or {}, labels or {}, words or {}, texts or {}, signs, pitch)


def lines_of(rows: Iterable[Row]) -> Iterator[Line]:
    """One per publication, per first arrival with what became of it at once, and per step that came later; of rows in
    the order of time."""
    seen: set[tuple[str, str]] = set()
    came: dict[str, Line] = {}
    """Per process: an arrival whose outcome may be in the next row."""
    lines: list[Line] = []
    for row in rows:
        if row.message is None or row.kind not in ("publish", "arrive", "deliver", "discard", "ask"):
            continue
        at_us, message = time_of(row), row.message
        if row.kind == "publish":
            lines.append(Line(row.process, at_us, message, "publish"))
        elif row.kind == "arrive" and (row.process, message) not in seen:
            seen.add((row.process, message))
            came[row.process] = Line(row.process, at_us, message, "hold", row.peer)
            lines.append(came[row.process])
        elif row.kind == "ask":
            lines.append(Line(row.process, at_us, message, "asks", row.peer))
        elif row.kind == "deliver" or (row.kind == "discard" and row.reason not in ("duplicate", "foreign")):
            sign = "deliver" if row.kind == "deliver" else "discard"
            last = came.pop(row.process, None)  # what goes out later stands below, in the order in which it went
            if last is not None and (last.message, last.at_us, last.sign) == (message, at_us, "hold"):
                last.sign, last.reason = sign, row.reason
            else:
                lines.append(Line(row.process, at_us, message, sign, None, row.reason))
    yield from lines
