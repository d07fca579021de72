"""Random histories as graphs, and the dumb twin of the kernel."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from antecede.spark.auditing.cover import NEVER, Graph
from antecede.spark.auditing.messages import csr

__all__ = ["dumb_cover", "graph_of", "random_parents", "receiver"]


def random_parents(dice: random.Random, count: int) -> list[set[int]]:
    """Narrow or wide, deep or flat: parents among the last few, the last many, or hardly any."""
    reach, most = dice.randint(1, count), dice.choice([1, 3, 8])
    return [
        {dice.randrange(max(0, n - reach), n) for _ in range(dice.randint(0, most))} if n else set()
        for n in range(count)
    ]


def graph_of(parents: list[set[int]]) -> Graph:
    parent = np.array([p for row in parents for p in row], np.int32)
    child = np.array([n for n, row in enumerate(parents) for _ in row], np.int32)
    return Graph(len(parents), *csr(child, parent, len(parents)), *csr(parent, child, len(parents)))


def receiver(dice: random.Random, count: int) -> Any:
    """Message -> step: some of them, in nearly any order."""
    loss, disorder = dice.choice([0.0, 0.01, 0.3, 0.9]), dice.choice([0, 2, 30])
    mine = sorted((n for n in range(count) if dice.random() >= loss), key=lambda n: n + dice.random() * disorder)
    out = np.full(count, NEVER, np.int32)
    out[mine] = np.arange(len(mine))
    return out


def dumb_cover(parents: list[set[int]], out: Any) -> Any:
    """By the definition, one message after the other."""
    cover = np.full(len(parents), NEVER, np.int32)
    for message in range(len(parents) - 1, -1, -1):
        for parent in parents[message]:
            cover[parent] = min(cover[parent], out[message], cover[message])
    return cover
