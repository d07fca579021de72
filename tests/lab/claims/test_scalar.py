"""The rule of `scalar`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claim import Table
from antecede.lab.claims.scalar import CLAIM, rule


def table(stamp: float, hold_ms: float, lost: float, noise: float = 0.0) -> Table:
    """A colour per broker takes 40 bytes and 100 ms and loses nothing."""
    return CLAIM.table([
        {"recipe": recipe, "seed": seed, "stamp_to_subscriber": size, "p95_ms": 2 * ms, "undelivered": share,
         "p50_ms": ms + (noise * (-1) ** seed if recipe == "colour" else 0.0)}
        for recipe, size, ms, share in (("colour", stamp, hold_ms, 0.0), ("colour-eager", stamp, 80.0, lost),
                                        ("rounds", 40.0, 100.0, 0.0))
        for seed in range(4)
    ])  # fmt: skip


def test_the_rule_follows_the_table() -> None:
    assert rule(table(6, 350, 0.1)).word == "holds only if"
    assert rule(table(6, 150, 0.1)).word == "holds"
    assert rule(table(6, 350, 0.005)).word == "holds"
    assert rule(table(30, 150, 0.0)).word == "does not hold"


def test_wide_intervals_decide_nothing() -> None:
    assert rule(table(6, 210, 0.1, noise=50.0)).word == "undecided"
    assert rule(table(6, 210, 0.005, noise=50.0)).word == "holds", "eager alone is enough"
