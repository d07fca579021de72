"""The rule of `drift`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claim import Table
from antecede.lab.claims.drift import CLAIM, rule


def table(kept: float, free: float, overdue: float = 0.0) -> Table:
    return [
        {"guard": guard, "skew_ms": skew, "in_time": share, "in_time_low": share - 0.01, "in_time_high": share + 0.01,
         "overdue": overdue if guard == "without" else 0.0}
        for guard, share in (("with", kept), ("without", free)) for skew in (0.0, 5.0, 10.0, 20.0)
    ]  # fmt: skip


def test_the_rule_follows_the_table() -> None:
    assert rule(table(0.99, 0.99)).word == "holds"
    assert "only with the guard" in rule(table(0.99, 0.99, overdue=0.02)).why
    assert rule(table(0.99, 0.8)).word == "holds only if"
    assert rule(table(0.8, 0.8)).word == "does not hold"
    assert rule(table(0.9, 0.9)).word == "undecided"


def test_what_is_overdue_is_not_in_time() -> None:
    rows = [{"guard": "with", "skew_ms": 5.0, "fate_delivered": 0.9, "found_overdue": 0.2, "seed": s} for s in range(2)]
    assert abs(CLAIM.table(rows)[0]["in_time"] - 0.7) < 1e-9
