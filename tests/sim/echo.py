"""A machine small enough to be checked by eye: it multicasts, delivers on arrival, and forwards to who attached.

It exercises the driver alone: no order, no recovery. Subscribers attach until they are answered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from antecede.core.effects import Deliver, Discard, Effect, Join, Leave, Move, Send
from antecede.core.frames import Attach, Attached, Data, Frame, Publish
from antecede.core.machine import Peer
from antecede.core.message import Envelope, Message, Publication, Stamp

RETRY_US = 40_000


@dataclass(frozen=True)
class Facts:
    name: str = "echo"
    flat: bool = False
    clients_publish: bool = False
    deadlines: str = "optional"
    orders: tuple[str, ...] = ("causal",)
    uniform: bool = False
    spread: str = "multicast"
    fixed: bool = False


TWO_TIERS = Facts()
FLAT = Facts("echo-flat", flat=True)
HOME = Facts("echo-home", clients_publish=True)


class Echo:
    def __init__(self, name: str, role: str, groups: tuple[str, ...], settings: Any) -> None:
        self.name, self.role, self.groups, self.settings = name, role, groups, settings
        self.members: Mapping[str, Peer] = {}
        self.seq = 0
        self.seen: set[str] = set()
        self.attached: dict[str, tuple[str, ...]] = {}
        self.pending: dict[str, int] = {}
        self.filters: tuple[str, ...] = ()
        self.at: tuple[str, ...] = ()

    def start(self, now_us: int, *, joining: bool = False) -> list[Effect]:
        return [] if self.role == "subscriber" else [Join(self.groups, None, (), self.settings.guard_us)]

    def view(self, members: Mapping[str, Peer], now_us: int) -> list[Effect]:
        assert self.name in members
        self.members = members
        return []

    def subscribe(self, filters: Sequence[str], at: Sequence[str], now_us: int) -> list[Effect]:
        self.filters, self.at = tuple(filters), tuple(at)
        self.pending = dict.fromkeys(at, now_us + RETRY_US)
        return [Send(self.at, Attach(1, self.filters, None))]

    def unsubscribe(self, now_us: int) -> list[Effect]:
        return [Leave(self.filters)]

    def move(self, to: Sequence[str], now_us: int) -> list[Effect]:
        self.at = tuple(to)
        self.pending = dict.fromkeys(to, now_us + RETRY_US)
        return [Move(to[0], ()), Send(self.at, Attach(2, self.filters, None))]

    def publish(self, publication: Publication, now_us: int) -> tuple[Message, list[Effect]]:
        self.seq += 1
        message = publication._replace(order=None).message(self.name, self.seq)
        self.seen.add(message.id)
        envelope = Envelope(message, Stamp(((self.name, self.seq),)))
        if self.role == "subscriber":
            return message, [Send(self.at, Publish((envelope,)))]
        return message, self._spread(envelope, "") + self._forward(envelope)

    def _spread(self, envelope: Envelope, other: str) -> list[Effect]:
        wanted = set(envelope.message.topics)
        to = tuple(
            p.name for p in self.members.values()
            if p.role != "subscriber" and p.name != self.name and wanted.intersection(p.groups)
        )  # fmt: skip
        return [Send(to, Data((envelope,)))] if to else []

    def _forward(self, envelope: Envelope) -> list[Effect]:
        wanted = set(envelope.message.topics)
        to = tuple(
            n for n, f in self.attached.items() if wanted.intersection(f) and n != envelope.message.sender
        )  # fmt: skip
        return [Send(to, Data((envelope,)))] if to else []

    def receive(self, frame: Frame, sender: str, now_us: int) -> list[Effect]:
        if isinstance(frame, Attach):
            self.attached[sender] = frame.filters
            return [Send((sender,), Attached(frame.attachment, {}, ()))]
        if isinstance(frame, Attached):
            if self.pending.pop(sender, None) is None:
                return []
            return [Join(self.filters, sender, (), self.settings.guard_us)]
        effects: list[Effect] = []
        assert isinstance(frame, Data | Publish)
        for envelope in frame.envelopes:
            message = envelope.message
            if message.id in self.seen:
                effects.append(Discard(message.id, "duplicate"))
                continue
            self.seen.add(message.id)
            if message.deadline_us is not None and now_us > message.deadline_us - self.settings.guard_us:
                effects.append(Discard(message.id, "late"))
                continue
            effects.append(Deliver(message, "causes"))
            if self.role == "broker":
                if isinstance(frame, Publish):
                    effects += self._spread(envelope, sender)
                effects += self._forward(envelope)
        return effects

    def wake(self, now_us: int) -> list[Effect]:
        due = tuple(name for name, at in self.pending.items() if at <= now_us)
        for name in due:
            self.pending[name] = now_us + RETRY_US
        return [Send(due, Attach(1, self.filters, None))] if due else []

    def next_wake(self) -> int | None:
        return min(self.pending.values(), default=None)

    def freeze(self) -> bytes:
        return b""


def build(recipe: str, reading: str, *, name: str, role: str, groups: tuple[str, ...], settings: Any,
          dice: Any) -> Echo:  # fmt: skip
    return Echo(name, role, groups, settings)
