"""How a broker begins when others have history (PROTOCOLS s3.6, SNAPSHOT): it delivers nothing before it knows its cut.

For each of its groups the newcomer asks one broker that carries the group, the donor. It takes over all messages that
the donor keeps, and the headers of those that expired (an expired message still carries order). A message that the
donor skipped or overtook does not lie behind the newcomer: other brokers may still supply it in time. The newcomer
begins behind a cut in two cases only: where the donor itself began at one, and where a donor has dropped nodes from its
graph, since nobody could tell any more what follows those. Example: A began behind p:4 and keeps p:5 to p:9; a newcomer
that A gives a snapshot begins behind p:4 and delivers p:5.

A broker that was declared dead though it lives begins again under its next name, and its earlier incarnation is one
more donor: what only that one had is not lost, whether A had delivered it, held it, or kept it for others. Example: A
carries `room`, B carries `room` and `alerts`, and A was cut off for a minute; A.1 begins from B's snapshot, takes p:9
of `room` over from A, which only A had, and passes on p:10 of `alerts` to B.

A group that no broker in view carries has lost the messages that only its brokers had. If no deadline ends the wait for
them, or some of them were dropped already, the newcomer begins behind the past of whatever a surviving broker has
delivered. Otherwise no message that follows them could ever be delivered again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from antecede.core.begin.pages import Incoming, Outgoing
from antecede.core.begin.snapshots import Donation, witness
from antecede.core.effects import Discard, Join
from antecede.core.frames import Data, Node, PageRequest, Snapshot, SnapshotPage, SnapshotRequest
from antecede.core.marks import by_group, cut_of, join, newest_of, tops_of
from antecede.core.message import Envelope, header_of, in_time, sender_of

if TYPE_CHECKING:
    from antecede.core.roles.broker import BrokerBase

__all__ = ["Joining"]


class Joining:
    def __init__(self, broker: BrokerBase) -> None:
        self.broker = broker
        self.inbox, self.reader, self.writer = broker.inbox, broker.reader, broker.writer
        self.store, self.stability = broker.store, broker.stability
        self.early, self.groups = broker.early, broker.groups
        self.at_us: int | None = None
        """When to ask again."""
        self._uncovered: dict[str, None] = {}
        self._donations: list[Donation] = []
        self._incoming, self._outgoing = Incoming(), Outgoing()
        self._tries = 0
        self._alone_us: int | None = None
        """Since when this newcomer has no broker to ask."""
        self._blank: set[str] = set()
        """Brokers that are joining too: they have nothing to give."""
        self._again = False
        """Whether brokers that are joining too were asked a second time."""
        self._legacy: Snapshot | None = None
        """What the earlier incarnation of this broker had,"""
        self._earlier = ""
        """and the name of that incarnation."""
        self.origins: dict[str, tuple[str, tuple[str, ...]]] = {}
        """Groups in which this broker began behind a cut: a broker that has had all of that cut, and the cut."""

    def begin(self, now_us: int, *, joining: bool) -> None:
        if joining:
            self._uncovered = dict.fromkeys(self.broker.interest.filters)
            self.ask(now_us)
        else:
            self._join(now_us)

    def ask(self, now_us: int) -> None:
        """Ask one broker for each group still uncovered; a broker that carries several groups is asked once. A donor
        that is giving pages is asked for the next page instead."""
        broker = self.broker
        giving = self._ask_for_pages(now_us)
        self.at_us = now_us + self._incoming.patience_us(broker.settings.retry_us)
        asked: dict[str, None] = {}
        for group in self._uncovered:
            donors = self._donors(group)
            if donors and asked.keys().isdisjoint(donors) and giving.isdisjoint(donors):
                asked[donors[self._tries % len(donors)]] = None
        self._tries += 1
        if asked:
            broker.send(tuple(asked), SnapshotRequest(whole=True))
        elif not giving and not self._somebody_may_come(now_us):
            self._join(now_us)  # alone in the world

    def _ask_for_pages(self, now_us: int) -> set[str]:
        """The donors that are still giving."""
        broker = self.broker
        silent = self._incoming.silent()
        for donor in [one for one in self._incoming.by_donor if one in silent or one not in broker.members]:
            self._keep_early(self._incoming.drop(donor), donor)
        for donor, number, first in self._incoming.ask_again(now_us):
            broker.send((donor,), PageRequest(number, first))
        return set(self._incoming.by_donor)

    def _keep_early(self, envelopes: Sequence[Envelope], donor: str) -> None:
        """A donor gave some pages and no more, or pages of groups that another one gives. Nobody else may have their
        messages: they are taken in when this broker begins."""
        wants = self.broker.interest.wants
        self.broker.say(*[Discard(e.message.id, "foreign") for e in envelopes if not wants(e.message.topics)])
        self.early.keep(Data(tuple(e for e in envelopes if wants(e.message.topics)), answer=True), donor)

    def _somebody_may_come(self, now_us: int) -> bool:
        """Whether a broker is left that this newcomer can begin from, now or soon. Brokers that are joining too are
        asked a second time: one of them may have begun since. If none has, the first of them by name begins, and the
        others begin from it. If no broker is in view, one may be there that this newcomer has not heard of: it waits
        for that if it has seen a broker leave, or if subscribers are in view. Example: A and B restart together, both
        empty, and each asks the other twice; then A, the first by name, begins."""
        broker = self.broker
        if self._alone_us is None:
            self._alone_us = now_us
        if broker.all_brokers:
            again, self._again = self._again, True
            if again and broker.name < min(broker.all_brokers):
                return False
            self._blank.clear()
        elif not (broker.departed or len(broker.members) > 1) or broker.settings.deadlines:
            return False
        return now_us < self._alone_us + broker.settings.grace_us

    def heard(self, sender: str) -> None:
        """A broker sends what only those send that have begun: it is worth asking again."""
        self._blank.discard(sender)

    def _donors(self, group: str) -> list[str]:
        """The brokers that carry a group and have begun; if there are none, all brokers that have begun."""
        broker = self.broker
        carriers = [name for name in broker.carrying(group) if name not in self._blank]
        return carriers or [name for name in broker.all_brokers if name not in self._blank]

    def give(self, to: str, now_us: int) -> None:
        broker, outgoing = self.broker, self._outgoing
        if not broker.joined:
            broker.send((to,), Snapshot({}, (), blank=True))
            return
        if outgoing.is_giving(to, now_us):
            self.give_pages(to, None, 0)
            return
        snapshot = self._snapshot_for(to)
        if outgoing.cut(to, snapshot, now_us + broker.settings.grace_us // 4):
            self.give_pages(to, None, 0)
        else:
            broker.send((to,), snapshot)

    def give_pages(self, to: str, number: int | None, first: int) -> None:
        for page in self._outgoing.pages(to, number, first):
            self.broker.send((to,), page)

    def bequeath(self) -> Snapshot | None:
        """What the next incarnation of this broker takes over, which begins now in its place."""
        if not self.broker.joined:
            return self._legacy
        snapshot = self._snapshot_for(self.broker.name)
        bare, kept = self.writer.bare, self.store.by_id
        held = [bare(e) for e in self.inbox.envelopes() if e.message.id not in kept]
        snapshot.envelopes = (*snapshot.envelopes, *held)
        return snapshot

    def inherit(self, legacy: Snapshot, earlier: str) -> None:
        """Before this broker begins: what its earlier incarnation had."""
        self._legacy, self._earlier = legacy, earlier
        self._donations.append(Donation(earlier, self.broker.interest.filters, (), legacy))

    def viewed(self) -> None:
        """The view changed: newcomers that left are given no more pages."""
        self._outgoing.keep_only(self.broker.members)

    def _snapshot_for(self, to: str) -> Snapshot:
        broker = self.broker
        past = {s: n for s, n in self.writer.past().items() if not broker.interest.concerns(s)}
        past.update(self.reader.cut)
        join(past, broker.interest.among(self.stability.let_go))
        envelopes = tuple(broker.answer_for(self.writer.bare(e), to) for e in self.store)
        kept = (*self.store.kept_headers(), *self.store.remembered())
        headers = tuple(header_of(broker.answer_for(self.writer.bare(e), to)) for e in kept)
        nodes = {node[:2]: node for node in (*self.writer.nodes(), *(node for e in envelopes for node in _nodes(e)))}
        origins = tuple(self._origins())
        dropped = dict(self.writer.dropped)
        return Snapshot(past, broker.cut(), envelopes, headers, tuple(nodes.values()), origins, dropped)

    def _origins(self) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        """Per group, the cut at which a broker begins that takes a snapshot from here, and a witness to that cut."""
        stability, name = self.stability, self.broker.name
        for group in self.broker.interest.filters:
            peer, begun = self.origins.get(group, (name, ()))
            cut = stability.cut(group, begun, self.broker.forgotten())
            if cut:
                yield (group, peer if cut == begun else name, cut)

    def take(self, frame: Snapshot, sender: str, now_us: int) -> None:
        """A snapshot came. It counts even if it covers no further group, or its donor has left since: nobody else may
        have its messages."""
        donor = self.broker.peer(sender)
        if donor is None and sender not in self.broker.departed:
            return
        if frame.blank:
            self._blank.add(sender)
            self.ask(now_us)
            return
        self.heard(sender)
        carries = donor.groups if donor is not None else ()
        covered = tuple(g for g in self._uncovered if g in carries or sender in self._donors(g))
        for group in covered:
            del self._uncovered[group]
        self._donations = [donation for donation in self._donations if donation.donor != sender or donation.covered]
        self._donations.append(Donation(sender, carries, covered, frame))
        if not self._uncovered:
            self._join(now_us)

    def take_page(self, frame: SnapshotPage, sender: str, now_us: int) -> None:
        """A page of a snapshot came. A donor whose groups others are giving already is not asked for more."""
        broker, giving = self.broker, self._incoming.by_donor
        if sender not in broker.members and sender not in broker.departed:
            return
        covers = [group for group in self._uncovered if sender in self._donors(group)]
        if sender not in giving and all(any(one in giving for one in self._donors(group)) for group in covers):
            self._keep_early(frame.snapshot.envelopes, sender)
            return
        first = self._incoming.take(frame, sender, now_us)
        if first is not None:
            broker.send((sender,), PageRequest(frame.number, first))
        self.at_us = now_us + self._incoming.patience_us(broker.settings.retry_us)
        snapshot = self._incoming.complete(sender)
        if snapshot is not None:
            self.take(snapshot, sender, now_us)

    def _join(self, now_us: int) -> None:
        broker = self.broker
        broker.joined = True
        self.at_us = None
        for donor in list(self._incoming.by_donor):
            self._keep_early(self._incoming.drop(donor), donor)
        if self._uncovered and self._donations:  # a donor that left knew what lies behind
            last = self._donations[-1]
            last.covered = (*last.covered, *self._uncovered)
        begun = {group for donation in self._donations for group in donation.covered}
        fresh = tuple(g for g in broker.interest.filters if g not in begun)
        if fresh:
            broker.say(Join(self.groups.filters(fresh), None, (), self.inbox.guard_us))
        dropped: dict[str, int] = {}
        for donation in self._donations:
            join(dropped, donation.snapshot.dropped)
        forgotten = by_group(dropped)
        carried = {group: donation for donation in reversed(self._donations) for group in donation.carries}
        for donation in self._donations:
            for group in donation.covered:
                source = donation if group in donation.carries else carried.get(group, donation)
                self._begin_behind(group, source, forgotten.get(group, {}))
        front, concerned = self.reader.front, broker.interest.among(dropped)
        if any(n > front.get(stream, 0) for stream, n in concerned.items()):  # it is owed, and may precede the others
            dropped = {stream: n for stream, n in concerned.items() if n <= front.get(stream, 0)}
        self.writer.adopt([node for donation in self._donations for node in donation.snapshot.nodes], dropped)
        self.writer.start_at(self.reader.cut)
        for donation in self._donations:
            for header in donation.snapshot.headers:
                if broker.interest.wants(header.message.topics):
                    if header.message.deadline_us is None:  # everybody had it
                        self.store.add_gone(header, now_us)
                    elif not in_time(header, now_us):
                        broker.skip_expired(broker.arrived(header), donation.donor, now_us)
        for donation in self._donations:
            broker.take_wanted(donation.snapshot.envelopes, donation.donor, now_us)
            if donation.donor == self._earlier:
                broker.pass_on(donation.snapshot.envelopes, now_us)
        self._donations, self._legacy = [], None
        self.early.take(now_us)

    def _begin_behind(self, group: str, donation: Donation, dropped: Mapping[str, int]) -> None:
        """Where this broker begins in a group that a donor covers: behind the donor's own beginning, and behind every
        message that any donor has dropped, as far as one donor has had all of those.

        Messages that followed a dropped one may no longer name it. Taken in without this cut, they would be delivered,
        and nothing would hold back the dropped message when another donor gives it. Example: A has dropped p:4, B still
        keeps it. A newcomer begins behind p:4 if A or B has had all up to p:4; then B's copy lies behind."""
        broker = self.broker
        known = donation.past.get(group, {})
        if group not in donation.carries and (dropped or not broker.settings.deadlines):
            self.origins[group] = (donation.donor, cut_of(newest_of(known)))
        elif group in donation.origins:
            self.origins[group] = donation.origins[group]
        peer, begun = self.origins.get(group, (donation.donor, ()))
        tops = tops_of(begun)
        join(tops, newest_of(dropped))
        one = witness((donation, *self._donations), tops)
        past = {stream: min(n, one.had.get(sender_of(stream), 0)) for stream, n in dropped.items()}
        tops = tops_of(begun)
        join(tops, newest_of(past))
        cut = cut_of(tops)
        if cut != begun:
            peer = one.donor
            self.origins[group] = (peer, cut)
        broker.say(Join(self.groups.filters((group,)), peer, cut, self.inbox.guard_us))
        if group in donation.carries or group in self.origins:
            join(past, known)
        self.reader.start_at(past)


def _nodes(envelope: Envelope) -> tuple[Node, ...]:
    """The graph's node of a stored message. A graph forgets a node once everybody has its message; a newcomer still
    needs it."""
    return envelope.stamp.extra if isinstance(envelope.stamp.extra, tuple) else ()
