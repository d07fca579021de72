"""Components of small graphs, against reachability."""

from __future__ import annotations

from random import Random

from antecede.spark.order.behind import NEVER, Held
from antecede.spark.order.cycles import circles, on_cycles, without_hope
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


def test_circles_are_told_apart() -> None:
    assert sorted(map(sorted, circles({1: {2}, 2: {1, 3}, 3: {4}, 4: {3}, 5: {4}, 6: {6}}))) == [[1, 2], [3, 4], [6]]


def test_only_circles_that_wait_for_nothing_else_are_without_hope() -> None:
    needs = {
        "a": ["b", "c"],
        "b": ["a"],
        "c": ["d"],
        "d": ["c"],
        "e": ["c"],
        "f": ["g", "lost"],
        "g": ["f"],
        "h": ["h2"],
    }
    rows = [Held(no, no, name, None, mine, NEVER, 0, False) for no, (name, mine) in enumerate(needs.items())]
    held = {row.name: row for row in rows}
    for row in rows:
        row.open = dict.fromkeys(row.needs)
    assert [row.name for row in without_hope(rows, held, NEVER)] == ["c", "d"], "a and b wait for them too"
    assert held["f"].hope == "lost" and held["g"].hope == "f" and held["h"].hope == "h2"
    rows[3].due = 5  # d will go when its time is up
    assert without_hope(rows, held, NEVER) == []
