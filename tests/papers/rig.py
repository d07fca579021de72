"""A hand-driven rig over real machines: time stands still and every frame waits until the test says what becomes of it.

A test publishes, delivers, drops and repeats frames one by one, and lets time pass with `advance`, which wakes machines
exactly when they asked for it. `run_until_quiet` carries the rest like a network that loses only what `lose` names.
Everything is recorded as the simulator records it, so that the oracle judges every test at its end (`finish`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from antecede.core.effects import Deliver, Effect, Send
from antecede.core.frames import Frame
from antecede.core.machine import Peer, Settings
from antecede.core.message import Publication
from antecede.core.recipes import RECIPES, build
from antecede.sim.process import Process
from antecede.sim.records import Records
from antecede.trace.check import check
from antecede.trace.record import Row
from antecede.trace.report import Report
from antecede.wire import measure

MS = 1000
LONG_MS = 1_000_000
"""A round that never comes: tests that are not about digests are not disturbed by them."""


@dataclass(slots=True, eq=False)
class Flight:
    """One copy of a frame on its way."""

    sender: str
    to: str
    frame: Frame
    sent_us: int

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(message.id for message in self.frame.messages())

    def __repr__(self) -> str:
        return f"{self.sender}->{self.to} {self.frame.kind} {' '.join(self.ids)}".rstrip()


class Rig:
    def __init__(
        self,
        recipe: str,
        *,
        members: str = "",
        brokers: Mapping[str, str] | None = None,
        subscribers: Mapping[str, tuple[str, str]] | None = None,
        begin: bool = True,
        reading: str = "repaired",
        **settings: Any,
    ) -> None:
        """`brokers`: name -> groups; `subscribers`: name -> (filters, brokers), words separated by blanks."""
        knobs = {"round_us": LONG_MS * MS, **settings}
        self.recipe = recipe
        self.reading = reading
        self.settings = Settings(**knobs)
        self.now_us = 0
        self.flights: list[Flight] = []
        self.losing: list[Callable[[Flight], bool]] = []
        self.records = Records(f"{recipe}-rig", None, False)
        self.processes: dict[str, Process] = {}
        self.log: list[Flight] = []
        """Every copy of a frame that was ever sent."""
        self.names: dict[str, str] = {}
        """Message id -> what the paper calls it (`red_A2`); tests say and hear these names where there is one."""
        self._not_before: dict[str, int] = {}
        for name in members.split():
            self.spawn(name, "member", ("G1",))
        for name, groups in (brokers or {}).items():
            self.spawn(name, "broker", tuple(groups.split()))
        for name, (filters, _) in (subscribers or {}).items():
            self.spawn(name, "subscriber", tuple(filters.split()))
        self.view = {p.name: Peer(p.name, p.role, p.groups) for p in self.processes.values()}
        if begin:
            for process in self.processes.values():
                self._told(process, process.machine.view(self.view, self.now_us))
            for process in self.processes.values():
                self._told(process, process.machine.start(self.now_us))
            for name, (filters, at) in (subscribers or {}).items():
                self.subscribe(name, filters, at)
            self.settle()

    # -- processes -------------------------------------------------------------------------------------------------

    def spawn(self, name: str, role: str, groups: tuple[str, ...]) -> Process:
        machine = build(
            RECIPES[self.recipe], self.reading, name=name, role=role, groups=() if role == "subscriber" else groups,
            settings=self.settings, dice=Random(name),
        )  # fmt: skip
        process = self.processes[name] = Process(name, role, machine, groups, 0)
        return process

    def machine(self, name: str) -> Any:
        return self.processes[name].machine

    def subscribe(self, name: str, filters: str, at: str) -> None:
        self._told(
            self.processes[name], self.machine(name).subscribe(tuple(filters.split()), tuple(at.split()), self.now_us)
        )

    def move(self, name: str, to: str) -> None:
        self._told(self.processes[name], self.machine(name).move(tuple(to.split()), self.now_us))

    def crash(self, name: str) -> None:
        """It is silent from now on; nobody is told."""
        process = self.processes[name]
        process.alive = False
        self.records.note(process, "crash", self.now_us)
        self.flights = [f for f in self.flights if f.to != name]

    def tell(self, *, without: str = "", also: Process | None = None) -> None:
        """Everybody learns a new view."""
        view = {name: peer for name, peer in self.view.items() if name not in without.split()}
        if also is not None:
            view[also.name] = Peer(also.name, also.role, also.groups)
        self.view = view
        for process in list(self.processes.values()):
            if process.alive:
                self._told(process, process.machine.view(self.view, self.now_us))

    def restart(self, old: str, name: str, at: str = "") -> Process:
        """In the place of a process that crashed: the same role and groups, an empty memory."""
        before = self.processes[old]
        process = self.spawn(name, before.role, before.groups)
        self.records.note(process, "restart", self.now_us)
        self.tell(also=process)
        self._told(process, process.machine.start(self.now_us, joining=True))
        if at:
            self.subscribe(name, " ".join(process.groups), at)
        return process

    # -- what happens ----------------------------------------------------------------------------------------------

    def publish(
        self,
        name: str,
        topics: str = "G1",
        *,
        deadline_ms: float | None = None,
        after: Sequence[str] | None = None,
        called: str = "",
    ) -> str:
        """`deadline_ms`: from now. `called`: its name in the paper. Returns that, or the message's id."""
        process = self.processes[name]
        deadline_us = None if deadline_ms is None else self.now_us + int(deadline_ms * MS)
        message, effects = process.machine.publish(
            Publication(tuple(topics.split()), b"", deadline_us=deadline_us, after=after), self.now_us
        )
        self.records.note(process, "publish", self.now_us, message=message.id, groups=message.topics,
                          deadline_us=message.deadline_us, after=message.after,
                          expires_us=message.expires_us)  # fmt: skip
        if called:
            self.names[message.id] = called
        self._told(process, effects)
        return self.named(message.id)

    def named(self, message_id: str | None) -> str:
        return self.names.get(message_id or "", message_id or "")

    def id_of(self, what: str) -> str:
        """A message's id, from that or from its name in the paper."""
        return next((one for one, name in self.names.items() if name == what), what)

    def _told(self, process: Process, effects: list[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, Send):
                measure(effect.frame)
                for to in effect.to:
                    flight = Flight(process.name, to, effect.frame, self.now_us)
                    self.log.append(flight)
                    if (
                        to in self.processes
                        and self.processes[to].alive
                        and not any(lost(flight) for lost in self.losing)
                    ):
                        self.flights.append(flight)
            elif isinstance(effect, Deliver):
                self.records.note(process, "deliver", self.now_us, message=effect.message.id, reason=effect.reason)
            else:
                self.records.effect(process, effect, self.now_us)

    def inject(self, sender: str, to: str, frame: Frame) -> None:
        """A frame that no machine sent: what a faulty or different peer might say."""
        measure(frame)
        self.flights.append(Flight(sender, to, frame, self.now_us))

    # -- frames ----------------------------------------------------------------------------------------------------

    def flying(self, sender: str | None = None, to: str | None = None, what: str | None = None) -> list[Flight]:
        """Copies on their way; `what` is a kind of frame or a message id."""
        return [f for f in self.flights if _fits(f, sender, to, self._meant(what))]

    def sent(self, sender: str | None = None, to: str | None = None, what: str | None = None) -> list[Flight]:
        """Copies that were ever sent."""
        return [f for f in self.log if _fits(f, sender, to, self._meant(what))]

    def _meant(self, what: str | None) -> str | None:
        return None if what is None else self.id_of(what)

    def _pick(self, sender: str | None, to: str | None, what: str | None) -> list[Flight]:
        found = self.flying(sender, to, what)
        assert found, f"nothing like ({sender}, {to}, {what}) is on its way: {self.flights}"
        return found

    def deliver(self, sender: str | None = None, to: str | None = None, what: str | None = None) -> None:
        """Let all copies that fit arrive now, in the order in which they were sent."""
        for flight in self._pick(sender, to, what):
            self.flights.remove(flight)
            self._arrive(flight)

    def deliver_to_brokers(self, what: str | None = None) -> None:
        """Let copies for brokers arrive now, and what follows among brokers; what is for subscribers stays."""
        self.spread(what, but=tuple(p.name for p in self.processes.values() if p.role == "subscriber"))

    def spread(self, what: str | None = None, *, but: Sequence[str] = ()) -> None:
        """Let copies arrive now, and what follows from them; what is for `but` stays on its way."""
        while found := [f for f in self.flying(what=what) if f.to not in but]:
            self.flights.remove(found[0])
            self._arrive(found[0])

    def duplicate(self, sender: str | None = None, to: str | None = None, what: str | None = None) -> None:
        """Let copies that fit arrive now, and stay on their way: they will arrive again."""
        for flight in self._pick(sender, to, what):
            self._arrive(flight)

    def drop(self, sender: str | None = None, to: str | None = None, what: str | None = None) -> None:
        for flight in self._pick(sender, to, what):
            self.flights.remove(flight)

    def lose(self, sender: str | None = None, to: str | None = None, what: str | None = None) -> Callable[[], None]:
        """From now on the network loses what fits; what is returned ends that."""

        def rule(flight: Flight) -> bool:
            return _fits(flight, sender, to, self._meant(what))

        self.flights = [f for f in self.flights if not rule(f)]
        self.losing.append(rule)
        return lambda: self.losing.remove(rule)

    def _arrive(self, flight: Flight) -> None:
        process = self.processes[flight.to]
        if process.alive:
            self.records.arrived(process, flight.sender, flight.frame, flight.ids, self.now_us)
            self._told(process, process.machine.receive(flight.frame, flight.sender, self.now_us))

    # -- time ------------------------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Everything on its way arrives, and what follows from it, in no time."""
        while self.flights:
            flight = self.flights.pop(0)
            self._arrive(flight)

    def _next_timer(self) -> tuple[int, str] | None:
        best = None
        for process in self.processes.values():
            due_us = process.machine.next_wake() if process.alive else None
            if due_us is not None:
                when_us = max(due_us, self._not_before.get(process.name, 0), self.now_us)
                if best is None or when_us < best[0]:
                    best = (when_us, process.name)
        return best

    def _wake(self, when_us: int, name: str) -> None:
        self.now_us = when_us
        self._not_before[name] = when_us + 1
        self._told(self.processes[name], self.machine(name).wake(when_us))

    def advance(self, ms: float) -> None:
        """Let time pass: machines wake when they want to; no frame arrives."""
        until_us = self.now_us + int(ms * MS)
        while (timer := self._next_timer()) is not None and timer[0] <= until_us:
            self._wake(*timer)
        self.now_us = until_us

    def pass_ms(self, ms: float, delay_ms: float = 10) -> None:
        """Let time pass on a network where every copy takes `delay_ms`."""
        until_us = self.now_us + int(ms * MS)
        while True:
            timer = self._next_timer()
            flight = min(self.flights, key=lambda one: one.sent_us, default=None)
            arrival_us = None if flight is None else max(self.now_us, flight.sent_us + int(delay_ms * MS))
            if timer is not None and timer[0] <= until_us and (arrival_us is None or timer[0] < arrival_us):
                self._wake(*timer)
            elif flight is not None and arrival_us is not None and arrival_us <= until_us:
                self.now_us = arrival_us
                self.flights.remove(flight)
                self._arrive(flight)
            else:
                self.now_us = until_us
                return

    def run_until_quiet(self, delay_ms: float = 10, limit_ms: float = 10_000_000) -> None:
        """Every frame arrives `delay_ms` after it was sent (or after now), until nothing is left to happen."""
        for flight in self.flights:
            flight.sent_us = max(flight.sent_us, self.now_us)
        limit_us = self.now_us + int(limit_ms * MS)
        while self.flights or self._next_timer() is not None:
            timer = self._next_timer()
            arrival_us = self.flights[0].sent_us + int(delay_ms * MS) if self.flights else None
            if timer is not None and (arrival_us is None or timer[0] < arrival_us):
                self._wake(*timer)
            elif arrival_us is not None:
                self.now_us = arrival_us
                self._arrive(self.flights.pop(0))
            assert self.now_us <= limit_us, f"not quiet after {limit_ms} ms: {self.flights}, {timer}"

    # -- what was said ---------------------------------------------------------------------------------------------

    def rows(self, name: str, *kinds: str) -> list[Row]:
        return [r for r in map(Row._make, self.records.rows) if r.process == name and (not kinds or r.kind in kinds)]

    def delivered(self, name: str) -> list[str]:
        return [self.named(r.message) for r in self.rows(name, "deliver")]

    def delivered_at_ms(self, name: str, message: str) -> float:
        return next(r.at_us for r in self.rows(name, "deliver") if self.named(r.message) == message) / MS

    def reason(self, name: str, message: str) -> str | None:
        """Why it was delivered."""
        return next((r.reason for r in self.rows(name, "deliver") if self.named(r.message) == message), None)

    def discarded(self, name: str) -> list[tuple[str, str]]:
        return [(self.named(r.message), r.reason or "") for r in self.rows(name, "discard")]

    def asks(self, name: str) -> list[tuple[str, str]]:
        """(whom, for what), in order."""
        return [(r.peer or "", self.named(r.message)) for r in self.rows(name, "ask")]

    def answers(self, name: str) -> list[tuple[str, str]]:
        return [(r.peer or "", self.named(r.message)) for r in self.rows(name, "answer")]

    def held(self, name: str) -> list[str]:
        return [self.named(one) for one in self.machine(name).inbox.held]

    def report(self) -> Report:
        """Let everything come to rest and hear the oracle."""
        self.run_until_quiet()
        for process in self.processes.values():
            if process.alive:
                self.records.note(process, "end", self.now_us, reason="quiet")
        return check(self.records.rows, scenario={"recipe": self.recipe})

    def finish(self) -> Report:
        """`report`, and the oracle must have found nothing."""
        report = self.report()
        assert not report.findings, "\n".join(f"{f.verdict} at {f.process}: {f.text}" for f in report.findings)
        assert report.clean
        return report


def _fits(flight: Flight, sender: str | None, to: str | None, what: str | None) -> bool:
    return (
        sender in (None, flight.sender)
        and to in (None, flight.to)
        and (what is None or what == flight.frame.kind or what in flight.ids)
    )
