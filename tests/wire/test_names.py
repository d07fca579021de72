"""Layouts of names: canonical, memoised, and bounded before anything is built."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antecede.errors import InputError, RemoteProtocolError
from antecede.wire.limits import MAX_FILTER, MAX_FRAME, MAX_NAME
from antecede.wire.names import (
    Memo,
    bits_of,
    deltas,
    filters_row,
    ids_row,
    joined,
    layout_for,
    marked,
    read_filters,
    read_ids,
    read_layout,
    sums,
)
from tests.wire.strategies import STREAMS


@given(st.lists(STREAMS, unique=True, max_size=20))
def test_layouts_are_the_same_for_any_order_of_streams(streams: list[str]) -> None:
    layout = layout_for(streams)
    assert sorted(layout.streams) == sorted(streams)
    assert layout_for(reversed(streams)).raw == layout.raw
    assert read_layout(layout.raw, len(streams)).streams == layout.streams


def test_a_hostile_grid_of_names_is_refused_before_it_is_built() -> None:
    raw = "\0".join(f"s{i}" for i in range(250)).encode() + b"\xff" + "\0".join(f"@g{i}" for i in range(250)).encode()
    with pytest.raises(RemoteProtocolError, match="62500 streams for 3 numbers"):
        read_layout(raw, 3)
    assert len(read_layout(raw, 62_500).streams) == 62_500
    with pytest.raises(RemoteProtocolError):
        read_layout(raw, 3)


@given(st.lists(st.integers(0, 2**63 - 1), max_size=20))
def test_deltas_and_sums_are_inverse(numbers: list[int]) -> None:
    assert sums(deltas(numbers)) == numbers


def test_what_no_counter_can_be_is_refused() -> None:
    for numbers in ([-1], [1, -2], [2**63 - 1, 1]):
        with pytest.raises(RemoteProtocolError):
            sums(numbers)


@given(st.sets(st.integers(0, 40)))
def test_bitmaps_select_what_they_were_made_of(indexes: set[int]) -> None:
    chosen = marked(bits_of(indexes), 41)
    assert {index for index, bit in enumerate(chosen) if bit} == indexes


def test_a_bitmap_beyond_its_cells_is_refused() -> None:
    with pytest.raises(RemoteProtocolError):
        marked(b"\xff\x01", 8)


def test_a_memo_stays_within_its_budget() -> None:
    memo: Memo[int] = Memo(10)
    for key in range(100):
        memo.put(key, key, 3)
        assert 3 * len(memo) <= 10
        assert memo[key] == key


def test_ids_are_no_longer_than_a_frame_though_their_sender_is_written_once() -> None:
    sender = "x" * MAX_NAME
    many = MAX_FRAME // MAX_NAME + 1
    places, numbers = deltas([0] * many), deltas(list(range(many)))
    assert len(read_ids((joined((sender,)), places[:100], numbers[:100]))) == 100
    with pytest.raises(RemoteProtocolError, match="longer than a frame"):
        read_ids((joined((sender,)), places, numbers))
    with pytest.raises(InputError, match="longer than a frame"):
        ids_row([f"{sender}:{n}" for n in range(many)])


def test_filters_may_carry_predicates_and_are_bounded_too() -> None:
    long = "a/##?" + "x == 1 or " * 90 + "x == 2"
    assert read_filters(filters_row(("b", long))) == ("b", long) and read_filters(filters_row(())) == ()
    with pytest.raises(InputError, match=f"more than {MAX_FILTER} characters"):
        filters_row(("x" * (MAX_FILTER + 1),))
    with pytest.raises(RemoteProtocolError, match=f"more than {MAX_FILTER} characters"):
        read_filters(b"x" * (MAX_FILTER + 1))
