"""The rule of `responsiveness`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claim import Table
from antecede.lab.claims.responsiveness import CLAIM, rule


def table(median: tuple[float, float], tail: tuple[float, float]) -> Table:
    return [
        {"quantile": name, "round_trips": 5.0, "saved_ms": sum(ends) / 2, "saved_ms_low": ends[0],
         "saved_ms_high": ends[1], "solicit_ms": 20.0, "dcco_ms": 30.0}
        for name, ends in (("median", median), ("95th percentile", tail))
    ]  # fmt: skip


def test_the_rule_follows_the_table() -> None:
    assert rule(table((5, 6), (20, 30))).word == "holds"
    assert rule(table((-1, 0.5), (-2, 0))).word == "does not hold"
    assert "median stays" in rule(table((-1, 0.5), (20, 30))).why
    assert rule(table((-5, 5), (-5, 30))).word == "undecided"
    assert "5 round trips or more" in rule(table((-5, 5), (10, 30))).why


def test_the_table_is_of_paired_runs() -> None:
    rows = [{"round_trips": 5.0, "seed": s, "ours_p50_ms": 10.0 + s, "theirs_p50_ms": 10.0 + s, "ours_p95_ms": 20.0,
             "theirs_p95_ms": 50.0 + s} for s in range(3)]  # fmt: skip
    made = CLAIM.table(rows)
    assert made[0]["saved_ms"] == 0 and made[1]["saved_ms"] == 31 and rule(made).word == "holds only if"
