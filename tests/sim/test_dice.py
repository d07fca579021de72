"""Streams are the same everywhere, and different for every purpose."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from antecede.sim.dice import between, pick, shuffled, some, stream

FIRST = 145021558


def test_a_stream_is_the_same_on_every_python() -> None:
    # The numbers are written down: if a new Python drew others, every recorded seed would be worthless.
    assert [int(stream(7, "network").random() * 10**9) for _ in range(2)] == [FIRST, FIRST]
    assert stream(7, "network").random() != stream(7, "faults").random() != stream(8, "faults").random()


@given(st.integers(), st.lists(st.integers(), min_size=1, unique=True))
def test_draws_stay_within_what_there_is(seed: int, items: list[int]) -> None:
    dice = stream(seed)
    assert pick(dice, items) in items
    assert sorted(shuffled(dice, items)) == sorted(items)
    drawn = some(dice, items)
    assert drawn and [item for item in items if item in drawn] == list(drawn)
    assert 2 <= between(dice, 2, 5) <= 5
