"""The part of a history that a receiver is judged in covers exactly as the whole does."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest

from antecede.spark.auditing import part
from antecede.spark.auditing.cover import NEVER, blocks
from antecede.spark.auditing.keys import keys_of
from antecede.spark.auditing.messages import Messages, build_messages
from antecede.spark.auditing.part import part_for


def history(dice: random.Random, groups: int, size: int) -> Messages:
    """Histories that know nothing of each other, mixed in time."""
    count = groups * size
    pairs = [(n - groups * dice.randint(1, 4), n) for n in range(count) for _ in range(dice.randint(0, 2))]
    pairs = [(above, below) for above, below in pairs if above >= 0]
    ids = [f"m{n}" for n in range(count)]
    return build_messages(
        key=keys_of(ids), names=pa.array(ids), time_us=np.arange(count), parent=np.array([a for a, _ in pairs]),
        child=np.array([b for _, b in pairs]),
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
def test_a_part_covers_as_the_whole(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(part, "SMALL", 0)
    dice = random.Random(seed)
    messages = history(dice, 10, 30)
    group = dice.randrange(10)
    mine = np.array([n for n in range(group, 300, 10) if dice.random() < 0.8], np.int32)
    dice.shuffle(mine)  # type: ignore[arg-type]
    found = part_for(messages, mine)
    assert found.numbers is not None and set(mine.tolist()) <= set(found.numbers.tolist())
    assert all(n % 10 == group for n in found.numbers.tolist())
    whole, small = np.full((300, 1), NEVER, np.int32), np.full((found.graph.count, 1), NEVER, np.int32)
    whole[mine, 0] = np.arange(len(mine))
    small[found.inside(mine), 0] = np.arange(len(mine))
    assert (blocks(messages.graph, whole)[found.numbers] == blocks(found.graph, small)).all()
    assert [found.outside(n) for n in found.inside(mine).tolist()] == mine.tolist()
    again = part_for(messages, mine).numbers
    assert again is not None and (again == found.numbers).all()


def test_most_of_a_history_or_a_small_one_is_taken_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    messages = history(random.Random(1), 2, 30)
    assert part_for(messages, np.arange(2)).numbers is None
    monkeypatch.setattr(part, "SMALL", 0)
    assert part_for(messages, np.arange(40)).numbers is None
    assert part_for(messages, np.arange(2)).numbers is not None
    chain = build_messages(
        key=keys_of([str(n) for n in range(600)]), names=pa.array([str(n) for n in range(600)]),
        time_us=np.arange(600), parent=np.arange(599), child=np.arange(1, 600),
    )  # fmt: skip
    assert part_for(chain, np.array([599])).numbers is None, "it reaches back too many generations"
    assert part_for(chain, np.array([100])).numbers is not None
