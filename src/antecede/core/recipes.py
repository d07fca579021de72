"""A recipe is one row of names: which Order, which Spread, whether there are deadlines, which roles (PROTOCOLS s2).

Whoever has an Order of their own makes the machines themselves (`Recipe.make`) and adds the row with `register`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, TypedDict, Unpack

from antecede.core.content import Read, plain_content
from antecede.core.deadline.eager import EagerInbox
from antecede.core.deadline.expiring import DeltaInbox
from antecede.core.deadline.inbox import Inbox
from antecede.core.entries import EACH, Groups
from antecede.core.home.broker import HomeBroker
from antecede.core.home.client import Client
from antecede.core.home.fusions import HomeInbox
from antecede.core.home.handover import QueuedInbox
from antecede.core.interest import Interest
from antecede.core.machine import Dice, Machine, Settings
from antecede.core.message import ORDERS
from antecede.core.names import check_process
from antecede.core.order.colour import ColourReader
from antecede.core.order.delta import DeltaWriter
from antecede.core.order.graph import GraphWriter
from antecede.core.order.matrix import ColumnInterest, MatrixWriter, place_of
from antecede.core.order.numbered import IndexReader
from antecede.core.order.reader import Reader
from antecede.core.order.round_clock import RoundClock
from antecede.core.order.rounds import ColoursReader, RoundsWriter
from antecede.core.order.vector import VectorWriter
from antecede.core.order.writer import NoWriter, Writer
from antecede.core.roles.broker import Broker
from antecede.core.roles.member import Member
from antecede.core.roles.receiver import Parts, Receiver
from antecede.core.roles.round_broker import RoundBroker
from antecede.core.roles.round_subscriber import RoundSubscriber
from antecede.core.roles.subscriber import Subscriber
from antecede.core.spread.ack import Acks
from antecede.core.spread.flat import Flat
from antecede.core.spread.gossip import Gossip
from antecede.core.spread.lazy import Lazy
from antecede.core.spread.lpbcast import UNLIMITED, Lpbcast
from antecede.core.spread.multicast import Multicast
from antecede.core.spread.piggyback import Piggyback
from antecede.core.spread.pull import Pull
from antecede.core.state.likeness import admit
from antecede.errors import InputError

__all__ = [
    "FLAT_SPREADS",
    "RECIPES",
    "SPREADS",
    "WITHOUT",
    "Alter",
    "Make",
    "Recipe",
    "Who",
    "as_they_are",
    "build",
    "guard_of",
    "recipe_named",
    "register",
]

STRICT = ("causal", "fifo")
"""Orders of recipes whose numbers leave no room for messages that nobody waits for."""
DEADLINES = ("yes", "same", "optional", "none", "lifetime")
"""What a recipe may say of deadlines."""
DATED = ("yes", "same")
"""Where every message needs one."""


class Who(TypedDict):
    """The process that a machine is built for."""

    name: str
    role: str
    groups: tuple[str, ...]
    """The groups that a broker carries; all of them for a member; none for a subscriber."""
    settings: Settings
    dice: Dice


class Make(Protocol):
    """Builds the machine of one process, as `build` does."""

    __module__: str

    def __call__(self, **who: Unpack[Who]) -> Machine: ...


@dataclass(slots=True, frozen=True)
class Recipe:
    name: str
    paper: str
    order: str
    """`vector`, `graph`, `rounds` (a vector, then a colour per broker), `matrix` (a matrix, then one colour), `delta`
    (a vector with deadlines), `none`, or the name of yours."""
    flat: bool = False
    """All processes are members of one group and all publish; otherwise brokers serve subscribers."""
    clients_publish: bool = False
    spread: str = "multicast"
    """A key of SPREADS: to whom a message goes by itself."""
    asks: bool = True
    digests: bool = True
    deadlines: str = "yes"
    """`yes`, `same` (equally long for all), `optional`, `none`, or `lifetime`: every message ends with its lifetime,
    deadlines are optional."""
    uniform: bool = False
    """All messages live equally long towards subscribers: a deadline can only be later, and for brokers only."""
    eager: bool = False
    orders: tuple[str, ...] = ORDERS
    """What a publisher may ask for, the first unless it says otherwise."""
    chance: bool = False
    """Whether chance draws the processes that a message goes to: those that it leaves out lose the message, and nothing
    is promised but that this is said."""
    whole: bool = False
    """Subscribers get all that brokers know of a message's past, and work out themselves what they wait for."""
    readings: tuple[str, ...] = ("repaired",)
    make: Make | None = None
    """The function that builds the machines of a recipe of somebody else's: one of a module, so that machines can be
    saved."""

    @property
    def fixed(self) -> bool:
        """Brokers have places in a matrix that all must know before anything is sent: no new place can be taken."""
        return self.order == "matrix"

    @property
    def recovers(self) -> bool:
        return self.asks and not self.chance


