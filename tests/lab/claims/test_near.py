"""The rule of `near`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claims.near import CLAIM, rule


def made(*missed: int, crossings: int = 100, noise: int = 0) -> str:
    """Of 200, so many are missed at P = 0, 0.5 and 0.9; with preference so many of 600 copies cross. A second way to
    gossip misses nobody."""
    rows = [{"near": near, "gossip": way, "seed": s, "correct": 200, "copies": 600,
             "reached": 200 - (miss + (noise * (-1) ** s if near else 0) if way == "short" else 0),
             "crossings": crossings if near else 450}
            for way in ("short", "long") for near, miss in zip((0.0, 0.5, 0.9), missed, strict=True)
            for s in range(4)]  # fmt: skip
    return str(rule(CLAIM.table(rows)))


def test_the_rule_follows_the_table() -> None:
    assert made(20, 10, 10).startswith("holds:")
    assert made(20, 10, 30).startswith("holds only if P, the preference for the own site, is 0.5 (")
    assert made(20, 20, 30).startswith("does not hold: by rounds crossings get fewer, misses do not")
    assert made(20, 10, 10, crossings=400).startswith("does not hold: it does not halve")


def test_no_more_misses_are_not_fewer() -> None:
    assert made(20, 20, 20).startswith("does not hold")


def test_wide_intervals_and_nothing_to_miss_decide_nothing() -> None:
    assert made(20, 17, 30, noise=10).startswith("undecided: the intervals are too wide")
    assert made(0, 0, 0).startswith("undecided: nobody is missed")
