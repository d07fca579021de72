"""Saved state: comes back, canonical, and corrupt bytes are named as such."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antecede.errors import InputError, RemoteProtocolError
from antecede.wire import freeze, thaw

KEYS = st.one_of(
    st.text(max_size=5), st.integers(), st.tuples(st.text(max_size=3), st.integers(0, 9)), st.binary(max_size=3)
)
STATES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
    | st.binary(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=4), inner, max_size=4)
        | st.dictionaries(KEYS, inner, max_size=4)
    ),
    max_leaves=20,
)


@settings(deadline=None)
@given(STATES)
def test_state_thaws_to_what_was_frozen(state: Any) -> None:
    assert thaw(freeze(state)) == state


@settings(deadline=None)
@given(st.dictionaries(KEYS, STATES, max_size=6))
def test_equal_states_freeze_equally(state: dict[Any, Any]) -> None:
    assert freeze(dict(reversed(list(state.items())))) == freeze(state)


def test_sequences_thaw_as_lists() -> None:
    assert thaw(freeze((1, (2, 3)))) == [1, [2, 3]]
    assert thaw(freeze({("a", 1): (2,)})) == {("a", 1): [2]}


@settings(deadline=None)
@given(st.binary(max_size=60), STATES, st.integers(0, 2**16))
def test_corrupt_state_is_said_to_be(data: bytes, state: Any, place: int) -> None:
    good = bytearray(freeze(state))
    good[place % len(good)] ^= 1 << place % 8
    for candidate in (data, freeze(None)[:3] + data, bytes(good), bytes(good[:-1])):
        with suppress(RemoteProtocolError):
            thaw(candidate)


def test_state_that_cannot_be_saved_is_the_callers_mistake() -> None:
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    for state in (object(), {object(): 1}, "\ud800", deep):
        with pytest.raises(InputError):
            freeze(state)
    with pytest.raises(RemoteProtocolError, match="version 9"):
        thaw(b"\xacS\x09\xc0")
