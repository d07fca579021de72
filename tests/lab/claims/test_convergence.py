"""The rule of `convergence`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claims.convergence import CLAIM, STEPS, rule
from antecede.lab.readings import BASELINE, READINGS, counts_of

PULL = "001: subscribers pull from brokers"


def made(*ahead: float) -> str:
    """Readings of 001 that are ahead of lpbcast by so much at every step."""
    shares = dict.fromkeys(READINGS, 0.0) | dict(zip((n for n in READINGS if n.startswith("001")), ahead, strict=True))
    rows = [{"reading": name, "seed": s, "curve": [min(1.0, max(0.0, step / 8 + more)) for step in range(STEPS + 1)]}
            for name, more in shares.items() for s in range(3)]  # fmt: skip
    assert BASELINE in shares
    return rule(CLAIM.table(rows)).word


def test_the_rule_follows_the_table() -> None:
    assert made(0.4, 0.4, 0.4, 0.9, 0.9) == "holds"
    assert made(-0.1, 0.1, -0.1, -0.1, -0.1) == "holds only if"
    assert made(-0.1, -0.1, -0.1, -0.1, -0.1) == "does not hold"
    assert made(0.0, 0.0, -0.1, -0.1, -0.1) == "undecided"


def test_a_step_is_not_compared_before_a_subscriber_can_have_the_message() -> None:
    ahead = dict(zip(counts_of(PULL), (1, 2, 3), strict=True))
    rows = [{"reading": line, "step": s, "reached": share, "reached_low": share, "reached_high": share}
            for line in (*counts_of(PULL), *(line for name in READINGS if name != PULL for line in counts_of(name)))
            for s in range(STEPS + 1)
            for share in [(float(s >= ahead[line]) if line in ahead else min(1.0, s / 8) if line == BASELINE else 0.0)]
            ]  # fmt: skip
    found = rule(rows)
    assert found.word == "holds only if" and found.why.startswith("subscribers pull from brokers: ")
