"""A small town of processes that find out by themselves who is there: real `Managed` machines, a toy network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heappop, heappush
from random import Random

from antecede.core.effects import Effect, Expelled, Leave, Send
from antecede.core.frames import Frame, Sync, Top
from antecede.core.machine import Peer
from antecede.core.membership.detector import Probing
from antecede.core.membership.wrapper import Managed
from antecede.core.message import Message, Publication

__all__ = ["PERIOD_US", "PROBING", "Inner", "Town"]

PERIOD_US = 100_000
PROBING = Probing(period_us=PERIOD_US, timeout_us=25_000)


class Inner:
    """A machine that only notes what it is told."""

    def __init__(self, name: str, role: str) -> None:
        self.name, self.role = name, role
        self.views: list[dict[str, Peer]] = []
        self.got: list[tuple[str, str]] = []
        self.begun: bool | None = None
        """Whether it began by joining; None: not yet."""
        self.calls: list[tuple[str, tuple[str, ...]]] = []
        self.wake_at: int | None = None
        self.wakes = 0

    def start(self, now_us: int, *, joining: bool = False) -> list[Effect]:
        assert self.begun is None and self.views, "the view comes first, and once"
        self.begun = joining
        return []

    def view(self, members: Mapping[str, Peer], now_us: int) -> list[Effect]:
        self.views.append(dict(members))
        return []

    def subscribe(self, filters: Sequence[str], at: Sequence[str], now_us: int) -> list[Effect]:
        assert self.begun is not None
        self.calls.append(("subscribe", tuple(at)))
        return []

    def unsubscribe(self, now_us: int) -> list[Effect]:
        self.calls.append(("unsubscribe", ()))
        return [Leave(())]

    def move(self, to: Sequence[str], now_us: int) -> list[Effect]:
        self.calls.append(("move", tuple(to)))
        return []

    def publish(self, publication: Publication, now_us: int) -> tuple[Message, list[Effect]]:
        return publication.message(self.name, 1), []

    def receive(self, frame: Frame, sender: str, now_us: int) -> list[Effect]:
        self.got.append((sender, frame.kind))
        return []

    def wake(self, now_us: int) -> list[Effect]:
        self.wakes += 1
        self.wake_at = None
        return []

    def next_wake(self) -> int | None:
        return self.wake_at


class Town:
    def __init__(
        self, members: str, subscribers: Mapping[str, str] | None = None, *, groups: Mapping[str, str] | None = None,
        loss: float = 0.0, seed: int = 1, probing: Probing = PROBING,
    ) -> None:  # fmt: skip
        """Members, or brokers where there are subscribers (name -> where they attach); `groups`: G1 unless said."""
        self.dice = Random(seed)
        self.loss = loss
        self.probing = probing
        self.now_us = 1_000_000_000
        self.role = "member" if subscribers is None else "broker"
        self.groups = groups or {}
        self.all: dict[str, Managed] = {}
        self.offset_us: dict[str, int] = {}
        self.side: dict[str, int] = {}
        self.broken: set[str] = set()
        """Pairs ("A S1") that do not hear each other."""
        self.expelled: list[str] = []
        self.frames: list[tuple[str, str, str]] = []
        """(sender, receiver, kind) of all that was sent."""
        self._heap: list[tuple[int, int, str, str, Frame | None]] = []
        self._tick = 0
        names = members.split()
        for name in (*names, *(subscribers or {})):
            self._make(name, self.role if name in names else "subscriber")
        view = {name: self.peer(name) for name in self.all}
        for name in list(self.all):
            self.told(name, self.all[name].view(view, self.local(name)))
            self.told(name, self.all[name].start(self.local(name)))
        for name, at in (subscribers or {}).items():
            self.told(name, self.all[name].subscribe(("G1",), tuple(at.split()), self.local(name)))

    # -- who is there ----------------------------------------------------------------------------------------------

    def peer(self, name: str) -> Peer:
        return Peer(name, self.all[name].role, tuple(self.groups.get(name, "G1").split()))

    def inner(self, name: str) -> Inner:
        inner = self.all[name].inner
        assert isinstance(inner, Inner)
        return inner

    def local(self, name: str) -> int:
        return self.now_us + self.offset_us.get(name, 0)

    def _make(self, name: str, role: str) -> Managed:
        peer = Peer(name, role, tuple(self.groups.get(name, "G1").split()))
        dice = Random(self.dice.getrandbits(32))
        machine = self.all[name] = Managed(Inner(name, role), peer, self.probing, dice, single=True)
        return machine

    def join(self, name: str, contacts: str, role: str = "") -> Managed:
        machine = self._make(name, role or self.role)
        seeds = {seed: Peer(seed, self.role, ()) for seed in contacts.split()}
        self.told(name, machine.view(seeds, self.local(name)))
        self.told(name, machine.start(self.local(name), joining=True))
        return machine

    def crash(self, name: str) -> None:
        del self.all[name]

    def cut(self, *sides: str) -> None:
        self.side = {name: number for number, side in enumerate(sides) for name in side.split()}

    def view(self, name: str) -> str:
        """Whom the machine inside believes in."""
        return " ".join(sorted(self.inner(name).views[-1]))

    def agree(self, *names: str) -> bool:
        """Whether all believe in the same ones: those that are there, or these."""
        wanted = " ".join(sorted(names or self.all))
        return all(self.view(name) == wanted for name in (names or self.all))

    # -- time and frames -------------------------------------------------------------------------------------------

    def told(self, name: str, effects: Sequence[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, Expelled):
                self.expelled.append(name)
                self.all.pop(name, None)
            elif isinstance(effect, Send):
                for to in effect.to:
                    self.send(name, to, effect.frame)
        self._arm(name)

    def send(self, sender: str, to: str, frame: Frame) -> None:
        self.frames.append((sender, to, frame.kind))
        if f"{min(sender, to)} {max(sender, to)}" in self.broken:
            return
        if self.side.get(sender) == self.side.get(to) and self.dice.random() >= self.loss:
            self._push(self.now_us + 4_000 + int(self.dice.random() * 5_000), to, sender, frame)

    def _push(self, at_us: int, name: str, sender: str, frame: Frame | None) -> None:
        self._tick += 1
        heappush(self._heap, (at_us, self._tick, name, sender, frame))

    def _arm(self, name: str) -> None:
        machine = self.all.get(name)
        due_us = None if machine is None else machine.next_wake()
        if due_us is not None:
            self._push(max(self.now_us, due_us - self.offset_us.get(name, 0)), name, "", None)

    def run(self, periods: float) -> None:
        end_us = self.now_us + int(periods * self.probing.period_us)
        steps = 0
        while self._heap and self._heap[0][0] <= end_us:
            self.now_us, _, name, sender, frame = heappop(self._heap)
            machine = self.all.get(name)
            if machine is None:
                continue
            steps += 1
            assert steps < 1_000_000, "somebody spins"
            if frame is not None:
                self.told(name, machine.receive(frame, sender, self.local(name)))
            else:
                due_us = machine.next_wake()
                if due_us is not None and due_us <= self.local(name):
                    self.told(name, machine.wake(self.local(name)))
        self.now_us = end_us

    def run_until_agreed(self, limit: int, *names: str) -> int:
        """How many periods it took; `limit`: at most so many."""
        for period in range(limit):
            if self.agree(*names):
                return period
            self.run(1)
        return limit

    def leap(self, name: str, by_us: int) -> None:
        self.offset_us[name] = self.offset_us.get(name, 0) + by_us
        self._arm(name)

    def talk(self, sender: str, to: str) -> None:
        """A frame of the machine inside."""
        self.send(sender, to, Top(1, 1))

    def knock(self, sender: str, to: str) -> None:
        self.send(sender, to, Sync((self.all[sender].table.me,), reply=True))
