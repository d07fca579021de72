"""The rule of `minimum`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claims.minimum import CLAIM, rule


def made(vector: int, scalar: int = 6) -> str:
    rows = [{"encoding": e, "brokers": n, "to_subscriber": size} for n in (4, 16) for e, size in
            (("vector per group", vector), ("context graph", 40), ("matrix, one colour", scalar))]  # fmt: skip
    return rule(CLAIM.table(rows)).word


def test_the_rule_follows_the_table() -> None:
    assert made(60) == "does not hold"
    assert made(42) == "holds"  # one scalar is smaller still, but does not order exactly
