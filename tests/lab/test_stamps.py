"""Stamps on the wire: what grows with the number of brokers, and what does not."""

from __future__ import annotations

import doctest

import pytest

from antecede.lab import stamps
from antecede.lab.stamps import AT_ONCE, CHAIN, ENCODINGS, GROUPS, SITUATIONS, needed_entries, weigh_stamps


def sizes(encoding: str, n: int) -> tuple[int, int]:
    row = weigh_stamps({"encoding": encoding, "brokers": n}, 0)
    return row["to_broker"], row["to_subscriber"]


@pytest.mark.parametrize("encoding", list(ENCODINGS))
def test_more_brokers_weigh_more_between_brokers(encoding: str) -> None:
    assert sizes(encoding, 4)[0] < sizes(encoding, 8)[0] < sizes(encoding, 16)[0]


def test_one_colour_weighs_the_same_for_any_number_of_brokers() -> None:
    assert sizes("matrix, one colour", 4)[1] == sizes("matrix, one colour", 32)[1] < 10


def test_a_matrix_grows_with_the_square_and_predecessors_in_proportion() -> None:
    assert sizes("matrix, one colour", 32)[0] > 3 * sizes("matrix, one colour", 16)[0]
    assert 1.5 < sizes("context graph", 64)[1] / sizes("context graph", 32)[1] < 2.5


def test_the_examples_in_the_docstrings_hold() -> None:
    failed, tried = doctest.testmod(stamps)
    assert tried and not failed


def entries(encoding: str, situation: str, n: int) -> tuple[int, int, int]:
    row = weigh_stamps({"encoding": encoding, "brokers": n, "situation": situation}, 0)
    return row["entries_to_broker"], row["entries_to_subscriber"], row["entries_needed"]


@pytest.mark.parametrize("situation", SITUATIONS)
def test_immediate_predecessors_are_what_is_needed(situation: str) -> None:
    above, below, needed = entries("context graph", situation, 16)
    assert above == 15 and below == needed == needed_entries(situation, 16)


def test_a_vector_names_everybody_whatever_is_needed() -> None:
    assert entries("vector per group", AT_ONCE, 16) == (15, 15, 15)
    assert entries("vector per group", CHAIN, 16) == (15, 15, 1)
    assert entries("vector per group", GROUPS, 16) == (15, 15, 3)


def test_a_colour_per_broker_is_of_the_groups_and_of_rounds_that_live() -> None:
    assert entries("round colours", GROUPS, 16) == (15, 3, 3)
    assert 1 < entries("round colours", CHAIN, 64)[1] < 15
    assert [entries("matrix, one colour", situation, 16)[1] for situation in SITUATIONS] == [1, 1, 1]
