"""The rule of `redundancy`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claims.redundancy import CLAIM, WAYS, rule


def made(*copies: int) -> str:
    rows = [{"way": way, "subscribers": 100, "seed": s, "copies": 100 * n, "requests": 100, "reached": 100,
             "correct": 100, "rounds_run": 5}
            for way, n in zip(WAYS, copies, strict=True) for s in range(3)]  # fmt: skip
    return rule(CLAIM.table(rows)).word


def test_the_rule_follows_the_table() -> None:
    assert made(1, 3, 5, 9) == "holds"
    assert made(2, 3, 5, 9) == "holds only if"
    assert made(5, 3, 5, 9) == "does not hold"
