"""Figures of a kept folder drawn anew from the tables that lie beside them: nothing is measured again.

Decided here: how a tidy table is read back from its CSV. A draw function that has changed gets its figure this way, and
the page gets the caption that the claim has now; sentences, numbers and verdicts on the page stay as they were kept.
The rule is asked again about every table it once saw: a verdict that does not follow from it any more is reported.
"""

from __future__ import annotations

import csv
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from antecede.errors import InputError
from antecede.lab.claim import Claim, Table
from antecede.lab.figures import figure, save
from antecede.lab.run import headline_of
from antecede.report.kept import entries, keep_figure

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
    words = {entry.name: entry.word for entry in entries(text)}
    drawn: list[str] = []
    stale: list[str] = []
    for name in named:
        if name not in words:
            raise InputError(f"{target} has no claim {name!r}; it has {', '.join(words)}.")
    for claim in claims:
        if claim.name not in (named or words):
            continue
        file = target / "tables" / f"{claim.name}.csv"
        if not file.is_file():
            raise InputError(f"{file} is missing: `antecede lab keep` puts it there.")
        table = read_table(file)
        if claim.rule(table).word != words[claim.name]:
            stale.append(claim.name)
        with tempfile.TemporaryDirectory() as folder:
            save(_drawing(claim, table), Path(folder), [])
            keep_figure(Path(folder) / "figure.png", target / "figures" / f"{claim.name}.png")
        text = _captioned(text, claim)
        drawn.append(claim.name)
    page.write_text(text, encoding="utf-8")
    return Redrawn(tuple(drawn), tuple(stale))


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


def _captioned(text: str, claim: Claim) -> str:
    """The page with the caption of this claim, below its figure and instead of it."""
    link = f"(figures/{claim.name}.png)"
    pattern = re.compile(rf"^!\[.*\]{re.escape(link)}\n\n.*$", re.MULTILINE)
    return pattern.sub(lambda _: f"![{claim.caption}]{link}\n\n{claim.caption}", text)
