"""A broker: one of those that carry groups, publishing to them and serving subscribers (001, 003).

Among brokers a broker behaves like a member that gets only the messages of its own groups. It forwards every message
that it delivers or publishes, as its Order projects it, to the subscribers that want it; they get its digests too, and
ask it for messages that they miss. It leaves `hop_us` of each deadline for that last step. How a broker begins that
comes back empty is decided in `begin/joining.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from antecede.core.begin.joining import Joining
from antecede.core.effects import Effect, Send
from antecede.core.frames import (
    Attach,
    Attached,
    Data,
    Detach,
    Digest,
    Frame,
    Origins,
    PageRequest,
    Snapshot,
    SnapshotPage,
    SnapshotRequest,
)
from antecede.core.interest import Interest, by_interest, group_of, next_after
from antecede.core.message import Envelope, Mark, Message, Publication
from antecede.core.order.round_clock import RoundClock
from antecede.core.roles.carrier import Carrier
from antecede.core.roles.receiver import Parts, Timer
from antecede.core.spread.multicast import Multicast

__all__ = ["Broker", "BrokerBase"]


class BrokerBase(Carrier):
    """What every broker does among brokers: carry groups, answer, join by snapshot."""

    role = "broker"
    all_brokers: tuple[str, ...] = ()

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self.joining = Joining(self)
        self._carriers: dict[str, tuple[str, ...]] = {}

    # -- who is there ----------------------------------------------------------------------------------------------

    def viewed(self, now_us: int) -> None:
        self.all_brokers = tuple(
            name for name in sorted(self.members) if name != self.name and self.members[name].role == "broker"
        )
        carriers: dict[str, list[str]] = {}
        for name in self.all_brokers:
            for group in self.members[name].groups:
                carriers.setdefault(group, []).append(name)
        self._carriers = {group: tuple(names) for group, names in carriers.items()}
        self.joining.viewed()

    def carriers_of(self, topics: Sequence[str]) -> tuple[str, ...]:
        """The other brokers that carry a group of a message with these topics."""
        groups = self.groups.of(tuple(topics))
        if len(groups) == 1:
            return self.carrying(groups[0])
        return tuple(sorted({name for group in groups for name in self.carrying(group)}))

    def carrying(self, group: str) -> tuple[str, ...]:
        """The other brokers that carry a group."""
        return self._carriers.get(group, ())

    def peers(self) -> Sequence[str]:
        """All brokers: a message of several groups may be had from the brokers of any of them."""
        return self.all_brokers

    def fellow_carriers(self) -> Sequence[str]:
        return self.all_brokers

    def neighbours(self) -> Sequence[str]:
        """In every group the next broker that carries it: a message of several groups may be had in any of them."""
        found = (next_after(self.name, names) for names in self._carriers.values())
        return tuple(dict.fromkeys(name for name in found if name is not None))

    def sources(self, mark: Mark) -> Sequence[str]:
        """The brokers that carry the group of a missing message; then the others, which may have it by another of its
        groups: all of them are asked before a message is given up, unless a deadline leaves no time for that."""
        carriers = self.carrying(group_of(mark[0]))
        if carriers and (len(carriers) == len(self.all_brokers) or self._has_no_time(mark)):
            return carriers
        return (*carriers, *(name for name in self.all_brokers if name not in carriers))

    def _has_no_time(self, mark: Mark) -> bool:
        """Whether, where there are deadlines, one ends the wait for a message, or its sender can still send it."""
        want = self.wants.get(mark)
        lasting = want is not None and want.endless and self.absent_since(mark, want.since_us) is not None
        return self.settings.deadlines and not lasting

    def carriers(self, stream: str) -> Sequence[str]:
        return self.carrying(group_of(stream))

    def compared(self, frame: Digest, sender: str, now_us: int) -> None:
        self.stability.confirm(sender, frame.done or frame.have)

    def interest_of(self, peer: str) -> Interest | None:
        known = self.members.get(peer)
        return None if known is None or known.role != "broker" else self.known_interest(known.groups, carried=True)

    # -- joining ---------------------------------------------------------------------------------------------------

    def start(self, now_us: int, *, joining: bool = False) -> list[Effect]:
        self.joining.begin(now_us, joining=joining)
        return self.flush(now_us)

    def timers(self) -> Iterator[Timer]:
        yield from super().timers()
        yield self.joining.at_us, self.joining.ask

    # -- in --------------------------------------------------------------------------------------------------------

    def receive(self, frame: Frame, sender: str, now_us: int) -> list[Effect]:
        if self.joined:
            if isinstance(frame, SnapshotRequest):
                self.joining.give(sender, now_us)
            elif isinstance(frame, PageRequest):
                self.joining.give_pages(sender, frame.number, frame.first)
            elif isinstance(frame, SnapshotPage):
                self.take_wanted(frame.snapshot.envelopes, sender, now_us)
            elif isinstance(frame, Snapshot):  # one more than was needed to begin
                self.writer.adopt(frame.nodes, {})
                self.take_wanted(frame.envelopes, sender, now_us)
            else:
                self.on_frame(frame, sender, now_us)
        elif isinstance(frame, Snapshot):
            self.joining.take(frame, sender, now_us)
        elif isinstance(frame, SnapshotPage):
            self.joining.take_page(frame, sender, now_us)
        elif isinstance(frame, SnapshotRequest):
            self.joining.give(sender, now_us)
        else:
            self.joining.heard(sender)
            self.early.keep(frame, sender)
        return self.flush(now_us)

    def on_frame(self, frame: Frame, sender: str, now_us: int) -> None:
        if not self.common(frame, sender, now_us):
            self.on_other(frame, sender, now_us)

    def on_other(self, frame: Frame, sender: str, now_us: int) -> None:
        """A frame of a subscriber or client."""

    def pass_on(self, envelopes: Sequence[Envelope], now_us: int) -> None:
        """The earlier incarnation of this broker had these messages: those that it kept for other brokers go to them.
        (Only a home keeps any.)"""

    def forgotten(self) -> Mapping[str, int]:
        """What a cut must say of senders that this broker has forgotten."""
        return {}

    def origins_for(self, interest: Interest) -> Origins:
        """Per group, the cut at which this broker itself began, as message ids: it may not be in `cut()`."""
        begun = self.joining.origins
        return tuple((group, cut) for group, (_, cut) in begun.items() if cut and interest.concerns_group(group))


class Broker(BrokerBase):
    """A broker that publishes itself and passes on to subscribers; how far and when, its Spread decides."""

    def __init__(self, parts: Parts, clock: RoundClock, spread: Callable[[Broker], Multicast] = Multicast) -> None:
        super().__init__(parts)
        self.clock = clock
        self.spread = spread(self)
        self.links: dict[str, tuple[int, Interest]] = {}
        """Attached subscribers: attachment number and interest."""
        self._routes: dict[tuple[str, ...], list[tuple[Interest, tuple[str, ...]]]] = {}

    def publish(self, publication: Publication, now_us: int) -> tuple[Message, list[Effect]]:
        envelope = self.compose(publication, now_us)
        self.spread.publish(envelope, now_us)
        return envelope.message, self.flush(now_us)

    def subscribers(self) -> list[str]:
        """All in view, attached here or not."""
        return [name for name, peer in self.members.items() if peer.role == "subscriber"]

    # -- what a Spread asks for ------------------------------------------------------------------------------------

    def relay(self, to: tuple[str, ...], envelope: Envelope) -> None:
        """To other brokers."""
        self.send(to, Data((self.writer.relay(envelope),)))

    def project(self, to: tuple[str, ...], envelope: Envelope, interest: Interest) -> None:
        """To subscribers that want the same."""
        self.send(to, Data((self.writer.project(envelope, interest),)))

    def timers(self) -> Iterator[Timer]:
        yield from super().timers()
        yield self.spread.at_us, self.spread.wake

    # -- subscribers -----------------------------------------------------------------------------------------------

    def viewed(self, now_us: int) -> None:
        super().viewed(now_us)
        for name in [name for name in self.links if name in self.departed]:
            self._unlink(name)

    def peers(self) -> Sequence[str]:
        return [*self.all_brokers, *self.links]

    def interest_of(self, peer: str) -> Interest | None:
        link = self.links.get(peer)
        return link[1] if link is not None else super().interest_of(peer)

    def interest_below(self, filters: tuple[str, ...]) -> Interest:
        """What a subscriber wants, in the names of streams that are used towards it."""
        return self.known_interest(filters)

    def serves(self, peer: str) -> bool:
        return peer in self.links

    def answer_for(self, envelope: Envelope, peer: str) -> Envelope:
        link = self.links.get(peer)
        return self.writer.relay(envelope) if link is None else self.writer.project(envelope, link[1])

    def forward(self, envelope: Envelope, now_us: int) -> None:
        self.spread.forward(envelope, now_us)

    def routes(self, topics: tuple[str, ...]) -> list[tuple[Interest, tuple[str, ...]]]:
        """The subscribers that want such a message, those of one interest together."""
        routes = self._routes.get(topics)
        if routes is None:
            linked = ((name, interest) for name, (_, interest) in self.links.items())
            routes = self._routes[topics] = by_interest(linked, topics)
        return routes

    def offer_of(self, envelope: Envelope, peer: str) -> dict[str, int]:
        """The marks of one message that concern a peer: what a digest would say of it alone."""
        interest = self.interest_of(peer)
        return {} if interest is None else {stream: n for stream, n in envelope.stamp.own if interest.concerns(stream)}

    def done(self, have: Mapping[str, int]) -> Mapping[str, int]:
        done = dict(have)
        for name, (_, interest) in self.links.items():
            confirmed = self.stability.done_by(name)
            for stream in done:
                if interest.concerns(stream):
                    done[stream] = min(done[stream], confirmed.get(stream, 0))
        return done

    def on_other(self, frame: Frame, sender: str, now_us: int) -> None:
        if isinstance(frame, Attach):
            self._on_attach(frame, sender, now_us)
        elif isinstance(frame, Detach):
            link = self.links.get(sender)
            if link is not None and link[0] <= frame.attachment:
                self._unlink(sender)

    def compared(self, frame: Digest, sender: str, now_us: int) -> None:
        super().compared(frame, sender, now_us)
        if self.writer.wants_stable:
            self._settle_streams(frame.done or frame.have)

    def _settle_streams(self, streams: Mapping[str, int]) -> None:
        """A stream is stable up to the number that all carriers of its group have done, this broker included."""
        known, stable_from = self.writer.stable, self.stability.stable_from
        mine = self.done(self.past.reached(self.interest.among(streams)))
        self.writer.heard({stream: stable_from(stream, n, known.get(stream, 0)) for stream, n in mine.items()})

    def _on_attach(self, frame: Attach, sender: str, now_us: int) -> None:
        link = self.links.get(sender)
        if sender in self.departed or (link is not None and link[0] > frame.attachment):
            return
        interest = self.interest_below(frame.filters)
        self.links[sender] = (frame.attachment, interest)
        self._routes.clear()
        start = self.start_for(interest)
        self.stability.confirm(sender, start)
        self.out.append(Send((sender,), Attached(frame.attachment, start, self.cut(), self.origins_for(interest))))
        if self.store.version:
            self.rounds.begin(now_us)

    def _unlink(self, name: str) -> None:
        del self.links[name]
        self.rounds.forget(name)
        self.stability.forget(name)
        self._routes.clear()
