"""The rule of `growth`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claims.growth import CLAIM, rule


def made(*last: int | None) -> str:
    """Rounds to 99 % of ten million, for readings that need 6 for a thousand; None: it never gets there."""
    rows = [
        {"reading": f"r{i}", "subscribers": n, "seed": s, "copies": 10, "requests": 0, "reached": 9, "correct": 10,
         "to_most": to_most if n > 1000 else 6, "to_all": None}
        for i, to_most in enumerate(last) for n in (10**3, 10**7) for s in range(2)
    ]  # fmt: skip
    return rule(CLAIM.table(rows)).word


def test_the_rule_follows_the_table() -> None:
    assert made(14, 19) == "holds"
    assert made(14, 400) == made(14, None) == "holds only if"
    assert made(400, None) == "does not hold"
