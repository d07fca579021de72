"""Saved frontiers: what goes in comes out, equal ones are equal bytes, and what no client wrote is refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antecede.core.home.frontier import Frontier
from antecede.errors import InputError, RemoteProtocolError
from antecede.wire import restore, save
from tests.wire.strategies import MAPS, NAMES, NUMBERS, SENDERS


@st.composite
def frontiers(draw: Any) -> Frontier:
    loose = {}
    for stream in draw(st.lists(st.builds("{}~@{}".format, SENDERS, NAMES), max_size=3, unique=True)):
        front = draw(st.integers(0, 1000))
        ns = sorted(draw(st.sets(st.integers(front + 1, front + 200), max_size=5)))
        loose[stream] = (front, tuple((n, draw(st.integers(0, n - 1))) for n in ns))
    return Frontier(draw(SENDERS), draw(MAPS), draw(MAPS), loose, draw(NUMBERS) // 2)


@given(frontiers())
def test_it_comes_back(frontier: Frontier) -> None:
    assert restore(save(frontier)) == frontier


@given(frontiers())
def test_equal_ones_are_equal_bytes(frontier: Frontier) -> None:
    marks = dict(reversed(frontier.marks.items()))
    turned = Frontier(frontier.process, marks, frontier.began, frontier.loose, frontier.rank)
    assert save(turned) == save(frontier)


@given(frontiers(), st.data())
def test_spoilt_bytes_are_refused_or_say_something_else(frontier: Frontier, data: Any) -> None:
    good = save(frontier)
    at = data.draw(st.integers(0, len(good) - 1))
    for bad in (good[:at], good[:at] + bytes((data.draw(st.integers(0, 255)),)) + good[at + 1 :], good + b"\0"):
        try:
            assert isinstance(restore(bad), Frontier)
        except RemoteProtocolError:
            pass


def test_foreign_bytes_and_other_versions_are_refused() -> None:
    good = save(Frontier("ann"))
    for bad in (b"", b"\xac", b"pickle", good[:3], good[:2] + b"\x02" + good[3:]):
        with pytest.raises(RemoteProtocolError):
            restore(bad)


def test_a_sender_costs_its_name_and_a_byte_or_two() -> None:
    few = {f"sensor-{n:03}@plant": 40 + n for n in range(50)}
    assert len(save(Frontier("ann", few))) <= 50 * (len("sensor-000") + 3) + 40


def test_what_could_not_be_read_is_not_written() -> None:
    for bad in (Frontier("nul\0"), Frontier("ann", {"p": -1}), Frontier("ann", {"p": 2**64})):
        with pytest.raises(InputError):
            save(bad)
