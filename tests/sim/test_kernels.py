"""The loops do what they say, and compiled ones do the same."""

from __future__ import annotations

import numpy as np
import pytest

from antecede.sim import kernels


def test_different_numbers_are_drawn_evenly() -> None:
    rows = kernels.distinct_rows(kernels.generator(1), 20_000, 3, 7)
    assert all(len(set(row)) == 3 for row in rows[:500].tolist())
    counts = np.bincount(rows.ravel(), minlength=7) / 20_000
    assert np.abs(counts - 3 / 7).max() < 0.02


def test_nearly_all_numbers_can_be_drawn() -> None:
    rows = kernels.distinct_rows(kernels.generator(1), 50, 4, 5)
    assert all(len(set(row)) == 4 and max(row) < 5 for row in rows.tolist())


@pytest.mark.parametrize("hits", [[5, 0, 0, 0], [0, 0, 0, 1], [0, 400, 0, 0]])
def test_places_are_counted_once(hits: list[int]) -> None:
    marks = np.ones(60, dtype=np.uint8)  # what was in the scratch before does not count
    found = kernels.occupied(kernels.generator(3), np.array(hits), 50, marks)
    assert found == {5: 0, 0: 3 if hits[3] else 50}[hits[0]]


def test_without_places_nothing_is_hit() -> None:
    assert kernels.occupied(kernels.generator(3), np.array([0, 9]), 0, np.empty(4, dtype=np.uint8)) == 0


def test_the_compiled_loop_gives_the_same_results() -> None:
    if not kernels.COMPILED:
        pytest.skip("numba is not installed, and it is optional")
    hits = np.array([10, 3000, 800, 90])
    results = {
        kernels.occupied(kernels.generator(9), hits, 5000, np.empty(5000, dtype=np.uint8), loop)
        for loop in (kernels.mark, kernels.mark_with_numpy)
    }
    assert len(results) == 1
