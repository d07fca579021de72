"""The rule of `partial-views`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claims.partial_views import CLAIM, rule


def made(*reached: int) -> str:
    """So many of 1,000 with views of 3 and of 20, where global views reach all."""
    rows = [{"subscribers": 1000, "view": view, "seed": s, "reached": share, "correct": 1000, "to_all": 9}
            for view, share in zip((3, 20, 0), (*reached, 1000), strict=True) for s in range(3)]  # fmt: skip
    return rule(CLAIM.table(rows)).word


def test_the_rule_follows_the_table() -> None:
    assert made(1000, 1000) == "holds"
    assert made(900, 1000) == "holds only if"
    assert made(900, 900) == "does not hold"
    assert made(1000, 900) == "undecided"
