"""A machine with one repair undone is the repaired one but for the part that was exchanged."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from antecede.core.machine import Settings
from antecede.core.printed import pieces
from antecede.core.printed.undone import REPAIRS, repairs_of
from antecede.core.recipes import RECIPES, WITHOUT, build
from antecede.errors import InputError

PARTS = ("writer", "reader", "inbox", "answers", "wants", "store", "rounds", "spread")
EXCHANGED: dict[tuple[str, str], tuple[str, str, type]] = {
    ("solicit", "bound"): ("member", "answers", pieces.BelowAnswers),
    ("solicit", "own-stream"): ("member", "writer", pieces.GaplessVector),
    ("solicit", "own-kept"): ("member", "store", pieces.OthersStore),
    ("graph", "addressed"): ("broker", "writer", pieces.WaitingGraph),
    ("graph", "projection"): ("broker", "writer", pieces.ImmediateGraph),
    ("graph", "turns"): ("subscriber", "wants", pieces.OneAsk),
    ("pull", "foreign-groups"): ("broker", "writer", pieces.ForgetfulVector),
    ("rounds", "greater-round"): ("broker", "writer", pieces.CarelessRounds),
    ("colour", "before-send"): ("broker", "writer", pieces.LateMatrix),
    ("colour", "predecessor"): ("broker", "writer", pieces.OwnColour),
}


def made(recipe: str, reading: str, role: str) -> Any:
    settings = Settings(colours=5)
    return build(recipe, reading, name="A", role=role, groups=("G1",), settings=settings, dice=Random(1))


@pytest.mark.parametrize(("recipe", "repair"), EXCHANGED)
def test_one_part_is_exchanged_and_no_other(recipe: str, repair: str) -> None:
    role, part, kind = EXCHANGED[recipe, repair]
    without, whole = made(recipe, WITHOUT + repair, role), made(recipe, "repaired", role)
    assert type(getattr(without, part)) is kind and type(without) is type(whole)
    others = [name for name in PARTS if name != part and hasattr(whole, name)]
    assert [type(getattr(without, name)) for name in others] == [type(getattr(whole, name)) for name in others]


@pytest.mark.parametrize(("recipe", "repair"), [(r, name) for r, repairs in REPAIRS.items() for name in repairs])
def test_every_repair_can_be_undone_in_every_role(recipe: str, repair: str) -> None:
    roles = ("member",) if RECIPES[recipe].flat else ("broker", "subscriber")
    assert {made(recipe, WITHOUT + repair, role).role for role in roles} == set(roles)
    assert REPAIRS[recipe][repair].says


def test_what_cannot_be_undone_is_refused() -> None:
    with pytest.raises(InputError, match="'graph' has no repair 'checks' to undo; it has addressed, projection"):
        made("graph", "without-checks", "broker")
    with pytest.raises(InputError, match="only the papers' own protocols have any"):
        made("cbcast", "without-checks", "broker")


def test_another_way_to_spread_has_the_same_repairs() -> None:
    assert repairs_of("graph+gossip") == REPAIRS["graph"] and repairs_of("fifo") == {}
