"""From a claim to its verdict: cells, table, rule, figure, and the files they leave.

Decided here: what lies in the directory of a claim. `cells.jsonl` and `cells.parquet` (every cell), `table.csv`,
`figure.png`, `figure.svg`, `result.json` (the verdict and everything the report needs). With failed cells the verdict
is `undecided` and says so, whatever the rest shows. `load.json` says how busy the machine was when cells were measured,
`date.json` on which day that was.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import antecede
from antecede.lab.claim import Claim, Effort, Row, Table, Verdict, varied
from antecede.lab.figures import figure, save
from antecede.spark.sweep import Cell, Progress, Sweep, code_of, measure_cell, seed_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Result", "command_of", "headline_of", "measure_one", "run_claim"]

ROOT = 18112026
"""What all seeds of the lab grow from."""


@dataclass(frozen=True, slots=True)
class Result:
    claim: Claim
    verdict: Verdict
    table: Table
    cells: int
    failed: list[Row]
    directory: Path


def command_of(claim: Claim, effort: Effort) -> str:
    """What repeats it."""
    quick = " --quick" if effort.quick else ""
    seeds = f" --seeds {effort.seeds}" if effort.seeds else ""
    return f"antecede lab run {claim.name}{quick}{seeds}"


def headline_of(claim: Claim) -> str:
    """What stands above its figure."""
    return f"{claim.place}: {claim.asks}"


def measure_one(claim: Claim, effort: Effort, number: int) -> tuple[Cell, Row]:
    """One cell again, in this process; whatever it raises is the caller's."""
    cell = claim.cells(effort)[number]
    return cell, measure_cell(claim.measure, cell.knobs, seed_of(ROOT, cell.seed))


def run_claim(
    claim: Claim,
    effort: Effort,
    out: Path,
    spark: SparkSession | None,
    *,
    clock: Callable[[], float],
    resume: bool = False,
    progress: Callable[[Progress], None] | None = None,
    today: str | None = None,
) -> Result:
    """Measure what is missing and say what follows. `today` is the day that is written beside what is measured."""
    directory = out / claim.name
    cells = claim.cells(effort)
    again = command_of(claim, effort)
    sweep = Sweep(directory, claim.measure, cells, root=ROOT, replay=lambda number: f"{again} --cell {number}")
    before = sweep.measured()
    rows = sweep.run(spark, clock=clock, resume=resume, progress=progress).to_pylist()
    if before < len(cells):
        (directory / "load.json").write_text(f"{os.getloadavg()[1]:.2f}\n", encoding="utf-8")
        (directory / "date.json").write_text(json.dumps(today) + "\n", encoding="utf-8")
    failed = [row for row in rows if row["error"]]
    table = claim.table([row for row in rows if not row["error"]]) if len(failed) < len(rows) else []
    if failed:
        verdict = Verdict("undecided", f"{len(failed)} of {len(rows)} cells failed; the first: {failed[0]['error']}")
    else:
        verdict = claim.rule(table)
    if table:
        made = figure(claim.size, lambda drawing: claim.draw(drawing, table), headline_of(claim))
        save(made, directory, table)
    result = Result(claim, verdict, table, len(rows), failed, directory)
    _write(result, effort)
    return result


def _write(result: Result, effort: Effort) -> None:
    claim = result.claim
    body = {
        "antecede": antecede.__version__,
        "code": code_of(),
        "date": _noted(result.directory / "date.json"),
        "claim": claim.name,
        "papers": claim.papers,
        "place": claim.place,
        "sentence": claim.sentence,
        "asks": claim.asks,
        "design": claim.design,
        "chosen": claim.chosen,
        "beside": claim.beside,
        "caption": claim.caption,
        "verdict": str(result.verdict),
        "word": result.verdict.word,
        "effort": dataclasses.asdict(effort),
        "cells": result.cells,
        "varied": varied(claim.cells(effort)),
        "load": _noted(result.directory / "load.json"),
        "failed": [{"error": row["error"], "replay": row["replay"]} for row in result.failed],
        "command": command_of(claim, effort),
        "table": [{name: _plain(value) for name, value in row.items()} for row in result.table],
    }
    (result.directory / "result.json").write_text(json.dumps(body, indent=1) + "\n", encoding="utf-8")


def _noted(file: Path) -> Any:
    """What was written down when the last cell was measured (the load of the five minutes before, the day); None:
    nobody did."""
    return json.loads(file.read_text("utf-8")) if file.is_file() else None


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
