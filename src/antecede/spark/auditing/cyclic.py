"""Where messages are among their own causes: which of them, and what only comes after such.

Decided in this file: what lies on a cycle or after one has no place in a causal order and is set aside, each by name;
everything else has all of its causes in a causal order and is judged. A message that names itself is a cycle of one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antecede.spark.order.cycles import on_cycles

__all__ = ["on_cycle", "reasons"]

Ints = NDArray[Any]


def on_cycle(left: Ints, parent: Ints, child: Ints) -> Ints:
    """Of the messages marked in `left` (on a cycle or after one) those that are on one, ascending."""
    inner = left[parent] & left[child]
    sources: dict[int, set[int]] = {int(one): set() for one in np.flatnonzero(left)}
    for above, below in zip(parent[inner].tolist(), child[inner].tolist(), strict=True):
        sources[below].add(above)
    return np.array(sorted(on_cycles(sources)), np.int64)


def reasons(left: Ints, parent: Ints, child: Ints, name: Callable[[int], str]) -> Iterator[tuple[str, str]]:
    """(id, why) of every message marked in `left`, by name: its own cause, or after the nearest such before it."""
    inner = left[parent] & left[child]
    below: dict[int, list[int]] = {}
    for one, other in zip(parent[inner].tolist(), child[inner].tolist(), strict=True):
        below.setdefault(one, []).append(other)
    cause = {one: name(one) for one in on_cycle(left, parent, child).tolist()}
    told = [(word, f"{word} is among its own causes") for word in cause.values()]
    level = dict(cause)
    while level:
        following: dict[int, str] = {}
        for one, word in level.items():
            for other in below.get(one, ()):
                if other not in cause:
                    following[other] = min(word, following.get(other, word))
        cause.update(following)
        told += [
            (name(one), f"{name(one)} comes after {word}, which is among its own causes")
            for one, word in following.items()
        ]
        level = following
    return iter(sorted(told))
