"""One process among its peers: the rules that members, brokers and subscribers share.

Takes messages in (Inbox), keeps them (Store), asks for what is missing (Solicitation), and compares with peers each
round until nobody lacks anything (Digest). Roles differ in who their peers are and in what happens to a message after
its delivery; those are the few methods they override.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from antecede.core.begin.early import Early
from antecede.core.content import Read, Seen, plain_content
from antecede.core.deadline.inbox import Inbox
from antecede.core.effects import Ask, Discard, Effect, Send
from antecede.core.entries import EACH, Groups, Interests
from antecede.core.frames import Data, Digest, Frame, Gone, Ranges, Request
from antecede.core.interest import Interest
from antecede.core.machine import Dice, Peer, Settings
from antecede.core.marks import cut_of, join
from antecede.core.message import ORDERS, Envelope, Mark, Message, id_of_mark, is_loose, sender_of, series_of
from antecede.core.order.reader import Reader
from antecede.core.order.unordered import LooseWriter
from antecede.core.order.writer import NoWriter, Writer
from antecede.core.repair.answering import Answers
from antecede.core.repair.asking import Solicitation, open_ranges, ranges_of
from antecede.core.repair.comparing import Rounds
from antecede.core.repair.giving_up import Losses
from antecede.core.repair.stability import Stability
from antecede.core.repair.store import Store
from antecede.core.spread.local_view import LocalView

__all__ = ["Parts", "Tier"]


class Parts(NamedTuple):
    """What a process is put together from."""

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
        """Whether it only reads what brokers stamped: then they say what cannot be had any more."""
        return isinstance(self.writer, NoWriter)


class Tier(ABC):
    role = "member"

    def __init__(self, parts: Parts) -> None:
        settings = parts.settings
        self.name, self.interest, self.settings = parts.name, parts.interest, settings
        self.early = Early(self)
        self.seen = Seen(parts.read)
        self.dice = parts.dice
        self.writer, self.reader = parts.writer, parts.reader
        self.reads_only = parts.reads_only
        self.asks, self.orders, self.dated, self.groups = parts.asks, parts.orders, parts.dated, parts.groups
        self.loose = LooseWriter(parts.name, flat=parts.reader.dense, slack_us=settings.slack_us, groups=parts.groups)
        self.out: list[Effect] = []
        self.store = parts.store(self.out, grace_us=settings.grace_us, slack_us=settings.slack_us)
        self.arrived = parts.reader.arrived if self.reads_only else parts.writer.arrived
        """What came, as this process reads it."""
        self.inbox = parts.inbox(
            parts.reader, self.out, self._delivered, guard_us=parts.guard_us, memory_us=settings.memory_us
        )
        self.wants = parts.asking(settings)
        self.local = LocalView(parts.dice, size=settings.view, near=settings.near)
        self.members: dict[str, Peer] = {}
        self.departed: dict[str, int] = {}
        self.unseen: dict[str, int] = {}
        """Since when something is wanted of senders that were never in view: one that lost many is waited for once."""
        self.tops: dict[str, int] = {}
        """Newest delivered or published message per sender: this process's past, as a cut."""
        self.joined = False
        self._seq = 0
        self.stability = Stability(self)
        self.losses = Losses(self)
        self.answers, self.rounds = Answers(self), Rounds(self, enabled=parts.digests)
        self._collect_at: int | None = None
        self._interests = Interests(parts.groups)

    # -- what the driver is asked for -------------------------------------------------------------------------------

    def send(self, to: tuple[str, ...], frame: Frame) -> None:
        self.out.append(Send(to, frame))

    def say(self, *effects: Effect) -> None:
        """Whatever is no frame: each is a row."""
        self.out.extend(effects)

    # -- who is there (roles say more) -----------------------------------------------------------------------------

    @abstractmethod
    def peers(self) -> Sequence[str]:
        """Whom digests go to."""

    def equals(self) -> Sequence[str]:
        """Those among its peers whom local views are drawn from."""
        return ()

    def neighbours(self) -> Sequence[str]:
        """Equals that are compared with whatever the view is: so many that what anybody has gets to everybody."""
        return ()

    @abstractmethod
    def sources(self, mark: Mark) -> Sequence[str]:
        """Who may have a mark, in a fixed order."""

    def carriers(self, stream: str) -> Sequence[str]:
        """The others that carry a stream's group."""
        return ()

    @abstractmethod
    def interest_of(self, peer: str) -> Interest | None:
        """What a peer wants; None: it is no peer of ours."""

    def forward(self, envelope: Envelope, now_us: int) -> None:
        """A message was delivered or published here: pass it on to the tier below."""

    def answer_for(self, envelope: Envelope, peer: str) -> Envelope:
        """A message as one peer gets it when it asks."""
        return self.writer.relay(envelope)

    # -- view ------------------------------------------------------------------------------------------------------

    def view(self, members: Mapping[str, Peer], now_us: int) -> list[Effect]:
        for name in self.members:
            if name not in members:
                self.departed[name] = now_us
                self.rounds.forget(name)
                self.stability.forget(name)
        for name in members:
            self.departed.pop(name, None)
            self.unseen.pop(name, None)
            if self.members and name not in self.members:
                self.rounds.came(name)
        self.members = dict(members)
        self.losses.ask_anew()
        self.stability.viewed()
        self.viewed(now_us)
        site = members[self.name].site if self.name in members else ""
        self.local.update(self.equals(), [name for name, peer in members.items() if site and peer.site == site])
        self.want_again(now_us)
        if self.store.version:
            self.rounds.begin(now_us)
        return self.flush(now_us)

    def want_again(self, now_us: int) -> None:
        """There is somebody new to ask: look at all that is held once more."""
        if self.inbox.held:
            self.inbox.blocked.extend(self.inbox.held.values())
            self.want_blocked(None, now_us)

    def viewed(self, now_us: int) -> None:
        """The view changed (roles add what they do then)."""

    def known_interest(self, filters: tuple[str, ...], *, carried: bool = False) -> Interest:
        """`carried`: of a broker, by the groups that it carries."""
        return self._interests.known(filters, carried=carried)

    # -- in --------------------------------------------------------------------------------------------------------

    def common(self, frame: Frame, sender: str, now_us: int) -> bool:
        """The frames that every role takes in the same way; False: it is another."""
        if isinstance(frame, Data):
            self.take(frame.envelopes, sender, now_us)
        elif isinstance(frame, Request):
            self.answers.on_request(frame, sender, now_us)
        elif isinstance(frame, Digest):
            self.rounds.on_digest(frame, sender, now_us)
        elif isinstance(frame, Gone):
            self.losses.on_gone(frame, sender, now_us)
        else:
            return False
        return True

    def on_frame(self, frame: Frame, sender: str, now_us: int) -> None:
        """A frame for one that has joined."""
        self.common(frame, sender, now_us)

    def take(self, envelopes: Sequence[Envelope], hint: str, now_us: int) -> None:
        """Messages came, from `hint`: whoever sent them is asked first for what they need."""
        accept, arrived = self.inbox.accept, self.arrived
        for envelope in envelopes:
            accept(arrived(envelope), now_us)
            if envelope.message.order == "none":
                self.rounds.want_before(envelope, hint, now_us)
        if self.inbox.blocked:
            self.want_blocked(hint, now_us)

    def take_wanted(self, envelopes: Sequence[Envelope], hint: str, now_us: int) -> None:
        """What came as far as it is addressed to this process; the rest is let go of, and said so."""
        wants = self.interest.wants
        self.out += [Discard(e.message.id, "foreign") for e in envelopes if not wants(e.message.topics)]
        self.take([e for e in envelopes if wants(e.message.topics)], hint, now_us)

    def want_blocked(self, hint: str | None, now_us: int) -> None:
        blocked, self.inbox.blocked = self.inbox.blocked, []
        if self.asks:
            marks, guard_us, wants = self.inbox.marks, self.inbox.guard_us, self.wants
            for held in blocked:
                if held.gone:
                    continue
                message = held.envelope.message
                until = None if message.deadline_us is None else message.deadline_us - guard_us
                for mark in self.losses.missing(held.envelope.stamp):
                    if mark[1] not in marks.get(mark[0], ()):
                        wants.want(mark, hint or message.sender, until, now_us, patience_us=self.settings.patience_us)
            if self.reader.freed:
                self.inbox.settle(now_us)
                self.want_blocked(hint, now_us)

    def _delivered(self, envelope: Envelope, now_us: int) -> None:
        if envelope.message.order != "none":
            self.writer.learn(envelope)
        self.keep(envelope, now_us)
        self.forward(envelope, now_us)

    def keep(self, envelope: Envelope, now_us: int) -> None:
        message = envelope.message
        series = message.series
        if message.seq > self.tops.get(series, 0):
            self.tops[series] = message.seq
        self.store.add(envelope)
        if self.rounds.at_us is None and self.rounds.steady:
            self.rounds.begin(now_us)

    def keep_own(self, envelope: Envelope, now_us: int) -> None:
        """A message of its own: it lies behind, another copy of it is a duplicate, and it is kept."""
        self.reader.delivered(envelope.stamp, forced=False)
        self.inbox.seen[envelope.message.id] = now_us
        self.keep(envelope, now_us)

    def beginning(self, interest: Interest) -> dict[str, int]:
        """Where somebody may begin who is told `cut()`: behind what was delivered here and all that precedes it, and
        behind whatever this process itself began behind: it will never have it."""
        past = dict(self.writer.past())
        for stream in [stream for stream in {**self.reader.front, **self.reader.over} if is_loose(stream)]:
            past[stream] = self.tops.get(series_of(stream), 0)
        past = interest.among(past)
        join(past, interest.among(self.reader.cut))
        return past

    def cut(self) -> tuple[str, ...]:
        return cut_of(self.tops)

    def forgotten(self) -> Mapping[str, int]:
        """What a cut must say of senders that this process has forgotten."""
        return {}

    # -- publish ---------------------------------------------------------------------------------------------------

    def subscribe(self, filters: Sequence[str], at: Sequence[str], now_us: int) -> list[Effect]:
        """Members and brokers get what is addressed to their groups; subscribers and clients say more."""
        return []

    def unsubscribe(self, now_us: int) -> list[Effect]:
        return []

    def move(self, to: Sequence[str], now_us: int) -> list[Effect]:
        return []

    def new_message(self, bare: Message, now_us: int) -> Message:
        """Its number; where an Order has lifetimes also its end."""
        self._seq += 1
        return Message(self.name, self._seq, bare.topics, bare.payload, bare.deadline_us, None, bare.after, bare.order)

    # -- what spreads ask of a role ---------------------------------------------------------------------------------

    def absent_since(self, mark: Mark, wanted_us: int) -> int | None:
        """Since when a message can no longer come from its sender; None: it still can."""
        sender = sender_of(mark[0])
        if sender in self.members:
            return None
        if sender in self.departed:
            return self.departed[sender]
        return self.unseen.setdefault(sender, wanted_us)  # gone long ago, or not yet in view

    def serves(self, peer: str) -> bool:
        """Whether a peer is of the tier below."""
        return False

    def skip_expired(self, envelope: Envelope, hint: str, now_us: int) -> None:
        """A header came from the peer `hint`, and the message's deadline has passed: the message is skipped, and its
        header is kept for peers that ask. What is sent from now on need not name the message, even where a node of it
        came along: so the Writer lets go of what has expired first."""
        self.writer.expire(now_us)
        self.inbox.skip(envelope, "expired", now_us)
        self.store.add_header(envelope, now_us)
        if envelope.message.order == "none":
            self.rounds.want_before(envelope, hint, now_us)

    def offers(self, interest: Interest) -> Mapping[str, int]:
        """The newest message kept per stream that concerns a peer, and what else a role offers."""
        offers, aside = self.store.offers(interest), self.aside()
        if aside:
            offers = dict(offers)
            for envelope in aside:
                join(offers, interest.among(dict(envelope.stamp.own)))
        return offers

    def ranges_from(self, peer: str, ranges: Ranges) -> Ranges:
        """What a peer asks for, in the names of streams that are used here."""
        return ranges

    def summary(self, interest: Interest) -> Mapping[str, int]:
        """What an offer must say beside the newest, where nothing leads from there to what came before."""
        return {}

    def haves(self, have: Mapping[str, int], behind: Mapping[str, int]) -> Mapping[str, int]:
        """What this process does not lack, corrected where it knows of gaps."""
        return have

    def began(self, interest: Interest) -> Mapping[str, int]:
        """What this process began behind and cannot give, as far as peers must be told."""
        return {}

    def aside(self) -> Sequence[Envelope]:
        """Publications that this process passed over and does not store. Peers may ask for them until another broker
        confirms that it has them. Only a home broker has any."""
        return ()

    def done(self, have: Mapping[str, int]) -> Mapping[str, int]:
        """What lies behind here and in the tier below."""
        return have

    def compared(self, frame: Digest, sender: str, now_us: int) -> None:
        """A digest came (roles add what else they read in it)."""

    def rounded(self, now_us: int) -> bool:
        """What a role does each round; True: it needs another one."""
        return False

    def is_missing(self, mark: Mark) -> bool:
        return not self.reader.behind(*mark) and mark[1] not in self.inbox.marks.get(mark[0], ())

    def asked(self, marks: list[Mark]) -> tuple[str, ...]:
        """Which messages marks mean, each once (a message has a mark in each of its groups)."""
        return tuple(dict.fromkeys(map(id_of_mark, marks)))

    def request(self, marks: list[Mark]) -> Frame:
        dense = [mark for mark in marks if not is_loose(mark[0])] if self.reader.dense else []
        sparse = [mark for mark in marks if is_loose(mark[0])] if self.reader.dense else marks
        over, held = self.reader.over, self.inbox.marks
        here = {stream: {*over.get(stream, ()), *held.get(stream, ())} for stream, _ in sparse}
        ranges = (*ranges_of(dense), *open_ranges(sparse, self.reader.front, here))
        return Request(ranges, self.wants.any_endless(marks))

    def _ask(self, now_us: int) -> None:
        asks = self.wants.due(now_us, self.is_missing, self.losses.whom_to_ask, self.losses.orphaned)
        for peer, marks in asks.items():
            self.out += [Ask(peer, self.asked(marks)), Send((peer,), self.request(marks))]

    # -- time ------------------------------------------------------------------------------------------------------

    def wake(self, now_us: int) -> list[Effect]:
        self.inbox.wake(now_us)
        if self.inbox.blocked:
            self.want_blocked(None, now_us)
        if self._collect_at is not None and now_us >= self._collect_at:
            self._collect_at = None
            self.store.collect(now_us)
            self.writer.forget(now_us)
        if self.rounds.at_us is not None and now_us >= self.rounds.at_us:
            self.rounds.hold(now_us)
        self.woken(now_us)
        return self.flush(now_us)

    def woken(self, now_us: int) -> None:
        """Timers of a role."""

    def next_wake(self) -> int | None:
        if self._collect_at is None:
            expiry = self.store.next_expiry()
            if expiry is not None:  # in whole rounds: collecting early gains nothing, timers cost
                self._collect_at = (expiry // self.settings.round_us + 1) * self.settings.round_us
        best = self.inbox.next_due()
        for at in (self.wants.next_ask(), self.rounds.at_us, self._collect_at, self.own_wake()):
            if at is not None and (best is None or at < best):
                best = at
        return best

    def own_wake(self) -> int | None:
        return None

    def flush(self, now_us: int) -> list[Effect]:
        """Ask for what is due and hand the effects to the driver."""
        ask = self.wants.next_ask()
        if ask is not None and ask <= now_us:
            self._ask(now_us)
        effects = self.out[:]
        self.out.clear()
        return effects
