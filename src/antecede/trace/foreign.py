"""Tables of other systems: who delivered what, in which order, and what each message came after.

Decided in this file: from parent lists (or vector clocks) alone, inversions and duplicates are violations; a parent
that a receiver never got is listed as missing and is no violation, since such a table says neither what the receiver
asked for nor until when it had to wait.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.json

from antecede.errors import InputError, one_line
from antecede.trace.history import bits
from antecede.trace.parquet import open_parquet
from antecede.trace.report import Finding

__all__ = ["ForeignReport", "Place", "check_table", "judge_places", "read_table"]


@dataclass(slots=True, frozen=True)
class Place:
    """One delivery: at `receiver`, the `position`-th, message `id`, after `parents` or with vector `clock`."""

    receiver: str
    position: int
    id: str
    parents: tuple[str, ...] = ()
    clock: tuple[tuple[str, int], ...] | None = None


@dataclass(slots=True)
class ForeignReport:
    rows: int = 0
    receivers: int = 0
    messages: int = 0
    findings: list[Finding] = field(default_factory=list)
    missing: list[Finding] = field(default_factory=list)
    """Parents that never came, once for each receiver."""

    @property
    def clean(self) -> bool:
        return not self.findings

    @property
    def counts(self) -> dict[str, int]:
        kinds = [f.verdict for f in self.findings]
        return {"inversion": kinds.count("inversion"), "duplicate": kinds.count("duplicate")}

    def to_json(self) -> dict[str, Any]:
        def plain(finding: Finding) -> dict[str, Any]:
            return {name: getattr(finding, name) for name in Finding.__slots__}

        return {
            "clean": self.clean,
            "rows": self.rows,
            "receivers": self.receivers,
            "messages": self.messages,
            "counts": {**self.counts, "missing": len(self.missing)},
            "findings": [plain(f) for f in self.findings],
            "missing": [plain(f) for f in self.missing],
        }


def check_table(
    path: str | Path,
    *,
    id: str,
    parents: str | None = None,
    clock: str | None = None,
    receiver: str | None = None,
    position: str | None = None,
) -> ForeignReport:
    """Judge a Parquet, CSV or JSON-lines table; the arguments name its columns."""
    if (parents is None) == (clock is None):
        raise InputError("name the column of the parents (--parents) or of the vector clock (--clock), one of the two")
    table = read_table(path)
    wanted = [c for c in (id, parents, clock, receiver, position) if c is not None]
    absent = [c for c in wanted if c not in table.column_names]
    if absent:
        raise InputError(f"{path} has no column {', '.join(absent)}; it has {', '.join(table.column_names)}")
    values = {c: table.column(c).to_pylist() for c in wanted}
    places = []
    for number in range(table.num_rows):
        name = values[id][number]
        if name is None:
            raise InputError(f"{path}: row {number} has no {id}")
        where = number if position is None else values[position][number]
        if not isinstance(where, int):
            raise InputError(f"{path}: row {number}: {position} is {where!r}, not a whole number")
        places.append(
            Place(
                receiver="all" if receiver is None else str(values[receiver][number]),
                position=where,
                id=str(name),
                parents=() if parents is None else _parents(values[parents][number]),
                clock=None if clock is None else _clock(values[clock][number], f"{path}: row {number}: {clock}"),
            )
        )
    return judge_places(places)


def read_table(path: str | Path) -> pa.Table:
    file = Path(path)
    if not file.is_file():
        raise InputError(f"{file} is not a file: a table is one Parquet, CSV or JSON-lines file")
    try:
        if file.suffix == ".csv":
            return pa.csv.read_csv(file)
        if file.suffix in (".json", ".jsonl", ".ndjson"):
            return pa.json.read_json(file)
        return open_parquet(file).read()
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"cannot read {file}: {one_line(error)}") from error


def _parents(value: Any) -> tuple[str, ...]:
    """A list, or text with commas, semicolons or spaces between the ids."""
    if value is None:
        return ()
    if isinstance(value, str):
        return tuple(part for part in re.split(r"[\s,;]+", value) if part)
    if isinstance(value, list):
        return tuple(str(v) for v in value)
    return (str(value),)


def _clock(value: Any, where: str) -> tuple[tuple[str, int], ...]:
    try:
        pairs = json.loads(value) if isinstance(value, str) else value
        pairs = pairs.items() if isinstance(pairs, dict) else pairs
        return tuple(sorted((str(name), int(count)) for name, count in pairs if count))
    except (TypeError, ValueError) as error:
        raise InputError(f'{where} is {value!r}, not a vector clock like {{"p": 3}}') from error


def judge_places(places: Iterable[Place]) -> ForeignReport:
    everything = list(places)
    order = {name: number for number, name in enumerate(dict.fromkeys(p.id for p in everything))}
    past = _past(everything, order)
    report = ForeignReport(rows=len(everything), messages=len(order))
    by_receiver: dict[str, list[Place]] = {}
    for place in everything:
        by_receiver.setdefault(place.receiver, []).append(place)
    report.receivers = len(by_receiver)
    for receiver, mine in sorted(by_receiver.items()):
        mine.sort(key=lambda place: place.position)
        out = overtaken = 0
        for place in mine:
            bit = 1 << order[place.id]
            if out & bit:
                text = f"delivered {place.id} a second time"
                report.findings.append(Finding("duplicate", receiver, place.id, None, place.position, text))
                continue
            if overtaken & bit:
                later = next(p.id for p in mine if past[order[p.id]] & bit)
                text = f"delivered {place.id} after {later}, although {place.id} -> {later}"
                report.findings.append(Finding("inversion", receiver, place.id, later, place.position, text))
            out |= bit
            overtaken |= past[order[place.id]]
        absent: dict[str, Place] = {}
        for place in mine:
            for parent in place.parents:
                if parent not in order or not out >> order[parent] & 1:
                    absent.setdefault(parent, place)
        for name, place in absent.items():
            text = f"delivered {place.id}, but never its parent {name}"
            report.missing.append(Finding("missing", receiver, place.id, name, place.position, text))
    return report


def _past(places: list[Place], order: dict[str, int]) -> list[int]:
    """message -> mask of its ancestors."""
    if any(place.clock is not None for place in places):
        return _past_by_clock(places, order)
    parents = [0] * len(order)
    for place in places:
        for parent in place.parents:
            if parent in order:
                parents[order[place.id]] |= 1 << order[parent]
    past: list[int | None] = [None] * len(order)
    names = list(order)
    for start in range(len(order)):
        stack, open_now = [start], {start}
        while stack:
            top = stack[-1]
            todo = [] if past[top] is not None else [p for p in bits(parents[top]) if past[p] is None]
            if todo:
                if todo[0] in open_now:
                    raise InputError(f"the history is cyclic: {names[todo[0]]} is among its own ancestors")
                stack.append(todo[0])
                open_now.add(todo[0])
                continue
            if past[top] is None:
                mask = parents[top]
                for above in bits(parents[top]):
                    mask |= past[above] or 0
                past[top] = mask
            open_now.discard(stack.pop())
    return [mask or 0 for mask in past]


def _past_by_clock(places: list[Place], order: dict[str, int]) -> list[int]:
    """a precedes b when every entry of a's clock is covered by b's and the clocks differ."""
    clocks: list[dict[str, int]] = [{} for _ in order]
    for place in places:
        clocks[order[place.id]] = dict(place.clock or ())
    past = [0] * len(order)
    for later, wide in enumerate(clocks):
        for earlier, narrow in enumerate(clocks):
            if narrow and narrow != wide and all(wide.get(name, 0) >= count for name, count in narrow.items()):
                past[later] |= 1 << earlier
    return past
