"""The rule of `deliverable`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claims.deliverable import CLAIM, rule


def made(plain: float, asked: float, later: float = 0.99, wide: float = 0.0) -> str:
    rows = [{"forwards": f, "pull": pull, "seed": s, "arrived": 0.95, "pulls": 0.1, "delay_rounds": 4.0,
             "delivered": (plain if not pull else asked) + wide * (s - 1) if f == 1 else (later if pull else 0.99)}
            for f in (1, 2) for pull in (False, True) for s in range(3)]  # fmt: skip
    return rule(CLAIM.table(rows)).word


def test_the_rule_follows_the_table() -> None:
    assert made(0.6, 0.99) == "holds"
    assert made(0.6, 0.65) == "does not hold"
    assert made(0.6, 0.99, later=0.5) == "does not hold"
    assert made(0.6, 0.72, wide=0.1) == "undecided"
