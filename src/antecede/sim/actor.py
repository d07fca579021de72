"""One process of a small scenario: a real machine, what it is told, and what it says.

Decided here: what an event is, which rows it leaves, and the cheap checks after each delivery (inversion, duplicate,
overdue), which need nothing but this process's own past: payloads name all that their sender had seen. Both `explore`
(which saves and thaws actors) and `transcript` (which keeps them alive) drive machines through here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from antecede.core.effects import Deliver, Effect, Send
from antecede.core.frames import Frame
from antecede.core.machine import Machine
from antecede.core.message import Publication, split_id
from antecede.core.roles.round_broker import leaves_us
from antecede.sim.driver import follows
from antecede.sim.plugin import told
from antecede.trace.report import Finding, ms
from antecede.trace.rows import facts
from antecede.trace.witness import read_payload, seen_payload

if TYPE_CHECKING:
    from antecede.sim.theatre import Theatre

__all__ = ["Actor", "Event", "Said", "Stub"]

Stub = tuple[Any, ...]
"""A row without what only its place in a run decides: (kind, at_us, message, groups, deadline_us, reason, cut,
guard_us, peer, expires_us, after). `at_us` is None where clocks mean nothing to others."""

Event = tuple[Any, ...]
"""`("step",)`, `("get", sender, frame)`, `("wake",)`, `("learn", name)`, `("crash",)`; at first `("view",)`,
`("start",)`, `("subscribe",)`."""


@dataclass(slots=True)
class Said:
    """What followed from one event."""

    rows: list[Stub] = field(default_factory=list)
    sends: list[tuple[str, Frame]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


class Actor:
    __slots__ = ("alive", "at", "gone", "machine", "name", "now_us", "out", "place", "saw", "step", "theatre")

    def __init__(self, theatre: Theatre, place: int, machine: Machine | None) -> None:
        self.theatre = theatre
        self.place = place
        self.name = theatre.cast.names[place]
        self.machine: Any = machine
        self.now_us = theatre.small.start_us
        self.alive = True
        self.step = 0
        """How many steps of the script it has done."""
        self.out: tuple[str, ...] = ()
        """What it has delivered and published, in order."""
        self.saw: frozenset[str] = frozenset()
        """All that, and all that came before it."""
        self.at: tuple[str, ...] = theatre.cast.at.get(self.name, ())
        self.gone: frozenset[str] = frozenset()
        """Whom it knows to have crashed."""

    # -- what may happen -------------------------------------------------------------------------------------------

    def next_wake(self) -> int | None:
        due_us: int | None = self.machine.next_wake() if self.alive else None
        return due_us

    def may_step(self) -> bool:
        steps = self.theatre.cast.steps[self.place]
        return self.alive and self.step < len(steps) and all(m in self.out for m in steps[self.step].after)

    # -- what happens ----------------------------------------------------------------------------------------------

    def act(self, event: Event, now_us: int) -> Said:
        """Tell the machine; what it does wrong on the way is a finding like any other."""
        said = Said()
        self.now_us = now_us
        try:
            getattr(self, f"_{event[0]}")(said, *event[1:])
            self.next_wake()  # as every driver asks after every event: machines set some of their timers then
        except Exception as fault:  # a machine that breaks is what is being looked for
            said.findings.append(Finding("unexplained", self.name, None, None, None, f"raised {told(fault)}"))
        return said

    def _view(self, said: Said) -> None:
        self._take(said, self.machine.view(self.theatre.view, self.now_us))

    def _start(self, said: Said) -> None:
        self._take(said, self.machine.start(self.now_us))

    def _subscribe(self, said: Said) -> None:
        if self.at:
            self._take(said, self.machine.subscribe(self.theatre.cast.groups[self.place], self.at, self.now_us))

    def _step(self, said: Said) -> None:
        step = self.theatre.cast.steps[self.place][self.step]
        self.step += 1
        if step.to:
            self.at = (step.to,)
            self._take(said, self.machine.move(self.at, self.now_us))
            return
        within_ms = self.theatre.small.deadline_ms if step.within_ms is None else step.within_ms
        deadline_us = None if within_ms is None else leaves_us(self.machine, self.now_us) + int(within_ms * 1000)
        order = self.theatre.cast.facts.orders[0]
        message, effects = self.machine.publish(
            Publication(step.topics, self._testament(order), deadline_us, order=order), self.now_us
        )
        self._note(said, "publish", message=message.id, groups=message.topics, deadline_us=message.deadline_us,
                   expires_us=message.expires_us, after=follows(message, None, order))  # fmt: skip
        self.out = (*self.out, message.id)
        if order != "none":
            self.saw |= {message.id}
        self._take(said, effects)

    def _testament(self, order: str) -> bytes:
        """A payload that names all that its message must follow."""
        if order == "causal":
            return seen_payload(sorted(self.saw))
        own = () if order == "none" else (m for m in self.out if split_id(m)[0] == self.name)
        return seen_payload(own)

    def _get(self, said: Said, sender: str, frame: Frame) -> None:
        for message in frame.messages():
            self._note(said, "arrive", message=message.id, peer=sender)
        self._take(said, self.machine.receive(frame, sender, self.now_us))

    def _wake(self, said: Said) -> None:
        self._take(said, self.machine.wake(self.now_us))

    def _learn(self, said: Said, name: str) -> None:
        """Somebody crashed: it is gone from the view, and who was attached there goes elsewhere."""
        self.gone |= {name}
        view = {n: peer for n, peer in self.theatre.view.items() if n not in self.gone}
        self._take(said, self.machine.view(view, self.now_us))
        if name in self.at:
            left = tuple(n for n in self.theatre.cast.names if n not in self.gone)
            places = self.theatre.cast.places_for(self.place, left)
            if places:
                self.at = places
                self._take(said, self.machine.move(places, self.now_us))

    def _crash(self, said: Said) -> None:
        self._note(said, "crash")
        self.alive = False
        self.machine = None

    # -- what it says ----------------------------------------------------------------------------------------------

    def _take(self, said: Said, effects: list[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, Send):
                said.sends += [(to, effect.frame) for to in effect.to]
            for fact in facts(effect):
                self._note(said, **fact)
            if isinstance(effect, Deliver):
                self._delivered(said, effect)

    def _note(
        self, said: Said, kind: str, *, message: str | None = None, groups: tuple[str, ...] | None = None,
        deadline_us: int | None = None, reason: str | None = None, cut: tuple[str, ...] | None = None,
        guard_us: int | None = None, peer: str | None = None, expires_us: int | None = None,
        after: tuple[str, ...] | None = None,
    ) -> None:  # fmt: skip
        at_us = None if self.theatre.own_clocks else self.now_us
        said.rows.append((kind, at_us, message, groups, deadline_us, reason, cut, guard_us, peer, expires_us, after))

    def _delivered(self, said: Said, effect: Deliver) -> None:
        message = effect.message
        name = message.id
        if name in self.out:
            said.findings.append(Finding("duplicate", self.name, name, None, None, f"delivered {name} a second time"))
        elif name in self.saw:
            said.findings.append(
                Finding("inversion", self.name, name, None, None, f"delivered {name} after what it precedes")
            )
        if message.deadline_us is not None and self.now_us > message.deadline_us:
            over_us = self.now_us - message.deadline_us
            said.findings.append(
                Finding("overdue", self.name, name, None, None, f"delivered {name} {ms(over_us)} after its deadline")
            )
        self.out = (*self.out, name)
        if message.order != "none":
            self.saw |= read_payload(message.payload) | {name}
