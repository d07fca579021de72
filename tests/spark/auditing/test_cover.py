"""The kernel agrees with its dumb twin on any history, through any losses, in both of its ways."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from antecede.spark.auditing.cover import NEVER, blocks, closure, quick, slices
from tests.spark.auditing.graphs import dumb_cover, graph_of, random_parents, receiver

seeds = st.integers(0, 10**9)


@settings(max_examples=60)
@given(seeds, st.integers(1, 300), st.integers(1, 5))
def test_both_ways_agree_with_the_definition(seed: int, count: int, receivers: int) -> None:
    dice = random.Random(seed)
    parents = random_parents(dice, count)
    graph = graph_of(parents)
    outs = [receiver(dice, count) for _ in range(receivers)]
    together = blocks(graph, np.stack(outs, axis=1))
    for number, out in enumerate(outs):
        want = dumb_cover(parents, out)
        assert (together[:, number] == want).all()
        alone = quick(graph, out, rounds=10**6)
        assert alone is None or (alone == want).all()


def test_the_quick_way_gives_up_where_most_is_missing_or_the_way_is_long() -> None:
    graph = graph_of([set(), *({n} for n in range(299))])
    out = np.full(300, NEVER, np.int32)
    out[::2] = np.arange(150)
    assert quick(graph, out) is None
    out = np.arange(300, dtype=np.int32)
    out[100:170] = NEVER  # seventy generations that nobody got
    assert quick(graph, out) is None
    assert (quick(graph, out, rounds=100) == dumb_cover([set(), *({n} for n in range(299))], out)).all()


@settings(max_examples=40)
@given(seeds, st.integers(1, 300))
def test_closure(seed: int, count: int) -> None:
    dice = random.Random(seed)
    parents = random_parents(dice, count)
    members = [dice.randrange(count) for _ in range(dice.randint(0, 3))]
    past = set(members)
    for message in range(count - 1, -1, -1):
        if message in past:
            past |= parents[message]
    assert set(np.flatnonzero(closure(graph_of(parents), np.array(members, np.int64))).tolist()) == past


def test_a_long_chain_is_closed_too() -> None:
    chain = graph_of([set(), *({n} for n in range(999))])
    assert closure(chain, np.array([700])).sum() == 701


def test_slices_cover_all_and_hold_few_edges() -> None:
    at = np.cumsum([0, 5, 0, 0, 7, 1, 1, 30, 2])
    found = slices(at, 8, edges=8)
    assert found[0][0] == 0 and found[-1][1] == 8
    assert all(one[1] == other[0] for one, other in pairwise(found))
    assert slices(np.zeros(1), 0) == []
