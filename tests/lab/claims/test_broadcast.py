"""The rule of `broadcast`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claims.broadcast import CLAIM, rule


def made(matrix: int) -> str:
    rows = [{"encoding": e, "brokers": n, "to_broker": size} for n in (4, 16) for e, size in
            (("vector", 50), ("matrix, one colour", matrix))]  # fmt: skip
    return rule(CLAIM.table(rows)).word


def test_the_rule_follows_the_table() -> None:
    assert made(400) == "holds"
    assert made(50) == "does not hold"
