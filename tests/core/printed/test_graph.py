"""Predecessors of other groups: waited for, or left out, by a subscriber with all that stands behind them."""

from __future__ import annotations

from antecede.core.interest import Interest
from antecede.core.message import Envelope, Stamp
from antecede.core.printed.graph import READINGS, PrintedGraphWriter
from tests.core.kit import message

BOTH, G1 = Interest(("G1", "G2")), Interest(("G1",))


def chain(reading: str) -> tuple[PrintedGraphWriter, Envelope]:
    """x(G1) -> y(G2) -> z(G1), all of one writer; z."""
    writer = PrintedGraphWriter("A", BOTH, deadlines=False, slack_us=0, grace_us=0, foreign=READINGS[reading])
    for name, topic in (("A:1", "G1"), ("A:2", "G2"), ("A:3", "G1")):
        told = message(name, topic)
        envelope = Envelope(told, writer.stamp(told, None))
    return writer, envelope


def test_waiting_names_the_message_of_the_other_group() -> None:
    writer, last = chain("printed-a")
    assert writer.project(last, G1).stamp.needs == (("A@G2", 2),)


def test_leaving_out_names_nothing_at_all_to_a_subscriber() -> None:
    writer, last = chain("printed-b")
    assert writer.project(last, G1).stamp.needs == ()
    assert writer.project(last, BOTH).stamp.needs == (("A@G2", 2),)
    assert not writer.project(last, BOTH).stamp.covers, "only immediate predecessors travel"


def test_a_broker_looks_behind_what_it_leaves_out() -> None:
    writer, last = chain("printed-b")
    broker = PrintedGraphWriter("C", G1, deadlines=False, slack_us=0, grace_us=0, foreign="leave out")
    assert broker.arrived(writer.relay(last)).stamp.needs == (("A@G1", 1),)
    waits = PrintedGraphWriter("C", G1, deadlines=False, slack_us=0, grace_us=0, foreign="wait")
    assert waits.arrived(writer.relay(last)).stamp.needs == (("A@G2", 2),)


def test_a_message_without_a_node_is_passed_on_as_it_is() -> None:
    writer, _ = chain("printed-b")
    loose = Envelope(message("B:1", "G1"), Stamp((("B@G1", 1),)))
    assert writer.project(loose, G1) is loose
