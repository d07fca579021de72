"""A silence: what was here before a long one is not left to the next incarnation, what came in it is."""

from __future__ import annotations

import pytest

from antecede.core.frames import Snapshot
from antecede.live.silence import QUIET_US, Silence
from tests.core.kit import grouped

LONG_US = 300_000_000


class Quiet:
    def __init__(self) -> None:
        self.now_us = 0
        self.here: list[str] = []
        self.unsafe: list[str] = []
        self.silence = Silence(lambda: self.now_us, LONG_US, lambda: self.here, lambda: self.unsafe)

    def rest(self) -> list[str]:
        legacy = Snapshot({}, (), tuple(map(grouped, self.here)), (grouped("gone:1"),))
        rest = self.silence.rest(legacy)
        assert rest is not None and (rest is legacy) == bool(rest.headers)
        return [e.message.id for e in rest.envelopes]


def test_after_a_short_silence_all_is_left() -> None:
    one = Quiet()
    one.here.append("ann:1")
    one.now_us = LONG_US
    one.silence.look()
    one.silence.heard()
    assert one.rest() == ["ann:1"] and one.silence.rest(None) is None


def test_what_came_in_a_long_silence_is_left_and_nothing_else() -> None:
    one = Quiet()
    one.here.append("ann:1")
    one.silence.look()
    one.here.append("ann:2")
    one.unsafe.append("ann:2")
    one.now_us = QUIET_US + 1
    one.silence.look()
    one.here.append("bob:1")
    one.now_us = LONG_US + 1
    one.silence.look()
    one.silence.heard()
    assert one.rest() == ["ann:2", "bob:1"]
    one.now_us += LONG_US + 1
    one.silence.heard()
    assert one.rest() == [], "another one, in which nothing came"


@pytest.mark.parametrize("looks", [False, True])
def test_who_was_stopped_leaves_nothing(looks: bool) -> None:
    """What was not safe then Ann has published again elsewhere since."""
    one = Quiet()
    one.here.append("ann:1")
    one.unsafe.append("ann:1")
    one.now_us = LONG_US + 1
    if looks:
        one.silence.look()
    one.silence.heard()
    assert one.rest() == []
    for _ in range(4):
        one.now_us += LONG_US // 3
        one.silence.heard()
    assert one.rest() == ["ann:1"], "what retired meanwhile it was told long ago"
