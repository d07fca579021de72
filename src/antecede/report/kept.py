"""The lab's results as a folder that can be kept beside the code: one page in Markdown, small figures, tidy tables.

Decided here: what is kept of a run of the lab. `README.md` has the claims in the order of the papers: sentence,
verdict, numbers, figure, command, and how it was measured (design, seeds, cells, version, load). Figures are PNG with a
palette of 64 colours, tables CSV. Several runs can be given, the best first: a claim is taken from the first that has
it, so what a full run has not finished comes from a quick one and is marked so. What lies in the folder of an earlier
keep, and nothing else, is replaced.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from antecede.errors import InputError

__all__ = ["Kept", "keep"]

Body = dict[str, Any]

MOST = 14
"""Rows of a table that the page shows; the CSV has them all."""
COLUMNS = 7
COLOURS = 64


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
    found: list[tuple[Path, Body]] = []
    for name in names:
        file = next((run / name / "result.json" for run in runs if (run / name / "result.json").is_file()), None)
        if file is not None:
            found.append((file.parent, json.loads(file.read_text("utf-8"))))
    if not found:
        told = ", ".join(map(str, runs))
        raise InputError(f"There is no result of the lab in {told}: run `antecede lab all --out DIR` first.")
    for folder in ("figures", "tables"):
        shutil.rmtree(target / folder, ignore_errors=True)
        (target / folder).mkdir(parents=True)
    for directory, body in found:
        _figure(directory / "figure.png", target / "figures" / f"{body['claim']}.png")
        if (directory / "table.csv").is_file():
            shutil.copyfile(directory / "table.csv", target / "tables" / f"{body['claim']}.csv")
    bodies = [body for _, body in found]
    has = {body["claim"] for body in bodies}
    missing = tuple(name for name in names if name not in has)
    page = target / "README.md"
    page.write_text(_page(bodies, missing), encoding="utf-8")
    size = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
    return Kept(page, len(bodies), tuple(b["claim"] for b in bodies if b["effort"]["quick"]), missing, size)


def _figure(source: Path, target: Path) -> None:
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


def _page(bodies: Sequence[Body], missing: Sequence[str]) -> str:
    versions = sorted({body["antecede"] for body in bodies})
    counts: dict[str, int] = {}
    for body in bodies:
        counts[body["word"]] = counts.get(body["word"], 0) + 1
    quick = sum(body["effort"]["quick"] for body in bodies)
    lines = [
        "# What the papers claim, measured",
        "",
        f"{len(bodies)} claims: {', '.join(f'{count} {word}' for word, count in counts.items())}. "
        f"{len(bodies) - quick} are of the default design, {quick} of the quick one. antecede {', '.join(versions)}. "
        "Written by `antecede lab keep`; [lab.md](../lab.md) says what a claim is and how verdicts come about.",
        "",
        "Everything is counted in the simulators' own time and drawn from fixed seeds: the same command gives the same "
        "table on any machine, whatever else runs there. The load says only how busy the machine was.",
        "",
        *([f"Not measured: {', '.join(missing)}.", ""] if missing else []),
        "| claim | place | verdict | design | seeds | load |",
        "|---|---|---|---|---|---|",
    ]
    for body in bodies:
        name = body["claim"]
        lines.append(
            f"| [{name}](#{name}) | {_cell(body['place'])} | {body['word']} | {design_of(body)} | {_seeds(body)} | "
            f"{_load(body)} |"
        )
    last = None
    for body in bodies:
        if body["papers"] != last:
            last = body["papers"]
            lines += ["", f"## {'Ours' if last == 'ours' else f'Paper {last}'}"]
        lines += ["", *_claim(body)]
    return "\n".join(lines) + "\n"


def _claim(body: Body) -> list[str]:
    name = body["claim"]
    return [
        f"### {name}",
        "",
        f"> {body['sentence']} ({body['place']})",
        "",
        f"**{_capital(body['verdict'])}**",
        "",
        f"![{body['caption']}](figures/{name}.png)",
        "",
        body["caption"],
        "",
        *_numbers(body),
        f"*Measured:* {body['asks']} *Fixed before:* {body['design']} *Not in the text:* {body['chosen']}",
        "",
        f"*Again:* `{body['command']}` ({design_of(body)} design, {body['cells']:,} cells, {_seeds(body)} seeds per "
        f"point, {len(body['failed'])} failed, antecede {body['antecede']})",
    ]


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
        return f"{value:,.4g}"
    return f"{value:,}" if isinstance(value, int) else _cell(str(value))


def _cell(text: str) -> str:
    return text.replace("|", "/").replace("\n", " ")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _seeds(body: Body) -> str:
    """How many runs a point has."""
    runs = sorted({row["runs"] for row in body["table"] if "runs" in row})
    return "-" if not runs else f"{runs[0]:,}" if len(runs) == 1 else f"{runs[0]:,} to {runs[-1]:,}"


def _load(body: Body) -> str:
    load = body.get("load")
    return "-" if not load else f"{load:.1f}"
