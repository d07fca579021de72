"""The rule of `small-memory`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claims.small_memory import CLAIM, rule


def made(hold: int, eager: int, noise: int = 0) -> str:
    """Bytes held by a subscriber where a broker keeps 4,000; the numbers of messages say nothing."""
    held = {"colour": hold, "colour-eager": eager, "solicit": 0}
    rows = [{"recipe": recipe, "rate": 20.0, "seed": s, "kept_broker": 40, "held_subscriber": 40,
             "kept_bytes_broker": 4000, "held_bytes_subscriber": size + noise * (-1) ** s}
            for recipe, size in held.items() for s in range(4)]  # fmt: skip
    return rule(CLAIM.table(rows)).word


def test_the_rule_follows_the_table() -> None:
    assert made(1000, 500) == "holds"
    assert made(3000, 500) == "holds only if"
    assert made(3000, 3000) == "does not hold"
    assert made(1900, 500, noise=400) == "undecided"
