"""The rule of `in-time`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claims.in_time import CLAIM, FATES, rule


def test_one_pair_flips_it() -> None:
    rows = [{"loss": 0.1, "seed": s, **dict.fromkeys(FATES, 0.0)} for s in range(5)]
    assert rule(CLAIM.table(rows)).word == "holds"
    rows[3]["found_stuck"] = 0.001
    assert rule(CLAIM.table(rows)).word == "does not hold"
