"""The rule of `scalar`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claim import Table
from antecede.lab.claims.scalar import rule


def table(stamp: float, hold_ms: float, lost: float) -> Table:
    return [
        {"recipe": recipe, "stamp_to_subscriber": size, "p50_ms": ms, "undelivered": share}
        for recipe, size, ms, share in (("colour", stamp, hold_ms, 0.0), ("colour-eager", stamp, 80.0, lost),
                                        ("rounds", 40.0, 100.0, 0.0))
    ]  # fmt: skip


def test_the_rule_follows_the_table() -> None:
    assert rule(table(6, 350, 0.1)).word == "holds only if"
    assert rule(table(6, 150, 0.1)).word == "holds"
    assert rule(table(6, 350, 0.005)).word == "holds"
    assert rule(table(30, 150, 0.0)).word == "does not hold"
