"""The vector with deadlines: each stamp says when the newest cause of every stream expires."""

from __future__ import annotations

from antecede.core.message import Envelope
from antecede.core.order.delta import DeltaWriter
from tests.core.kit import message


def publish(writer: DeltaWriter, name: str, deadline_us: int) -> Envelope:
    told = message(name, deadline_us=deadline_us)
    return Envelope(told, writer.stamp(told, None))


def test_a_stamp_says_when_each_newest_cause_expires() -> None:
    a, b = DeltaWriter("A"), DeltaWriter("B")
    first = publish(a, "A:1", 100)
    assert first.stamp.extra == {}
    b.learn(first)
    second = publish(b, "B:1", 130)
    assert second.stamp.covers == {"A": 1} and second.stamp.extra == {"A": 100}
    assert publish(a, "A:2", 140).stamp.extra == {"A": 100}
    assert publish(b, "B:2", 150).stamp.extra == {"A": 100, "B": 130}


def test_what_was_only_heard_of_is_known_too_and_older_news_change_nothing() -> None:
    a, b, c = (DeltaWriter(name) for name in "ABC")
    old, new = publish(a, "A:1", 100), publish(a, "A:2", 120)
    b.learn(new)
    c.learn(publish(b, "B:1", 130))
    c.learn(old)
    assert publish(c, "C:1", 140).stamp.extra == {"A": 120, "B": 130}
