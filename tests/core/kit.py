"""What tests of the core share: messages by hand, effects as text, random histories, and a dumb twin of the Inbox."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from hypothesis import strategies as st

from antecede.core.deadline.inbox import Inbox
from antecede.core.effects import Answer, Ask, Collect, Deliver, Discard, Effect, Join, Leave, Move, Send, Shed
from antecede.core.frames import Frame
from antecede.core.interest import Interest, stream_of
from antecede.core.machine import Peer, Settings
from antecede.core.message import Envelope, Mark, Message, Stamp, split_id
from antecede.core.order.reader import Reader
from antecede.core.recipes import build

# -- by hand -------------------------------------------------------------------------------------------------------


def message(name: str, *topics: str, deadline_us: int | None = None, payload: bytes = b"") -> Message:
    sender, seq = split_id(name)
    return Message(sender, seq, topics or ("G1",), payload, deadline_us)


def flat(name: str, needs: Mapping[str, int] | None = None, *, deadline_us: int | None = None, **more: Any) -> Envelope:
    """A message of a flat group: its stream is its sender; it needs and covers the same."""
    told = message(name, deadline_us=deadline_us, **more)
    needs = needs or {}
    stamp = Stamp(((told.sender, told.seq),), tuple(needs.items()), needs, sum(needs.values()) + 1)
    return Envelope(told, stamp)


def grouped(
    name: str,
    *topics: str,
    needs: Sequence[Mark] = (),
    covers: Mapping[str, int] | None = None,
    rank: int = 0,
    deadline_us: int | None = None,
) -> Envelope:
    """A message to groups: one mark in each."""
    told = message(name, *topics, deadline_us=deadline_us)
    own = tuple((stream_of(told.sender, topic), told.seq) for topic in told.topics)
    return Envelope(told, Stamp(own, tuple(needs), dict(needs) if covers is None else covers, rank))


# -- machines ------------------------------------------------------------------------------------------------------


def view_of(peers: Mapping[str, str], subscribers: str = "") -> dict[str, Peer]:
    """`{"A": "G1 G2"}`: brokers (or members) and their groups."""
    found = {name: Peer(name, "broker", tuple(groups.split())) for name, groups in peers.items()}
    found |= {name: Peer(name, "subscriber", ()) for name in subscribers.split()}
    return found


def machine(recipe: str, name: str, role: str, groups: str = "", **knobs: Any) -> Any:
    return build(
        recipe, "repaired", name=name, role=role, groups=tuple(groups.split()), settings=Settings(**knobs),
        dice=Random(7),
    )  # fmt: skip


def told(effects: Iterable[Effect]) -> list[str]:
    """Effects, each as one line."""
    return [_line(effect) for effect in effects]


def _line(effect: Effect) -> str:
    if isinstance(effect, Deliver):
        return f"deliver {effect.message.id} {effect.reason}"
    if isinstance(effect, Discard):
        return f"discard {effect.message} {effect.reason}"
    if isinstance(effect, Send):
        ids = ",".join(m.id for m in effect.frame.messages())
        return f"{effect.frame.kind} to {','.join(effect.to)}" + (f": {ids}" if ids else "")
    if isinstance(effect, Ask):
        return f"ask {effect.peer} for {','.join(effect.messages)}"
    if isinstance(effect, Answer):
        return f"answer {effect.peer} with {','.join(effect.messages)}"
    if isinstance(effect, Join):
        return f"join at {effect.peer} cut {','.join(effect.cut)}"
    if isinstance(effect, Leave):
        return f"leave {','.join(effect.filters)}"
    if isinstance(effect, Move):
        return f"move to {effect.peer} cut {','.join(effect.cut)}"
    if isinstance(effect, Shed):
        return f"{effect.peer} shed {effect.messages}"
    assert isinstance(effect, Collect)
    return f"collect {effect.message}"


def sent(effects: Iterable[Effect], kind: type[Any]) -> list[tuple[tuple[str, ...], Any]]:
    """The frames of one kind that went out, and to whom."""
    return [(e.to, e.frame) for e in effects if isinstance(e, Send) and isinstance(e.frame, kind)]


def frame_to(effects: Iterable[Effect], peer: str, kind: type[Any]) -> Any:
    """The one frame of a kind for a peer."""
    frames = [frame for to, frame in sent(effects, kind) if peer in to]
    assert len(frames) == 1, frames
    return frames[0]


def carry(effects: Iterable[Effect], sender: str, machines: Mapping[str, Any], now_us: int) -> list[str]:
    """Carry frames until nothing is in flight; what everybody said, with who said it."""
    lines: list[str] = []
    flying: list[tuple[str, str, Frame]] = []

    def take(who: str, said: Iterable[Effect]) -> None:
        for effect in said:
            if isinstance(effect, Send):
                flying.extend((who, to, effect.frame) for to in effect.to if to in machines)
            else:
                lines.append(f"{who}: {_line(effect)}")

    take(sender, effects)
    while flying:
        who, to, frame = flying.pop(0)
        take(to, machines[to].receive(frame, who, now_us))
    return lines


# -- random histories ----------------------------------------------------------------------------------------------

NAMES = ("A", "B", "C", "D")
GROUPS = ("G1", "G2", "G3")
CARRIED = {"A": ("G1", "G2", "G3"), "B": ("G1", "G2"), "C": ("G2", "G3"), "D": ("G1",)}
"""Overlapping: what B tells C passes through G2, and order between G1 and G3 runs through A, or through both."""

PLANS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9), st.integers(0, 60)), min_size=4, max_size=26)


@dataclass
class Told:
    envelope: Envelope
    """As it travels."""
    past: frozenset[str]
    """Every cause, by the definition: whatever its sender had delivered or published, or declared, and their pasts."""


class World:
    """Processes that publish and deliver as a plan says; what happened before what is written down on the side."""

    def __init__(
        self,
        plan: Sequence[tuple[int, int, int]],
        writer: Callable[[str, Interest], Any],
        *,
        one: bool,
        end_us: Callable[[int], int] | None = None,
    ) -> None:
        """`one`: everybody is in one group. `end_us`: numbers are rounds, and this is where lifetimes end."""
        self.one = one
        self.end_us = end_us
        self.told: dict[str, Told] = {}
        groups = {name: ("G1",) if one else CARRIED[name] for name in NAMES}
        self.writers = {name: writer(name, Interest(groups[name])) for name in NAMES}
        self.interests = {name: Interest(groups[name]) for name in NAMES}
        self.local: dict[str, dict[str, Envelope]] = {name: {} for name in NAMES}
        self.past: dict[str, set[str]] = {name: set() for name in NAMES}
        self._last: dict[str, str] = {}
        for who, action, pick in plan:
            name = NAMES[who]
            ready = self._learnable(name)
            if action < 4 and ready:
                self._learn(name, ready[pick % len(ready)])
            elif action == 4:
                while ready := self._learnable(name):
                    self._learn(name, ready[0])
            else:
                self._publish(name, action, pick)

    def _learnable(self, name: str) -> list[str]:
        mine, interest = self.local[name], self.interests[name]
        wanted = [i for i, t in self.told.items() if interest.wants(t.envelope.message.topics)]
        return [i for i in wanted if i not in mine and all(p in mine for p in wanted if p in self.told[i].past)]

    def _learn(self, name: str, one: str) -> None:
        writer = self.writers[name]
        envelope = writer.arrived(self.told[one].envelope)
        writer.learn(envelope)
        self.local[name][one] = envelope
        self.past[name] |= {one, *self.told[one].past}

    def _publish(self, name: str, action: int, pick: int) -> None:
        groups = self.interests[name].filters
        topics = tuple(g for place, g in enumerate(groups) if pick >> place & 1) or groups[:1]
        seq = sum(i.startswith(f"{name}:") for i in self.told) + 1
        deadline_us = None if action == 9 else 5 + pick
        expires_us = None
        if self.end_us is not None:  # a round greater than all that was delivered or sent
            seq = 1 + max((split_id(one)[1] for one in self.past[name]), default=0)
            deadline_us = expires_us = self.end_us(seq)
        told = Message(name, seq, topics, b"", deadline_us, expires_us)
        after = None
        past = set(self.past[name])
        if action == 8 and self.local[name]:
            causes = [i for place, i in enumerate(self.local[name]) if pick >> place & 1]
            after = [self.local[name][i].stamp for i in causes]
            causes += [self._last[name]] if name in self._last else []
            past = set(causes).union(*(self.told[i].past for i in causes))
        envelope = Envelope(told, self.writers[name].stamp(told, after))
        self.told[told.id] = Told(self.writers[name].relay(envelope), frozenset(past))
        self.local[name][told.id] = envelope
        self.past[name].add(told.id)
        self._last[name] = told.id

    def catch_up(self, name: str) -> list[Envelope]:
        """Let a process deliver everything it can; what it has, in its order."""
        while ready := self._learnable(name):
            self._learn(name, ready[0])
        return list(self.local[name].values())


# -- the dumb twin -------------------------------------------------------------------------------------------------


class Twin:
    """PROTOCOLS s1 and s3.1 by scanning lists: `past` says what precedes what, nothing else is known."""

    def __init__(self, past: Mapping[str, Iterable[str]], guard_us: int) -> None:
        self.past = {one: set(before) for one, before in past.items()}
        self.guard_us = guard_us
        self.arrived: list[str] = []
        self.behind: set[str] = set()
        self.held: list[Envelope] = []
        self.out: list[str] = []

    def accept(self, envelope: Envelope, now_us: int) -> None:
        one, deadline = envelope.message.id, envelope.message.deadline_us
        late = deadline is not None and now_us > deadline - self.guard_us
        if one in self.arrived:
            self.out.append(f"discard {one} duplicate")
            return
        self.arrived.append(one)
        if one in self.behind:
            self.out.append(f"discard {one} {'late' if late else 'superseded'}")
        elif late:
            self.out.append(f"discard {one} late")
            self.behind.add(one)
        else:
            self.held.append(envelope)
        self.settle()

    def ready(self, envelope: Envelope) -> bool:
        return self.past[envelope.message.id] <= self.behind

    def deliver(self, envelope: Envelope, reason: str) -> None:
        self.held.remove(envelope)
        self.out.append(f"deliver {envelope.message.id} {reason}")
        self.behind |= {envelope.message.id, *self.past[envelope.message.id]}

    def settle(self) -> None:
        while ready := [e for e in self.held if self.ready(e)]:
            self.deliver(ready[0], "causes")

    def wake(self, now_us: int) -> None:
        while True:
            timed = [e for e in self.held if e.message.deadline_us is not None]
            due = [e for e in timed if self.due_us(e) <= now_us]
            if not due:
                return
            first = min(due, key=self.due_us)
            if now_us > (first.message.deadline_us or 0):
                self.held.remove(first)
                self.out.append(f"discard {first.message.id} late")
                self.behind.add(first.message.id)
            else:
                before = [e for e in self.held if e.message.id in self.past[first.message.id]]
                before.sort(key=lambda e: (e.stamp.rank, e.message.sender, e.message.seq))
                for one in (*before, first):
                    self.deliver(one, "causes" if self.ready(one) else "deadline")
            self.settle()

    def due_us(self, envelope: Envelope) -> int:
        assert envelope.message.deadline_us is not None
        return envelope.message.deadline_us - self.guard_us


EVENTS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 6), st.booleans()), max_size=45)
"""Which message arrives, how long after the one before, and whether timers are served exactly."""


def agree(
    envelopes: Sequence[Envelope], past: Mapping[str, Iterable[str]], reader: Reader, events: Any, guard: int
) -> None:
    """The Inbox and its twin say the same of every arrival and every timer, and nothing is out of order."""
    if not envelopes:
        return
    names = {e.message.id for e in envelopes}
    past = {one: set(past[one]) & names for one in names}
    out: list[Effect] = []
    inbox = Inbox(reader, out, lambda envelope, now_us: None, guard_us=guard, memory_us=10**9)
    twin = Twin(past, guard)
    now_us, order = 0, []

    def same() -> None:
        assert sorted(told(out)) == sorted(twin.out)
        order.extend(e.message.id for e in out if isinstance(e, Deliver))
        out.clear()
        twin.out.clear()
        timed = [twin.due_us(e) for e in twin.held if e.message.deadline_us is not None]
        assert inbox.next_due() == min(timed, default=None)
        assert set(inbox.held) == {e.message.id for e in twin.held}
        assert {(s, n) for s, ns in inbox.marks.items() for n in ns} == {m for e in twin.held for m in e.stamp.own}

    for pick, wait_us, exactly in [*events, (0, 200, True)]:
        now_us += wait_us
        while exactly and (due := inbox.next_due()) is not None and due <= now_us:
            inbox.wake(due)
            twin.wake(due)
            same()
        inbox.wake(now_us)
        twin.wake(now_us)
        same()
        envelope = envelopes[pick % len(envelopes)]
        inbox.accept(envelope, now_us)
        twin.accept(envelope, now_us)
        same()
    for place, one in enumerate(order):
        assert not past[one] & set(order[place:]), f"{one} is delivered before one of its causes"
