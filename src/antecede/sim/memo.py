"""What one process can come to be, and what it does then: each situation once, each step carried out once.

Decided here: when two situations of a process are the same - its machine is alike, its story (the rows the judge reads)
is the same, and it has the same left to do - and that a step is looked up if it was taken before. A machine is told
what it is told, so what it does depends on nothing else; a thousand interleavings of others cost it nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from antecede import wire
from antecede.core.state.freeze import freeze, likeness, thaw
from antecede.sim.actor import Actor, Event, Said, Stub
from antecede.sim.theatre import Theatre
from antecede.trace.report import Finding

__all__ = ["Flight", "Memo", "Outcome", "Situation"]

UNJUDGED = ("ask", "answer")
"""Rows that no verdict depends on."""


class Flight(NamedTuple):
    """A copy of a frame on its way: what it is, not which one. `data` None: word of a crash (of `sender`)."""

    sender: int
    to: int
    data: bytes | None


class Situation:
    """One process, saved."""

    __slots__ = ("actor", "due_us", "may_step", "plain", "story")

    def __init__(self, actor: Actor, plain: list[Any] | None, story: int) -> None:
        self.actor = actor
        """Without its machine."""
        self.plain = plain
        self.story = story
        self.due_us: int | None = None
        self.may_step = False


class Outcome(NamedTuple):
    """What followed from one event in one situation."""

    situation: int
    flights: tuple[int, ...]
    rows: tuple[Stub, ...]
    findings: tuple[Finding, ...]


class Memo:
    def __init__(self, theatre: Theatre) -> None:
        self.theatre = theatre
        self.own_clocks = theatre.own_clocks
        self.situations: list[Situation] = []
        self.flights: list[Flight] = []
        self.steps = 0
        """How many were carried out."""
        self._places: dict[str, int] = {name: i for i, name in enumerate(theatre.cast.names)}
        self._known: dict[tuple[Any, ...], int] = {}
        self._flights: dict[Flight, int] = {}
        self._stories: dict[tuple[int, tuple[Stub, ...]], int] = {}
        self._outcomes: dict[tuple[Any, ...], Outcome] = {}

    # -- situations ------------------------------------------------------------------------------------------------

    def save(self, actor: Actor, story: int) -> int:
        due_us = actor.next_wake()
        alike = b""
        if actor.machine is not None:
            alike = wire.freeze(likeness(actor.machine, actor.now_us if self.own_clocks else None))
        key = (actor.place, alike, story, actor.step, actor.at, actor.gone)
        number = self._known.get(key)
        if number is None:
            number = self._known[key] = len(self.situations)
            situation = Situation(actor, None if actor.machine is None else freeze(actor.machine), story)
            situation.due_us = due_us
            situation.may_step = actor.may_step()
            actor.machine = None
            self.situations.append(situation)
        return number

    def wake(self, number: int) -> Actor:
        """The process in that situation, alive again."""
        situation = self.situations[number]
        old = situation.actor
        actor = Actor(self.theatre, old.place, None)
        for name in ("alive", "at", "gone", "now_us", "out", "saw", "step"):
            setattr(actor, name, getattr(old, name))
        if situation.plain is not None:
            actor.machine = thaw(situation.plain, self.theatre.dice)
        return actor

    def story(self, before: int, rows: list[Stub]) -> int:
        told = tuple(row for row in rows if row[0] not in UNJUDGED)
        if not told:
            return before
        return self._stories.setdefault((before, told), len(self._stories) + 1)

    # -- flights ---------------------------------------------------------------------------------------------------

    def fly(self, flight: Flight) -> int:
        number = self._flights.get(flight)
        if number is None:
            number = self._flights[flight] = len(self.flights)
            self.flights.append(flight)
        return number

    def sent(self, sender: int, said: Said) -> tuple[int, ...]:
        """Frames become bytes here and frames again on arrival: nobody shares memory with anybody."""
        coded: dict[int, bytes] = {}
        numbers = []
        for name, frame in said.sends:
            data = coded.get(id(frame))
            if data is None:
                data = coded[id(frame)] = wire.encode(frame)
            if name in self._places:
                numbers.append(self.fly(Flight(sender, self._places[name], data)))
        return tuple(numbers)

    # -- steps -----------------------------------------------------------------------------------------------------

    def outcome(self, number: int, kind: str, flight: int, now_us: int) -> Outcome:
        """`flight`: what arrives, -1 for what is no arrival. `now_us` matters with one clock only."""
        key = (number, kind, flight, now_us)
        outcome = self._outcomes.get(key)
        if outcome is None:
            outcome = self._outcomes[key] = self._carry_out(number, kind, flight, now_us)
        return outcome

    def _carry_out(self, number: int, kind: str, flight: int, now_us: int) -> Outcome:
        self.steps += 1
        actor = self.wake(number)
        situation = self.situations[number]
        if self.own_clocks:
            now_us = actor.now_us
            if kind == "wake" and situation.due_us is not None:
                now_us = max(now_us, situation.due_us)
        event: Event = (kind,)
        if flight >= 0:
            sender, _, data = self.flights[flight]
            name = self.theatre.cast.names[sender]
            event = ("learn", name) if data is None else ("get", name, wire.decode(data))
        said = actor.act(event, now_us)
        flights = self.sent(actor.place, said)
        findings, rows = tuple(said.findings), tuple(said.rows)
        return Outcome(self.save(actor, self.story(situation.story, said.rows)), flights, rows, findings)
