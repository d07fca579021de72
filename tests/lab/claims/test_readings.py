"""The rule of `readings`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claims.readings import READINGS, rule


def made(repaired: float = 0.0, **broken: float) -> str:
    """By recipe, how much its printed readings break."""
    return rule([{"recipe": recipe, "reading": reading, "missing": 0.0,
                  "broken": repaired if reading == "repaired" else broken.get(recipe, 0.1)}
                 for recipe, readings in READINGS.items() for reading in readings]).word  # fmt: skip


def test_the_rule_follows_the_table() -> None:
    assert made() == "holds"
    assert made(graph=0.0) == "holds only if"
    assert made(**dict.fromkeys(READINGS, 0.0)) == "does not hold"
    assert made(repaired=0.01) == "does not hold"
