"""Stamps on the wire: what grows with the number of brokers, and what does not."""

from __future__ import annotations

import pytest

from antecede.lab.stamps import ENCODINGS, weigh_stamps


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
