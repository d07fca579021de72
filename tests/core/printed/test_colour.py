"""Colours as integers, and a matrix that passes over gaps."""

from __future__ import annotations

from antecede.core.effects import Effect
from antecede.core.interest import Interest
from antecede.core.message import Envelope, Stamp
from antecede.core.order.colour import ColourReader
from antecede.core.order.matrix import ColumnInterest
from antecede.core.order.round_clock import RoundClock
from antecede.core.printed.colour import CyclicColours, IntegerColours, PrintedMatrixWriter
from tests.core.kit import message, told

CLOCK = RoundClock(10, 3)


def writer(name: str) -> PrintedMatrixWriter:
    made = PrintedMatrixWriter(name, ColumnInterest(("G1",), name), RoundClock(10, 3))
    for other in "ABC":
        made.meet(other, ("G1",))
    return made


def test_a_gap_in_the_senders_own_messages_is_passed_over() -> None:
    a, b, c = writer("A"), writer("B"), writer("C")
    sent = []
    for name in ("A:1", "A:2"):
        told_ = message(name)
        sent.append(a.relay(Envelope(told_, a.stamp(told_, None))))
    assert b.arrived(sent[1]).stamp.needs == (), "repaired: A:1"
    b.learn(b.arrived(sent[0]))
    third = message("B:3")
    assert c.arrived(b.relay(Envelope(third, b.stamp(third, None)))).stamp.needs == (("A@C", 1),), "others are tested"


def test_a_message_carries_its_own_colour() -> None:
    a = writer("A")
    one = message("A:4")
    assert a.project(Envelope(one, a.stamp(one, None)), Interest(("G1",))).stamp.rank == 1


def test_after_the_last_colour_nothing_is_delivered() -> None:
    reader = ColourReader(CLOCK, eager=True)
    out: list[Effect] = []
    inbox = IntegerColours(reader, out, lambda envelope, now: None, guard_us=0, memory_us=10**9)
    for name, now_us in (
        ("A:1", 0),
        ("A:1", 0),
        ("A:2", 10),
        ("B:2", 10),
        ("A:3", 20),
        ("A:4", 30),
        ("B:3", 30),
        ("B:4", 45),
    ):
        inbox.accept(reader.arrived(Envelope(message(name), Stamp(()))), now_us)
    assert told(out) == [
        "deliver A:1 causes",
        "discard A:1 duplicate",
        "deliver A:2 causes",
        "discard B:2 superseded",
        "deliver A:3 causes",
        "discard A:4 superseded",
        "discard B:3 superseded",
        "discard B:4 late",
    ]


def test_cyclic_colours_are_newer_or_not_and_never_late() -> None:
    reader = ColourReader(CLOCK, eager=True)
    out: list[Effect] = []
    inbox = CyclicColours(reader, out, lambda envelope, now: None, guard_us=0, memory_us=10**9)
    for name, now_us in (("A:2", 10), ("A:1", 10), ("A:3", 20), ("A:4", 30), ("B:1", 45), ("B:2", 45)):
        inbox.accept(reader.arrived(Envelope(message(name), Stamp(()))), now_us)
    assert told(out) == [
        "deliver A:2 causes",
        "discard A:1 superseded",
        "deliver A:3 causes",
        "deliver A:4 causes",
        "discard B:1 superseded",  # in round 5 its colour means round 4, and something of round 4 is out
        "deliver B:2 causes",  # its colour means round 5: long expired, and taken for new
    ]
