"""The Inbox of `delta`: a cause that has expired is not waited for, one that has not is, to the microsecond."""

from __future__ import annotations

from antecede.core.deadline.expiring import DeltaInbox
from antecede.core.effects import Effect
from antecede.core.message import Envelope, Message, Stamp
from antecede.core.order.reader import Reader
from tests.core.kit import message, told


def timed(name: str, deadline_us: int, until: dict[str, tuple[int, int]]) -> Envelope:
    """`until`: stream -> the newest cause there, and when it expires."""
    one = message(name, deadline_us=deadline_us)
    covers = {stream: n for stream, (n, _) in until.items()}
    extra = {stream: until_us for stream, (_, until_us) in until.items()}
    return Envelope(one, Stamp(((one.sender, one.seq),), tuple(covers.items()), covers, sum(covers.values()), extra))


def inbox(guard_us: int = 0) -> tuple[DeltaInbox, list[Effect]]:
    out: list[Effect] = []
    reader = Reader(lambda stream: True, dense=True)
    return DeltaInbox(reader, out, lambda envelope, now_us: None, guard_us=guard_us, memory_us=10**9), out


def test_it_goes_out_when_its_missing_cause_has_expired_and_not_at_its_own_deadline() -> None:
    one, out = inbox()
    one.accept(timed("B:1", 200, {"A": (1, 100)}), 50)
    assert one.next_due() == 101
    one.wake(100)
    assert told(out) == []
    one.wake(101)
    assert told(out) == ["discard A:1 expired", "deliver B:1 causes"]


def test_what_does_not_say_when_all_of_it_expires_is_not_taken_in() -> None:
    one, out = inbox()
    whole = timed("B:1", 200, {"A": (1, 100)})
    stamp, needs = whole.stamp, whole.stamp.needs
    for deadline_us, causes, extra in (
        (None, needs, stamp.extra), (200, needs, None), (200, needs, {}), (200, (("C", 1),), {"A": 9}),
    ):  # fmt: skip
        bare = message("B:1", deadline_us=deadline_us)
        one.accept(Envelope(bare, Stamp(stamp.own, causes, stamp.covers, 1, extra)), 50)
        assert told(out) == ["discard B:1 foreign"] and not one.held
        out.clear()
    one.accept(whole, 50)
    assert list(one.held) == ["B:1"]


def test_an_unordered_one_has_no_causes_and_says_nothing_of_them() -> None:
    one, out = inbox()
    for n, needs in ((1, ()), (2, (("A", 1),))):
        loose = Message("C", n, ("G1",), b"", 200, order="none")
        one.accept(Envelope(loose, Stamp((("C~", n),), needs, {"C~": n - 1} if n > 1 else {})), 50)
    assert told(out) == ["deliver C~:1 causes", "discard C~:2 foreign"]


def test_the_guard_counts_for_the_cause_too() -> None:
    one, out = inbox(guard_us=10)
    one.accept(timed("B:1", 200, {"A": (2, 100)}), 50)
    assert one.next_due() == 91
    one.wake(91)
    assert told(out) == ["discard A:1 expired", "discard A:2 expired", "deliver B:1 causes"]


def test_one_cause_after_the_other() -> None:
    one, out = inbox()
    one.accept(timed("C:1", 200, {"A": (1, 100), "B": (1, 150)}), 50)
    one.wake(101)
    assert told(out) == ["discard A:1 expired"] and one.next_due() == 151
    one.accept(timed("B:1", 150, {"A": (1, 100)}), 140)
    assert told(out) == ["discard A:1 expired", "deliver B:1 causes", "deliver C:1 causes"]


def test_a_cause_that_may_still_come_is_not_called_expired_with_another() -> None:
    one, out = inbox()
    one.accept(timed("C:1", 200, {"A": (1, 100), "B": (1, 101)}), 50)
    one.wake(101)
    assert told(out) == ["discard A:1 expired"]
    one.accept(timed("B:1", 101, {"A": (1, 100)}), 101)
    assert told(out)[1:] == ["deliver B:1 causes", "deliver C:1 causes"]


def test_a_cause_that_is_held_is_not_given_up() -> None:
    one, out = inbox()
    one.accept(timed("B:1", 150, {"A": (1, 140)}), 50)
    one.accept(timed("C:1", 200, {"A": (1, 140), "B": (1, 150)}), 60)
    assert one.next_due() == 141
    one.wake(141)
    assert told(out) == ["discard A:1 expired", "deliver B:1 causes", "deliver C:1 causes"]


def test_who_overslept_hands_over_what_is_held_in_its_order_and_calls_none_of_it_expired() -> None:
    """C:1 is looked at first, for a cause that expired long ago; A:2 and its other causes are due by then as well."""
    one, out = inbox(guard_us=10)
    one.accept(timed("A:2", 130, {"A": (1, 128), "Z": (1, 125)}), 40)
    one.accept(timed("A:1", 128, {"Z": (1, 125)}), 50)
    one.accept(timed("C:1", 200, {"Y": (1, 100), "A": (2, 130), "Z": (1, 125)}), 60)
    one.wake(125)
    assert told(out)[:2] == ["discard Y:1 expired", "discard Z:1 expired"]
    assert told(out)[2:] == ["deliver A:1 causes", "deliver A:2 causes", "deliver C:1 causes"]


def test_what_comes_too_late_is_late_and_what_comes_in_time_is_waited_for() -> None:
    one, out = inbox()
    one.accept(timed("B:1", 200, {"A": (1, 100)}), 50)
    one.accept(timed("A:1", 100, {}), 100)
    assert told(out) == ["deliver A:1 causes", "deliver B:1 causes"]
    late, out = inbox()
    late.accept(timed("B:1", 200, {"A": (1, 100)}), 50)
    late.wake(101)
    late.accept(timed("A:1", 100, {}), 102)
    assert told(out)[-1] == "discard A:1 late"


def test_at_its_own_deadline_it_goes_out_whatever_is_missing() -> None:
    """Clocks differ: a cause may seem to outlive what follows it."""
    one, out = inbox()
    one.accept(timed("B:1", 200, {"A": (1, 220)}), 50)
    assert one.next_due() == 200
    one.wake(200)
    assert told(out) == ["deliver B:1 deadline"]
