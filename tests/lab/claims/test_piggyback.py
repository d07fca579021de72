"""The rule of `piggyback`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claim import Table
from antecede.lab.claims.piggyback import CLAIM, rule


def table(saved: float, ratio: float) -> Table:
    return [
        {"loss": 0.1, "recipe": "piggyback", "bytes_per_pair": 100 * ratio, "p95_minus_solicit_ms": -saved,
         "p95_minus_solicit_ms_low": -saved - 1, "p95_minus_solicit_ms_high": -saved + 1},
        {"loss": 0.1, "recipe": "solicit", "bytes_per_pair": 100.0},
    ]  # fmt: skip


def test_the_rule_follows_the_table() -> None:
    assert rule(table(20, 3)).word == "holds"
    assert rule(table(-5, 3)).word == "does not hold"
    assert rule(table(20, 0.9)).word == "does not hold"
    assert rule(table(20, 1.2)).word == "undecided"


def test_differences_are_of_the_same_seeds() -> None:
    rows = [{"loss": 0.1, "recipe": recipe, "seed": s, "p50_ms": 1.0, "p95_ms": 10.0 * (s + 1) + extra,
             "bytes_per_pair": size} for recipe, extra, size in (("piggyback", 0, 300.0), ("solicit", 9, 100.0))
            for s in range(4)]  # fmt: skip
    made = CLAIM.table(rows)
    assert made[0]["p95_minus_solicit_ms_high"] == -9 and rule(made).word == "holds"
