"""Which rows of a run are drawn, and in which lanes.

Decided here: a picture holds at most MOST steps and LANES lanes, and says what it leaves out; all lives of a process
(`A`, `A.1`) share a lane; members and brokers stand left of subscribers. A picture of a message shows its nearest
causes too, one of a finding what lies between the two messages it names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from antecede.core.membership.news import split_name
from antecede.errors import InputError
from antecede.report.show.run import Run
from antecede.trace.diagram import Line, lines_of
from antecede.trace.history import bits, time_of
from antecede.trace.record import ROLES, Row
from antecede.trace.report import Finding, ms

__all__ = ["LANES", "MOST", "Chosen", "about", "around", "lane_of", "window"]

MOST = 160
"""Steps in one picture: about four screens."""
LANES = 14
CAUSES = 5
"""Causes of a message that are drawn with it."""
LIFE = ("join", "leave", "move", "crash", "restart")


@dataclass(slots=True)
class Chosen:
    lanes: list[str]
    lines: list[Line]
    life: list[Row]
    """Of the processes drawn: joins, moves, crashes and the like."""
    left_out: str = ""
    """A sentence: what is not drawn, and how to see it. Empty: nothing."""


def lane_of(process: str) -> str:
    """All lives of a process share a lane.

    >>> lane_of("A.2"), lane_of("A")
    ('A', 'A')
    """
    return split_name(process)[0]


def natural(name: str) -> tuple[tuple[bool, int, str], ...]:
    """S2 before S10."""
    return tuple((part.isdigit(), int(part) if part.isdigit() else 0, part) for part in re.findall(r"\d+|\D+", name))


def all_lanes(run: Run) -> list[str]:
    roles = {lane_of(row.process): ROLES.index(row.role) for row in run.rows}
    return sorted(roles, key=lambda lane: (roles[lane], natural(lane)))


def window(
    run: Run, *, start_us: int | None = None, end_us: int | None = None, processes: Sequence[str] = ()
) -> Chosen:
    """What happened from `start_us` to `end_us` (since the first row), at these processes."""
    first = _first_step(run) if start_us is None else run.begin_us + start_us
    last = None if end_us is None else run.begin_us + end_us
    rows = [row for row in run.rows if time_of(row) >= first and (last is None or time_of(row) <= last)]
    chosen = _picture(run, rows, processes)
    if not chosen.lines and (start_us is not None or end_us is not None):
        ends = max(time_of(row) for row in run.rows) - run.begin_us
        whom = f" at {', '.join(processes)}" if processes else ""
        raise InputError(f"Nothing happens{whom} in this stretch: the run begins at 0 ms and ends at {ms(ends)}.")
    return chosen


def about(run: Run, message: str, *, processes: Sequence[str] = ()) -> Chosen:
    """What became of a message and of its nearest causes, at every process."""
    if message not in run.history.index:
        sender = message.rpartition(":")[0]
        near = [told.id for told in run.history.messages if told.publisher == sender][:3]
        known = near or [told.id for told in run.history.messages][:3]
        raise InputError(f"Nobody published {message!r} in this run; there is, for example, {', '.join(known)}.")
    shown = {message, *run.causes(message)[:CAUSES]}
    return _picture(run, [row for row in run.rows if row.message in shown], processes)


def around(run: Run, finding: Finding) -> Chosen:
    """The messages of a finding and the causes between them, at the processes that had a part in it."""
    history = run.history
    ends = [history.index[name] for name in (finding.message, finding.other) if name in history.index]
    shown = set(ends)
    if len(ends) > 1:
        low, high = min(ends), max(ends)
        between = [n for n in bits(history.messages[high].ancestors) if history.messages[n].ancestors >> low & 1]
        shown.update(between[:CAUSES])
    ids = {history.messages[index].id for index in shown}
    rows = [row for row in run.rows if row.message in ids]
    part = {finding.process, *(history.messages[index].publisher for index in shown)}
    part |= {row.peer for row in rows if row.process == finding.process and row.kind == "arrive" and row.peer}
    return _picture(run, rows, sorted(part), whole=True)


def _first_step(run: Run) -> int:
    """Just before the first publication: processes join long before, in some runs."""
    return next((time_of(row) for row in run.rows if row.kind == "publish"), run.begin_us)


def _picture(run: Run, rows: Iterable[Row], processes: Collection[str], *, whole: bool = False) -> Chosen:
    lanes = all_lanes(run)
    named = {lane_of(name) for name in processes}
    if unknown := sorted(named - set(lanes)):
        raise InputError(f"No process of this run is called {unknown[0]!r}; there are {', '.join(lanes[:12])}.")
    told = list(rows)
    lines = [line for line in lines_of(told) if not named or lane_of(line.process) in named]
    said: list[str] = []
    if len(lines) > MOST:
        kept = lines[:MOST]
        until = (kept[-1].at_us - run.begin_us) / 1000
        said.append(f"{len(lines) - MOST:,} later steps (--from {until:.0f} shows what follows)")
        lines = kept
    busy = Counter(lane_of(line.process) for line in lines)
    busy.update(lane_of(line.peer) for line in lines if line.peer)
    drawn = [lane for lane in lanes if busy[lane] and (not named or lane in named)]
    if len(drawn) > LANES:
        most = {lane for lane, _ in busy.most_common() if not named or lane in named}
        keep = set(sorted(most, key=lambda lane: (-busy[lane], natural(lane)))[:LANES])
        others = [lane for lane in drawn if lane not in keep]
        drawn = [lane for lane in drawn if lane in keep]
        lines = [line for line in lines if lane_of(line.process) in keep]
        said.append(f"{len(others)} processes that do less here (--process {others[0]} shows one)")
    life = _life(run, lines, set(drawn))
    return Chosen(drawn, lines, life, f"Not drawn: {'; '.join(said)}." if said and not whole else "")


def _life(run: Run, lines: Sequence[Line], lanes: Collection[str]) -> list[Row]:
    if not lines:
        return []
    first, last = lines[0].at_us, lines[-1].at_us
    return [
        row for row in run.rows if row.kind in LIFE and first <= time_of(row) <= last and lane_of(row.process) in lanes
    ]
