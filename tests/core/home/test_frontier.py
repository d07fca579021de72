"""Frontiers as values: whose later life may begin at one, and that all it publishes follows."""

from __future__ import annotations

import pytest

from antecede.core.home.frontier import Frontier, begin_at
from antecede.core.message import Message
from antecede.core.order.vector import VectorWriter
from antecede.errors import InputError


@pytest.mark.parametrize(
    ("name", "cure"),
    [
        ("ann", r"such as ann\.3"),
        ("ann.1", r"such as ann\.3"),
        ("ann.02", "connect under the name ann"),
        ("ben.3", "connect under the name ann"),
        ("ann.2.3", "connect under the name ann"),
    ],
)
def test_only_a_later_life_may_begin_there(name: str, cure: str) -> None:
    with pytest.raises(InputError, match=cure):
        Frontier("ann.2").check(name)


def test_a_later_life_may() -> None:
    for earlier, later in (("ann", "ann.1"), ("ann.2", "ann.3"), ("ann.2", "ann.900000001")):
        Frontier(earlier).check(later)


def test_what_is_published_there_follows_all_of_it() -> None:
    writer = VectorWriter("ann.1", flat=False)
    begin_at(writer, Frontier("ann", {"p@G1": 3, "p@G2": 5, "q@G2": 1}, rank=9))
    stamp = writer.stamp(Message("ann.1", 1, ("G2",)), None)
    assert stamp.covers == {"p@G1": 3, "p@G2": 5, "q@G2": 1} and stamp.rank == 10
    assert set(stamp.needs) == {("p@G1", 3), ("p@G2", 5), ("q@G2", 1)}
    assert writer.past() == {"p@G1": 3, "p@G2": 5, "q@G2": 1, "ann.1@G2": 1}
