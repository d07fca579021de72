"""One process among its peers: the rules that members, brokers and subscribers share.

Takes messages in (Inbox), keeps them (Store), asks for what is missing (Solicitation), and compares with peers each
round until nobody lacks anything (Digest). Roles differ in who their peers are and in what happens to a message after
its delivery; those are the few methods they override.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from antecede.core.effects import Answer, Ask, Discard, Effect, Send
from antecede.core.frames import Data, Digest, Frame, Gone, Ranges, Request
from antecede.core.inbox import Inbox
from antecede.core.interest import Interest
from antecede.core.machine import Dice, Peer, Settings
from antecede.core.message import Envelope, Mark, Message, Stamp, id_of_mark
from antecede.core.order.reader import Reader
from antecede.core.spread.solicit import Solicitation, ranges_of
from antecede.core.store import Store

__all__ = ["BATCH", "Tier", "Writer", "header_of"]

BATCH = 32
"""Messages per answering frame: fits a datagram with small payloads, and losing one frame costs little."""


class Writer(Protocol):
    """The Writer's end of an Order."""

    dense: bool
    cuts: bool
    """Whether it wants to know what is stable."""
    stable: dict[str, int]

    def stamp(self, message: Message, after: Sequence[Stamp] | None) -> Stamp: ...
    def learn(self, envelope: Envelope) -> None: ...
    def arrived(self, envelope: Envelope) -> Envelope: ...
    def relay(self, envelope: Envelope) -> Envelope: ...
    def project(self, envelope: Envelope, interest: Interest) -> Envelope: ...
    def forget(self, now_us: int) -> None: ...
    def heard(self, stable: Mapping[str, int]) -> None: ...


