"""The rule of `convergence`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claims.convergence import CLAIM, STEPS, rule
from antecede.lab.readings import BASELINE, READINGS


def made(*ahead: float) -> str:
    """Readings of 001 that are ahead of lpbcast by so much at every step."""
    shares = dict.fromkeys(READINGS, 0.0) | dict(zip((n for n in READINGS if n.startswith("001")), ahead, strict=True))
    rows = [{"reading": name, "seed": s, "curve": [min(1.0, max(0.0, step / 8 + more)) for step in range(STEPS + 1)]}
            for name, more in shares.items() for s in range(3)]  # fmt: skip
    assert BASELINE in shares
    return rule(CLAIM.table(rows)).word


def test_the_rule_follows_the_table() -> None:
    assert made(0.1, 0.1, 0.1) == "holds"
    assert made(-0.1, 0.1, 0.1) == "holds only if"
    assert made(-0.1, -0.1, -0.1) == "does not hold"
    assert made(0.0, 0.0, -0.1) == "undecided"
