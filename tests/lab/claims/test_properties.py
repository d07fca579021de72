"""The rule of `properties`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claim import Table
from antecede.lab.claims.properties import CLAIM, rule

ALL = {"order": True, "deadlines": True, "responsive": True}


def table(**lacks: str) -> Table:
    return [
        {"recipe": recipe, "undelivered": 0.1, **ALL, **({lacks[recipe]: False} if recipe in lacks else {})}
        for recipe in ("dcco", "delta", "cbcast", "piggyback", "solicit")
    ]


def test_the_rule_follows_the_table() -> None:
    earlier = {"dcco": "responsive", "delta": "responsive", "cbcast": "deadlines"}
    assert rule(table(**earlier)).word == "holds" and "piggyback" in rule(table(**earlier)).why
    assert rule(table(dcco="responsive", delta="responsive")).why.startswith("cbcast has all three")
    assert "solicit lacks causal order" in rule(table(**earlier, solicit="order")).why


def test_what_has_no_deadlines_keeps_none() -> None:
    rows = [{"recipe": r, "found_inversion": 0.0, "found_overdue": 0.0, "undelivered": 0.0, "seed": s}
            for r in ("cbcast", "solicit") for s in range(3)]  # fmt: skip
    made = {row["recipe"]: row for row in CLAIM.table(rows)}
    assert not made["cbcast"]["deadlines"] and made["solicit"]["deadlines"] and made["solicit"]["responsive"]
