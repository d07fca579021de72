"""Refusals: all counted, few logged."""

from __future__ import annotations

import logging

import pytest

from antecede.live.keys.refusals import QUIET_S, Refusals


def test_a_reason_is_logged_once_in_a_while_with_how_often(caplog: pytest.LogCaptureFixture) -> None:
    now_s = 100.0
    refusals = Refusals(lambda: now_s)
    with caplog.at_level(logging.WARNING, "antecede.broker"):
        for _ in range(50):
            refusals.add("wrong token", "client 'eve'", "get another")
        refusals.add("too fast", "ann")
        assert [record.message for record in caplog.records] == [
            "refused client 'eve': wrong token (get another)",
            "refused ann: too fast",
        ]
        now_s += QUIET_S
        refusals.add("wrong token", "bob")
    assert caplog.records[-1].message == "refused bob: wrong token, and 49 more since the last such line"
    assert refusals.counts == {"wrong token": 51, "too fast": 1}
