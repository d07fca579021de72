"""The rule of `management`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claim import Table
from antecede.lab.claims.management import OURS, THEIRS, rule


def table(*ours: float) -> Table:
    return [
        {"join": rate, "recipe": recipe, "control_per_pair": value}
        for rate, mine in zip((0.0, 0.4), ours, strict=True) for recipe, value in ((OURS, mine), (THEIRS, 100.0))
    ]  # fmt: skip


def test_the_rule_follows_the_table() -> None:
    assert rule(table(20.0, 40.0)).word == "holds"
    assert rule(table(20.0, 80.0)).word == "holds only if"
    assert rule(table(70.0, 80.0)).word == "does not hold"
