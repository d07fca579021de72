"""Live machines that do as they are told, one command of a transcript at a time, and say what followed.

Decided here: the commands, how a frame is said in words, and how a copy under way is named (` #2`: the second of those
that look the same, in the order sent). Nothing is bounded here: a transcript may lose whatever it likes.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from antecede import wire
from antecede.core.frames import Frame
from antecede.core.message import Envelope
from antecede.core.recipes import build
from antecede.errors import InputError
from antecede.sim.actor import Said, Stub
from antecede.sim.driver import Build
from antecede.sim.memo import Flight
from antecede.sim.small import Small
from antecede.sim.theatre import Ledger, Theatre
from antecede.trace.check import check
from antecede.trace.report import Finding

__all__ = ["Stage", "describe"]

MAX_REST = 10_000
"""Commands that `the rest` may stand for."""

# -- frames as text ------------------------------------------------------------------------------------------------


def describe(frame: Frame) -> str:
    """A frame in words, without its stamps: kind, messages, and whatever else it says."""
    words = [frame.kind, *(message.id for message in frame.messages())]
    for field in dataclasses.fields(frame):
        if field.init:
            words += _said(field.name, getattr(frame, field.name))
    return " ".join(words)


def _said(name: str, value: Any) -> list[str]:
    if value is True:
        return [name]
    if value in (None, False, "", 0) or (isinstance(value, Sequence | Mapping) and not value):
        return []
    if isinstance(value, Mapping):
        return [name, ",".join(f"{stream}={n}" for stream, n in sorted(value.items()))]
    if isinstance(value, tuple):
        first = value[0]
        if isinstance(first, Envelope):  # messages are named already, unless only their headers came
            return [name, ",".join(e.message.id for e in value)] if name == "headers" else []
        if hasattr(first, "envelope"):
            return ["items", ",".join(f"{i.index}{'(gone)' if i.gone else ''}" for i in value)]
        return [name, ",".join(_flat(part) for part in value)]
    return [name, str(value)]


def _flat(part: Any) -> str:
    if isinstance(part, tuple):
        return "(" + " ".join(_flat(one) for one in part) + ")"
    return str(part)


# -- carrying out --------------------------------------------------------------------------------------------------


@dataclasses.dataclass(slots=True, eq=False)
class Copy:
    """One copy under way; `frame` None: word that `sender` crashed."""

    sender: str
    to: str
    data: bytes
    text: str


class Stage:
    """Live machines that do as they are told, one command at a time."""

    def __init__(self, small: Small, make: Build = build) -> None:
        self.theatre = Theatre(small, make)
        self.small = small
        self.ledger = Ledger(self.theatre)
        self.actors, rows = self.theatre.begin()
        self.by_name = {actor.name: actor for actor in self.actors}
        for actor, told in zip(self.actors, rows, strict=True):
            self.ledger.note(actor.place, told, 0)
        self.under_way: list[Copy] = []
        self.now_us = small.start_us
        self.tick = 0
        self.findings: list[Finding] = []
        self._commands: list[tuple[re.Pattern[str], Callable[..., list[str]]]] = [
            (re.compile(r"(\S+) publishes (\S+)"), self._publish),
            (re.compile(r"(\S+) moves to (\S+)"), self._move),
            (re.compile(r"(\S+) gets (again )?(.+) from (\S+)"), self._arrive),
            (re.compile(r"(?:lost|slow): (.+) from (\S+) to (\S+)"), self._straggle),
            (re.compile(r"(\S+) wakes"), self._wake),
            (re.compile(r"(\S+) crashes"), self._crash),
            (re.compile(r"(\S+) learns that (\S+) crashed"), self._learn),
            (re.compile(r"the rest"), self._rest),
        ]

    def do(self, command: str) -> list[str]:
        """Carry out one command; the lines say what followed."""
        self.tick += 1
        for pattern, how in self._commands:
            match = pattern.fullmatch(command)
            if match:
                self._slow = command.startswith("slow")
                return how(*match.groups())
        raise InputError(f"{command!r} is no command: see the beginning of antecede/sim/transcript.py for the form.")

    def _tell(self, name: str, event: tuple[Any, ...]) -> list[str]:
        actor = self.by_name.get(name)
        if actor is None or not actor.alive:
            raise InputError(f"{name} is no living process here.")
        said = actor.act(event, actor.now_us if self.theatre.own_clocks else self.now_us)
        self.ledger.note(actor.place, said.rows, self.tick)
        self.findings += said.findings
        return [*(_row(stub) for stub in said.rows), *self._send(name, said), *(f.text for f in said.findings)]

    def _send(self, name: str, said: Said) -> list[str]:
        lines = []
        for to, frame in said.sends:
            text = describe(frame)
            lines.append(f"send {text} to {to}")
            if to in self.by_name and self.by_name[to].alive:
                self.under_way.append(Copy(name, to, wire.encode(frame), text))
        return lines

    def _publish(self, name: str, topics: str) -> list[str]:
        return self._step(name, lambda step: ",".join(step.topics) == topics)

    def _move(self, name: str, to: str) -> list[str]:
        return self._step(name, lambda step: step.to == to)

    def _step(self, name: str, fits: Callable[[Any], bool]) -> list[str]:
        actor = self.by_name.get(name)
        if actor is None or not actor.may_step() or not fits(self.theatre.cast.steps[actor.place][actor.step]):
            raise InputError(f"This is not what {name} does next: see the script.")
        return self._tell(name, ("step",))

    def _find(self, sender: str, to: str, text: str) -> Copy:
        text, _, which = text.partition(" #")
        fitting = [c for c in self.under_way if (c.sender, c.to, c.text) == (sender, to, text)]
        place = int(which or 1) - 1
        if not 0 <= place < len(fitting):
            there = "; ".join(f"{c.text} from {c.sender} to {c.to}" for c in self.under_way) or "nothing"
            raise InputError(f"There is no {text!r} from {sender} to {to} under way, but {there}.")
        return fitting[place]

    def name_of(self, copy: Copy) -> str:
        alike = [c for c in self.under_way if (c.sender, c.to, c.text) == (copy.sender, copy.to, copy.text)]
        return copy.text if alike[0] is copy else f"{copy.text} #{alike.index(copy) + 1}"

    def _arrive(self, to: str, again: str | None, text: str, sender: str) -> list[str]:
        copy = self._find(sender, to, text)
        if not again:
            self.under_way.remove(copy)
        return self._tell(to, ("get", sender, wire.decode(copy.data)))

    def _straggle(self, text: str, sender: str, to: str) -> list[str]:
        copy = self._find(sender, to, text)
        if not self._slow:
            self.under_way.remove(copy)
        return []

    def _wake(self, name: str) -> list[str]:
        actor = self.by_name.get(name)
        due_us = None if actor is None else actor.next_wake()
        if actor is None or due_us is None:
            raise InputError(f"{name} does not wait for any timer.")
        if self.theatre.own_clocks:
            actor.now_us = max(actor.now_us, due_us)
            return self._tell(name, ("wake",))
        self.now_us = max(self.now_us, due_us)
        return [f"at {self.now_us / 1000:g} ms", *self._tell(name, ("wake",))]

    def _crash(self, name: str) -> list[str]:
        lines = self._tell(name, ("crash",))
        self.under_way = [copy for copy in self.under_way if copy.to != name]
        return lines

    def _learn(self, name: str, crashed: str) -> list[str]:
        if crashed not in self.by_name or self.by_name[crashed].alive:
            raise InputError(f"{crashed} has not crashed.")
        return self._tell(name, ("learn", crashed))

    def _rest(self) -> list[str]:
        """Whatever is left, with nothing going wrong: steps, then arrivals in the order sent, then the next timer."""
        lines: list[str] = []
        for _ in range(MAX_REST):
            command = self._next()
            if command is None:
                return lines
            lines += [f"> {command}", *(f"  {line}" for line in self.do(command))]
        raise InputError(f"After {MAX_REST} commands there is still something left to happen.")

    def _next(self) -> str | None:
        for actor in self.actors:
            if actor.may_step():
                return self.commands(("step", actor.place), ())[0]
        if self.under_way:
            copy = self.under_way[0]
            return f"{copy.to} gets {self.name_of(copy)} from {copy.sender}"
        for crashed in (actor for actor in self.actors if not actor.alive):
            for actor in self.actors:
                if actor.alive and crashed.name not in actor.gone:
                    return f"{actor.name} learns that {crashed.name} crashed"
        due = [(due_us, actor.place) for actor in self.actors if (due_us := actor.next_wake()) is not None]
        return f"{self.actors[min(due)[1]].name} wakes" if due else None

    # -- commands from explorations --------------------------------------------------------------------------------

    def commands(self, action: tuple[Any, ...], flights: Sequence[Flight]) -> list[str]:
        """The text of what an exploration did, as things stand now."""
        names = self.theatre.cast.names
        kind = action[0]
        if kind == "step":
            actor = self.actors[action[1]]
            step = self.theatre.cast.steps[actor.place][actor.step]
            return [
                f"{actor.name} moves to {step.to}" if step.to else f"{actor.name} publishes {','.join(step.topics)}"
            ]
        if kind in ("wake", "crash"):
            return [f"{names[action[1]]} {kind}s" if kind == "wake" else f"{names[action[1]]} crashes"]
        if kind == "lose":
            lost = [f"lost: {self._where(flights[number])}" for number in action[1]]
            return lost + [f"slow: {self._where(flights[number])}" for number in action[2]]
        flight = flights[action[1]]
        if flight.data is None:
            return [f"{names[flight.to]} learns that {names[flight.sender]} crashed"]
        copy = self._of(flight)
        return [f"{copy.to} gets {'again ' if kind == 'again' else ''}{self.name_of(copy)} from {copy.sender}"]

    def _of(self, flight: Flight) -> Copy:
        names = self.theatre.cast.names
        ends = (names[flight.sender], names[flight.to])
        return next(c for c in self.under_way if (c.sender, c.to) == ends and c.data == flight.data)

    def _where(self, flight: Flight) -> str:
        copy = self._of(flight)
        return f"{self.name_of(copy)} from {copy.sender} to {copy.to}"

    # -- the end ---------------------------------------------------------------------------------------------------

    def verdict(self) -> list[Finding]:
        """The oracle's findings, and what was seen on the way if it found nothing."""
        busy = self.under_way or any(a.next_wake() is not None or a.may_step() for a in self.actors)
        ledger = Ledger(self.theatre)
        ledger.rows = list(self.ledger.rows)
        ledger.steps = list(self.ledger.steps)
        for actor in self.actors:
            if actor.alive:
                at = self.tick + 1 if self.theatre.own_clocks else self.now_us
                ledger.end(actor.place, "stopped" if busy else "quiet", at)
        found = check(ledger.rows, scenario={"recipe": self.small.base}).findings
        known = {(f.verdict, f.process, f.message) for f in found}
        return [*found, *(f for f in self.findings if (f.verdict, f.process, f.message) not in known)]


def _row(stub: Stub) -> str:
    kind, _, message, groups, _, reason, cut, _, peer, _, _ = stub
    words = [kind, *([message] if message else [])]
    if groups:
        words += ["to" if kind == "publish" else "of", ",".join(groups)]
    if cut:
        words += ["behind", ",".join(cut)]
    if peer:
        words += ["from" if kind == "arrive" else "at" if kind in ("join", "move", "leave") else "of", peer]
    return " ".join(words) + (f" ({reason})" if reason else "")
