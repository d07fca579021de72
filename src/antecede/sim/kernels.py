"""The inner loops of the vectorised simulator, twice: in numpy, and compiled by numba where it is installed.

Decided here: all dice are numpy's (Philox), drawn outside the loops in chunks of the same size, so that both give the
same results; numba is optional and only saves time. `COMPILED` says which one is in use; ANTECEDE_NUMBA=0 turns numba
off.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["CHUNK", "COMPILED", "Dice", "Marks", "distinct_rows", "generator", "mark", "mark_with_numpy", "occupied"]

CHUNK = 1 << 17
"""Draws at a time. Raising it costs memory and leaves the cache, lowering it calls."""

Marks = NDArray[np.uint8]
Dice = np.random.Generator
Ints = NDArray[Any]


def generator(*seed: int) -> Dice:
    """One Philox stream per list of numbers."""
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(list(seed))))


def mark_with_numpy(marks: Marks, places: Ints) -> None:
    """Mark these places."""
    marks[places] = 1


def _compiled() -> Callable[[Marks, Ints], None] | None:
    if os.environ.get("ANTECEDE_NUMBA") == "0" or importlib.util.find_spec("numba") is None:
        return None
    import numba

    def loop(marks: Marks, places: Ints) -> None:
        for i in range(places.size):
            marks[places[i]] = 1

    compiled: Callable[[Marks, Ints], None] = numba.njit(nogil=True)(loop)
    return compiled


_kernel = _compiled()
COMPILED = _kernel is not None
mark: Callable[[Marks, Ints], None] = _kernel or mark_with_numpy


def distinct_rows(dice: Dice, rows: int, width: int, high: int) -> Ints:
    """`rows` draws of `width` different numbers below `high`, each set equally likely."""
    drawn = dice.integers(0, high, size=(rows, width), dtype=np.uint32)
    if width == 1:
        return drawn
    if 2 * width > high:  # too few to draw until they differ
        return np.argsort(dice.random((rows, high)), axis=1)[:, :width].astype(np.uint32)
    redo = _repeats(drawn)
    while redo.size:
        again = dice.integers(0, high, size=(redo.size, width), dtype=np.uint32)
        drawn[redo] = again
        redo = redo[_repeats(again)]
    return drawn


def _repeats(rows: Ints) -> Ints:
    """Which rows hold a number twice."""
    twice = np.zeros(len(rows), dtype=bool)
    for i in range(rows.shape[1]):
        for j in range(i):
            twice |= rows[:, i] == rows[:, j]
    return np.flatnonzero(twice)


def occupied(dice: Dice, hits: Ints, places: int, marks: Marks, mark: Callable[[Marks, Ints], None] = mark) -> int:
    """How many of `places` are hit, if hits[e] senders hit e different ones each. `marks` is scratch, at least so long.

    Without identities: whom exactly a copy reaches makes no difference where everybody may meet everybody, only
    whether two copies reach the same.
    """
    if places == 0 or int(hits[1:].sum()) == 0:
        return 0
    marks = marks[:places]
    marks[:] = 0
    for width in range(1, len(hits)):
        left = int(hits[width])
        while left:
            rows = min(left, CHUNK // width)
            mark(marks, distinct_rows(dice, rows, width, places).ravel())
            left -= rows
    return int(np.count_nonzero(marks))
