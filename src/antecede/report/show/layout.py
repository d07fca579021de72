"""Where everything in a space-time diagram stands: time runs down, a lane per process, an arrow from where a copy came.

Decided here: the distance between two steps grows with the time between them, within bounds, so that a pause of a
minute and a burst of a millisecond can both be read; two steps of one lane never overlap; and an arrow leaves its
sender's lane at the last step there that concerned the message. Example: A publishes m, B gets it and passes it on to
S: the arrow to S leaves B's lane at the step at which B got m.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from antecede.report.show.chosen import Chosen, lane_of
from antecede.report.show.run import Run
from antecede.trace.diagram import Line
from antecede.trace.history import time_of
from antecede.trace.record import Row
from antecede.trace.report import Finding

__all__ = ["Arrow", "Mark", "Note", "Scene", "Stretch", "lay_out"]

LEFT = 76
"""Room for times."""
TOP = 44
RIGHT = 104
"""Room for what stands beside the last lane."""
STEP = 19.0
"""Between two steps of one lane, in pixels."""
AGAIN = 700.0
"""From one row of names to the next."""
BAND = 16.0
"""Above and below a repeated row of names: no step stands there."""
NEAR, FAR = 5.0, 44.0
"""Between two instants, whatever lies between them."""
WIDE, NARROW, ROOM = 170.0, 92.0, 1020.0
"""Between two lanes: as wide as ROOM allows."""


@dataclass(slots=True)
class Mark:
    """A step of a process."""

    x: float
    y: float
    line: Line
    right: bool = True
    """Whether its label stands at its right: on the other side comes, or leaves, the arrow."""
    findings: list[Finding] = field(default_factory=list)


@dataclass(slots=True)
class Arrow:
    """A copy on its way, or a request."""

    x0: float
    y0: float
    x1: float
    y1: float
    message: str
    asks: bool
    known: bool
    """Whether the picture shows where it left; otherwise it is drawn level."""


@dataclass(slots=True)
class Stretch:
    """Part of a lane: a message waits to be delivered, or (no message) the process is not there."""

    x: float
    y0: float
    y1: float
    message: str | None = None


@dataclass(slots=True)
class Note:
    x: float
    y: float
    text: str
    kind: str


@dataclass(slots=True)
class Scene:
    lanes: list[tuple[float, str]]
    height: float
    width: float
    pitch: float
    marks: list[Mark] = field(default_factory=list)
    arrows: list[Arrow] = field(default_factory=list)
    waits: list[Stretch] = field(default_factory=list)
    absences: list[Stretch] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    ticks: list[tuple[float, str]] = field(default_factory=list)

    def heads(self) -> list[float]:
        """How far down the names of the lanes stand: at the top, and again on every screen."""
        return [24.0, *(AGAIN * n for n in range(1, int(self.height / AGAIN - 0.3) + 1))]


def lay_out(run: Run, chosen: Chosen, findings: Sequence[Finding] = ()) -> Scene:
    pitch = max(NARROW, min(WIDE, ROOM / max(1, len(chosen.lanes))))
    column = {lane: LEFT + pitch * (place + 0.5) for place, lane in enumerate(chosen.lanes)}
    scene = Scene([(x, lane) for lane, x in column.items()], TOP, LEFT + pitch * len(column) + RIGHT, pitch)
    items: list[tuple[int, Row | Line]] = sorted(
        [*((time_of(row), row) for row in chosen.life), *((line.at_us, line) for line in chosen.lines)],
        key=lambda item: (item[0], isinstance(item[1], Line)),
    )
    where: dict[tuple[str, str | None], list[Finding]] = {}
    for one in findings:
        where.setdefault((one.process, one.message), []).append(one)
    places = _places([(at_us, lane_of(item.process)) for at_us, item in items])
    last: dict[tuple[str, str], Mark] = {}
    waiting: dict[tuple[str, str], Mark] = {}
    gone: dict[str, float] = _absent_at_first(run, chosen, column)
    ticked = -STEP
    for (at_us, item), y in zip(items, places, strict=True):
        if y - ticked >= STEP:
            scene.ticks.append((y, f"{(at_us - run.begin_us) / 1000:,.1f}"))
            ticked = y
        x = column[lane_of(item.process)]
        if isinstance(item, Row):
            _life(scene, item, x, y, gone)
            continue
        mark = Mark(x, y, item)
        scene.marks.append(mark)
        if item.sign == "deliver" or item.reason is not None:
            mark.findings = where.get((item.process, item.message), [])
        if item.peer is not None and lane_of(item.peer) in column:
            mark.right = column[lane_of(item.peer)] < x or bool(mark.findings)
            scene.arrows.append(_arrow(mark, item, column, last))
        key = (item.process, item.message)
        if item.sign == "hold":
            waiting[key] = mark
        elif item.sign in ("deliver", "discard") and (held := waiting.pop(key, None)) is not None:
            scene.waits.append(Stretch(x, held.y, y, item.message))
        if item.sign != "asks":
            last[(lane_of(item.process), item.message)] = mark
    for mark in scene.marks:
        if mark.line.sign == "publish":
            leaves = [arrow.x1 > mark.x for arrow in scene.arrows if (arrow.x0, arrow.y0) == (mark.x, mark.y)]
            mark.right = 2 * sum(leaves) <= len(leaves)
    scene.height = (places[-1] if places else TOP) + STEP * 1.5
    scene.absences += [Stretch(column[lane], y, scene.height) for lane, y in gone.items()]
    return scene


def _places(steps: Sequence[tuple[int, str]]) -> list[float]:
    """How far down each step stands, of steps in the order of time, each with its lane."""
    pauses = [after - before for (before, _), (after, _) in pairwise(steps) if after > before]
    usual = statistics.median(pauses) if pauses else 1
    places: list[float] = []
    lowest: dict[str, float] = {}
    y = TOP + STEP
    for place, (at_us, lane) in enumerate(steps):
        pause = at_us - steps[place - 1][0] if place else 0
        y += max(NEAR, min(FAR, STEP * pause / usual)) if pause > 0 else 0.0
        y = _below_names(max(y, lowest.get(lane, 0.0)))
        lowest[lane] = y + STEP
        places.append(y)
    return places


def _below_names(y: float) -> float:
    """The same place, or the next one below a row of names that stands there."""
    names = max(1, round(y / AGAIN)) * AGAIN
    return names + BAND if abs(y - names) < BAND else y


def _arrow(mark: Mark, line: Line, column: Mapping[str, float], last: Mapping[tuple[str, str], Mark]) -> Arrow:
    there = column[lane_of(line.peer or "")]
    if line.sign == "asks":
        return Arrow(mark.x, mark.y, there, mark.y, line.message, True, True)
    origin = last.get((lane_of(line.peer or ""), line.message))
    return Arrow(there, mark.y if origin is None else origin.y, mark.x, mark.y, line.message, False, origin is not None)


def _absent_at_first(run: Run, chosen: Chosen, column: Mapping[str, float]) -> dict[str, float]:
    """Lanes whose process is not there when the picture begins: it crashed before, or has not begun."""
    if not chosen.lines:
        return {}
    first = min(line.at_us for line in chosen.lines)
    there: dict[str, bool] = {}
    for row in run.rows:
        lane = lane_of(row.process)
        if time_of(row) <= first:
            there[lane] = row.kind != "crash"
        elif lane not in there:  # a client publishes before it has joined: then it was there, and nobody said so
            there[lane] = row.kind not in ("join", "restart")
    return {lane: TOP - 14.0 for lane in column if not there[lane]}


def _life(scene: Scene, row: Row, x: float, y: float, gone: dict[str, float]) -> None:
    lane = lane_of(row.process)
    if row.kind == "crash":
        gone.setdefault(lane, y)
    elif lane in gone:
        scene.absences.append(Stretch(x, gone.pop(lane), y))
    topics = ", ".join(row.groups or ())
    text = {
        "join": f"joins {topics}" + (f" at {row.peer}" if row.peer else ""),
        "move": f"moves to {row.peer}",
        "leave": f"leaves {topics}",
        "crash": {"expelled": "taken for dead", "left": "left"}.get(row.reason or "", "crashes"),
        "restart": f"back as {row.process}",
    }[row.kind]
    scene.notes.append(Note(x, y, text, row.kind))
