"""Components of small graphs, against reachability."""

from __future__ import annotations

from random import Random

from antecede.spark.order.cycles import on_cycles
from tests.spark.order.twin import on_a_cycle


def test_a_chain_has_none_and_a_ring_is_one() -> None:
    assert on_cycles({}) == set()
    assert on_cycles({n: {n - 1} for n in range(5000)}) == set()
    assert on_cycles({n: {(n + 1) % 5000} for n in range(5000)}) == set(range(5000))
    assert on_cycles({1: {1}, 2: {1}, 3: {9}}) == {1}


def test_random_graphs_agree_with_reachability() -> None:
    for seed in range(500):
        dice = Random(seed)
        size = dice.randint(1, 9)
        graph = {n: {dice.randrange(size + 1) for _ in range(dice.randint(0, 2))} for n in range(size)}
        assert on_cycles(graph) == on_a_cycle({n: ends - {size} for n, ends in graph.items()}), seed
