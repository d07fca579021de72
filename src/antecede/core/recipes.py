"""A recipe is one row of names: which Order, which Spread, whether there are deadlines, which roles (PROTOCOLS s2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from antecede.core.broker import Broker
from antecede.core.client import Client
from antecede.core.home_broker import HomeBroker
from antecede.core.interest import Interest
from antecede.core.machine import Dice, Machine, Settings
from antecede.core.member import Member
from antecede.core.order.graph import GraphWriter
from antecede.core.order.index import IndexReader
from antecede.core.order.reader import Reader
from antecede.core.order.vector import VectorWriter
from antecede.core.spread.gossip import UNLIMITED, Gossip
from antecede.core.spread.multicast import Multicast
from antecede.core.subscriber import Subscriber
from antecede.core.tier import Tier, Writer
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
    spread: str = "multicast"
    """How messages get to the others: a name in SPREADS."""
    orders: tuple[str, ...] = ("causal", "fifo", "none")
    """What a publisher may ask for, the first unless it says otherwise."""
    whole: bool = False
    """Subscribers get all that brokers know of a message's past, and work out themselves what they wait for."""
    readings: tuple[str, ...] = ("repaired",)

    @property
    def recovers(self) -> bool:
        return self.asks


RECIPES: dict[str, Recipe] = {
    recipe.name: recipe
    for recipe in (
        Recipe("solicit", "000, 002", "vector", flat=True, deadlines="optional"),
        Recipe("graph", "001 s2.3", "graph", deadlines="optional"),
        Recipe("home", "ours", "vector", clients_publish=True, deadlines="optional", orders=("causal", "fifo")),
        Recipe("home-plain", "ours", "vector", clients_publish=True, deadlines="none", orders=("causal", "fifo")),
        Recipe("cbcast", "Birman, Schiper, Stephenson 1991", "vector", deadlines="none"),
        Recipe("dcco", "Rodrigues et al. 2000", "vector", flat=True, asks=False, digests=False),
        Recipe("dcco-vector", "Rodrigues et al. 2000", "vector", flat=True, asks=False, digests=False),
        Recipe("psync", "Peterson, Buchholz, Schlichting 1989", "graph", deadlines="none", whole=True),
        Recipe("fifo", "order per sender", "vector", flat=True, deadlines="none", orders=("fifo", "none")),
        *(
            Recipe(
                name,
                paper,
                "none",
                flat=True,
                asks=asks,
                digests=False,
                deadlines="none",
                spread=name,
                orders=("none",),
            )
            for name, paper, asks in (
                ("lpbcast-chain", "Eugster et al. 2001, as analysed", False),
                ("lpbcast-once", "Eugster et al. 2001", True),
                ("lpbcast-unlimited", "Eugster et al. 2001, without limits", False),
                ("pbcast", "Birman et al. 1999", True),
            )
        ),
    )
}

SPREADS: dict[str, Callable[[Tier], Multicast]] = {
    "multicast": Multicast,
    "lpbcast-chain": partial(Gossip, forwards=UNLIMITED, chain=True),
    "lpbcast-once": partial(Gossip, digests=True),
    "lpbcast-unlimited": partial(Gossip, forwards=UNLIMITED),
    "pbcast": partial(Gossip, multicast=True, forwards=0, digests=True),
}

CHAIN = 8
"""Own previous messages named in a stamp where nothing expires (see VectorWriter.chain)."""


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
    guard_us = settings.guard_us + (settings.hop_us if role == "broker" else 0)
    interest = Interest(groups)
    writer = _writer(recipe, name, interest, settings)
    reader = Reader(interest.concerns, dense=writer.dense)
    if recipe.clients_publish:
        if role == "subscriber":
            return Client(
                name,
                interest,
                settings,
                dice,
                writer=None,
                reader=IndexReader(),
                guard_us=guard_us,
                digests=False,
                orders=recipe.orders,
                upper=_vector(recipe, name, settings),
            )
        return HomeBroker(
            name, interest, settings, dice, writer=writer, reader=reader, guard_us=guard_us,
            plain=recipe.name == "home-plain",
        )  # fmt: skip
    if role == "subscriber":
        return Subscriber(
            name, interest, settings, dice, writer=writer if recipe.whole else None, reader=reader, guard_us=guard_us,
            asks=recipe.asks, digests=False,
        )  # fmt: skip
    if recipe.flat:
        return Member(
            name, interest, settings, dice, writer=writer, reader=reader, guard_us=guard_us, asks=recipe.asks,
            digests=recipe.digests, orders=recipe.orders, spread=SPREADS[recipe.spread],
        )  # fmt: skip
    return Broker(
        name, interest, settings, dice, writer=writer, reader=reader, guard_us=guard_us, asks=recipe.asks,
        digests=recipe.digests, orders=recipe.orders,
    )  # fmt: skip


def _writer(recipe: Recipe, name: str, interest: Interest, settings: Settings) -> Writer:
    if recipe.order == "graph":
        slack_us, grace_us = 2 * settings.clock_bound_us, settings.grace_us
        return GraphWriter(
            name, interest, deadlines=settings.deadlines, slack_us=slack_us, grace_us=grace_us, whole=recipe.whole
        )
    return _vector(recipe, name, settings)


def _vector(recipe: Recipe, name: str, settings: Settings) -> VectorWriter:
    return VectorWriter(name, flat=recipe.flat, chain=1 if recipe.flat or settings.deadlines else CHAIN)
