"""Verdicts are of the words there are; effort says how much."""

from __future__ import annotations

import doctest

import pytest

from antecede.lab import claim
from antecede.lab.claim import Effort, Verdict, grid


def test_the_examples_in_the_docstrings_hold() -> None:
    failed, tried = doctest.testmod(claim)
    assert tried and not failed


def test_other_words_are_no_verdict() -> None:
    assert str(Verdict("cannot hold", "it would need 1 + 1 = 3")) == "cannot hold: it would need 1 + 1 = 3"
    with pytest.raises(ValueError, match="is no verdict"):
        Verdict("probably", "it looks so")


def test_quick_is_less_and_seeds_win() -> None:
    assert Effort(quick=True).fast < Effort().fast and Effort(quick=True).slow < Effort().slow
    assert Effort(seeds=3).fast == Effort(True, 3).slow == 3


def test_every_point_has_the_same_seeds() -> None:
    cells = grid(2, [{"a": 1}, {"a": 2}])
    assert [(cell.knobs["a"], cell.seed) for cell in cells] == [(1, 0), (1, 1), (2, 0), (2, 1)]
