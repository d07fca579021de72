"""Rule 1: exactly the next round, or never."""

from __future__ import annotations

from antecede.core.effects import Effect
from antecede.core.message import Envelope, Stamp
from antecede.core.printed.rounds import RuleOneInbox, RuleOneReader
from antecede.core.round_clock import RoundClock
from tests.core.kit import message, told

CLOCK = RoundClock(10, 5)


def test_a_round_that_was_skipped_is_waited_for_until_it_is_stale() -> None:
    reader = RuleOneReader(CLOCK)
    out: list[Effect] = []
    inbox = RuleOneInbox(reader, out, lambda envelope, now: None, guard_us=0, memory_us=10**9)

    def come(name: str, now_us: int) -> list[str]:
        one = message(name, deadline_us=CLOCK.end_us(int(name[2:])))
        inbox.accept(reader.arrived(Envelope(one, Stamp(((one.sender, one.seq),)))), now_us)
        lines = told(out)
        out.clear()
        return lines

    assert come("A:2", 10) == ["deliver A:2 causes"], "a first message has nothing before it"
    assert come("A:3", 20) == ["deliver A:3 causes"]
    assert come("A:5", 40) == [], "GT_s[A] is 3, GT_m[A] - 1 is 4"
    inbox.wake(CLOCK.end_us(5))
    assert out == []
    inbox.wake(CLOCK.end_us(5) + 1)
    assert told(out) == ["discard A:5 late"]


def test_entries_of_others_must_be_covered() -> None:
    reader = RuleOneReader(CLOCK)
    one = message("A:4")
    seen = reader.arrived(
        Envelope(one, Stamp((("A", 4),), (), {"B": CLOCK.colour_of(3, 4), "A": CLOCK.colour_of(2, 4)}))
    )
    assert seen.stamp.needs == (("B", 3),)
    reader.delivered(Stamp((("A", 2),)), forced=False)
    seen = reader.arrived(Envelope(one, Stamp((("A", 4),), (), {"B": CLOCK.colour_of(3, 4)})))
    assert seen.stamp.needs == (("A", 3), ("B", 3))
