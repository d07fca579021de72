"""Where every drawn thing of a run comes from: one named stream per purpose, all from one seed.

Decided here: seeds are strings, which Python hashes with SHA-512 whatever PYTHONHASHSEED says, and only `random()` is
drawn, the one method whose sequence Python promises to keep.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

__all__ = ["between", "pick", "shuffled", "some", "stream"]

T = TypeVar("T")


def stream(seed: int, *purpose: object) -> Random:
    return Random("/".join(map(str, (seed, *purpose))))


def between(dice: Random, low: float, high: float) -> float:
    return low + dice.random() * (high - low)


def pick(dice: Random, items: Sequence[T]) -> T:
    return items[int(dice.random() * len(items))]


def shuffled(dice: Random, items: Sequence[T]) -> list[T]:
    left = list(items)
    return [left.pop(int(dice.random() * len(left))) for _ in items]


def some(dice: Random, items: Sequence[T]) -> tuple[T, ...]:
    """One to all of `items`, in their order."""
    wanted = 1 + int(dice.random() * len(items))
    chosen = set(shuffled(dice, range(len(items)))[:wanted])
    return tuple(item for i, item in enumerate(items) if i in chosen)
