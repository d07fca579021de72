"""Counting: fates, requests, and the time that was left."""

from __future__ import annotations

from antecede.core.effects import Answer, Ask, Collect, Discard
from antecede.core.message import Message
from antecede.live.tally import SLACK_S, Tally


def test_everything_is_counted_once() -> None:
    tally = Tally()
    tally.delivered(Message("a", 1, ("t",), b"", 1_500_000), 1_000_000)
    tally.delivered(Message("a", 2, ("t",), b"", None), 1_000_000)
    tally.delivered(Message("a", 3, ("t",), b"", 900_000), 1_000_000)
    for effect in (
        Discard("a:4", "late"),
        Ask("B", ()),
        Ask("B", ("a:5", "a:6")),
        Answer("B", ("a:1",)),
        Collect("a:1"),
    ):
        tally.said(effect)
    assert tally.fates == {"delivered": 3, "late": 1} and (tally.asked, tally.answered) == (3, 1)
    assert sum(tally.slack) == 2 and tally.slack[SLACK_S.index(0.5)] == 1 and tally.slack[0] == 1
    assert abs(tally.slack_sum_s - 0.4) < 1e-9
