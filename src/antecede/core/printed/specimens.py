"""Which reading of a paper is which machine: the literal parts in the places of the repaired ones.

Where a paper prints whole procedures (000, 002) the machine is those; where it prints a delivery condition (001, 003,
004) the condition is put into the machine that carries it, and everything around it is as in the repaired reading.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

from antecede.core.interest import Interest
from antecede.core.machine import Machine, Settings
from antecede.core.order.colour import ColourReader
from antecede.core.order.matrix import ColumnInterest, place_of
from antecede.core.order.reader import Reader, everything
from antecede.core.order.round_clock import RoundClock
from antecede.core.order.rounds import ColoursReader, RoundsWriter
from antecede.core.order.vector import VectorWriter
from antecede.core.order.writer import NoWriter
from antecede.core.printed import colour, graph, pull, rounds, solicit
from antecede.core.printed.waiting import WaitingList
from antecede.core.recipes import Recipe, Who, guard_of
from antecede.core.roles.broker import Broker
from antecede.core.roles.receiver import Parts
from antecede.core.roles.round_broker import RoundBroker
from antecede.core.roles.round_subscriber import RoundSubscriber
from antecede.core.roles.subscriber import Subscriber
from antecede.core.spread.multicast import Multicast

__all__ = ["specimen"]


def specimen(recipe: Recipe, reading: str, spread: Callable[[Broker], Multicast], **who: Unpack[Who]) -> Machine:
    name, role, groups, settings, dice = who["name"], who["role"], who["groups"], who["settings"], who["dice"]
    if recipe.name == "solicit":
        return solicit.PrintedMember(name, groups, settings, dice, below=solicit.READINGS[reading])
    parts = Parts(
        name, Interest(groups), settings, dice, NoWriter(), Reader(everything, dense=False), guard_of(role, settings)
    )
    if role == "subscriber":
        return _subscriber(recipe, reading, parts._replace(digests=False))
    return _broker(recipe, reading, parts, spread)


def _subscriber(recipe: Recipe, reading: str, parts: Parts) -> Machine:
    if recipe.name == "pull":
        reader = pull.PrintedPullReader(parts.interest.concerns, pull.READINGS[reading])
        return Subscriber(parts._replace(reader=reader, inbox=WaitingList))
    if recipe.name == "graph":
        return Subscriber(parts) if graph.READINGS[reading] == "leave out" else _Waits(parts)
    clock = _clock(recipe, parts.settings)
    if recipe.name == "rounds":
        counts = rounds.RuleOneReader(clock) if reading == "printed" else ColoursReader(clock)
        return RoundSubscriber(parts._replace(reader=counts, inbox=rounds.RuleOneInbox))
    inbox = colour.IntegerColours if reading == "printed" else colour.CyclicColours
    return RoundSubscriber(parts._replace(reader=ColourReader(clock, eager=True), inbox=inbox))


def _broker(recipe: Recipe, reading: str, parts: Parts, spread: Callable[[Broker], Multicast]) -> Machine:
    name, interest, settings = parts.name, parts.interest, parts.settings
    known = Reader(interest.concerns, dense=False)
    if recipe.name == "pull":
        reader = pull.PrintedPullReader(interest.concerns, pull.READINGS[reading])
        parts = parts._replace(writer=VectorWriter(name, flat=False), reader=reader, inbox=WaitingList)
        return Broker(parts, RoundClock(settings.round_us, 0), spread)
    if recipe.name == "graph":
        foreign = graph.READINGS[reading]
        writer = graph.PrintedGraphWriter(
            name, interest, deadlines=settings.deadlines, slack_us=settings.slack_us,
            grace_us=settings.grace_us, foreign=foreign,
        )  # fmt: skip
        parts = parts._replace(writer=writer, reader=known if foreign == "leave out" else parts.reader)
        return Broker(parts, RoundClock(settings.round_us, 0), spread)
    clock = _clock(recipe, settings)
    if recipe.name == "rounds":
        stamps = RoundsWriter(name, clock) if reading == "printed" else rounds.WholeVectorWriter(name, clock)
        return RoundBroker(parts._replace(writer=stamps, reader=known), clock, spread, uniform=False)
    column = ColumnInterest(interest.filters, place_of(name))
    parts = parts._replace(
        interest=column, writer=colour.PrintedMatrixWriter(name, column, clock),
        reader=Reader(column.concerns, dense=False),
    )  # fmt: skip
    return RoundBroker(parts, clock, spread, uniform=True)


def _clock(recipe: Recipe, settings: Settings) -> RoundClock:
    clock = RoundClock(settings.round_us, settings.colours)
    clock.check(recipe.name, settings)
    return clock


class _Waits(Subscriber):
    """A subscriber that waits for messages of other groups too."""

    def subscribe(self, *args: Any) -> Any:
        effects = super().subscribe(*args)
        self.reader.look_at(everything)
        return effects
