"""A recipe is one row of names: which Order, which Spread, whether there are deadlines, which roles (PROTOCOLS s2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from antecede.core.interest import Interest
from antecede.core.machine import Dice, Machine, Settings
from antecede.core.member import Member
from antecede.core.order.reader import Reader
from antecede.core.order.vector import VectorWriter
from antecede.core.tier import Writer
from antecede.errors import InputError

__all__ = ["RECIPES", "Recipe", "build", "recipe_named"]


@dataclass(slots=True, frozen=True)
class Recipe:
    name: str
    paper: str
    order: str
    """`vector`, `graph`, or `none`."""
    flat: bool = False
    """All processes are members of one group and all publish; otherwise brokers serve subscribers."""
    clients_publish: bool = False
    asks: bool = True
    digests: bool = True
    deadlines: str = "yes"
    """`yes`, `optional`, `none`."""
    ordered: bool = True
    readings: tuple[str, ...] = ("repaired",)

    @property
    def recovers(self) -> bool:
        return self.asks


RECIPES: dict[str, Recipe] = {
    recipe.name: recipe
    for recipe in (
        Recipe("solicit", "000, 002", "vector", flat=True, deadlines="optional"),
        Recipe("dcco", "Rodrigues et al. 2000", "vector", flat=True, asks=False, digests=False),
    )
}


def recipe_named(name: str) -> Recipe:
    recipe = RECIPES.get(name)
    if recipe is None:
        raise InputError(f"There is no recipe {name!r}; known are {', '.join(RECIPES)}.")
    return recipe


def build(
    recipe: Recipe | str,
    reading: str,
    *,
    name: str,
    role: str,
    groups: tuple[str, ...],
    settings: Settings,
    dice: Dice,
) -> Machine:
    """The machine of one process. `groups`: those a broker carries; all of them for a member; none for a subscriber."""
    if isinstance(recipe, str):
        recipe = recipe_named(recipe)
    if reading not in recipe.readings:
        raise InputError(f"Recipe {recipe.name!r} has no reading {reading!r}; it has {', '.join(recipe.readings)}.")
    interest = Interest(groups)
    return Member(
        name,
        interest,
        settings,
        dice,
        writer=VectorWriter(name, flat=True),
        reader=Reader(interest.concerns, dense=True),
        guard_us=settings.guard_us,
        asks=recipe.asks,
        digests=recipe.digests,
    )
