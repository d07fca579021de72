"""One inbox: what it wants, when it is full, and the place of what comes after all."""

from __future__ import annotations

from collections import deque

import pytest

from antecede.core.home.queue import POLICIES, Queue, Ready, insert
from antecede.errors import InputError
from tests.core.kit import grouped


def ready(name: str, *topics: str, covers: dict[str, int] | None = None, reason: str = "causes") -> Ready:
    return Ready(grouped(name, *topics, covers=covers or {}), reason, 0, 1)


def test_it_wants_what_matches_and_its_own_if_asked() -> None:
    for own in (False, True):
        queue = Queue("q", ("G1",), 1, "block", own)
        assert queue.wants(ready("X:1", "G1")) and not queue.wants(ready("X:1", "G2"))
        assert queue.wants(ready("X:1", "G1", reason="own")) is own
        queue.stopped = True
        assert not queue.wants(ready("X:1", "G1")) and not queue.wants(ready("X:1", "G1", reason="own"))


def test_it_is_full_when_so_many_wait() -> None:
    queue = Queue("q", ("G1",), 2, "block", False)
    queue.waiting = 1
    assert not queue.full
    queue.waiting = 2
    assert queue.full


def test_what_comes_after_all_goes_before_the_first_that_follows_it() -> None:
    first, second, third = ready("X:1"), ready("Y:1", covers={"Z@G1": 4}), ready("Y:2", covers={"Z@G1": 4})
    line = deque([first, second, third])
    one, other = ready("Z:4"), ready("Q:1")
    insert(line, one, one.envelope.stamp.own)
    insert(line, other, other.envelope.stamp.own)
    assert list(line) == [first, one, second, third, other]
    second.settled = third.settled = True
    again = ready("Z:3")
    insert(line, again, again.envelope.stamp.own)
    assert line[-1] is again, "what is over is not followed any more"


def test_mistakes_are_told() -> None:
    for size, policy in ((0, POLICIES[0]), (1, "drop")):
        with pytest.raises(InputError):
            Queue("q", (), size, policy, False)
