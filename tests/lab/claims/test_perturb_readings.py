"""The rule of `perturb-readings`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claims.perturb_readings import CLAIM, MATRIX, OURS, READINGS, VECTOR, rule


def made(ours: dict[str, float | None], matrix: float = 2.0, vector: float = 2.0, noise: float = 0.0) -> str:
    """Throughput of 100 members where 50 have 10 a second."""
    rows = [
        {"perturbed": r, "members": n, "what": what, "seed": seed, "reach": 1.0,
         "throughput": 10.0 if n == 50 else None if value is None else value + noise * (-1) ** seed}
        for r in READINGS for n in (50, 100) for seed in range(4)
        for what, value in ((OURS, ours.get(r, 10.0)), (VECTOR, vector), (MATRIX, matrix))
    ]  # fmt: skip
    return str(rule(CLAIM.table(rows)))


def test_the_rule_follows_the_table() -> None:
    assert made({}).startswith("holds: where links cost something")
    assert made({"one sleeps": 5.0}).startswith(
        "holds only if perturbed means: half of them sleep or all sleep in turn"
    )
    assert made({}, matrix=10.0, vector=10.0).startswith("does not hold")
    assert made({"all sleep in turn": None}).startswith("undecided: nobody delivered")


def test_against_a_matrix_only_is_a_condition() -> None:
    assert made({}, vector=10.0).startswith(
        "holds only if it is compared with [9] as a matrix and links cost something ("
    )


def test_wide_intervals_decide_nothing() -> None:
    assert made({}, matrix=9.0, vector=9.0, noise=2.0).startswith("undecided: the intervals are too wide")
