"""What is among its own causes, and what comes after it."""

from __future__ import annotations

import numpy as np

from antecede.spark.auditing.cyclic import on_cycle, reasons

PARENT = np.array([0, 1, 2, 1, 3, 5, 6, 7])
CHILD = np.array([1, 2, 1, 3, 4, 5, 7, 8])
LEFT = np.array([False, True, True, True, True, True, False, False, False])


def test_those_on_a_cycle_are_told_from_those_after_one() -> None:
    assert on_cycle(LEFT, PARENT, CHILD).tolist() == [1, 2, 5]
    assert [why for _, why in reasons(LEFT, PARENT, CHILD, lambda n: "abcdefghi"[n])] == [
        "b is among its own causes",
        "c is among its own causes",
        "d comes after b, which is among its own causes",
        "e comes after b, which is among its own causes",
        "f is among its own causes",
    ]


def test_a_long_chain_after_a_cycle() -> None:
    count = 20_000
    parent = np.append(np.arange(count - 1), 1)
    child = np.append(np.arange(1, count), 0)
    found = list(reasons(np.ones(count, bool), parent, child, str))
    assert len(found) == count and ("19999", "19999 comes after 1, which is among its own causes") in found
