"""The rule of `liveness`: flipped by its table alone."""

from __future__ import annotations

from typing import Any

from antecede.lab.claim import Effort
from antecede.lab.claims.liveness import CLAIM, FATES, LOSSES, rule


def made(lossy: bool = False, **left: float) -> tuple[str, str]:
    """Readings of graph that leave such a share undelivered; `lossy`: only where copies are lost."""
    rows: list[dict[str, Any]] = [
        {"recipe": "graph", "reading": reading, "loss": loss, "seed": seed, "pairs": 100, "quiet": True,
         "undelivered": share, **dict.fromkeys(FATES, 0.0), "fate_pending": share}
        for reading in ("repaired", "printed") for loss in LOSSES for seed in (0, 1)
        for share in [left.get(reading, 0.0) if loss or not lossy else 0.0]
    ]  # fmt: skip
    verdict = rule(CLAIM.table(rows))
    return verdict.word, verdict.why


def test_the_rule_follows_the_table() -> None:
    assert made()[0] == "holds"
    word, why = made(printed=0.4)
    assert word == "holds only if" and why.startswith("the text is read as graph, repaired (")
    assert made(repaired=0.01, printed=0.4)[0] == "does not hold"
    word, why = made(repaired=0.01)
    assert word == "holds only if" and why.startswith("the text is read as graph, printed (")
    assert made(printed=0.4, lossy=True)[0] == "holds only if", "links that lose copies are no failure in the proof"


def test_nothing_fails_and_nothing_has_a_deadline() -> None:
    for cell in CLAIM.cells(Effort()):
        assert cell.knobs["deadline_ms"] is None
        assert not {"crash", "partition", "move", "leave", "perturb", "spike"} & cell.knobs.keys()
