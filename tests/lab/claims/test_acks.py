"""The rule of `acks`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claims.acks import ACKS, CLAIM, rule


def test_the_rule_follows_the_table() -> None:
    table = CLAIM.table([{"members": n} for n in (10, 100, 1000)])
    assert rule(table).word == "holds" and "below 10 members" in rule(table).why
    for row in table:
        if row["what"] == ACKS:
            row["per_second"] = 90.0
    assert rule(table).word == "does not hold"
