"""The rule of `safety`: flipped by its table alone."""

from __future__ import annotations

from typing import Any

from antecede.lab.claims.safety import CLAIM, rule


def made(**bad: int) -> str:
    rows: list[dict[str, Any]] = [
        {"recipe": "graph", "reading": reading, "seed": 0, "pairs": 100, "inversions": bad.get(reading, 0),
         "undelivered": 0, "what": ""} for reading in ("repaired", "printed")
    ]  # fmt: skip
    return rule(CLAIM.table(rows)).word


def test_the_rule_follows_the_table() -> None:
    assert made() == "holds"
    assert made(printed=1) == "holds only if"
    assert made(repaired=1) == "does not hold"
