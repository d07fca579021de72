"""A claim from its cells to its files; failed cells leave it undecided."""

from __future__ import annotations

import dataclasses
import json
import time
from pathlib import Path

from antecede.lab.claim import Effort
from antecede.lab.claims import claim_named
from antecede.lab.run import command_of, measure_one, run_claim
from antecede.spark.sweep import Cell

EFFORT = Effort(quick=True, seeds=3)


def test_a_claim_leaves_its_table_figure_and_verdict(tmp_path: Path) -> None:
    claim = claim_named("convergence")
    result = run_claim(claim, EFFORT, tmp_path, None, clock=time.monotonic)
    files = {path.name for path in (tmp_path / "convergence").iterdir()}
    assert files >= {"cells.jsonl", "cells.parquet", "table.csv", "figure.png", "figure.svg", "result.json"}
    body = json.loads((tmp_path / "convergence" / "result.json").read_text())
    assert body["verdict"] == str(result.verdict) and body["word"] == result.verdict.word
    assert body["command"] == command_of(claim, EFFORT) == "antecede lab run convergence --quick --seeds 3"
    assert (
        body["varied"].startswith("24 cells: reading lpbcast, unlimited forwarding | ")
        and "; 3 seeds" in body["varied"]
    )
    assert result.cells == len(claim.cells(EFFORT)) and not result.failed and len(body["table"]) == len(result.table)


def test_a_cell_can_be_measured_again() -> None:
    cell, row = measure_one(claim_named("convergence"), EFFORT, 4)
    assert cell.seed == 1 and row["correct"] > 100


def test_failed_cells_leave_it_undecided_and_can_be_replayed(tmp_path: Path) -> None:
    claim = claim_named("convergence")
    broken = dataclasses.replace(
        claim, cells=lambda effort: [*claim.cells(effort), Cell({"reading": "x", "subscribers": 1}, 0)]
    )
    result = run_claim(broken, EFFORT, tmp_path, None, clock=time.monotonic)
    assert result.verdict.word == "undecided" and f"1 of {result.cells} cells failed" in result.verdict.why
    body = json.loads((tmp_path / "convergence" / "result.json").read_text())
    assert body["failed"][0]["replay"].endswith(f"--cell {result.cells - 1}")
