"""The rule of `management`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claim import Table
from antecede.lab.claims.management import CLAIM, OURS, THEIRS, rule


def table(ours: tuple[float, ...], theirs: tuple[float, ...] = (100.0, 150.0, 250.0), noise: float = 0.0) -> Table:
    """Control bytes per member and second at 0, 0.2 and 0.4 joins and leaves."""
    return CLAIM.table([
        {"join": rate, "recipe": recipe, "seed": seed, "managing_bytes": 1.0, "reach": 1.0, "violations": 0,
         "control_frames": 9.0, "control_bytes": value + noise * (-1) ** seed}
        for recipe, values in ((OURS, ours), (THEIRS, theirs))
        for rate, value in zip((0.0, 0.2, 0.4), values, strict=True) for seed in range(4)
    ])  # fmt: skip


def test_the_rule_follows_the_table() -> None:
    assert rule(table((20.0, 20.0, 20.0))).word == "holds"
    assert rule(table((20.0, 90.0, 20.0))).why.startswith("members join and leave at 0.4 a second (")
    assert rule(table((90.0, 90.0, 140.0))).word == "does not hold"


def test_what_is_dear_without_joins_and_leaves_is_not_dear_by_them() -> None:
    flat = rule(table((20.0, 20.0, 20.0), (100.0, 100.0, 101.0)))
    assert flat.word == "holds only if" and flat.why.startswith("what it costs at any rate is meant, and not what")
    both = rule(table((20.0, 40.0, 100.0)))
    assert both.word == "holds only if" and "and not what joining and leaving add" in both.why, "004 grows as well"


def test_wide_intervals_decide_nothing() -> None:
    assert rule(table((40.0, 60.0, 100.0), noise=30.0)).word == "undecided"
