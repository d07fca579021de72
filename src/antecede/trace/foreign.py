"""Tables of other systems: who delivered what, in which order, and what each message came after.

Decided in this file: from parent lists (or vector clocks) alone, inversions and duplicates are violations; a parent
that a receiver never got is listed as missing and is no violation, since such a table says neither what the receiver
asked for nor until when it had to wait. What a cell means must be certain: what may be read in two ways is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
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
    texts = [c for c in (id, parents, clock, receiver) if c is not None]
    table = read_table(path, texts)
    wanted = [*texts, *([] if position is None else [position])]
    absent = [c for c in wanted if c not in table.column_names]
    if absent:
        raise InputError(f"{path} has no column {', '.join(absent)}; it has {', '.join(table.column_names)}")
    twice = [c for c in wanted if table.column_names.count(c) > 1]
    if twice:
        raise InputError(f"{path} has more than one column {', '.join(twice)}: rename all but one")
    if not table.num_rows:
        raise InputError(f"{path} holds no row: nothing to check")
    values = {c: table.column(c).to_pylist() for c in wanted}
    places = []
    for number in range(table.num_rows):
        row = f"{path}: row {number}"
        where = number if position is None else values[position][number]
        if not isinstance(where, int) or isinstance(where, bool):
            raise InputError(f"{row}: {position} is {where!r}, not a whole number")
        places.append(
            Place(
                receiver="all" if receiver is None else _text(values[receiver][number], row, receiver),
                position=where,
                id=_text(values[id][number], row, id),
                parents=() if parents is None else _parents(values[parents][number], row, parents),
                clock=None if clock is None else _clock(values[clock][number], f"{row}: {clock}"),
            )
        )
    return judge_places(places)


def read_table(path: str | Path, texts: Iterable[str] = ()) -> pa.Table:
    """The table in a file; of a CSV file these columns are `texts` whatever they look like: 001 is not 1."""
    file = Path(path)
    if not file.is_file():
        raise InputError(f"{file} is not a file: a table is one Parquet, CSV or JSON-lines file")
    try:
        if file.suffix == ".csv":
            options: Any = pa.csv.ConvertOptions
            kinds = dict.fromkeys(texts, pa.string())
            return pa.csv.read_csv(
                file, convert_options=options(column_types=kinds, null_values=[""], strings_can_be_null=True)
            )
        if file.suffix in (".json", ".jsonl", ".ndjson"):
            return pa.json.read_json(file)
        return open_parquet(file).read()
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"cannot read {file}: {one_line(error)}") from error


def _text(value: Any, row: str, column: str) -> str:
    """An id: text, or a whole number; a table that had empty cells may have made floats of whole numbers."""
    if value is None:
        raise InputError(f"{row} has no {column}")
    if isinstance(value, float):
        if not value.is_integer():
            raise InputError(f"{row}: {column} is {value!r}, neither text nor a whole number")
        value = int(value)
    return str(value)


def _parents(value: Any, row: str, column: str) -> tuple[str, ...]:
    """A list, the same as JSON, or text with commas, semicolons or spaces between the ids."""
    if isinstance(value, str):
        listed = _json_list(value)
        if listed is None:
            return tuple(part for part in re.split(r"[\s,;]+", value) if part)
        value = listed
    several = value if isinstance(value, list) else [value]
    return tuple(_text(v, row, column) for v in several if v is not None and v == v)


def _json_list(text: str) -> list[Any] | None:
    try:
        value = json.loads(text) if text.lstrip().startswith("[") else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, list) else None


def _clock(value: Any, where: str) -> tuple[tuple[str, int], ...]:
    try:
        pairs = json.loads(value) if isinstance(value, str) else value
        pairs = pairs.items() if isinstance(pairs, dict) else pairs
        return tuple(sorted((str(name), _count(count)) for name, count in pairs if count))
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        shown = repr(value)[:80]
        raise InputError(f'{where} is {shown}, not a vector clock like {{"p": 3}}') from error


def _count(value: Any) -> int:
    count = int(value)
    if isinstance(value, bool | str) or count != value or not 0 < count < 2**63:
        raise ValueError(f"{value!r} counts nothing")
    return count


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
        for one, other in pairwise(mine):
            if one.position == other.position:
                both = f"{one.id} and {other.id}" if one.id != other.id else f"{one.id} twice"
                raise InputError(f"receiver {receiver} has {both} at position {one.position}: number its deliveries")
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
    known: dict[str, dict[str, int]] = {}
    for place in places:
        clock = dict(place.clock or ())
        if known.setdefault(place.id, clock) != clock:
            raise InputError(f"{place.id} comes with different vector clocks: one message has one")
    clocks = [known[name] for name in order]
    past = [0] * len(order)
    for later, wide in enumerate(clocks):
        for earlier, narrow in enumerate(clocks):
            if narrow and narrow != wide and all(wide.get(name, 0) >= count for name, count in narrow.items()):
                past[later] |= 1 << earlier
    return past
