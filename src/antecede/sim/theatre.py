"""Everybody in a small scenario, ready to act, and the rows of what they did.

Decided here: how a small scenario begins - everybody starts and attaches, in order, with nothing going wrong - and what
time the rows of a run show.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from antecede.core.frames import Frame
from antecede.core.machine import Peer, Settings
from antecede.core.recipes import build
from antecede.errors import InputError
from antecede.sim.actor import Actor, Event, Stub
from antecede.sim.driver import Build
from antecede.sim.small import Cast, Small, cast_of

__all__ = ["Constant", "Ledger", "Theatre"]


class Constant:
    """Dice that always show the same: what machines draw (jitter) is a choice of the explorer, not of chance."""

    def random(self) -> float:
        return 0.5

    def getrandbits(self, k: int, /) -> int:
        return 0


class Ledger:
    """Stubs become rows: with own clocks the only time is the order in which things happened."""

    def __init__(self, theatre: Theatre) -> None:
        self.cast = theatre.cast
        self.run = f"{theatre.small.recipe}-{theatre.small.reading}"
        self.rows: list[tuple[Any, ...]] = []
        self.steps = [0] * len(theatre.cast.names)

    def note(self, place: int, stubs: Iterable[Stub], tick: int) -> None:
        name, role = self.cast.names[place], self.cast.roles[place]
        for kind, at_us, message, groups, deadline_us, reason, cut, guard_us, peer, expires_us, after in stubs:
            at = tick if at_us is None else at_us
            self.rows.append((self.run, name, role, self.steps[place], at, kind, message, groups, deadline_us, reason,
                              after, cut, guard_us, expires_us, at, peer, None, None, None, None))  # fmt: skip
            self.steps[place] += 1

    def end(self, place: int, reason: str, tick: int) -> None:
        self.note(place, [("end", None, None, None, None, reason, None, None, None, None, None)], tick)


class Theatre:
    """Everybody in a small scenario, and what they all believe at first."""

    def __init__(self, small: Small, make: Build = build) -> None:
        self.small = small
        self.cast: Cast = cast_of(small)
        self.own_clocks = small.own_clocks
        self.settings: Settings = small.settings(self.cast.facts)
        self.dice = Constant()
        self.make = make
        cast = self.cast
        self.view = {n: Peer(n, r, g) for n, r, g in zip(cast.names, cast.roles, cast.groups, strict=True)}

    def actors(self) -> list[Actor]:
        """Everybody, not yet begun."""
        cast, actors = self.cast, []
        for place, name in enumerate(cast.names):
            role = cast.roles[place]
            machine = self.make(
                self.small.recipe, self.small.reading, name=name, role=role,
                groups=() if role == "subscriber" else cast.groups[place], settings=self.settings, dice=self.dice,
            )  # fmt: skip
            actors.append(Actor(self, place, machine))
        return actors

    def begin(self) -> tuple[list[Actor], list[list[Stub]]]:
        """Everybody starts and attaches, in order, with nothing going wrong: that is not explored. The actors, at rest,
        and the rows of each so far."""
        actors = self.actors()
        rows: list[list[Stub]] = [[] for _ in actors]
        queue: list[tuple[str, str, Frame]] = []

        def tell(actor: Actor, event: Event) -> None:
            said = actor.act(event, self.small.start_us)
            if said.findings:
                raise InputError(f"{actor.name} {said.findings[0].text}, before anything has happened.")
            rows[actor.place] += said.rows
            queue.extend((actor.name, to, frame) for to, frame in said.sends)

        for event in ("view", "start", "subscribe"):
            for actor in actors:
                tell(actor, (event,))
        while queue:
            sender, to, frame = queue.pop(0)
            tell(actors[self.cast.names.index(to)], ("get", sender, frame))
        return actors, rows