class Tier:
    role = "member"

    def __init__(
        self,
        name: str,
        interest: Interest,
        settings: Settings,
        dice: Dice,
        *,
        writer: Writer | None,
        reader: Reader,
        guard_us: int,
        asks: bool = True,
        digests: bool = True,
    ) -> None:
        self.name = name
        self.interest = interest
        self.settings = settings
        self.dice = dice
        self.writer = writer
        self.reader = reader
        self.asks = asks
        self.digests = digests
        self.out: list[Effect] = []
        self.store = Store(self.out, grace_us=settings.grace_us, slack_us=2 * settings.clock_bound_us)
        self.inbox = Inbox(reader, self.out, self._delivered, guard_us=guard_us, memory_us=settings.memory_us)
        self.wants = Solicitation(settings)
        self.members: dict[str, Peer] = {}
        self.departed: dict[str, int] = {}
        self.tops: dict[str, int] = {}
        """Newest delivered or published message per sender: this process's past, as a cut."""
        self.joined = False
        self._in_step: dict[str, int] = {}
        self._lacks: dict[Mark, set[str]] = {}
        self._round_at: int | None = None
        self._collect_at: int | None = None
        self._interests: dict[tuple[str, ...], Interest] = {}

    # -- who is there (roles say more) -----------------------------------------------------------------------------

    def peers(self) -> Sequence[str]:
        """Whom digests go to."""
        raise NotImplementedError

    def sources(self, mark: Mark) -> Sequence[str]:
        """Who may have a mark, in a fixed order."""
        raise NotImplementedError

    def interest_of(self, peer: str) -> Interest | None:
        """What a peer wants; None: it is no peer of ours."""
        raise NotImplementedError

    def forward(self, envelope: Envelope, now_us: int) -> None:
        """A message was delivered or published here: pass it on to the tier below."""

    def answer_for(self, envelope: Envelope, peer: str) -> Envelope:
        """A message as one peer gets it when it asks."""
        return envelope if self.writer is None else self.writer.relay(envelope)

    # -- view ------------------------------------------------------------------------------------------------------

    def view(self, members: Mapping[str, Peer], now_us: int) -> list[Effect]:
        for name in self.members:
            if name not in members:
                self.departed[name] = now_us
                self._in_step.pop(name, None)
        for name in members:
            self.departed.pop(name, None)
        self.members = dict(members)
        self.viewed(now_us)
        self.want_again(now_us)
        if self.store.version:
            self._begin_round(now_us)
        return self.flush(now_us)

    def want_again(self, now_us: int) -> None:
        """There is somebody new to ask: look at all that is held once more."""
        if self.inbox.held:
            self.inbox.blocked.extend(self.inbox.held.values())
            self._want_blocked(None, now_us)

    def viewed(self, now_us: int) -> None:
        """The view changed (roles add what they do then)."""

    def known_interest(self, filters: tuple[str, ...]) -> Interest:
        interest = self._interests.get(filters)
        if interest is None:
            interest = self._interests[filters] = Interest(filters)
        return interest

    # -- in --------------------------------------------------------------------------------------------------------

    def take(self, envelopes: Sequence[Envelope], hint: str, now_us: int) -> None:
        """Messages came, from `hint`: whoever sent them is asked first for what they need."""
        accept = self.inbox.accept
        writer = self.writer
        for envelope in envelopes:
            accept(envelope if writer is None else writer.arrived(envelope), now_us)
        if self.inbox.blocked:
            self._want_blocked(hint, now_us)

    def _want_blocked(self, hint: str | None, now_us: int) -> None:
        blocked = self.inbox.blocked
        if self.asks:
            marks, guard_us, wants = self.inbox.marks, self.inbox.guard_us, self.wants
            for held in blocked:
                if held.gone:
                    continue
                message = held.envelope.message
                until = None if message.deadline_us is None else message.deadline_us - guard_us
                for mark in self.reader.missing(held.envelope.stamp):
                    if mark[1] not in marks.get(mark[0], ()):
                        wants.want(mark, hint or message.sender, until, now_us, patience_us=self.settings.patience_us)
        blocked.clear()

    def _delivered(self, envelope: Envelope, now_us: int) -> None:
        writer = self.writer
        if writer is not None:
            writer.learn(envelope)
        self._keep(envelope, now_us)
        self.forward(envelope, now_us)

    def _keep(self, envelope: Envelope, now_us: int) -> None:
        message = envelope.message
        if message.seq > self.tops.get(message.sender, 0):
            self.tops[message.sender] = message.seq
        self.store.add(envelope)
        if self._round_at is None and self.digests:
            self._begin_round(now_us)

    def cut(self) -> tuple[str, ...]:
        return tuple(f"{sender}:{self.tops[sender]}" for sender in sorted(self.tops))

    # -- publish ---------------------------------------------------------------------------------------------------

    def compose(
        self,
        seq: int,
        topics: Sequence[str],
        payload: bytes,
        deadline_us: int | None,
        after: Sequence[str] | None,
    ) -> Envelope:
        """A stamped message. Declared causes that are no longer known here widen to everything delivered so far."""
        assert self.writer is not None
        stamps: list[Stamp] | None = None
        if after is not None:
            known = [self.store.by_id.get(one) for one in after]
            stamps = [e.stamp for e in known if e is not None]
            if len(stamps) < len(known):
                stamps, after = None, None
        message = Message(self.name, seq, tuple(topics), payload, deadline_us, None, None if after is None else tuple(after))
        return Envelope(message, self.writer.stamp(message, stamps))

    # -- requests --------------------------------------------------------------------------------------------------

    def on_request(self, frame: Request, sender: str, now_us: int) -> None:
        interest = self.interest_of(sender)
        if interest is None:
            return
        found = [e for e in self.store.find(frame.ranges) if self._in_time(e, now_us) and interest.wants(e.message.topics)]
        found += [e for e in self._held_within(frame.ranges) if interest.wants(e.message.topics)]
        for start in range(0, len(found), BATCH):
            batch = tuple(self.answer_for(e, sender) for e in found[start : start + BATCH])
            self.out.append(Answer(sender, tuple(e.message.id for e in batch)))
            self.out.append(Send((sender,), Data(batch, answer=True)))
        headers = [e for e in self.store.find(frame.ranges) if not self._in_time(e, now_us)]
        headers += self.store.find_headers(frame.ranges)
        gone = tuple(self.answer_for(e, sender) for e in headers if interest.wants(e.message.topics))
        lacks = self._lacked(frame.ranges) if self.departed else ()
        if gone or lacks:
            self.out.append(Send((sender,), Gone(tuple(map(header_of, gone)), lacks)))

    @staticmethod
    def _in_time(envelope: Envelope, now_us: int) -> bool:
        deadline = envelope.message.deadline_us
        return deadline is None or now_us <= deadline

    def _held_within(self, ranges: Ranges) -> list[Envelope]:
        if not self.inbox.held:
            return []
        wanted = {(stream, n) for stream, low, high in ranges for n in self.inbox.marks.get(stream, ()) if low < n <= high}
        if not wanted:
            return []
        return [h.envelope for h in self.inbox.held.values() if any(mark in wanted for mark in h.envelope.stamp.own)]

    def _lacked(self, ranges: Ranges) -> Ranges:
        """Of senders that left: what was never here, said so that nobody waits for it for ever."""
        lacks = []
        for stream, low, high in ranges:
            if stream.partition("@")[0] in self.departed:
                for n in range(low + 1 if self.reader.dense else high, high + 1):
                    here = n in self.inbox.marks.get(stream, ()) or self.reader.behind(stream, n)
                    if not here:
                        lacks.append((stream, n - 1, n))
        return tuple(lacks)

    def on_gone(self, frame: Gone, sender: str, now_us: int) -> None:
        for envelope in frame.headers:
            deadline = envelope.message.deadline_us
            if deadline is not None and now_us > deadline:
                self.skip_expired(envelope if self.writer is None else self.writer.arrived(envelope), now_us)
        for stream, _, n in frame.lacks:
            self._lacked_by((stream, n), sender, now_us)
        self._want_blocked(sender, now_us)

    def skip_expired(self, envelope: Envelope, now_us: int) -> None:
        self.inbox.skip(envelope, "expired", now_us)
        self.store.add_header(envelope, now_us)

    def _lacked_by(self, mark: Mark, peer: str, now_us: int) -> None:
        """Give a mark up once its sender has been gone for `grace_us` and everybody who could have it lacks it."""
        if mark not in self.wants.wants:
            return
        left = self.departed.get(mark[0].partition("@")[0])
        if left is None or now_us < left + self.settings.grace_us:
            return
        lacking = self._lacks.setdefault(mark, set())
        lacking.add(peer)
        if all(source in lacking for source in self.sources(mark)):
            del self._lacks[mark]
            self.wants.drop(mark)
            self.out.append(Discard(id_of_mark(mark), "gone"))
            self.reader.skipped((mark,), None)
            self.inbox.settle(now_us)

    # -- rounds ----------------------------------------------------------------------------------------------------

    def compare_again(self, now_us: int) -> None:
        """Something changed that peers must confirm."""
        self.store.version += 1
        self._begin_round(now_us)

    def _begin_round(self, now_us: int) -> None:
        if self.digests and self._round_at is None:
            round_us = self.settings.round_us
            self._round_at = now_us + (round_us >> 1) + int(round_us * self.dice.random())

    def offers(self, interest: Interest) -> dict[str, int]:
        """The newest message kept per stream that concerns a peer (streams are filled in order)."""
        concerns = interest.concerns
        offers = {stream: next(reversed(here)) for stream, here in self.store.index.items() if concerns(stream)}
        for stream, n in self.extra_offers(interest).items():
            offers[stream] = max(n, offers.get(stream, 0))
        return offers

    def extra_offers(self, interest: Interest) -> dict[str, int]:
        """What a role wants confirmed although it is not kept."""
        return {}

    def digest(self, peer_interest: Interest, theirs: Mapping[str, int], *, reply: bool) -> Digest:
        offer = self.offers(peer_interest)
        front = self.reader.front
        have = {stream: front.get(stream, 0) for stream in {**offer, **theirs}}
        if self.writer is None or not self.writer.cuts:
            return Digest(offer, have, reply=reply)
        return Digest(offer, have, self.done(have), dict(self.writer.stable), reply)

    def done(self, have: Mapping[str, int]) -> Mapping[str, int]:
        """What lies behind here and in the tier below."""
        return have

    def _round(self, now_us: int) -> None:
        self._round_at = None
        version = self.store.version
        if self.writer is not None:
            self.writer.forget(now_us)
        behind = [peer for peer in self.peers() if self._in_step.get(peer, -1) < version]
        if not behind:
            return
        for peer in self._draw(behind, self.settings.fanout):
            interest = self.interest_of(peer)
            if interest is not None:
                digest = self.digest(interest, {}, reply=True)
                if digest.offer:
                    self.out.append(Send((peer,), digest))
                else:
                    self._in_step[peer] = version
        self._round_at = now_us + self.settings.round_us

    def _draw(self, names: list[str], count: int) -> list[str]:
        if len(names) <= count:
            return names
        for place in range(count):
            other = place + int(self.dice.random() * (len(names) - place))
            names[place], names[other] = names[other], names[place]
        return names[:count]

    def on_digest(self, frame: Digest, sender: str, now_us: int) -> None:
        interest = self.interest_of(sender)
        if interest is None:
            return
        if self.asks:
            self._want_offered(frame.offer, sender, now_us)
        offer = self.offers(interest)
        if all(frame.have.get(stream, 0) >= n for stream, n in offer.items()):
            self._in_step[sender] = self.store.version
        if frame.stable and self.writer is not None:
            self.writer.heard(frame.stable)
        if frame.reply:
            self.out.append(Send((sender,), self.digest(interest, frame.offer, reply=False)))

    def _want_offered(self, offer: Mapping[str, int], sender: str, now_us: int) -> None:
        front, concerns, patience_us = self.reader.front, self.interest.concerns, self.settings.patience_us
        for stream, n in offer.items():
            reached = front.get(stream, 0)
            if n > reached and concerns(stream):
                for k in range(reached + 1 if self.reader.dense else n, n + 1):
                    mark = (stream, k)
                    if self._is_missing(mark):
                        self.wants.want(mark, sender, None, now_us, patience_us=patience_us)

    def _is_missing(self, mark: Mark) -> bool:
        return not self.reader.behind(*mark) and mark[1] not in self.inbox.marks.get(mark[0], ())

    def _ask(self, now_us: int) -> None:
        for peer, marks in self.wants.due(now_us, self._is_missing, self._sources_from).items():
            self.out.append(Ask(peer, self.asked(marks)))
            self.out.append(Send((peer,), self.request(marks)))

    def _sources_from(self, mark: Mark, hint: str) -> Sequence[str]:
        """Whoever has it for certain first (perhaps a relay that is in none of its groups), then the others in turn."""
        sources = self.sources(mark)
        if hint in sources:
            first = sources.index(hint)
            return [*sources[first:], *sources[:first]]
        return [hint, *sources] if hint in self.members and self.interest_of(hint) is not None else sources

    def request(self, marks: list[Mark]) -> Frame:
        return Request(ranges_of(marks) if self.reader.dense else self._open_ranges(marks))

    def _open_ranges(self, marks: list[Mark]) -> Ranges:
        """Sparse streams: everything between what lies behind and the mark, except what is held."""
        ranges = []
        for stream, n in sorted(marks):
            low = self.reader.front.get(stream, 0)
            for held in sorted(k for k in self.inbox.marks.get(stream, ()) if low < k < n):
                if held - 1 > low:
                    ranges.append((stream, low, held - 1))
                low = held
            ranges.append((stream, low, n))
        return tuple(ranges)

    def asked(self, marks: list[Mark]) -> tuple[str, ...]:
        """Which messages marks mean, each once (a message has a mark in each of its groups)."""
        return tuple(dict.fromkeys(map(id_of_mark, marks)))

    # -- time ------------------------------------------------------------------------------------------------------

    def wake(self, now_us: int) -> list[Effect]:
        self.inbox.wake(now_us)
        if self.inbox.blocked:
            self._want_blocked(None, now_us)
        if self._collect_at is not None and now_us >= self._collect_at:
            self._collect_at = None
            self.store.collect(now_us)
            if self.writer is not None:
                self.writer.forget(now_us)
        if self._round_at is not None and now_us >= self._round_at:
            self._round(now_us)
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
        for at in (self.wants.next_ask(), self._round_at, self._collect_at, self.own_wake()):
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


def header_of(envelope: Envelope) -> Envelope:
    message = envelope.message
    bare = Message(message.sender, message.seq, message.topics, b"", message.deadline_us, message.expires_us)
    return Envelope(bare, envelope.stamp)
