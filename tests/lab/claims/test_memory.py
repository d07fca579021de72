"""The rule of `memory`: flipped by its table alone."""

from __future__ import annotations

import pytest

from antecede.lab.claims.memory import CLAIM, rule


@pytest.mark.parametrize(("kept", "word"), [((30, 60), "holds"), ((20, 20), "does not hold"), ((25, 40), "undecided")])
def test_the_rule_follows_the_table(kept: tuple[int, int], word: str) -> None:
    table = [{"messages": n, "most_kept": k, "undelivered": 0.0} for n, k in zip((30, 60), kept, strict=True)]
    assert rule(table).word == word


def test_the_table_has_a_row_for_each_count() -> None:
    rows = [{"recipe": "solicit", "messages": n, "seed": s, "most_kept": 9 + s, "undelivered": 0.0}
            for n in (30, 60) for s in range(2)]  # fmt: skip
    assert [(row["messages"], row["most_kept"]) for row in CLAIM.table(rows)] == [(30, 9.5), (60, 9.5)]
