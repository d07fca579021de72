"""The rule of `moves`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claim import Table
from antecede.lab.claims.moves import BROKERS, FEW, MANY, SUBSCRIBERS, rule


def table(by_brokers: float, by_subscribers: float) -> Table:
    return [
        {"what": what, "times_four": n, "bytes_per_attachment": 100.0 if n == FEW else value}
        for what, value in ((BROKERS, by_brokers), (SUBSCRIBERS, by_subscribers)) for n in (FEW, MANY)
    ]  # fmt: skip


def test_the_rule_follows_the_table() -> None:
    assert rule(table(180.0, 103.0)).word == rule(table(100.0, 100.0)).word == "holds"
    assert rule(table(180.0, 115.0)).word == "does not hold"
