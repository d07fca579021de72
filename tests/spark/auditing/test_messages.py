"""The table of messages: a causal order from any times, causes from the order at each process, and on disk."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antecede.errors import InputError
from antecede.spark.auditing.keys import keys_of
from antecede.spark.auditing.messages import NONE_US, Messages, build_messages, causes_of, csr, number
from tests.spark.auditing.graphs import random_parents


@settings(max_examples=60)
@given(st.integers(0, 10**9), st.integers(1, 200), st.sampled_from(["right", "skewed", "none", "reversed"]))
def test_the_order_is_causal_whatever_the_clocks_say(seed: int, count: int, clocks: str) -> None:
    dice = random.Random(seed)
    parents = random_parents(dice, count)
    parent = np.array([p for row in parents for p in row], np.int32)
    child = np.array([n for n, row in enumerate(parents) for _ in row], np.int32)
    skew = {"right": 0, "skewed": 20, "none": 10_000, "reversed": 0}[clocks]
    time_us = np.array([n + dice.randint(0, skew) for n in range(count)])
    rank = number(-time_us if clocks == "reversed" else time_us, parent, child)
    assert sorted(rank.tolist()) == list(range(count))
    assert (rank[parent] < rank[child]).all()


def test_times_that_are_right_are_kept() -> None:
    time_us = np.array([30, 10, 20])
    assert number(time_us, np.array([1]), np.array([0])).tolist() == [2, 0, 1]


def test_a_cycle_is_named() -> None:
    names = pa.chunked_array([["a", "b", "c"]])
    with pytest.raises(InputError, match=r"(b|c) is among its own causes"):
        build_messages(
            key=keys_of(["a", "b", "c"]), names=names, time_us=np.zeros(3), parent=np.array([0, 1, 2]),
            child=np.array([1, 2, 1]),
        )  # fmt: skip


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 99)), max_size=80))
def test_csr(pairs: list[tuple[int, int]]) -> None:
    rows = np.array([r for r, _ in pairs], np.int32)
    at, values = csr(rows, np.array([v for _, v in pairs], np.int32), 10)
    for row in range(10):
        assert sorted(values[at[row] : at[row + 1]].tolist()) == sorted(v for r, v in pairs if r == row)


def test_causes_that_follow_from_the_order_at_a_process() -> None:
    # p publishes at 0, 3 (free), 5 (names its causes), 8 (free), q at 1 (free); p hears 70 at 2, 71 at 6, q 72 at 0.
    process, step = np.array([0, 0, 0, 0, 1]), np.array([0, 3, 5, 8, 1])
    free = np.array([False, True, False, True, True])
    heard = (np.array([0, 0, 1]), np.array([2, 6, 0]), np.array([70, 71, 72]))
    causes, effects = causes_of(process, step, free, heard)
    pairs = set(zip(causes.tolist(), effects.tolist(), strict=True))
    previous = {(-1, 1), (-2, 2), (-3, 3)}
    assert pairs == previous | {(70, 1), (71, 3), (72, 4)} | {(-2, 3)}


def test_saved_and_loaded_it_is_the_same(tmp_path: Path) -> None:
    ids = ["a", "b", "c"]
    table = build_messages(
        key=keys_of(ids), names=pa.chunked_array([ids]), time_us=np.array([3, 2, 1]), parent=np.array([2]),
        child=np.array([0]), deadline_us=np.array([5, 6, int(NONE_US)]), set=np.array([0, 1, 0]),
        sets=[["x"], ["y", "z"]], processes=["p"], about={"quiet": True},
    )  # fmt: skip
    table.extra = {"more": np.arange(3)}
    table.save(tmp_path / "table")
    table.save(tmp_path / "table")  # a task that was run twice
    loaded = Messages.load(tmp_path / "table")
    assert loaded.find(keys_of(["a", "nobody", "c"])).tolist() == [2, -1, 0]
    assert [loaded.name(n) for n in range(3)] == ["c", "b", "a"]
    assert loaded.deadline_us.tolist() == [int(NONE_US), 6, 5] and loaded.set.tolist() == [0, 1, 0]
    assert loaded.graph.parent.tolist() == [0] and loaded.graph.child.tolist() == [2]
    assert (loaded.sets, loaded.processes, loaded.about) == ([["x"], ["y", "z"]], ["p"], {"quiet": True})
    assert loaded.extra["more"].tolist() == [0, 1, 2]
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(".")]


def test_of_what_use_until_when() -> None:
    table = build_messages(
        key=keys_of(["a", "b"]), names=pa.chunked_array([["a", "b"]]), time_us=np.array([0, 1]),
        parent=np.zeros(0, int), child=np.zeros(0, int), deadline_us=np.array([9, 5]), expires_us=np.array([7, 8]),
    )  # fmt: skip
    assert table.due_us("subscriber").tolist() == [7, 5] and table.due_us("member").tolist() == [9, 5]
