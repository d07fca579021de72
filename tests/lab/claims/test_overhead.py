"""The rule of `overhead`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claims.overhead import CLAIM, rule


def made(graph: int, rounds: int) -> str:
    rows = [{"encoding": e, "brokers": n, "to_broker": 100, "to_subscriber": below} for n in (4, 16, 64)
            for e, below in (("context graph", graph), ("round colours", rounds))]  # fmt: skip
    return rule(CLAIM.table(rows)).word


def test_the_rule_follows_the_table() -> None:
    assert made(20, 30) == "holds"
    assert made(20, 99) == "holds only if"
    assert made(80, 99) == "does not hold"
