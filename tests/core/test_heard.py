"""Unordered messages that were had: one by one, and not for ever."""

from __future__ import annotations

import pytest

from antecede.core import heard
from antecede.core.heard import Heard
from antecede.core.message import Stamp


def unordered(n: int, before: int) -> Stamp:
    return Stamp((("X~@G1", n),), (), {"X~@G1": before})


def test_each_is_had_by_itself() -> None:
    one = Heard()
    one.add(unordered(3, 2))
    assert one.has((("X~@G1", 3),)) and not one.has((("X~@G1", 2),)) and not one.has((("Y~@G1", 3),))
    one.add(unordered(2, 0))
    assert one.front == {"X~@G1": 3} and not one.over


def test_what_is_only_taken_for_had_is_not_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heard, "UNORDERED_KEPT", 4)
    one = Heard()
    for n in range(2, 14, 2):
        one.add(unordered(n, n - 1))
    assert len(one.over["X~@G1"]) <= 5 and one.front["X~@G1"] > 0
    assert not one.has((("X~@G1", 2),)) and one.has((("X~@G1", 12),))
