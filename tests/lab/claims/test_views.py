"""The rule of `views`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claim import Table
from antecede.lab.claims.views import CLAIM, rule


def table(everywhere: float, local: float) -> Table:
    return [{"views": way, "brokers": n, "load": 100.0 * (grown if n == 24 else 1)} for way, grown in
            (("global", everywhere), ("local views of 8", local)) for n in (6, 24)]  # fmt: skip


def test_the_rule_follows_the_table() -> None:
    assert rule(table(5, 1.2)).word == "holds"
    assert rule(table(5, 4)).word == "holds only if"
    assert rule(table(1.5, 1.2)).word == "does not hold"


def test_load_is_per_message() -> None:
    rows = [{"views": "global", "brokers": 6, "seed": s, "bytes_per_member": 2400.0, "frames_per_member": 48.0,
             "undelivered": 0.0} for s in range(2)]  # fmt: skip
    assert (CLAIM.table(rows)[0]["load"], CLAIM.table(rows)[0]["frames"]) == (100, 2)
