"""The rule of `one-sender`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claim import Table
from antecede.lab.claims.one_sender import rule


def table(*undelivered: float) -> Table:
    return [
        {"loss": loss, "turns": turns, "undelivered": share, "p50_ms": 40.0}
        for loss, share in zip((0.0, 0.1), undelivered, strict=True) for turns in (True, False)
    ]  # fmt: skip


def test_the_rule_follows_the_table() -> None:
    assert rule(table(0.0, 0.005)).word == "holds"
    assert rule(table(0.0, 0.05)).word == "holds only if" and "at most 0%" in rule(table(0.0, 0.05)).why
    assert rule(table(0.02, 0.05)).word == "does not hold"
