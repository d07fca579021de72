"""The rule of `repairs`: flipped by its table alone."""

from __future__ import annotations

from antecede.core.printed.undone import REPAIRS
from antecede.lab.claim import Effort, Table
from antecede.lab.claims.repairs import CLAIM, rule


def table(violations: float = 0.0, lost_low: float = 0.0, whole: float = 0.0, other: float = 0.1) -> Table:
    return [
        {"recipe": "graph", "repair": "repaired", "violations": whole},
        {"recipe": "graph", "repair": "one", "violations": violations, "lost_low": lost_low},
        {"recipe": "graph", "repair": "two", "violations": other, "lost_low": 0.0},
    ]


def test_the_rule_follows_the_table() -> None:
    assert rule(table(violations=0.01)).word == rule(table(lost_low=0.003)).word == "holds"
    assert rule(table(lost_low=0.001)).word == "holds only if" and "graph: one" in rule(table()).why
    assert rule(table(other=0.0)).word == "undecided"
    assert rule(table(whole=0.01)).word == "does not hold"


def test_every_repair_is_measured_beside_the_whole() -> None:
    points = {(cell.knobs["recipe"], cell.knobs["repair"]) for cell in CLAIM.cells(Effort(quick=True))}
    assert points == {(recipe, name) for recipe, repairs in REPAIRS.items() for name in ("repaired", *repairs)}
