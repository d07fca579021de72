"""The lab's results as a folder that can be kept beside the code: one page in Markdown, small figures, tidy tables.

Decided here: what is kept of a run of the lab. `README.md` has the claims in the order of the papers: sentence,
verdict, numbers, figure, command, and how it was measured (what varied, design, seeds, cells, load, and which version
of which code on which day; beside each table a JSON file has that too, so that the page can be written anew from the
folder). Figures are PNG with a palette of 96 colours, tables CSV. Several runs can be given, the best first: a claim is
taken from the first that has it, so what a full run has not finished comes from a quick one and is marked so. A claim
that none of them has stays as an earlier keep left it, word for word: measuring one claim again costs the others
nothing. What else an earlier keep left is removed, and nothing that is not its own.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from antecede.errors import InputError
from antecede.lab.claim import TERMS
from antecede.report.claims import made_by
from antecede.trace.report import how_many

__all__ = [
    "VARIED",
    "Entry",
    "Kept",
    "bold",
    "entries",
    "entry_of",
    "keep",
    "keep_figure",
    "page_of",
    "pictured",
    "worded",
]

Body = dict[str, Any]

MOST = 14
"""Rows of a table that the page shows; the CSV has them all."""
COLUMNS = 7
TOLD = ("claim", "word", "effort", "cells", "varied", "load", "failed", "command", "antecede", "code", "date")
"""What is said of a measurement beside its table; the words of the claim are in the claim."""
VARIED = "*Varied:*"
"""How the line begins that says what differed between cells."""
THOUSANDS = 1000.0
"""From here on numbers have no fractions, and no exponents."""
COLOURS = 96


@dataclass(frozen=True, slots=True)
class Entry:
    """One claim on the page."""

    name: str
    papers: str
    word: str
    quick: bool
    antecede: str
    row: str
    """Its line in the table of all claims."""
    lines: tuple[str, ...]
    """Its own section."""


@dataclass(frozen=True, slots=True)
class Kept:
    page: Path
    claims: int
    quick: tuple[str, ...]
    """Claims whose results are of the quick design."""
    missing: tuple[str, ...]
    """Claims that no run has."""
    size: int
    """Bytes of everything kept."""


def keep(runs: Sequence[Path], target: Path, names: Sequence[str]) -> Kept:
    """Of every named claim that one of these runs has, what is worth keeping, into `target`."""
    found: dict[str, tuple[Path, Body]] = {}
    for name in names:
        file = next((run / name / "result.json" for run in runs if (run / name / "result.json").is_file()), None)
        if file is not None:
            found[name] = (file.parent, json.loads(file.read_text("utf-8")))
    if not found:
        told = ", ".join(map(str, runs))
        raise InputError(f"There is no result of the lab in {told}: run `antecede lab all --out DIR` first.")
    page = target / "README.md"
    before = {entry.name: entry for entry in entries(page.read_text("utf-8"))} if page.is_file() else {}
    stays = {name for name in names if name in before and name not in found}
    for folder in ("figures", "tables"):
        (target / folder).mkdir(parents=True, exist_ok=True)
        for path in (target / folder).iterdir():
            if path.stem not in stays:
                path.unlink()
    for directory, body in found.values():
        keep_figure(directory / "figure.png", target / "figures" / f"{body['claim']}.png")
        if (directory / "table.csv").is_file():
            shutil.copyfile(directory / "table.csv", target / "tables" / f"{body['claim']}.csv")
        measured = {name: body[name] for name in TOLD if name in body}
        (target / "tables" / f"{body['claim']}.json").write_text(
            json.dumps(measured, indent=1) + "\n", encoding="utf-8"
        )
    of = {name: before[name] for name in stays} | {name: entry_of(body) for name, (_, body) in found.items()}
    has = [of[name] for name in names if name in of]
    missing = tuple(name for name in names if name not in of)
    page.write_text(page_of(has, missing), encoding="utf-8")
    size = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
    return Kept(page, len(has), tuple(entry.name for entry in has if entry.quick), missing, size)


def entries(page: str) -> list[Entry]:
    """The claims of a page that an earlier keep wrote."""
    rows = {found[1]: found[0] for found in re.finditer(r"^\| \[([^]]+)\]\(#\1\) \|.*$", page, re.MULTILINE)}
    made: list[Entry] = []
    for part in re.split(r"^## ", page, flags=re.MULTILINE)[1:]:
        title, *sections = re.split(r"^### ", part, flags=re.MULTILINE)
        for section in sections:
            name, *lines = section.strip().split("\n")
            version = re.search(r"antecede ([^ ,)]+)(?:, [^()]*)?\)$", lines[-1])
            if name in rows and version:
                _, _, _, word, design, *_ = (cell.strip() for cell in rows[name].split("|"))
                papers = "ours" if title.strip() == "Ours" else title.strip().removeprefix("Paper ")
                own = (f"### {name}", *lines)
                made.append(Entry(name, papers, word, design.startswith("quick"), version[1], rows[name], own))
    return made


def entry_of(body: Body) -> Entry:
    name = body["claim"]
    row = (
        f"| [{name}](#{name}) | {_cell(body['place'])} | {body['word']} | {design_of(body)} | {_seeds(body)} | "
        f"{_load(body)} |"
    )
    quick = bool(body["effort"]["quick"])
    return Entry(name, body["papers"], body["word"], quick, body["antecede"], row, tuple(_claim(body)))


def keep_figure(source: Path, target: Path) -> None:
    """A drawing has few colours: with a palette it takes a third of the bytes."""
    if source.is_file():
        from PIL import Image  # comes with matplotlib

        with Image.open(source) as image:
            image.convert("RGB").quantize(COLOURS).save(target, optimize=True)


# -- the page ----------------------------------------------------------------------------------------------------------


def design_of(body: Body) -> str:
    """
    >>> design_of({"effort": {"quick": True, "seeds": None}}), design_of({"effort": {"quick": False, "seeds": 10}})
    ('quick', 'default, 10 seeds')
    """
    seeds = body["effort"]["seeds"]
    return ("quick" if body["effort"]["quick"] else "default") + (f", {seeds} seeds" if seeds else "")


def page_of(claims: Sequence[Entry], missing: Sequence[str]) -> str:
    versions = sorted({claim.antecede for claim in claims})
    counts: dict[str, int] = {}
    for claim in claims:
        counts[claim.word] = counts.get(claim.word, 0) + 1
    quick = sum(claim.quick for claim in claims)
    lines = [
        "# What the papers claim, measured",
        "",
        f"{how_many(len(claims), 'claim')}: {', '.join(f'{count} {word}' for word, count in counts.items())}. "
        f"{len(claims) - quick} are of the default design, {quick} of the quick one. antecede {', '.join(versions)}. "
        "Written by `antecede lab keep`; [lab.md](../lab.md) says what a claim is and how verdicts come about.",
        "",
        "Everything is counted in the simulators' own time and drawn from fixed seeds: until a protocol changes, the "
        "same command gives the same table on any machine, whatever else runs there. The load says only how busy the "
        "machine was (-: not noted). Beside each command stand the code that measured, as a hash of the packages that "
        "decide what a cell gives, and the day.",
        "",
        *([f"Not measured: {', '.join(missing)}.", ""] if missing else []),
        "| claim | place | verdict | design | seeds | load |",
        "|---|---|---|---|---|---|",
        *(claim.row for claim in claims),
        "",
        "Words:",
        "",
        *(f"- **{term}**: {meaning}." for term, meaning in TERMS.items()),
    ]
    last = None
    for claim in claims:
        if claim.papers != last:
            last = claim.papers
            lines += ["", f"## {'Ours' if last == 'ours' else f'Paper {last}'}"]
        lines += ["", *claim.lines]
    return "\n".join(lines) + "\n"


def _claim(body: Body) -> list[str]:
    name = body["claim"]
    return [
        f"### {name}",
        "",
        f"> {body['sentence']} ({body['place']})",
        "",
        bold(body["verdict"]),
        "",
        *pictured(name, body["caption"]),
        "",
        *_numbers(body),
        worded(body["asks"], body["design"], body["chosen"], body.get("beside")),
        "",
        f"{VARIED} {body.get('varied', '-')}.",
        "",
        f"*Again:* `{body['command']}` ({design_of(body)} design, {body['cells']:,} cells, {_seeds(body)} seeds per "
        f"point, {len(body['failed'])} failed, {made_by(body)})",
    ]


def bold(verdict: str) -> str:
    """
    >>> bold("holds: by far")
    '**Holds: by far**'
    """
    return f"**{verdict[:1].upper()}{verdict[1:]}**"


def pictured(name: str, caption: str) -> list[str]:
    """The figure and what it shows."""
    return [f"![{caption}](figures/{name}.png)", "", caption]


def worded(asks: str, design: str, chosen: str, beside: Sequence[str] | None = None) -> str:
    """What stands below the numbers. `beside`: the claim that judges the same sentence, and what differs there.

    >>> worded("Copies.", "Half.", "F = 3.", ("pull-cost", "there bytes count"))[-64:]
    '*The same sentence:* [pull-cost](#pull-cost): there bytes count.'
    """
    other = f" *The same sentence:* [{beside[0]}](#{beside[0]}): {beside[1]}." if beside else ""
    return f"*Measured:* {asks} *Fixed before:* {design} *Not in the text:* {chosen}{other}"


def _numbers(body: Body) -> list[str]:
    rows: list[Body] = body["table"]
    ends = ("_low", "_high", "_share")
    names = [n for n in dict.fromkeys(n for row in rows for n in row) if not n.endswith(ends) and n != "runs"][:COLUMNS]
    link = f"[tables/{body['claim']}.csv](tables/{body['claim']}.csv)"
    if not rows or len(rows) > MOST:
        return [f"The numbers ({len(rows)} rows): {link}", ""]
    return [
        "| " + " | ".join(name.replace("_", " ") for name in names) + " |",
        "|" + "---|" * len(names),
        *("| " + " | ".join(_value(row, name) for name in names) + " |" for row in rows),
        "",
        f"With intervals: {link}",
        "",
    ]


def _value(row: Body, name: str) -> str:
    value = row.get(name)
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= THOUSANDS else f"{value:,.4g}"
    return f"{value:,}" if isinstance(value, int) else _cell(str(value))


def _cell(text: str) -> str:
    return text.replace("|", "/").replace("\n", " ")


def _seeds(body: Body) -> str:
    """How many runs a point has."""
    runs = sorted({row["runs"] for row in body["table"] if row.get("runs")})
    return "-" if not runs else f"{runs[0]:,}" if len(runs) == 1 else f"{runs[0]:,} to {runs[-1]:,}"


def _load(body: Body) -> str:
    load = body.get("load")
    return "-" if not load else f"{load:.1f}"
