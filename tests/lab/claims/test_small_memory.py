"""The rule of `small-memory`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claims.small_memory import CLAIM, rule


def made(hold: int, eager: int) -> str:
    held = {"colour": hold, "colour-eager": eager, "solicit": 0}
    rows = [{"recipe": recipe, "rate": 20.0, "seed": s, "kept_broker": 40, "held_subscriber": n}
            for recipe, n in held.items() for s in range(3)]  # fmt: skip
    return rule(CLAIM.table(rows)).word


def test_the_rule_follows_the_table() -> None:
    assert made(10, 5) == "holds"
    assert made(30, 5) == "holds only if"
    assert made(30, 30) == "does not hold"
