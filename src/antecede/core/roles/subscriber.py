"""A subscriber of one or more brokers (001, 003): receives, asks its brokers for what is missing, publishes nothing.

A subscriber begins at a causal cut, and a cut is one broker's past: the first broker it names carries all it wants.
(The pasts of several brokers do not fit together: what A has delivered may follow something that B has not.) The other
brokers are further sources; each counts from the moment its own past covers that cut. A move is a leave and a join at a
new cut. Example: S names A, then B. A answers with the cut p:3, B with p:2: S begins behind p:3, and takes nothing from
B before B has p:3.

A change of filters is a leave and a join too: messages before the new cut are not owed, not even in the groups that the
subscriber keeps. All messages that it has delivered must lie behind the new cut: of a new group it does not know what
came before them. A broker whose past does not get there in a bounded time is taken for the groups that are kept, and
nothing else is promised. From then on one broker is the only source: messages that another broker sent for the old
filters may still be under way, and say nothing of the new groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeGuard

from antecede.core.begin.cut import Cuts
from antecede.core.effects import Discard, Effect, Leave, Send
from antecede.core.frames import Attach, Attached, Data, Detach, Digest, Frame, Gone
from antecede.core.interest import Interest
from antecede.core.marks import Marks, beyond
from antecede.core.message import Envelope, Mark, Message, Publication
from antecede.core.repair.comparing import bounded
from antecede.core.roles.receiver import Parts, Receiver, Timer
from antecede.core.spread.forwarding import Forwarding
from antecede.core.topics import matches
from antecede.errors import InputError

__all__ = ["Subscriber"]

ATTACH_TRIES = 16


class Subscriber(Receiver):
    role = "subscriber"
    attachment = 0
    _changed = False
    _attach_at: int | None = None
    _tries = 0

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self._wanted: tuple[str, ...] = ()
        self._joined: dict[str, None] = {}
        self._start: dict[str, int] = {}
        self._cuts = Cuts()
        self._passed = Cuts()
        """The cuts at which it began at earlier brokers, where the cut of this broker falls short of them."""
        self._begun = False
        self._known: tuple[str, ...] = ()
        """The filters it had when it last began: all messages that it has delivered are in order among these."""
        self.forwarding = Forwarding(self) if parts.settings.forward else None

    def start(self, now_us: int, *, joining: bool = False) -> list[Effect]:
        return []

    # -- attaching -------------------------------------------------------------------------------------------------

    def subscribe(self, filters: Sequence[str], at: Sequence[str], now_us: int) -> list[Effect]:
        filters = tuple(filters)
        interest = Interest(filters)
        self._check(interest, at)
        self._leave()
        self._changed = self._changed or (self.attachment > 0 and filters != self.interest.filters)
        self._want(interest)
        self._attach(tuple(at), now_us)
        return self.flush(now_us)

    def _want(self, interest: Interest) -> None:
        self.interest = interest
        self.reader.look_at(interest.concerns)
        self.writer.look_at(interest)

    def _check(self, interest: Interest, at: Sequence[str]) -> None:
        first = self.members.get(at[0])
        groups = sorted({group for peer in self.members.values() for group in peer.groups})
        lacks = [g for g in groups if interest.wants((g,)) and first is not None and g not in first.groups]
        if lacks:
            raise InputError(
                f"{self.name} wants {', '.join(lacks)}, which broker {at[0]} does not carry: name first a broker that "
                "carries all that is wanted."
            )

    def _attach(self, brokers: tuple[str, ...], now_us: int) -> None:
        self.attachment += 1
        self._wanted = brokers[:1] if self._changed else brokers
        self._joined = {}
        self._begun = False
        self._tries = 0
        self._send_attach(now_us)

    def _send_attach(self, now_us: int) -> None:
        self._tries += 1
        if self._tries > ATTACH_TRIES and self._begun:  # a further source that cannot be had is done without
            self._wanted = tuple(self._joined)
        missing = tuple(b for b in self._wanted if b not in self._joined and b in self.members)
        if not self._begun and self._wanted and self._wanted[0] not in self.members:
            missing = ()  # without the broker that says where to begin the others are of no use
        self._attach_at = now_us + 2 * self.settings.retry_us if missing else None
        if missing:
            self.out.append(Send(missing, Attach(self.attachment, self.interest.filters, None)))

    def _on_attached(self, frame: Attached, sender: str, now_us: int) -> None:
        if frame.attachment != self.attachment or sender in self._joined or sender not in self._wanted:
            return
        if not self._begun:
            falls_short = self._falls_short(sender, frame)
            if sender != self._wanted[0] or (falls_short and self._is_patient()) or not self._covers_all(sender, frame):
                return
            self._begun = True
            self._known = self.interest.filters
            if falls_short:
                self._passed.widen(self._cuts)
            else:
                self._passed = Cuts()
            self._cuts = Cuts(frame.cut, frame.origins)
            self._start = {stream: n for stream, n in frame.start.items() if self.interest.concerns(stream)}
            self.reader.start_at(self._start)
            self.inbox.deliver_ready(now_us)
        if self._reaches(sender, frame):
            self._join(sender, frame, now_us)

    def _falls_short(self, broker: str, reply: Attached) -> bool:
        """After a move: a cut below the one at which it began before would promise messages passed long ago."""
        cut = self.past.cut
        return any(reply.start.get(stream, 0) < n for stream, n in cut.items() if self._carries(broker, stream))

    def _is_patient(self) -> bool:
        """Whether to wait for the new broker to have the old cut. Messages that expired, or were lost, may never
        reach it, so it is waited for a bounded time only; then the record of the new cut names the old one too."""
        return self._tries <= (ATTACH_TRIES if self.settings.deadlines else 16 * ATTACH_TRIES)

    def _covers_all(self, broker: str, reply: Attached) -> bool:
        """With a new group: whether all messages that it has delivered lie behind that cut, and so all that precede
        them there."""
        kept = tuple(f for f in self.interest.filters if f in self._known)
        if kept == self.interest.filters or not self.tops:
            return True
        cuts, known = Cuts(reply.cut, reply.origins), self.members.get(broker)
        wanted = [group for group in (known.groups if known is not None else ()) if self.interest.concerns_group(group)]
        if all(cuts.within(group).get(sender, 0) >= n for group in wanted for sender, n in self.tops.items()):
            return True
        if self._tries > 4 * ATTACH_TRIES:
            self._want(Interest(kept))
            self.attachment += 1  # whoever was asked for more must hear of it
        return False

    def _reaches(self, broker: str, reply: Attached) -> bool:
        """Whether a further broker's cut covers the first one's, in what it carries: in marks and on record."""
        cuts = Cuts(reply.cut, reply.origins)
        for stream, n in self._start.items():
            if self._carries(broker, stream):
                sender, _, group = stream.partition("@")
                if reply.start.get(stream, 0) < n:
                    return False
                if cuts.within(group).get(sender, 0) < self._cuts.within(group).get(sender, 0):
                    return False
        return True

    def _join(self, broker: str, reply: Attached, now_us: int) -> None:
        self._joined[broker] = None
        self.want_again(now_us)
        known = self.members.get(broker)
        filters = self.interest.filters
        if known is not None:
            filters = tuple(f for f in filters if any(matches(f, group) for group in known.groups))
        cuts = Cuts(reply.cut, reply.origins)
        cuts.widen(self._passed)
        self.out += cuts.joins(filters, broker, self.inbox.guard_us)
        if len(self._joined) == len(self._wanted):
            self._attach_at = None

    def _carries(self, broker: str, stream: str) -> bool:
        known = self.members.get(broker)
        return known is not None and self.known_interest(known.groups).concerns(stream)

    def unsubscribe(self, now_us: int) -> list[Effect]:
        self._leave()
        self._wanted, self._attach_at = (), None
        return self.flush(now_us)

    def move(self, to: Sequence[str], now_us: int) -> list[Effect]:
        self._check(self.interest, to)
        self._leave()
        self._attach(tuple(to), now_us)
        return self.flush(now_us)

    def _leave(self) -> None:
        """Messages that are held or asked for belong to the attachment that ends."""
        if self._joined:
            self.out.append(Leave(self.interest.filters))
            self.out.append(Send(tuple(self._joined), Detach(self.attachment)))
        self._joined = {}
        self.inbox.clear()
        self.wants.clear()

    def viewed(self, now_us: int) -> None:
        if self.forwarding is not None:
            self.forwarding.viewed()
        waits = [b for b in self._wanted if b in self.members and b not in self._joined]
        if self._attach_at is None and waits and (self._begun or waits[0] == self._wanted[0]):
            self._send_attach(now_us)

    # -- who is there ----------------------------------------------------------------------------------------------

    def sources(self, mark: Mark) -> Sequence[str]:
        return [broker for broker in self._joined if self._carries(broker, mark[0])]

    def absent_since(self, mark: Mark, wanted_us: int) -> int | None:
        """Without a broker that could have a message, it cannot be said to be gone."""
        alone = all(broker not in self.members for broker in self.sources(mark))
        return None if alone else super().absent_since(mark, wanted_us)

    def may_ask(self, peer: str) -> bool:
        return peer in self.members and peer in self._joined

    def others_to_ask(self) -> Sequence[str]:
        return [broker for broker in self._joined if broker in self.members]

    # -- in --------------------------------------------------------------------------------------------------------

    def receive(self, frame: Frame, sender: str, now_us: int) -> list[Effect]:
        if isinstance(frame, Attached):
            self._on_attached(frame, sender, now_us)
        elif sender in self._joined:
            if isinstance(frame, Data):  # perhaps sent before it wanted something else
                self.take_wanted(frame.envelopes, sender, now_us)
            elif isinstance(frame, Digest):
                self._on_digest(frame, sender, now_us)
            elif isinstance(frame, Gone):
                self.losses.on_gone(frame, sender, now_us)
        elif self._is_gossip(frame) and not self._changed:
            if self._begun:  # anybody's gossip may reach it; its own broker's cut says where it began
                self.take_wanted(frame.envelopes, sender, now_us)
        elif not isinstance(frame, Detach):  # of a subscriber that took gossip for something it once asked for
            if self._begun:
                self.out += [Discard(message.id, "foreign") for message in frame.messages()]
            if sender not in self._wanted or self._attach_at is None:  # none of ours, or we cannot begin
                self.out.append(Send((sender,), Detach(self.attachment)))
                if sender in self._wanted:
                    self.attachment += 1  # it may be slow, and must not end what begins when that one is in view again
        return self.flush(now_us)

    def _on_digest(self, frame: Digest, sender: str, now_us: int) -> None:
        """A broker offers what it keeps, and may ask how far this subscriber has come."""
        writer = self.writer
        self.want_offered(frame.offer, sender, now_us)
        self.compared(frame, sender, now_us)
        if frame.stable:
            news = beyond(frame.stable, writer.stable)
            writer.heard(bounded(news, self.past.reached(self.interest.among(news))))
        if frame.reply:
            behind = self.past.reached(frame.offer)
            have = self.haves(self.past.with_held(behind, frame.offer), behind)
            if writer.wants_stable:
                self.send((sender,), Digest({}, have, behind, dict(writer.stable)))
            else:
                self.send((sender,), Digest({}, have, {} if have is behind else behind))

    def _is_gossip(self, frame: Frame) -> TypeGuard[Data]:
        settings = self.settings
        return isinstance(frame, Data) and (settings.view_below > 0 or settings.forward)

    def take(self, envelopes: Sequence[Envelope], hint: str, now_us: int) -> None:
        if self.forwarding is None or self._changed:  # stamps are made for what it asked for first, and said of it
            super().take(envelopes, hint, now_us)
            return
        new = {e.message.id: e for e in envelopes if e.message.id not in self.inbox.seen}
        super().take(envelopes, hint, now_us)
        self.forwarding.came(new.values(), now_us)

    def compared(self, frame: Digest, sender: str, now_us: int) -> None:
        """A digest came (what else is read in it)."""
        self.writer.forget(now_us)

    def haves(self, have: Marks, behind: Marks) -> Marks:
        """What this subscriber does not lack, corrected where it knows of gaps."""
        return have

    def delivered(self, envelope: Envelope, now_us: int) -> None:
        """A subscriber answers nobody: nothing is kept but how far it has come."""
        self.learn(envelope)
        self.past.note(envelope.message)

    def publish(self, publication: Publication, now_us: int) -> tuple[Message, list[Effect]]:
        raise InputError(f"{self.name} only subscribes: in this recipe brokers publish (in `home` clients do).")

    # -- time ------------------------------------------------------------------------------------------------------

    def timers(self) -> Iterator[Timer]:
        yield self._attach_at, self._send_attach
        if self.forwarding is not None:
            yield self.forwarding.at_us, self.forwarding.wake
