"""The rule of `perturbed`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claim import Table
from antecede.lab.claims.perturbed import ACKS, COSTLY, FREE, MATRIX, OURS, VECTOR, rule


def table(**kept: float) -> Table:
    """`ours`, `ours_free`, `vector`, `matrix`, ...: what the largest group keeps of 20 per second."""
    names = {OURS: "ours", VECTOR: "vector", MATRIX: "matrix", ACKS: "acks"}
    return [
        {"what": what, "costs": costs, "perturbed": 0.2, "members": n, "throughput": 20.0 if n == 50 else
         20.0 * kept.get(name + ("_free" if costs == FREE else ""), 1.0)}
        for what, name in names.items() for costs in (FREE, COSTLY) for n in (50, 200)
    ]  # fmt: skip


def test_the_rule_follows_the_table() -> None:
    assert rule(table(matrix=0.1)).word == "holds only if" and "[9] as a matrix" in rule(table(matrix=0.1)).why
    assert rule(table(vector_free=0.5, matrix_free=0.5)).word == "holds"
    assert rule(table()).word == rule(table(ours=0.5, matrix=0.1)).word == "does not hold"
