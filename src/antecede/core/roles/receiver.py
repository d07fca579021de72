"""The receiving half of a process: it takes messages in, and fetches those that are missing or gives them up.

Subscribers and clients have no other half; members and brokers also serve (`carrier.py`). Every message that comes goes
through the Inbox, which writes the past (`order/past.py`). Decided here: which messages are then missing and asked for
(`repair/asking.py`): causes of held messages, messages that peers offer, and those that an unordered message names as
the one before it. A message that cannot be had any more is given up (`repair/giving_up.py`). The role says from whom a
message may be had, and what happens to a message that was delivered. Example: S takes q:2, which needs p:1, from B: the
Inbox holds q:2, S asks B for p:1, and delivers both when it comes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from antecede.core.content import Read, Seen, plain_content
from antecede.core.deadline.inbox import Inbox
from antecede.core.effects import Ask, Discard, Effect, Send
from antecede.core.entries import EACH, Groups, Interests
from antecede.core.frames import Frame, Request
from antecede.core.interest import Interest
from antecede.core.machine import Dice, Peer, Settings
from antecede.core.marks import Marks, beyond, cut_of
from antecede.core.message import ORDERS, Envelope, Mark, id_of_mark, sender_of
from antecede.core.order.past import Past
from antecede.core.order.reader import AHEAD, Reader
from antecede.core.order.writer import NoWriter, Writer
from antecede.core.repair.asking import Solicitation, open_ranges, ranges_of
from antecede.core.repair.giving_up import Losses
from antecede.core.repair.store import Store

__all__ = ["Parts", "Receiver", "Timer"]

Timer: TypeAlias = tuple[int | None, Callable[[int], None]]
"""When a process does something by itself, and the function that does it, which is told the time. None: not now."""


class Parts(NamedTuple):
    """The pieces that a process is put together from."""

    name: str
    interest: Interest
    settings: Settings
    dice: Dice
    writer: Writer
    reader: Reader
    guard_us: int
    asks: bool = True
    digests: bool = True
    inbox: type[Inbox] = Inbox
    orders: tuple[str, ...] = ORDERS
    """What a publisher may ask for here; the first unless it says otherwise."""
    dated: bool = False
    """Whether every message needs a deadline."""
    groups: Groups = EACH
    """Under which messages fall."""
    read: Read = plain_content
    """What predicates look at, in a payload."""
    asking: type[Solicitation] = Solicitation
    store: type[Store] = Store

    @property
    def reads_only(self) -> bool:
        """Whether the process only reads stamps of brokers: then they say which messages cannot be had any more."""
        return isinstance(self.writer, NoWriter)


class Receiver(ABC):
    role = "member"

    def __init__(self, parts: Parts) -> None:
        self.name, self.interest, self.settings, self.dice = parts.name, parts.interest, parts.settings, parts.dice
        self.groups, self.orders, self.dated = parts.groups, parts.orders, parts.dated
        self.writer = parts.writer
        self.past: Past = parts.reader
        self.tops = self.past.tops
        self.content = Seen(parts.read)
        self.out: list[Effect] = []
        self.joined = False
        self.members: dict[str, Peer] = {}
        self.departed: dict[str, int] = {}
        """Members that were in view and are not, and since when."""
        self.unseen: dict[str, int] = {}
        """Senders that were never in view, and since when a message of theirs is wanted: each is waited for once."""
        self._interests = Interests(parts.groups)
        self.reader, self.asks, self.reads_only = parts.reader, parts.asks, parts.reads_only
        self.arrived = self.reader.arrived if self.reads_only else self.writer.arrived
        """What came, as this process reads it."""
        self.guard_us = parts.guard_us
        self.inbox = parts.inbox(
            parts.reader, self.out, self.delivered, guard_us=parts.guard_us, memory_us=self.settings.memory_us
        )
        self.wants = parts.asking(self.settings)
        self.losses = Losses(self)

    # -- what it asks its role -------------------------------------------------------------------------------------

    @abstractmethod
    def delivered(self, envelope: Envelope, now_us: int) -> None:
        """A message was delivered."""

    @abstractmethod
    def sources(self, mark: Mark) -> Sequence[str]:
        """The processes that may have a message, in a fixed order."""

    @abstractmethod
    def may_ask(self, peer: str) -> bool:
        """Whether a process in view answers requests of this one."""

    def others_to_ask(self) -> Sequence[str]:
        """The processes that may have a message by another of its groups, when none of its sources is left."""
        return ()

    def looks_back(self) -> bool:
        """Whether the one before an unordered message is asked for. Where nobody compares, it may be lost for good."""
        return True

    def passed_by_others(self) -> bool:
        """Whether what is given up here may have been overtaken, at a deadline, where this process has it from."""
        return self.settings.deadlines

    # -- what is known here -------------------------------------------------------------------------------------------

    def send(self, to: tuple[str, ...], frame: Frame) -> None:
        self.out.append(Send(to, frame))

    def say(self, *effects: Effect) -> None:
        """Add effects that are no frames: each is a row."""
        self.out.extend(effects)

    def peer(self, name: str) -> Peer | None:
        """What the view says of a process."""
        return self.members.get(name)

    def check_topics(self, topics: tuple[str, ...]) -> None:
        """Raise unless each falls under a group."""
        self.groups.check_topics(topics)

    def known_interest(self, filters: tuple[str, ...], *, carried: bool = False) -> Interest:
        """`carried`: of a broker, by the groups that it carries."""
        return self._interests.known(filters, carried=carried)

    def cut(self) -> tuple[str, ...]:
        """The newest message of each sender that was delivered or published here, as ids."""
        return cut_of(self.tops)

    def absent_since(self, mark: Mark, wanted_us: int) -> int | None:
        """Since when a message can no longer come from its sender; None: it still can."""
        sender = sender_of(mark[0])
        if sender in self.members:
            return None
        if sender in self.departed:
            return self.departed[sender]
        return self.unseen.setdefault(sender, wanted_us)  # gone long ago, or not yet in view

    def is_being_sent(self, mark: Mark, now_us: int) -> bool:
        """Whether this process knows that the sender sends a message until it hears that it is safe: such a message is
        not given up, however long it takes. (That the sender is in view says less: it may have let go of it.)"""
        return False

    # -- view ------------------------------------------------------------------------------------------------------

    def view(self, members: Mapping[str, Peer], now_us: int) -> list[Effect]:
        self.look_round(members, now_us)
        return self.flush(now_us)

    def look_round(self, members: Mapping[str, Peer], now_us: int) -> None:
        for name in self.members:
            if name not in members:
                self.departed[name] = now_us
        for name in members:
            self.departed.pop(name, None)
            self.unseen.pop(name, None)
        self.members = dict(members)
        self.losses.ask_anew()
        self.viewed(now_us)
        self.want_again(now_us)

    def viewed(self, now_us: int) -> None:
        """The view changed (roles add what they do then)."""

    # -- in --------------------------------------------------------------------------------------------------------

    def take(self, envelopes: Sequence[Envelope], hint: str, now_us: int) -> None:
        """Messages came from `hint`: it is asked first for the causes they need."""
        accept, arrived = self.inbox.accept, self.arrived
        for envelope in envelopes:
            accept(arrived(envelope), now_us)
            self.want_before(envelope, hint, now_us)
        if self.inbox.blocked:
            self.want_blocked(hint, now_us)

    def take_wanted(self, envelopes: Sequence[Envelope], hint: str, now_us: int) -> None:
        """What came as far as it is addressed to this process; the rest is let go of, and said so."""
        wants = self.interest.wants
        self.out += [Discard(e.message.id, "foreign") for e in envelopes if not wants(e.message.topics)]
        self.take([e for e in envelopes if wants(e.message.topics)], hint, now_us)

    def skip_expired(self, envelope: Envelope, hint: str, now_us: int) -> None:
        """A header came from the peer `hint`, and the message's deadline has passed: the message is skipped. What is
        sent from now on need not name the message, even where a node of it came along: so the Writer lets go of what
        has expired first."""
        self.writer.expire(now_us)
        self.inbox.skip(envelope, "expired", now_us)
        self.want_before(envelope, hint, now_us)

    def learn(self, envelope: Envelope) -> None:
        """A message was delivered: what this process publishes from now on follows it, unless it is unordered."""
        if envelope.message.order != "none":
            self.writer.learn(envelope)

    # -- what is wanted --------------------------------------------------------------------------------------------

    def want_again(self, now_us: int) -> None:
        """A new process may be asked: look at all held messages once more."""
        if self.inbox.held:
            self.inbox.look_again()
            self.want_blocked(None, now_us)

    def want_blocked(self, hint: str | None, now_us: int) -> None:
        """Causes of messages that began to wait, or wait for another one now."""
        blocked = self.inbox.take_blocked()
        if self.asks:
            marks, guard_us, wants = self.inbox.marks, self.inbox.guard_us, self.wants
            for held in blocked:
                if held.gone:
                    continue
                message = held.envelope.message
                until = None if message.deadline_us is None else message.deadline_us - guard_us
                for mark in self.losses.missing(held.envelope.stamp):
                    if mark[1] not in marks.get(mark[0], ()):
                        wants.want(mark, hint or message.sender, until, now_us)
            if self.reader.freed:
                self.inbox.deliver_ready(now_us)
                self.want_blocked(hint, now_us)

    def want_before(self, envelope: Envelope, hint: str, now_us: int) -> None:
        """The message that an unordered one names as the one before it is not waited for, but must not stay away either
        (unless it may be lost for good: see `looks_back`). If the later one has no deadline, or was itself asked for
        without an end, the earlier one is asked for until it comes or is known to be gone: until then no peer is in
        step. Example: p~:3 came and has no deadline, p~:2 is missing: S asks until p~:2 is here."""
        if envelope.message.order == "none" and self.asks and self.looks_back():
            lasting = envelope.message.deadline_us is None or self.wants.any_endless(envelope.stamp.own)
            for stream, n in envelope.stamp.covers.items():
                if self.interest.concerns(stream):
                    numbers = self.reader.offered(stream, n) if lasting else (n,)
                    for mark in [(stream, k) for k in numbers if k <= n]:
                        if self.past.lacks(mark):
                            self.wants.want(mark, hint, None, now_us, backed=lasting)

    def want_offered(self, offer: Marks, sender: str, now_us: int) -> bool:
        """What a peer offers in a digest; whether anything of it is missing here."""
        lacking = False
        if not self.asks or self.past.is_at(offer):
            return False
        newer = self.interest.among(beyond(offer, self.past.front))
        for mark in newer.items():
            self.losses.has(mark, sender)
        for mark in self._missing(newer):
            lacking = True
            self.wants.offered(mark, sender, now_us)
        return lacking

    def want_passed(self, have: Marks, offer: Marks, now_us: int) -> None:
        """Ask every peer for messages that a newcomer has behind it (`have`) and does not offer.

        A newcomer that began behind a message cannot give it. Where local views let this process compare with that
        newcomer only, nobody else would tell of the message. Example: A lacks p:3; N began behind p:3, and A compares
        with N alone. N's digest says `have` p:3 and does not offer it: A asks all until p:3 comes, or is known to be
        gone."""
        if self.asks:
            front = self.past.front
            passed = {s: n for s, n in have.items() if n > max(front.get(s, 0), offer.get(s, 0))}
            for mark in self._missing(self.interest.among(passed)):
                self.wants.want(mark, sender_of(mark[0]), None, now_us)

    def _missing(self, newer: Marks) -> Iterator[Mark]:
        """What is missing up to these numbers: of all of them together not more than can be asked for at once."""
        left = AHEAD
        for stream, n in newer.items():
            numbers = self.reader.offered(stream, n)[: max(left, 1)]
            left -= len(numbers)
            for mark in [(stream, k) for k in numbers]:
                if self.past.lacks(mark):
                    yield mark

    # -- asking ----------------------------------------------------------------------------------------------------

    def asked(self, marks: list[Mark]) -> tuple[str, ...]:
        """Which messages marks mean, each once (a message has a mark in each of its groups)."""
        return tuple(dict.fromkeys(map(id_of_mark, marks)))

    def request(self, marks: list[Mark]) -> Frame:
        is_dense = self.past.is_dense
        dense, sparse = [m for m in marks if is_dense(m[0])], [m for m in marks if not is_dense(m[0])]
        above, held = self.reader.above, self.inbox.marks
        here = {stream: {*above.get(stream, ()), *held.get(stream, ())} for stream, _ in sparse}
        ranges = (*ranges_of(dense), *open_ranges(sparse, self.reader.front, here))
        return Request(ranges, self.wants.any_endless(marks))

    def _ask(self, now_us: int) -> None:
        asks = self.wants.due(now_us, self.past.lacks, self.losses.whom_to_ask, self.losses.orphaned)
        for peer, marks in asks.items():
            self.out += [Ask(peer, self.asked(marks)), Send((peer,), self.request(marks))]

    # -- time ------------------------------------------------------------------------------------------------------

    def wake(self, now_us: int) -> list[Effect]:
        self.inbox.wake(now_us)
        if self.inbox.blocked:
            self.want_blocked(None, now_us)
        for at_us, act in self.timers():
            if at_us is not None and now_us >= at_us:
                act(now_us)
        return self.flush(now_us)

    def next_wake(self) -> int | None:
        best = self.inbox.next_due()
        for at in (self.wants.next_ask(), *[at_us for at_us, _ in self.timers()]):
            if at is not None and (best is None or at < best):
                best = at
        return best

    def timers(self) -> Iterable[Timer]:
        """What a role does by itself, and when. Timers that are due act in this order, and may set those after them."""
        return ()

    def flush(self, now_us: int) -> list[Effect]:
        """Ask for what is due and hand the effects to the driver."""
        ask = self.wants.next_ask()
        if ask is not None and ask <= now_us:
            self._ask(now_us)
        effects = self.out[:]
        self.out.clear()
        return effects
