"""The rule of `pull-cost`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claims.pull_cost import CLAIM, PULL, VALUES, WAYS, rule


def made(*others: float) -> str:
    """Pull sends 100 bytes per pair, the other ways so many."""
    sent = dict(zip(WAYS, (100.0, *others), strict=True))
    rows = [{"way": way, "seed": s, **dict.fromkeys(VALUES, 1.0), "undelivered": 0.0, "bytes_per_pair": sent[way]}
            for way in WAYS for s in range(3)]  # fmt: skip
    assert next(iter(WAYS)) == PULL
    return rule(CLAIM.table(rows)).word


def test_the_rule_follows_the_table() -> None:
    assert made(300, 300, 300) == "holds"
    assert made(300, 150, 300) == "holds only if"
    assert made(150, 150, 150) == "does not hold"
