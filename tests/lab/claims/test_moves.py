"""The rule of `moves`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claim import Table
from antecede.lab.claims.moves import BROKERS, CLAIM, FEW, MANY, SUBSCRIBERS, rule


def table(by_brokers: float, by_subscribers: float, noise: float = 0.0) -> Table:
    """Bytes of an attachment with four times as many, where 100 are enough with few."""
    return CLAIM.table([
        {"what": what, "times_four": n, "seed": seed, "attachments": 5,
         "bytes_per_attachment": 100.0 if n == FEW else value + noise * (-1) ** seed}
        for what, value in ((BROKERS, by_brokers), (SUBSCRIBERS, by_subscribers)) for n in (FEW, MANY)
        for seed in range(4)
    ])  # fmt: skip


def test_the_rule_follows_the_table() -> None:
    assert rule(table(180.0, 103.0)).word == "holds"
    assert rule(table(180.0, 115.0)).word == "does not hold"


def test_what_does_not_depend_on_brokers_either_does_not_depend_on_them_only() -> None:
    assert str(rule(table(100.0, 100.0))).startswith("does not hold: it does not depend on brokers either")


def test_wide_intervals_decide_nothing() -> None:
    assert rule(table(180.0, 105.0, noise=10.0)).word == rule(table(115.0, 50.0, noise=10.0)).word == "undecided"
