"""The rule of `acks`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claims.acks import ACKS, CLAIM, rule


def test_the_rule_follows_the_table() -> None:
    table = CLAIM.table([{"members": n} for n in (4, 7, 8, 10, 100, 1000)])
    assert rule(table).word == "holds" and rule(table).why.endswith("; up to 7 members ACKs are not the more")
    for row in table:
        if row["what"] == ACKS:
            row["per_second"] = 90.0
    assert rule(table).word == "does not hold" and rule(table).why.endswith("ACKs are always the more")
