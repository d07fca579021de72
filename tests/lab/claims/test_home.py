"""The rule of `home`: flipped by its table alone."""

from __future__ import annotations

from typing import Any

from antecede.lab.claims.home import CLAIM, rule


def made(home: float, best: float, found: float = 0.0, wide: float = 0.0) -> str:
    rows: list[dict[str, Any]] = [
        {"recipe": recipe, "seed": s, "undelivered": share, "p50_ms": 20.0, "p95_ms": 50.0, "bytes_per_pair": 300.0,
         "found_inversion": found if recipe == "home" else 0.0} for s in range(3)
        for recipe, share in (("home", home + wide * (s - 1)), ("graph", best), ("pull", 0.3))
    ]  # fmt: skip
    return rule(CLAIM.table(rows)).word


def test_the_rule_follows_the_table() -> None:
    assert made(0.01, 0.02) == "holds"
    assert made(0.05, 0.02) == "does not hold"
    assert made(0.01, 0.02, found=0.001) == "does not hold"
    assert made(0.03, 0.02, wide=0.02) == "undecided"
