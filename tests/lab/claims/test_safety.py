"""The rule of `safety`: flipped by its table alone."""

from __future__ import annotations

from typing import Any

from antecede.lab.claims.safety import CLAIM, rule


def made(name: str = "inversions", **bad: int) -> tuple[str, str]:
    rows: list[dict[str, Any]] = [
        {"recipe": "graph", "reading": reading, "seed": 0, "pairs": 100, "what": "x" if bad.get(reading) else "",
         **dict.fromkeys(("inversions", "gaps", "undelivered", "idle", "other"), 0), name: bad.get(reading, 0)}
        for reading in ("repaired", "printed")
    ]  # fmt: skip
    verdict = rule(CLAIM.table(rows))
    return verdict.word, verdict.why


def test_the_rule_follows_the_table() -> None:
    assert made()[0] == "holds"
    word, why = made(printed=1)
    assert word == "holds only if" and "read as graph, repaired (" in why
    assert made(repaired=1)[0] == made("gaps", repaired=1)[0] == "does not hold"


def test_what_is_not_causality_is_shown_and_not_judged() -> None:
    for name in ("undelivered", "idle", "other"):
        word, why = made(name, printed=1)
        assert word == "holds" and "graph, printed: 0.00% inversions, 0.00% gaps, 1 of 1 runs with any finding" in why
