"""The Inbox of `colour-eager`: takes along, waits for an expiry, keeps what may no longer go out."""

from __future__ import annotations

from antecede.core.deadline.eager import EagerInbox
from antecede.core.effects import Effect
from antecede.core.message import Envelope, Message, Stamp
from antecede.core.order.colour import ColourReader
from antecede.core.order.round_clock import RoundClock
from tests.core.kit import told

CLOCK = RoundClock(10, 3)


class Box:
    def __init__(self, guard_us: int = 0) -> None:
        self.out: list[Effect] = []
        self.reader = ColourReader(CLOCK, eager=True)
        self.inbox = EagerInbox(self.reader, self.out, lambda e, now: None, guard_us=guard_us, memory_us=10**9)

    def accept(self, name: str, before: int = 0, *, now: int) -> list[str]:
        sender, number = name.split(":")
        message = Message(sender, int(number), ("G1",), b"", CLOCK.end_us(int(number)))
        stamp = Stamp((), rank=CLOCK.colour_of(before, message.seq))
        self.inbox.accept(self.reader.arrived(Envelope(message, stamp)), now)
        return self.said()

    def wake(self, now: int) -> list[str]:
        self.inbox.wake(now)
        return self.said()

    def said(self) -> list[str]:
        lines = told(self.out)
        self.out.clear()
        return lines


def test_with_nothing_before_it_goes_out_at_once() -> None:
    assert Box().accept("A:1", now=0) == ["deliver A:1 causes"]


def test_what_waits_goes_out_with_something_of_that_round() -> None:
    box = Box()
    assert box.accept("A:2", 1, now=10) == [] and box.accept("C:3", 2, now=20) == []
    assert box.accept("B:1", now=21) == ["deliver B:1 causes", "deliver A:2 causes", "deliver C:3 causes"]


def test_what_waits_goes_out_when_the_round_has_expired_and_not_before() -> None:
    for guard in (0, 4):
        box = Box(guard)
        box.accept("A:2", 1, now=10)
        assert box.inbox.next_due() == 30 - guard  # round 1 lives to 29
        assert box.wake(29 - guard) == [] and box.wake(30 - guard) == ["deliver A:2 causes"]
        assert box.accept("B:1", now=30 - guard) == ["discard B:1 late"]


def test_all_held_that_may_precede_goes_out_first_in_order_of_rounds() -> None:
    box = Box()
    for name, before in (("C:3", 2), ("A:2", 1), ("D:4", 3)):
        assert box.accept(name, before, now=20) == []
    out = ["deliver E:3 causes", "deliver A:2 causes", "deliver C:3 causes", "deliver D:4 causes"]
    assert box.accept("E:3", now=21) == out, "D:4 is ready now, and takes along what may precede it"


def test_what_may_precede_something_that_is_out_is_kept_to_its_end() -> None:
    for guard in (0, 4):
        box = Box(guard)
        box.accept("A:2", now=10)
        box.accept("B:3", 2, now=20)
        assert box.accept("C:2", now=21) == [] and "C:2" in box.inbox.held
        assert box.accept("C:2", now=22) == ["discard C:2 duplicate"]
        assert box.wake(39 - guard) == [] and box.wake(40 - guard) == ["discard C:2 late"]
        assert not box.inbox.held and box.inbox.next_due() is None


def test_a_senders_own_earlier_message_is_truly_superseded() -> None:
    box = Box()
    box.accept("A:3", now=20)
    assert box.accept("A:2", now=21) == ["discard A:2 superseded"]


def test_concurrent_messages_pass() -> None:
    box = Box()
    box.accept("A:1", now=0)
    box.accept("B:4", 1, now=25)
    assert box.accept("C:2", now=26) == ["deliver C:2 causes"], "newer than the newest predecessor of B:4"
