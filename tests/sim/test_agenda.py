"""Steps come in the order of their times, and of their coming where times are equal."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from antecede.sim.agenda import Agenda


@given(st.lists(st.tuples(st.integers(0, 5_000), st.lists(st.integers(0, 3_000), max_size=3)), max_size=40))
def test_like_a_stable_sort_also_for_what_is_added_on_the_way(steps: list[tuple[int, list[int]]]) -> None:
    agenda = Agenda()
    expected: list[tuple[int, int]] = []
    for number, (at_us, later) in enumerate(steps):
        agenda.push((at_us, number, later))
    met = []
    last = 0
    number = len(steps)
    for at_us, name, later in agenda:
        assert at_us >= last
        last = at_us
        met.append((at_us, name))
        for delay in later:
            agenda.push((at_us + delay, number, []))
            expected.append((at_us + delay, number))
            number += 1
    expected += [(at_us, name) for name, (at_us, _) in enumerate(steps)]
    assert met == sorted(expected)


def test_it_can_be_filled_again_when_it_has_run_out() -> None:
    agenda = Agenda()
    agenda.push((5_000, "a"))
    assert list(agenda) == [(5_000, "a")]
    agenda.push((5_000, "b"))
    assert list(agenda) == [(5_000, "b")]
    assert len(agenda) == 0
