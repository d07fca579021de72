"""The table of a run holds exactly the happened-before that the oracle sees, whether runs name causes or not."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antecede.core.recipes import RECIPES
from antecede.spark.auditing import telling
from antecede.spark.auditing.cover import closure
from antecede.spark.auditing.history import run_messages
from antecede.spark.auditing.messages import Messages
from antecede.trace.history import History
from antecede.trace.record import Row
from tests.spark.auditing.rig import cut_up
from tests.spark.auditing.test_judging import simulated
from tests.trace.test_history import random_run


def table_of(rows: list[Row], dice: random.Random) -> Messages:
    parts = cut_up(rows, dice)
    roles: dict[str, str] = {}
    for part in parts:
        roles |= telling.roles(part)
    pieces = [[make(part) for part in parts] for make in (telling.publications, telling.controls, telling.heard)]
    told = telling.gather(pieces[0], pieces[1], roles, pieces[2])
    messages, aside = run_messages(told)
    assert not aside
    return messages


def same_past(rows: list[Row], dice: random.Random) -> None:
    import numpy as np

    messages, history = table_of(rows, dice), History(rows)
    assert messages.count == len(history.messages)
    for number in range(messages.count):
        past = np.flatnonzero(closure(messages.graph, np.array([number])))
        told = history.messages[history.index[messages.name(number)]]
        want = {t.id for t in history.messages if told.ancestors & t.bit} | {told.id}
        assert {messages.name(n) for n in past} == want


@settings(max_examples=30)
@given(st.integers(0, 10**9), st.integers(2, 40))
def test_random_runs(seed: int, size: int) -> None:
    same_past([Row._make(row) for row in random_run(seed, size)], random.Random(seed))


@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_simulated_runs(recipe: str) -> None:
    rows, _ = simulated(5505, recipe, 1)
    same_past(rows, random.Random(recipe))
