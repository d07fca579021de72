"""The rule of `memory`: flipped by its table alone."""

from __future__ import annotations

import pytest

from antecede.lab.claim import Row
from antecede.lab.claims.memory import CLAIM, rule


def rows(*kept: int, noise: int = 0) -> list[Row]:
    """Bytes that a member keeps of 30 and of 60 messages of 100 bytes."""
    return [{"recipe": "solicit", "messages": n, "seed": s, "kept_broker": k, "reach": 1.0,
             "kept_bytes_broker": 100 * k + noise * (-1) ** s, "published_bytes": 100 * n}
            for n, k in zip((30, 60), kept, strict=True) for s in range(4)]  # fmt: skip


@pytest.mark.parametrize(
    ("kept", "noise", "word"),
    [((30, 60), 0, "holds"), ((20, 20), 0, "does not hold"), ((25, 40), 0, "undecided"), ((20, 29), 900, "undecided")],
)
def test_the_rule_follows_the_table(kept: tuple[int, int], noise: int, word: str) -> None:
    assert rule(CLAIM.table(rows(*kept, noise=noise))).word == word


def test_the_table_has_a_row_for_each_count() -> None:
    table = CLAIM.table(rows(9, 10))
    assert [(row["messages"], row["most_kept"], row["kilobytes_kept"]) for row in table] == [(30, 9, 0.9), (60, 10, 1)]
