"""The rule of `one-sender`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claim import Table
from antecede.lab.claims.one_sender import rule


def table(*undelivered: float, half: float = 0.001, inversions: float = 0.0) -> Table:
    return [
        {"loss": loss, "turns": turns, "undelivered": share, "undelivered_low": share - half,
         "undelivered_high": share + half, "p50_ms": 40.0, "found_inversion": inversions if turns else 0.5}
        for loss, share in zip((0.0, 0.1), undelivered, strict=True) for turns in (True, False)
    ]  # fmt: skip


def test_the_rule_follows_the_table() -> None:
    assert rule(table(0.0, 0.005)).word == "holds"
    assert rule(table(0.0, 0.05)).word == "holds only if" and "at most 0%" in rule(table(0.0, 0.05)).why
    assert rule(table(0.02, 0.05)).word == "does not hold"


def test_one_delivery_out_of_order_decides() -> None:
    assert str(rule(table(0.0, 0.005, inversions=0.001))).startswith("does not hold: colours do not order")


def test_wide_intervals_decide_nothing() -> None:
    assert rule(table(0.0, 0.005, half=0.006)).word == rule(table(0.0, 0.012, half=0.006)).word == "undecided"
