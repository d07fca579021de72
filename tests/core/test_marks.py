"""Marks by stream: a lattice, and a cut as ids there and back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from antecede.core.marks import beyond, by_group, cut_of, includes, join, meet, newest_of, put, tops_of

MARKS = st.dictionaries(st.sampled_from(["p@G1", "p@G2", "q@G1", "q~@G1", "r@G2"]), st.integers(1, 4))


def joined(a: dict[str, int], b: dict[str, int]) -> dict[str, int]:
    both = dict(a)
    join(both, b)
    return both


@given(MARKS, MARKS, MARKS)
def test_they_are_joined_in_any_order_and_any_number_of_times(
    a: dict[str, int], b: dict[str, int], c: dict[str, int]
) -> None:
    assert joined(a, b) == joined(b, a) and joined(a, a) == a
    assert joined(joined(a, b), c) == joined(a, joined(b, c))
    assert includes(joined(a, b), a) and includes(joined(a, b), b)


@given(MARKS, MARKS)
def test_the_marks_of_a_message_are_joined_one_by_one(a: dict[str, int], b: dict[str, int]) -> None:
    both = dict(a)
    put(both, b.items())
    assert both == joined(a, b)


@given(MARKS, MARKS)
def test_a_meet_is_covered_by_both_and_what_is_beyond_it_is_not(a: dict[str, int], b: dict[str, int]) -> None:
    assert includes(a, meet(a, b)) and includes(b, meet(a, b))
    assert includes(a, b) == (not beyond(b, a))
    assert joined(dict(beyond(a, b)), b) == joined(a, b)


@given(MARKS)
def test_a_cut_goes_there_and_back_and_groups_lose_nothing(marks: dict[str, int]) -> None:
    tops = newest_of(marks)
    assert tops_of(cut_of(tops)) == tops
    assert {stream: n for group in by_group(marks).values() for stream, n in group.items()} == marks
