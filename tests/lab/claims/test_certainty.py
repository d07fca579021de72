"""The rule of `certainty`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claims.certainty import CLAIM, _wilson, rule
from antecede.lab.readings import READINGS


def made(*steps: int | None) -> str:
    """Readings of 001 that need so many steps, where lpbcast needs 6."""
    taken = dict.fromkeys(READINGS, 6) | dict(zip((n for n in READINGS if n.startswith("001")), steps, strict=True))
    rows = [{"reading": name, "seed": s, "to_all": to_all} for name, to_all in taken.items() for s in range(60)]
    return rule(CLAIM.table(rows)).word


def test_the_rule_follows_the_table() -> None:
    assert made(3, 3, 4, 2, 2) == "holds"
    assert made(None, 4, 5, 6, 6) == "holds only if"
    assert made(None, 8, 9, 8, 8) == "does not hold"
    assert made(6, 6, 6, 6, 6) == "undecided"


def test_the_interval_of_a_share_stays_between_0_and_1() -> None:
    low, high = _wilson(10, 10)
    assert 0.7 < low < 0.75 and high == 1.0
    assert _wilson(0, 10)[0] == 0.0
