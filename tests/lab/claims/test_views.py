"""The rule of `views`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claim import Table
from antecede.lab.claims.views import CLAIM, rule


def table(everywhere: float, local: float, largest: int = 48) -> Table:
    return [{"views": way, "brokers": n, "load": 100.0 * (grown if n == largest else 1)} for way, grown in
            (("global", everywhere), ("local views of 8", local)) for n in (6, largest)]  # fmt: skip


def test_the_rule_follows_the_table() -> None:
    assert rule(table(5, 1.2)).word == "holds"
    assert rule(table(5, 4)).word == "holds only if"
    assert rule(table(1.5, 1.2)).word == "does not hold"
    assert rule(table(1.5, 1.2, largest=24)).word == "undecided"


def test_the_verdict_says_which_views_are_cheaper() -> None:
    assert "still the cheaper" in rule(table(2.5, 3)).why
    assert "still the cheaper" not in rule(table(5, 1.2)).why


def test_load_is_per_message() -> None:
    rows = [{"views": "global", "brokers": 6, "seed": s, "bytes_per_member": 2400.0, "frames_per_member": 48.0,
             "undelivered": 0.0} for s in range(2)]  # fmt: skip
    assert (CLAIM.table(rows)[0]["load"], CLAIM.table(rows)[0]["frames"]) == (100, 2)
