"""The rule of `implosion`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claim import Table
from antecede.lab.claims.implosion import ACKS, SUMMARIES, rule


def table(acks: tuple[float, ...], summaries: float = 0.0, half: float = 0.001) -> Table:
    return [
        {"what": what, "members": n, "control_frames_per_message": float(n), "found_full": share,
         "found_full_low": share - half, "found_full_high": share + half}
        for n, lost in zip((25, 50, 100), acks, strict=True) for what, share in ((ACKS, lost), (SUMMARIES, summaries))
    ]  # fmt: skip


def test_the_rule_follows_the_table() -> None:
    assert rule(table((0.02, 0.05, 0.1))).word == "holds"
    only = rule(table((0.0, 0.05, 0.1)))
    assert only.word == "holds only if" and only.why.startswith("there are 50 members or more (among 100 members 100 ")
    assert rule(table((0.0, 0.0, 0.0))).word == "does not hold"
    assert rule(table((0.02, 0.05, 0.1), summaries=0.05)).word == "does not hold", "summaries overflow as well"
    assert rule(table((0.0, 0.0, 0.02), half=0.05)).word == "undecided"
    assert rule(table((0.05, 0.05, 0.05), summaries=0.0045, half=0.001)).word == "does not hold", "by means it would"
