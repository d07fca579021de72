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


def test_the_verdict_says_how_often_all_are_reached() -> None:
    """999 of 1,000 are enough on average, and yet nobody of all is ever left out only with views of 20."""
    rows = [{"subscribers": 1000, "view": view, "seed": s, "reached": reached, "correct": 1000, "to_all": to_all}
            for view, reached, to_all in ((3, 900, None), (8, 999, None), (20, 1000, 9), (0, 1000, 9))
            for s in range(3)]  # fmt: skip
    verdict = rule(CLAIM.table(rows))
    assert verdict.word == "holds only if" and verdict.why.startswith("views hold at least 8 others, ")
    assert "everybody is reached in 0% of runs with views of 8, 100% of runs with views of 20" in verdict.why
    assert "and in 99% at every n from views of 20 on" in verdict.why
