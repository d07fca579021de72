"""The rule of `lost-interest`: flipped by its table alone; and what counts as in vain."""

from __future__ import annotations

from antecede.lab.cells import interests
from antecede.lab.claim import Effort
from antecede.lab.claims.lost_interest import CLAIM, PULL, PUSH, rule


def made(pull: int, push: int, noise: int = 0, often: int = 0) -> tuple[str, str]:
    """So many copies in vain where 100 would be; with pull `often` more where filters change at 2 per second."""
    rows = [{"grow": rate, "way": way, "seed": s, "wanted": 1000, "lapsed": 100,
             "copies_in_vain": copies + noise * (s % 2) + (often if way == PULL and rate == 2.0 else 0)}
            for rate in (0.5, 2.0) for way, copies in ((PULL, pull), (PUSH, push)) for s in range(4)]  # fmt: skip
    verdict = rule(CLAIM.table(rows))
    return verdict.word, verdict.why


def test_the_rule_follows_the_table() -> None:
    assert made(5, 5)[0] == "holds" and "the update" in made(5, 5)[1]
    assert made(5, 90)[0] == "holds" and "the update" not in made(5, 90)[1]
    word, why = made(5, 90, often=85)
    assert word == "holds only if" and why.startswith("filters change at 0.5 per subscriber")
    assert made(90, 90)[0] == "does not hold"
    assert made(10, 10, noise=100)[0] == "undecided"


def test_who_never_changes_its_filters_gets_nothing_in_vain() -> None:
    knobs = {**CLAIM.cells(Effort(quick=True))[0].knobs, "messages": 20}
    still, lively = interests({**knobs, "grow": 0.0}, 3), interests({**knobs, "grow": 6.0}, 3)
    assert still["copies_in_vain"] == still["lapsed"] == 0 < still["wanted"]
    assert lively["lapsed"] > 20 > lively["copies_in_vain"]
