"""The rule of `perturb-readings`: flipped by its table alone."""

from __future__ import annotations

from math import nan

from antecede.lab.claims.perturb_readings import MATRIX, OURS, READINGS, rule


def made(ours: dict[str, float], theirs: float = 2.0) -> str:
    """Throughput of 100 members where 50 have 10 a second."""
    return rule([{"perturbed": r, "members": n, "what": what, "throughput": 10.0 if n == 50 else value}
                 for r in READINGS for n in (50, 100)
                 for what, value in ((OURS, ours.get(r, 10.0)), (MATRIX, theirs))]).word  # fmt: skip


def test_the_rule_follows_the_table() -> None:
    assert made({}) == "holds"
    assert made({"one sleeps": 5.0}) == "holds only if"
    assert made({}, theirs=10.0) == "does not hold"
    assert made({"all sleep in turn": nan}) == "undecided"
