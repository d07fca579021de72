"""Means, intervals and pairs, by hand."""

from __future__ import annotations

import doctest
import math

import pytest

from antecede.lab import tidy
from antecede.lab.tidy import difference, interval, pooled, put_ends, ratio, summarise


def test_the_examples_in_the_docstrings_hold() -> None:
    failed, tried = doctest.testmod(tidy)
    assert tried and not failed


def test_an_interval_is_of_the_mean() -> None:
    mean, half = interval([1.0, 3.0])
    assert mean == 2 and half == pytest.approx(1.96 * math.sqrt(2) / math.sqrt(2))
    assert interval([1.0])[1] == math.inf


def test_what_was_not_reached_is_left_out_and_said() -> None:
    rows = [{"n": 5, "r": 1.0}, {"n": 5, "r": None}, {"n": 6, "r": None}]
    first, second = summarise(rows, ("n",), ("r",))
    assert (first["r"], first["r_share"], first["runs"]) == (1.0, 0.5, 2)
    assert math.isnan(second["r"]) and second["r_share"] == 0


def test_differences_are_of_seeds_that_both_have() -> None:
    rows = [{"w": "a", "seed": 1, "v": 5.0}, {"w": "b", "seed": 1, "v": 3.0}, {"w": "a", "seed": 2, "v": 9.0},
            {"w": "b", "seed": 2, "v": 7.0}, {"w": "a", "seed": 3, "v": 100.0}]  # fmt: skip
    (found,) = difference(rows, (), "w", "a", "b", "v")
    assert (found["difference"], found["runs"], found["difference_high"]) == (2.0, 2, 2.0)
    assert difference(rows[:1], (), "w", "a", "b", "v") == []


def test_ratios_are_of_seeds_that_both_have_and_not_of_nothing() -> None:
    rows = [{"w": "a", "seed": 1, "v": 6.0}, {"w": "b", "seed": 1, "v": 3.0}, {"w": "a", "seed": 2, "v": 8.0},
            {"w": "b", "seed": 2, "v": 2.0}, {"w": "a", "seed": 3, "v": 1.0}, {"w": "b", "seed": 3, "v": 0.0},
            {"w": "a", "seed": 4, "v": 9.0}]  # fmt: skip
    (found,) = ratio(rows, (), "w", "a", "b", "v")
    assert (found["ratio"], found["runs"]) == (3.0, 2) and found["ratio_low"] < 3 < found["ratio_high"]
    assert ratio(rows[:1], (), "w", "a", "b", "v") == []
    row = {"n": 5}
    put_ends(row, "kept", found, "ratio")
    assert row == {"n": 5, "kept": 3.0, "kept_low": found["ratio_low"], "kept_high": found["ratio_high"]}


def test_a_share_of_all_pairs_weighs_runs_by_their_pairs() -> None:
    share, half = pooled([1, 0], [10, 90])
    assert share == 0.01 and half == pytest.approx(1.96 * math.sqrt(2 * (0.9**2 + 0.9**2)) / 100)
    assert pooled([1], [10]) == (0.1, math.inf)
