"""The serving half: it keeps messages until their time is over, and remembers declared causes."""

from __future__ import annotations

from antecede.core.message import Publication
from tests.core.kit import told
from tests.core.roles.test_receiver import member


def test_what_expires_is_collected_in_whole_rounds() -> None:
    one = member("A", round_us=100, clock_bound_us=5)
    one.publish(Publication(("G1",), b"", deadline_us=120), 0)
    one.rounds.at_us = None
    assert one.next_wake() == 200
    assert told(one.wake(199)) == [] and told(one.wake(200)) == ["collect A:1"]
    assert one.next_wake() is None


def test_a_declared_cause_that_is_kept_no_more_widens_to_everything() -> None:
    one = member("A")
    first, _ = one.publish(Publication(("G1",), b"", deadline_us=120), 0)
    assert one.stamps((first.id,)) is not None and one.stamps((first.id, "B:1")) is None
