"""Which of two sayings about a process counts."""

from __future__ import annotations

from itertools import product

from antecede.core.membership.news import ALIVE, DEAD, LEAP, LEFT, STATES, SUSPECT, News, beats, split_name


def said(state: str, number: int) -> News:
    return News("A", "member", number=number, state=state)


def test_the_greater_number_counts() -> None:
    assert beats(said(ALIVE, 2), said(SUSPECT, 1))
    assert not beats(said(SUSPECT, 1), said(ALIVE, 2))


def test_at_the_same_number_suspicion_counts_more_than_life() -> None:
    assert beats(said(SUSPECT, 3), said(ALIVE, 3))
    assert not beats(said(ALIVE, 3), said(SUSPECT, 3))


def test_dead_and_left_are_final_whatever_the_number() -> None:
    for final, (state, number) in product((DEAD, LEFT), product(STATES, (0, 9))):
        assert beats(said(final, 1), said(ALIVE, 9)) and beats(said(final, 1), said(SUSPECT, 9))
        assert not beats(said(state, number), said(final, 1))


def test_nobody_can_have_counted_so_far_since_it_was_last_heard_of() -> None:
    for state in (ALIVE, SUSPECT):
        assert beats(said(state, 3 + LEAP), said(ALIVE, 3))
        assert not beats(said(state, 4 + LEAP), said(ALIVE, 3))
    assert beats(said(DEAD, 4 + LEAP), said(ALIVE, 3)), "what is final has no number"


def test_nothing_beats_itself() -> None:
    assert not any(beats(said(state, n), said(state, n)) for state, n in product(STATES, range(3)))


def test_names_have_incarnations() -> None:
    assert split_name("A") == ("A", 0)
    assert split_name("A.12") == ("A", 12)
    assert split_name("a.b") == ("a.b", 0)


def test_what_no_process_would_be_called_is_no_incarnation() -> None:
    assert split_name("A.999999999") == ("A", 999_999_999)
    for name in ("A.1000000000", "A.01", "A.0", "A.", ".5", "A.٣"):
        assert split_name(name) == (name, 0)
