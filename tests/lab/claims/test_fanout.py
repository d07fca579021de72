"""The rule of `fanout`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claims.fanout import CLAIM, rule


def made(*reached: int, spread: int = 0) -> str:
    rows = [{"loss": 0.05, "fanout": f, "seed": s, "reached": k + spread * (s - 1), "correct": 1000}
            for f, k in enumerate(reached, 1) for s in range(3)]  # fmt: skip
    return rule(CLAIM.table(rows)).word


def test_the_rule_follows_the_table() -> None:
    assert made(100, 500, 900, 999) == "holds"
    assert made(100, 500, 400, 999) == "does not hold"
    assert made(100, 500, 510, 999, spread=60) == "undecided"
