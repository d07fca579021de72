"""The rule of `distance`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claims.distance import CLAIM, rule


def made(way_ms: float, *missed: float, noise: float = 0.0) -> str:
    """Mean ways with preference where 100 ms go without, and the shares missed at 0.5 and 0.9 where 0.1 are without."""
    rows = [
        {"matrix": "synthetic", "near": near, "seed": s, "way_ms": 100.0 if not near else way_ms, "crossing": 0.5,
         "undelivered": share + (noise * (s % 2) if near else 0.0), "p50_ms": 50.0}
        for near, share in zip((0.0, 0.5, 0.9), (0.1, *missed), strict=True) for s in range(4)
    ]  # fmt: skip
    return rule(CLAIM.table(rows)).word


def test_the_rule_follows_the_table() -> None:
    assert made(50.0, 0.05, 0.05) == "holds"
    assert made(50.0, 0.05, 0.2) == "holds only if"
    assert made(50.0, 0.2, 0.2) == made(90.0, 0.2, 0.2) == "does not hold"
    assert made(50.0, 0.05, 0.05, noise=0.1) == "undecided"