def _unordered(name: str, paper: str, *, asks: bool = True, digests: bool = True, chance: bool = False) -> Recipe:
    """A member of a flat group that promises no order, named after its way to spread."""
    return Recipe(
        name, paper, "none", flat=True, spread=name, asks=asks, digests=digests, deadlines="none", orders=("none",),
        chance=chance,
    )  # fmt: skip


TWO = ("repaired", "printed", "charitable")
THREE = ("repaired", "printed-a", "printed-b", "printed-c")
"""Readings of a paper: the default, and the text as it stands (`printed/`), each way in which it can be read."""

RECIPES: dict[str, Recipe] = {
    recipe.name: recipe
    for recipe in (
        Recipe("solicit", "000, 002", "vector", flat=True, deadlines="optional", readings=TWO),
        Recipe("graph", "001 s2.3", "graph", deadlines="optional", readings=("repaired", "printed-a", "printed-b")),
        Recipe("pull", "003", "vector", spread="pull", deadlines="optional", readings=THREE),
        Recipe(
            "rounds",
            "001 s2.2",
            "rounds",
            spread="gossip",
            deadlines="lifetime",
            orders=STRICT,
            readings=("repaired", "printed", "described"),
        ),
        Recipe("colour", "004", "matrix", deadlines="lifetime", uniform=True, orders=STRICT, readings=TWO),
        Recipe("colour-eager", "004", "matrix", deadlines="lifetime", uniform=True, eager=True, orders=STRICT),
        Recipe("home", "ours", "vector", clients_publish=True, deadlines="optional"),
        Recipe("home-plain", "ours", "vector", clients_publish=True, deadlines="none", orders=STRICT),
        Recipe("cbcast", "Birman, Schiper, Stephenson 1991", "vector", deadlines="none"),
        Recipe("dcco", "Rodrigues et al. 2000", "vector", flat=True, asks=False, digests=False),
        Recipe("dcco-vector", "Rodrigues et al. 2000", "vector", flat=True, asks=False, digests=False),
        Recipe("psync", "Peterson, Buchholz, Schlichting 1989", "graph", deadlines="none", whole=True),
        Recipe(
            "delta", "Baldoni, Mostefaoui, Raynal 1996", "delta", flat=True, asks=False, digests=False, deadlines="same"
        ),
        Recipe("piggyback", "002 s3A", "vector", flat=True, spread="piggyback", deadlines="optional"),
        Recipe("fifo", "order per sender", "vector", flat=True, deadlines="none", orders=("fifo", "none")),
        _unordered("lpbcast-chain", "Eugster et al. 2001, as analysed", asks=False, digests=False, chance=True),
        _unordered("lpbcast-once", "Eugster et al. 2001", digests=False, chance=True),
        _unordered("lpbcast-unlimited", "Eugster et al. 2001", asks=False, digests=False, chance=True),
        _unordered("pbcast", "Birman et al. 1999", digests=False, chance=True),
        _unordered("ackcast", "Pingali, Towsley, Kurose 1994"),
    )
}

SPREADS: dict[str, Callable[[Broker], Multicast]] = {
    "multicast": Multicast,
    "pull": Pull,
    "gossip": Gossip,
    "lazy": Lazy,
}
"""Ways to spread among brokers, by name; `RECIPE+SPREAD` is a recipe with another one."""

