"""The Writer of a process that only reads: it has a Writer like everybody, and nothing follows from what it learns."""

from __future__ import annotations

import pytest

from antecede.core.interest import Interest
from antecede.core.order.writer import NoWriter, Writer
from antecede.errors import InputError
from tests.core.kit import grouped, message


def test_it_learns_and_names_nothing_and_leaves_messages_as_they_are() -> None:
    writer: Writer = NoWriter()
    envelope = grouped("A:1", "G1", covers={"B@G1": 3})
    writer.look_at(Interest(("G1",)))
    writer.learn(envelope)
    writer.heard({"A@G1": 1})
    writer.gave_up(("A@G1", 1))
    writer.adopt((), {"A@G1": 1})
    writer.start_at({"A@G1": 1})
    writer.expire(5)
    writer.forget(5)
    assert writer.past() == {} and writer.nodes() == () and writer.known(("A@G1", 1)) is None
    assert writer.stable == writer.dropped == {} and not writer.wants_stable
    assert writer.arrived(envelope) is writer.relay(envelope) is writer.bare(envelope) is envelope
    assert writer.project(envelope, Interest(("G1",))) is envelope


def test_it_stamps_nothing() -> None:
    with pytest.raises(InputError, match="A only reads"):
        NoWriter().stamp(message("A:1"), None)
