"""The rule of `colours`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claims.colours import CLAIM, rule


def made(**late: int) -> tuple[str, str]:
    """Of 100 runs so many of `fK` need more rounds."""
    rows = [{"fanout": f, "subscribers": 50, "seed": s, "to_all": None if s < late.get(f"f{f}", 0) else 5}
            for f in (1, 2, 3) for s in range(100)]  # fmt: skip
    verdict = rule(CLAIM.table(rows))
    return verdict.word, verdict.why


def test_the_rule_follows_the_table() -> None:
    assert made()[0] == "holds"
    word, why = made(f1=100, f2=50)
    assert word == "holds only if" and "at least 3" in why
    assert made(f1=100, f2=50, f3=40)[0] == "does not hold"
    assert made(f1=100, f2=50, f3=2)[0] == "undecided"


def test_the_model_stands_beside_small_groups() -> None:
    rows = [{"fanout": 3, "subscribers": 50, "seed": 0, "to_all": 5}]
    assert [row["model"] is not None for row in CLAIM.table(rows)] == [False, True, False, False]
