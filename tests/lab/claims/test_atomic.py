"""The rule of `atomic`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claim import Effort
from antecede.lab.claims.atomic import CLAIM, rule


def test_what_is_missing_makes_it_undecidable() -> None:
    table = CLAIM.table([dict(cell.knobs) for cell in CLAIM.cells(Effort())])
    assert rule(table).word == "not decidable" and "fan-out" in rule(table).why
    assert rule([{**row, "given": True} for row in table]).word == "undecided"
