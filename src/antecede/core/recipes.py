"""A recipe is one row of names: which Order, which Spread, whether there are deadlines, which roles (PROTOCOLS s2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from antecede.core.broker import Broker
from antecede.core.client import Client
from antecede.core.eager import EagerInbox
from antecede.core.home_broker import HomeBroker
from antecede.core.inbox import Inbox
from antecede.core.interest import Interest
from antecede.core.machine import Dice, Machine, Settings
from antecede.core.member import Member
from antecede.core.order.colour import ColourReader
from antecede.core.order.graph import GraphWriter
from antecede.core.order.index import IndexReader
from antecede.core.order.matrix import Column, MatrixWriter, place_of
from antecede.core.order.reader import Reader
from antecede.core.order.rounds import ColoursReader, RoundsWriter
from antecede.core.order.vector import VectorWriter
from antecede.core.round_broker import RoundBroker
from antecede.core.round_clock import RoundClock
from antecede.core.round_subscriber import RoundSubscriber
from antecede.core.spread.gossip import Gossip
from antecede.core.spread.lazy import Lazy
from antecede.core.spread.multicast import Multicast
from antecede.core.spread.pull import Pull
from antecede.core.subscriber import Subscriber
from antecede.core.tier import Parts, Writer
from antecede.errors import InputError

__all__ = ["RECIPES", "SPREADS", "Recipe", "build", "recipe_named"]


@dataclass(slots=True, frozen=True)
class Recipe:
    name: str
    paper: str
    order: str
    """`vector`, `graph`, `rounds` (a vector, then a colour per broker) or `matrix` (a matrix, then one colour)."""
    flat: bool = False
    """All processes are members of one group and all publish; otherwise brokers serve subscribers."""
    clients_publish: bool = False
    spread: str = "multicast"
    """A key of SPREADS: to whom a message goes by itself."""
    asks: bool = True
    digests: bool = True
    deadlines: str = "yes"
    """`yes`, `optional`, `none`, or `lifetime`: every message ends with its lifetime, deadlines are optional."""
    uniform: bool = False
    """All messages live equally long towards subscribers: a deadline can only be later, and for brokers only."""
    eager: bool = False
    ordered: bool = True
    readings: tuple[str, ...] = ("repaired",)

    @property
    def recovers(self) -> bool:
        return self.asks


ONE = ("repaired", "printed")
THREE = ("repaired", "printed-a", "printed-b", "printed-c")
"""Readings of a paper: the default, and the text as it stands (`printed/`), each way in which it can be read."""

RECIPES: dict[str, Recipe] = {
    recipe.name: recipe
    for recipe in (
        Recipe("solicit", "000, 002", "vector", flat=True, deadlines="optional", readings=ONE),
        Recipe("graph", "001 s2.3", "graph", deadlines="optional", readings=("repaired", "printed-a", "printed-b")),
        Recipe("pull", "003", "vector", spread="pull", deadlines="optional", readings=THREE),
        Recipe("rounds", "001 s2.2", "rounds", spread="gossip", deadlines="lifetime", readings=ONE),
        Recipe("colour", "004", "matrix", deadlines="lifetime", uniform=True, readings=ONE),
        Recipe("colour-eager", "004", "matrix", deadlines="lifetime", uniform=True, eager=True),
        Recipe("home", "ours", "vector", clients_publish=True, deadlines="optional"),
        Recipe("home-plain", "ours", "vector", clients_publish=True, deadlines="none"),
        Recipe("cbcast", "Birman, Schiper, Stephenson 1991", "vector", deadlines="none"),
        Recipe("dcco", "Rodrigues et al. 2000", "vector", flat=True, asks=False, digests=False),
    )
}

SPREADS: dict[str, Callable[[Broker], Multicast]] = {
    "multicast": Multicast,
    "pull": Pull,
    "gossip": Gossip,
    "lazy": Lazy,
}
"""Ways to spread, by name; `RECIPE+SPREAD` is a recipe with another one."""

CHAIN = 8
"""Own previous messages named in a stamp where nothing expires (see VectorWriter.chain)."""


def recipe_named(name: str) -> Recipe:
    base, plus, spread = name.partition("+")
    recipe = RECIPES.get(base)
    if recipe is None:
        raise InputError(f"There is no recipe {name!r}; known are {', '.join(RECIPES)}.")
    if not plus:
        return recipe
    if spread not in SPREADS:
        raise InputError(f"There is no way to spread called {spread!r}; known are {', '.join(SPREADS)}.")
    if recipe.flat or recipe.clients_publish:
        raise InputError(f"Recipe {base!r} has its own way to spread: only brokers that publish can have another.")
    return replace(recipe, spread=spread)


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
    if reading != "repaired":
        from antecede.core.printed.specimens import specimen

        return specimen(
            recipe, reading, SPREADS[recipe.spread], name=name, role=role, groups=groups, settings=settings, dice=dice
        )
    guard_us = settings.guard_us + (settings.hop_us if role == "broker" else 0)
    if recipe.deadlines == "lifetime":
        return _by_rounds(recipe, name, role, groups, settings, dice, guard_us)
    interest = Interest(groups)
    writer = _writer(recipe, name, interest, settings)
    if recipe.clients_publish:
        if role == "subscriber":
            parts = Parts(name, interest, settings, dice, None, IndexReader(), guard_us, digests=False)
            return Client(parts, upper=_vector(recipe, name, settings))
        reader = Reader(interest.concerns, dense=writer.dense)
        parts = Parts(name, interest, settings, dice, writer, reader, guard_us)
        return HomeBroker(parts, plain=recipe.name == "home-plain")
    reader = Reader(interest.concerns, dense=writer.dense)
    if role == "subscriber":
        return Subscriber(
            Parts(name, interest, settings, dice, None, reader, guard_us, asks=recipe.asks, digests=False)
        )
    parts = Parts(name, interest, settings, dice, writer, reader, guard_us, asks=recipe.asks, digests=recipe.digests)
    if recipe.flat:
        return Member(parts)
    return Broker(parts, RoundClock(settings.round_us, 0), SPREADS[recipe.spread])


def _by_rounds(
    recipe: Recipe, name: str, role: str, groups: tuple[str, ...], settings: Settings, dice: Dice, guard_us: int
) -> Machine:
    """A machine that counts by rounds: one clock for its Order and its Spread."""
    clock = RoundClock(settings.round_us, settings.colours)
    clock.check(recipe.name, settings)
    matrix = recipe.order == "matrix"
    if role == "subscriber":
        reader = ColourReader(clock, eager=recipe.eager) if matrix else ColoursReader(clock)
        inbox = EagerInbox if recipe.eager else Inbox
        return RoundSubscriber(
            Parts(name, Interest(groups), settings, dice, None, reader, guard_us, digests=False, inbox=inbox)
        )
    interest = Column(groups, place_of(name)) if matrix else Interest(groups)
    writer = MatrixWriter(name, interest, clock) if matrix else RoundsWriter(name, clock)
    parts = Parts(name, interest, settings, dice, writer, Reader(interest.concerns, dense=False), guard_us)
    return RoundBroker(parts, clock, SPREADS[recipe.spread], uniform=recipe.uniform)


def _writer(recipe: Recipe, name: str, interest: Interest, settings: Settings) -> Writer:
    if recipe.order == "graph":
        slack_us, grace_us = 2 * settings.clock_bound_us, settings.grace_us
        return GraphWriter(name, interest, deadlines=settings.deadlines, slack_us=slack_us, grace_us=grace_us)
    return _vector(recipe, name, settings)


def _vector(recipe: Recipe, name: str, settings: Settings) -> VectorWriter:
    return VectorWriter(name, flat=recipe.flat, chain=1 if recipe.flat or settings.deadlines else CHAIN)
