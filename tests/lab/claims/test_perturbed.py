"""The rule of `perturbed`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claim import Effort, Row, Table
from antecede.lab.claims.perturbed import ACKS, CLAIM, COSTLY, FREE, MATRIX, OURS, VECTOR, cells, rule

NAMES = {OURS: "ours", VECTOR: "vector", MATRIX: "matrix", ACKS: "acks"}


def table(noise: float = 0.0, **kept: float) -> Table:
    """`ours`, `ours_free`, `vector`, `matrix`, ...: what the largest group keeps of 20 per second; `matrix_rate`, ...:
    what is kept at the highest rate, with costs or without."""

    def value(what: str, costs: str, n: int, rate: float, seed: int) -> float:
        name = NAMES[what]
        share = kept.get(name + ("_free" if costs == FREE else ""), 1.0) if n == 200 else 1.0
        return (
            20.0
            * share
            * (kept.get(f"{name}_rate", 1.0) if rate > 0.2 else 1.0)
            * (1 + noise * (-1) ** seed * (n == 200))
        )

    rows: list[Row] = [
        {"what": what, "costs": costs, "perturbed": rate, "members": n, "seed": seed, "reach": 1.0, "overflowed": 0,
         "throughput": value(what, costs, n, rate, seed)}
        for what in NAMES for costs in (FREE, COSTLY) if what != MATRIX or costs == COSTLY
        for rate in (0.2, 0.5) for n in (50, 200) for seed in range(4)
    ]  # fmt: skip
    return CLAIM.table(rows)


def test_the_rule_follows_the_table() -> None:
    matrix = rule(table(matrix=0.1))
    assert matrix.word == "holds only if" and matrix.why.startswith(
        "the x-axis is the group size, as the text has it, links and processors cost something, it is compared with "
        "[9] as a matrix (the least that is kept"
    )
    assert rule(table()).word == rule(table(ours=0.5, matrix=0.1)).word == "does not hold"
    assert rule(table(vector_free=0.5, vector_rate=0.5)).word == "holds"


def test_each_axis_is_judged() -> None:
    assert rule(table(vector_free=0.5)).why.startswith("the x-axis is the group size, as the text has it (")
    assert rule(table(vector_rate=0.5)).why.startswith("the x-axis is the perturb rate, as the caption has it (")


def test_wide_intervals_decide_nothing() -> None:
    assert rule(table(noise=0.2)).word == "undecided"


def test_nine_has_the_lifetime_of_004() -> None:
    for cell in cells(Effort()):
        if cell.knobs["what"] == VECTOR:
            lifetime = 50.0 * max(0, cell.knobs["subscribers"] - 1).bit_length()
            assert cell.knobs["deadline_ms"] == [lifetime, lifetime]
