"""Rule 1: exactly the next round, or never; and the vector as it is described."""

from __future__ import annotations

from antecede.core.effects import Effect
from antecede.core.interest import Interest
from antecede.core.message import Envelope, Stamp
from antecede.core.order.round_clock import RoundClock
from antecede.core.printed.rounds import RuleOneInbox, RuleOneReader, WholeVectorWriter
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

    assert come("B:2", 10) == [], "GT_s[B] is 0 at the beginning, GT_m[B] - 1 is 1"
    assert [come(f"A:{n}", 10 * n) for n in (1, 2, 3)] == [[f"deliver A:{n} causes"] for n in (1, 2, 3)]
    assert come("A:5", 40) == [], "GT_s[A] is 3, GT_m[A] - 1 is 4"
    inbox.wake(CLOCK.end_us(5))
    assert told(out) == ["discard B:2 late"]
    out.clear()
    inbox.wake(CLOCK.end_us(5) + 1)
    assert told(out) == ["discard A:5 late"]


def test_entries_of_others_must_be_covered() -> None:
    reader = RuleOneReader(CLOCK)
    one = message("A:4")
    seen = reader.arrived(
        Envelope(one, Stamp((("A", 4),), (), {"B": CLOCK.colour_of(3, 4), "A": CLOCK.colour_of(2, 4)}))
    )
    assert seen.stamp.needs == (("A", 3), ("B", 3))
    first = message("A:1")
    assert reader.arrived(Envelope(first, Stamp((("A", 1),)))).stamp.needs == ()


def test_the_vector_as_described_is_the_same_for_every_subscriber() -> None:
    writer = WholeVectorWriter("A", RoundClock(10, 5))
    for name, topic in (("A:1", "G2"), ("A:3", "G1")):
        one = message(name, topic)
        envelope = Envelope(one, writer.stamp(one, None))
    projected = writer.project(envelope, Interest(("G1",)))
    assert projected.stamp.covers == {"A": CLOCK.colour_of(1, 3)}, "repaired: A:1 is for G2 alone"
