"""Drawn runs do what they did: a digest that changed was changed on purpose (`bench/golden.py write`) or by mistake."""

from __future__ import annotations

import json

import pytest
from bench.golden import GOLDEN, SEED, Golden, golden

from antecede.core.recipes import RECIPES

KNOWN: dict[str, list[list[str]]] = json.loads(GOLDEN.read_text("utf-8"))


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_drawn_run_is_the_same_row_by_row(recipe: str) -> None:
    for index in range(2):
        replay = f"antecede simulate --recipe {recipe} --seed {SEED} --draw {index} --out runs/golden"
        now, before = golden(recipe, index), Golden(*KNOWN[recipe][index])
        assert now.acts == before.acts, f"what is done differs: {replay}"
        assert now.rows == before.rows, f"sizes of frames differ: {replay}"


def test_every_recipe_has_its_digests() -> None:
    assert set(KNOWN) == set(RECIPES) and {len(runs) for runs in KNOWN.values()} == {30}