FLAT_SPREADS: dict[str, Callable[[Member], Flat]] = {
    "multicast": Flat,
    "piggyback": Piggyback,
    "ackcast": Acks,
    "lpbcast-chain": partial(Lpbcast, forwards=UNLIMITED, chain=True),
    "lpbcast-once": partial(Lpbcast, digests=True),
    "lpbcast-unlimited": partial(Lpbcast, forwards=UNLIMITED),
    "pbcast": partial(Lpbcast, multicast=True, forwards=0, digests=True),
}
"""Ways to spread among members of a flat group."""

Alter = Callable[[Parts], Parts]
"""Exchanges some of the parts that a machine is put together from."""
WITHOUT = "without-"
"""`without-REPAIR` is the repaired reading with that one repair undone."""
CHAIN = 8
"""Own previous messages named in a stamp where nothing expires (see VectorWriter.chain)."""


def register(recipe: Recipe) -> None:
    """Add a recipe from outside; what its module defines may be saved with its machines."""
    if recipe.make is None:
        raise InputError(f"Recipe {recipe.name!r} does not say who makes its machines: give it a `make`.")
    if not recipe.name or any(sign in recipe.name for sign in "+ /"):
        raise InputError(f"A recipe cannot be called {recipe.name!r}: leave out '+', '/' and blanks.")
    if recipe.deadlines not in DEADLINES:
        raise InputError(
            f"Recipe {recipe.name!r} has deadlines={recipe.deadlines!r}: write one of {', '.join(DEADLINES)}."
        )
    if not recipe.orders or not set(recipe.orders) <= set(ORDERS):
        raise InputError(f"Recipe {recipe.name!r} has orders={recipe.orders!r}: write a tuple of {', '.join(ORDERS)}.")
    if RECIPES.setdefault(recipe.name, recipe) != recipe:
        raise InputError(f"There is a recipe {recipe.name!r} already: give yours another name.")
    admit(recipe.make.__module__)


def recipe_named(name: str) -> Recipe:
    base, plus, spread = name.partition("+")
    recipe = RECIPES.get(base)
    if recipe is None:
        raise InputError(f"There is no recipe {name!r}; known are {', '.join(RECIPES)}.")
    if not plus:
        return recipe
    if spread not in SPREADS:
        raise InputError(f"There is no way to spread called {spread!r}; known are {', '.join(SPREADS)}.")
    if recipe.flat or recipe.clients_publish or recipe.make is not None:
        raise InputError(f"Recipe {base!r} has its own way to spread: only brokers that publish can have another.")
    return replace(recipe, spread=spread)


def as_they_are(parts: Parts) -> Parts:
    return parts


def build(
    recipe: Recipe | str,
    reading: str,
    *,
    table: Groups = EACH,
    alter: Alter = as_they_are,
    member: type[Member] = Member,
    read: Read = plain_content,
    **who: Unpack[Who],
) -> Machine:
    """The machine of one process. `table`: what groups are, if they are more than topics. `alter` and `member` put
    other parts into the places of the repaired ones (`printed/undone.py`; not in `home`). `read`: how headers are found
    in a payload."""
    if isinstance(recipe, str):
        recipe = recipe_named(recipe)
    if reading.startswith(WITHOUT):
        from antecede.core.printed.undone import undone

        return undone(recipe, reading, **who)
    if reading not in recipe.readings:
        raise InputError(f"Recipe {recipe.name!r} has no reading {reading!r}; it has {', '.join(recipe.readings)}.")
    check_process(who["name"])
    if table is not EACH and not recipe.clients_publish:
        raise InputError(f"In recipe {recipe.name!r} each topic is a group: a table of entries goes with `home`.")
    if recipe.make is not None:
        return _made(recipe, recipe.make, **who)
    if reading != "repaired":
        from antecede.core.printed.specimens import specimen

        return specimen(recipe, reading, SPREADS[recipe.spread], **who)
    if recipe.deadlines == "lifetime":
        return _by_rounds(recipe, alter, **who)
    name, role, groups, settings, dice = who["name"], who["role"], who["groups"], who["settings"], who["dice"]
    guard_us = guard_of(role, settings)
    interest = table.carried(groups)
    writer = _writer(recipe, name, interest, settings)
    if recipe.clients_publish:
        if role == "subscriber":
            parts = Parts(
                name, interest, settings, dice, NoWriter(), IndexReader(), guard_us, digests=False,
                orders=recipe.orders, groups=table, inbox=QueuedInbox, read=read,
            )  # fmt: skip
            return Client(parts, upper=_vector(recipe, name, settings, table))
        reader = Reader(interest.concerns, dense=writer.dense)
        parts = Parts(
            name, interest, settings, dice, writer, reader, guard_us, groups=table, read=read, inbox=HomeInbox
        )
        return HomeBroker(parts, plain=recipe.name == "home-plain")
    reader = Reader(interest.concerns, dense=writer.dense)
    if role == "subscriber":
        below = writer if recipe.whole else NoWriter()
        parts = Parts(name, interest, settings, dice, below, reader, guard_us, asks=recipe.asks, digests=False)
        return Subscriber(alter(parts))
    parts = Parts(
        name, interest, settings, dice, writer, reader, guard_us, recipe.asks, recipe.digests, orders=recipe.orders,
        inbox=DeltaInbox if recipe.order == "delta" else Inbox, dated=recipe.deadlines in DATED,
    )  # fmt: skip
    if recipe.flat:
        return member(alter(parts), FLAT_SPREADS[recipe.spread])
    return Broker(alter(parts), RoundClock(settings.round_us, 0), SPREADS[recipe.spread])


