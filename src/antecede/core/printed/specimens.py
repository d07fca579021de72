"""Which reading of a paper is which machine: the literal parts in the places of the repaired ones.

Where a paper prints whole procedures (000, 002) the machine is those; where it prints a delivery condition (001, 003,
004) the condition is put into the machine that carries it, and everything around it is as in the repaired reading.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from antecede.core.broker import Broker
from antecede.core.interest import Interest
from antecede.core.machine import Dice, Machine, Settings
from antecede.core.order.colour import ColourReader
from antecede.core.order.matrix import Column, place_of
from antecede.core.order.reader import Reader
from antecede.core.order.rounds import RoundsWriter
from antecede.core.order.vector import VectorWriter
from antecede.core.printed import colour, graph, pull, rounds
from antecede.core.printed.solicit import PrintedMember
from antecede.core.printed.waiting import WaitingList
from antecede.core.round_broker import RoundBroker
from antecede.core.round_clock import RoundClock
from antecede.core.round_subscriber import RoundSubscriber
from antecede.core.spread.multicast import Multicast
from antecede.core.subscriber import Subscriber

if TYPE_CHECKING:
    from antecede.core.recipes import Recipe

__all__ = ["specimen"]


def specimen(
    recipe: Recipe,
    reading: str,
    spread: Callable[[Broker], Multicast],
    *,
    name: str,
    role: str,
    groups: tuple[str, ...],
    settings: Settings,
    dice: Dice,
) -> Machine:
    if recipe.name == "solicit":
        return PrintedMember(name, groups, settings, dice)
    interest = Interest(groups)
    guard_us = settings.guard_us + (settings.hop_us if role == "broker" else 0)
    common: dict[str, Any] = {"guard_us": guard_us}
    below: dict[str, Any] = {"writer": None, "digests": False, **common}
    if recipe.name == "pull":
        greater = pull.READINGS[reading]
        reader = pull.PrintedPullReader(interest.concerns, greater)
        if role == "subscriber":
            return Subscriber(name, interest, settings, dice, reader=reader, inbox=WaitingList, **below)
        return Broker(
            name, interest, settings, dice, reader=reader, inbox=WaitingList, writer=VectorWriter(name, flat=False),
            spread=spread, clock=RoundClock(settings.round_us, 0), **common,
        )  # fmt: skip
    if recipe.name == "graph":
        foreign = graph.READINGS[reading]
        concerns = interest.concerns if foreign == "leave out" else _everything
        if role == "subscriber":
            kind = Subscriber if foreign == "leave out" else _Waits
            return kind(name, interest, settings, dice, reader=Reader(concerns, dense=False), **below)
        writer = graph.PrintedGraphWriter(
            name, interest, deadlines=settings.deadlines, slack_us=2 * settings.clock_bound_us,
            grace_us=settings.grace_us, foreign=foreign,
        )  # fmt: skip
        return Broker(
            name, interest, settings, dice, reader=Reader(concerns, dense=False), writer=writer, spread=spread,
            clock=RoundClock(settings.round_us, 0), **common,
        )  # fmt: skip
    clock = RoundClock(settings.round_us, settings.colours)
    clock.check(recipe.name, settings)
    if recipe.name == "rounds":
        if role == "subscriber":
            return RoundSubscriber(
                name, interest, settings, dice, reader=rounds.RuleOneReader(clock), inbox=rounds.RuleOneInbox, **below
            )
        return RoundBroker(
            name, interest, settings, dice, reader=Reader(interest.concerns, dense=False),
            writer=RoundsWriter(name, clock), spread=spread, clock=clock, uniform=False, **common,
        )  # fmt: skip
    if role == "subscriber":
        return RoundSubscriber(
            name, interest, settings, dice, reader=ColourReader(clock, eager=True), inbox=colour.IntegerColours, **below
        )
    column = Column(groups, place_of(name))
    return RoundBroker(
        name, column, settings, dice, reader=Reader(column.concerns, dense=False),
        writer=colour.PrintedMatrixWriter(name, column, clock), spread=spread, clock=clock, uniform=True, **common,
    )  # fmt: skip


def _everything(stream: str) -> bool:
    return True


class _Waits(Subscriber):
    """A subscriber that waits for messages of other groups too."""

    def subscribe(self, *args: Any) -> Any:
        effects = super().subscribe(*args)
        self.reader.look_at(_everything)
        return effects
