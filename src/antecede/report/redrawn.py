"""Figures of a kept folder drawn anew from the tables that lie beside them: nothing is measured again.

Decided here: how a tidy table is read back from its CSV. A draw function that has changed gets its figure this way, and
the page gets the words that the claim has now: its caption, its design, and how its rule tells what it found. The rule
is asked again about every table it once saw; where it finds something else than the page says - another word, not only
other words - the claim is reported and its verdict stays as it was kept. Where the JSON file of a measurement lies
beside its table, the whole section follows from the two, and the page needs to know nothing of it; so two pages that
were kept at the same time can be put together. Where it does not, numbers and what was varied stay as the page has
them.
"""

from __future__ import annotations

import csv
import json
import math
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from antecede.errors import InputError
from antecede.lab.claim import Claim, Effort, Table, Verdict, varied
from antecede.lab.figures import figure, save
from antecede.lab.run import headline_of
from antecede.report.kept import VARIED, Entry, bold, entries, entry_of, keep_figure, page_of, pictured, worded

__all__ = ["Redrawn", "read_table", "redraw"]


@dataclass(frozen=True, slots=True)
class Redrawn:
    drawn: tuple[str, ...]
    stale: tuple[str, ...]
    """Claims whose rule gives another word for the kept table than the page says."""


def redraw(target: Path, claims: Sequence[Claim], named: Sequence[str] = ()) -> Redrawn:
    """The figures of the named claims in a folder that `keep` made; without names, of all that it has."""
    page = target / "README.md"
    if not page.is_file():
        raise InputError(f"{target} has no README.md: `antecede lab keep` makes such a folder.")
    text = page.read_text("utf-8")
    before = {entry.name: entry for entry in entries(text)}
    told = {claim.name: target / "tables" / f"{claim.name}.json" for claim in claims}
    has = [claim.name for claim in claims if claim.name in before or told[claim.name].is_file()]
    kept = {name: before[name] for name in has if name in before} | {
        name: entry for name, entry in before.items() if name not in told
    }
    drawn: list[str] = []
    stale: list[str] = []
    for name in named:
        if name not in has:
            raise InputError(f"{target} has no claim {name!r}; it has {', '.join(has)}.")
    for claim in claims:
        if claim.name not in (named or has):
            continue
        file = target / "tables" / f"{claim.name}.csv"
        if not file.is_file():
            raise InputError(f"{file} is missing: `antecede lab keep` puts it there.")
        table = read_table(file)
        verdict: Verdict | None = claim.rule(table)
        body = json.loads(told[claim.name].read_text("utf-8")) if told[claim.name].is_file() else None
        word = body["word"] if body else kept[claim.name].word
        if verdict is not None and verdict.word != word:
            stale.append(claim.name)
            verdict = None
        with tempfile.TemporaryDirectory() as folder:
            save(_drawing(claim, table), Path(folder), [])
            keep_figure(Path(folder) / "figure.png", target / "figures" / f"{claim.name}.png")
        if body and verdict is not None:
            kept[claim.name] = entry_of({**body, **_words_of(claim), "verdict": str(verdict), "table": _plain(table)})
        elif claim.name in kept:
            kept[claim.name] = _in_words_of(claim, verdict, kept[claim.name])
        drawn.append(claim.name)
    order = [name for name in (*has, *(name for name in before if name not in has)) if name in kept]
    missing = [name for name in _missing(text) if name not in kept]
    page.write_text(page_of([kept[name] for name in order], missing), encoding="utf-8")
    return Redrawn(tuple(drawn), tuple(stale))


def _words_of(claim: Claim) -> dict[str, Any]:
    """All that the claim says of itself."""
    said = {field.name: getattr(claim, field.name) for field in fields(claim)}
    return {name: value for name, value in said.items() if not callable(value)}


def _plain(table: Table) -> Table:
    """A number that is none is no value on the page."""
    return [{k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in row.items()} for row in table]


def _drawing(claim: Claim, table: Table) -> Any:
    return figure(claim.size, lambda drawing: claim.draw(drawing, table), headline_of(claim))


def read_table(file: Path) -> Table:
    """A tidy table as it was written."""
    with file.open(encoding="utf-8", newline="") as lines:
        return [{name: _value(text) for name, text in row.items()} for row in csv.DictReader(lines)]


def _value(text: str) -> Any:
    """
    >>> [_value(text) for text in ("12", "0.25", "nan", "True", "", "colour-eager")]
    [12, 0.25, nan, True, None, 'colour-eager']
    """
    if text in ("", "True", "False"):
        return None if not text else text == "True"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _in_words_of(claim: Claim, verdict: Verdict | None, entry: Entry) -> Entry:
    """Its section with the words of the claim: what it says, where it is drawn, and how it was measured."""
    lines = list(entry.lines)
    said = next(i for i, line in enumerate(lines) if line.startswith("**"))
    if verdict is not None:
        lines[said] = bold(str(verdict))
    shown = next(i for i, line in enumerate(lines) if line.startswith("!["))
    lines[shown : shown + 3] = pictured(claim.name, claim.caption)
    how = next(i for i, line in enumerate(lines) if line.startswith("*Measured:*"))
    lines[how] = worded(claim.asks, claim.design, claim.chosen, claim.beside)
    if not any(line.startswith(VARIED) for line in lines):
        lines[how + 1 : how + 1] = ["", f"{VARIED} {varied(claim.cells(_effort_of(entry)))}."]
    return replace(entry, papers=claim.papers, lines=tuple(lines))


def _effort_of(entry: Entry) -> Effort:
    seeds = re.search(r", (\d+) seeds \|", entry.row)
    return Effort(entry.quick, int(seeds[1]) if seeds else None)


def _missing(text: str) -> list[str]:
    """The claims of which the page says that nobody measured them."""
    found = re.search(r"^Not measured: (.*)\.$", text, re.MULTILINE)
    return found[1].split(", ") if found else []
