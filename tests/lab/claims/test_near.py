"""The rule of `near`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claims.near import CLAIM, rule


def made(*missed: int, crossings: int = 100) -> str:
    """Of 200, so many are missed at P = 0, 0.5 and 0.9; with preference so many of 600 copies cross."""
    rows = [{"near": near, "forwards": 0, "seed": s, "reached": 200 - miss, "correct": 200, "copies": 600,
             "crossings": crossings if near else 450}
            for near, miss in zip((0.0, 0.5, 0.9), missed, strict=True) for s in range(3)]  # fmt: skip
    return str(rule(CLAIM.table(rows)))


def test_the_rule_follows_the_table() -> None:
    assert made(10, 10, 10).startswith("holds:")
    assert made(10, 10, 30).startswith("holds only if P, the preference for the own site, is at most 0.5")
    assert made(10, 20, 30).startswith("does not hold: what must cross")
    assert made(10, 10, 10, crossings=400).startswith("does not hold: it does not halve")