def _made(recipe: Recipe, make: Make, **who: Unpack[Who]) -> Machine:
    """The machine of a recipe of somebody else's: what may be published at it is what the recipe says."""
    machine, role = make(**who), who["role"]
    made = getattr(machine, "role", None)
    if made is None:
        what = "nothing" if machine is None else f"something of type {type(machine).__name__}"
        raise InputError(f"The make of recipe {recipe.name!r} returned {what}: it must return a machine.")
    if made != role:
        flat = ": a recipe of members says flat=True" if made == "member" else ""
        raise InputError(f"The make of recipe {recipe.name!r} returned a {made} where it was asked for a {role}{flat}.")
    if isinstance(machine, Receiver):
        machine.orders, machine.dated = recipe.orders, recipe.deadlines in DATED
    return machine


def guard_of(role: str, settings: Settings) -> int:
    """A broker stops waiting earlier, by the last hop to its subscribers."""
    return settings.guard_us + (settings.hop_us if role == "broker" else 0)


def _by_rounds(recipe: Recipe, alter: Alter, **who: Unpack[Who]) -> Machine:
    """A machine that counts by rounds: one clock for its Order and its Spread."""
    name, groups, settings, dice = who["name"], who["groups"], who["settings"], who["dice"]
    guard_us = guard_of(who["role"], settings)
    clock = RoundClock(settings.round_us, settings.colours)
    clock.check(recipe.name, settings)
    matrix = recipe.order == "matrix"
    if who["role"] == "subscriber":
        reader = ColourReader(clock, eager=recipe.eager) if matrix else ColoursReader(clock)
        inbox = EagerInbox if recipe.eager else Inbox
        parts = Parts(name, Interest(groups), settings, dice, NoWriter(), reader, guard_us, digests=False, inbox=inbox)
        return RoundSubscriber(alter(parts))
    interest = ColumnInterest(groups, place_of(name)) if matrix else Interest(groups)
    writer = MatrixWriter(name, interest, clock) if matrix else RoundsWriter(name, clock)
    above = Reader(interest.concerns, dense=False)
    parts = Parts(name, interest, settings, dice, writer, above, guard_us, orders=recipe.orders)
    return RoundBroker(alter(parts), clock, SPREADS[recipe.spread], uniform=recipe.uniform)


def _writer(recipe: Recipe, name: str, interest: Interest, settings: Settings) -> Writer:
    if recipe.order == "graph":
        slack_us, grace_us = settings.slack_us, settings.grace_us
        return GraphWriter(
            name, interest, deadlines=settings.deadlines, slack_us=slack_us, grace_us=grace_us, whole=recipe.whole
        )
    if recipe.order == "delta":
        return DeltaWriter(name)
    return _vector(recipe, name, settings)


def _vector(recipe: Recipe, name: str, settings: Settings, table: Groups = EACH) -> VectorWriter:
    return VectorWriter(name, flat=recipe.flat, chain=1 if recipe.flat or settings.deadlines else CHAIN, groups=table)
