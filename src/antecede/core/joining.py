"""How a broker begins when others have history (PROTOCOLS s3.6, SNAPSHOT): it delivers nothing before it knows where.

For each of its groups it asks one broker that carries it, and takes over all that one retains, with the headers of what
expired (an expired message still carries order). What a donor skipped or overtook is not past here: it may still be had
from others, in time. Only where the donor itself began behind a cut does the newcomer too, and where some donor has
dropped from its graph what lies before: nobody could tell any more what follows that. A group that nobody carries
any more has lost what only its brokers had: there, where no deadline ends the waiting, it begins behind the past of
whatever a surviving broker has delivered, or nothing that follows could ever be delivered again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from antecede.core.effects import Join, Send
from antecede.core.frames import Node, Snapshot, SnapshotRequest
from antecede.core.interest import group_of
from antecede.core.message import Envelope, cut_of, header_of, raise_to, split_id
from antecede.core.spread.answer import in_time

if TYPE_CHECKING:
    from antecede.core.broker import BrokerBase

__all__ = ["Joining"]


class Gift(NamedTuple):
    """A snapshot that was taken, and of whom: by the time the last one comes the first donor may have left."""

    donor: str
    carries: tuple[str, ...]
    covered: tuple[str, ...]
    """The groups that are taken over with it."""
    snapshot: Snapshot

    def had(self) -> dict[str, int]:
        """The newest message of each sender that the donor has delivered, published, or knows to precede those."""
        had = _tops(self.snapshot.past)
        for cut in (self.snapshot.cut, *(cut for _, _, cut in self.snapshot.origins)):
            raise_to(had, dict(map(split_id, cut)))
        return had


class Joining:
    __slots__ = ("_alone_us", "_blank", "_gifts", "_tries", "_uncovered", "at_us", "broker", "origins")

    def __init__(self, broker: BrokerBase) -> None:
        self.broker = broker
        self.at_us: int | None = None
        """When to ask again."""
        self._uncovered: dict[str, None] = {}
        self._gifts: list[Gift] = []
        self._tries = 0
        self._alone_us: int | None = None
        """Since when there is nobody to ask."""
        self._blank: set[str] = set()
        """Who is joining too: no use asking them."""
        self.origins: dict[str, tuple[str, tuple[str, ...]]] = {}
        """Groups that had lost everything: whose past this broker began behind there."""

    def begin(self, now_us: int, *, joining: bool) -> None:
        if joining:
            self._uncovered = dict.fromkeys(self.broker.interest.filters)
            self.ask(now_us)
        else:
            self._join(now_us)

    def ask(self, now_us: int) -> None:
        """One broker per group still uncovered; whoever carries several is asked once."""
        broker = self.broker
        self.at_us = now_us + broker.settings.retry_us
        asked: dict[str, None] = {}
        for group in self._uncovered:
            donors = self._donors(group)
            if donors and asked.keys().isdisjoint(donors):
                asked[donors[self._tries % len(donors)]] = None
        self._tries += 1
        if asked:
            broker.out.append(Send(tuple(asked), SnapshotRequest(whole=True)))
        elif not self._somebody_may_come(now_us):
            self._join(now_us)  # alone in the world

    def _somebody_may_come(self, now_us: int) -> bool:
        """Nobody is left to ask. Of those who are joining too one begins first, the first by name if no other, and then
        knows where; and where all that were there have left, others may have come of whom nobody has told it yet."""
        broker = self.broker
        if self._alone_us is None:
            self._alone_us = now_us
        if any(name in self._blank and name < broker.name for name in broker.all_brokers):
            self._blank.clear()
        elif broker.all_brokers or not broker.departed or broker.settings.deadlines:
            return False
        return now_us < self._alone_us + broker.settings.grace_us

    def _donors(self, group: str) -> list[str]:
        """Who carries it; when nobody does who knows anything, any broker that does."""
        broker = self.broker
        carriers = [name for name in broker.carriers_of((group,)) if name not in self._blank]
        return carriers or [name for name in broker.all_brokers if name not in self._blank]

    def give(self, to: str) -> None:
        broker = self.broker
        if not broker.joined:
            broker.out.append(Send((to,), Snapshot({}, (), blank=True)))
            return
        assert broker.writer is not None
        past = {s: n for s, n in broker.writer.past().items() if not broker.interest.concerns(s)}
        past.update(broker.reader.cut)
        raise_to(past, broker.interest.among(broker.stability.over))
        envelopes = tuple(broker.writer.bare(e) for e in broker.store.by_id.values())
        kept = (*broker.store.kept_headers(), *(header for header, _ in broker.store.gone.values()))
        headers = tuple(header_of(broker.writer.bare(e)) for e in kept)
        nodes = {node[:2]: node for node in (*broker.writer.nodes(), *(node for e in envelopes for node in _nodes(e)))}
        origins = tuple(self._origins())
        retired = dict(broker.writer.retired)
        snapshot = Snapshot(past, broker.cut(), envelopes, headers, tuple(nodes.values()), origins, retired)
        broker.out.append(Send((to,), snapshot))

    def _origins(self) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        """Where whoever takes over from here begins, in groups of which something is hidden."""
        stability, name = self.broker.stability, self.broker.name
        for group in self.broker.interest.filters:
            peer, begun = self.origins.get(group, (name, ()))
            cut = stability.cut(group, begun)
            if cut:
                yield (group, peer if cut == begun else name, cut)

    def take(self, frame: Snapshot, sender: str, now_us: int) -> None:
        """Also one that covers nothing new, or of one that has left: its messages may be nowhere else."""
        if frame.blank:
            self._blank.add(sender)
            self.ask(now_us)
            return
        donor = self.broker.members.get(sender)
        carries = () if donor is None else donor.groups
        covered = (
            () if donor is None else tuple(g for g in self._uncovered if g in carries or sender in self._donors(g))
        )
        for group in covered:
            del self._uncovered[group]
        self._gifts = [gift for gift in self._gifts if gift.donor != sender or gift.covered]
        self._gifts.append(Gift(sender, carries, covered, frame))
        if not self._uncovered:
            self._join(now_us)

    def _join(self, now_us: int) -> None:
        broker = self.broker
        broker.joined = True
        self.at_us = None
        begun = {group for gift in self._gifts for group in gift.covered}
        fresh = tuple(g for g in broker.interest.filters if g not in begun)
        if fresh:
            broker.out.append(Join(fresh, None, (), broker.inbox.guard_us))
        retired: dict[str, int] = {}
        for gift in self._gifts:
            raise_to(retired, gift.snapshot.retired)
        for gift in self._gifts:
            for group in gift.covered:
                self._begin_behind(group, gift, retired)
        front, concerns = broker.reader.front, broker.interest.concerns
        retired = {s: n for s, n in retired.items() if not concerns(s) or n <= front.get(s, 0)}
        assert broker.writer is not None
        broker.writer.adopt([node for gift in self._gifts for node in gift.snapshot.nodes], retired)
        broker.writer.start_at(broker.reader.cut)
        for gift in self._gifts:
            for header in gift.snapshot.headers:
                if broker.interest.wants(header.message.topics):
                    if header.message.deadline_us is None:  # everybody had it
                        broker.store.add_gone(header, now_us)
                    elif not in_time(header, now_us):
                        broker.skip_expired(broker.arrived(header), now_us)
        for gift in self._gifts:
            broker.take_wanted(gift.snapshot.envelopes, gift.donor, now_us)
        self._gifts = []
        broker.early.take(now_us)

    def _begin_behind(self, group: str, gift: Gift, retired: Mapping[str, int]) -> None:
        """Behind what this donor began behind itself, and behind what any donor has retired, as far as one has had it
        all: what followed that may be known no more. Were it taken in, nothing would hold back what others give."""
        broker = self.broker
        gift = next((one for one in (gift, *self._gifts) if group in one.carries), gift)
        known = {s: n for s, n in gift.snapshot.past.items() if group_of(s) == group}
        theirs = {group: (peer, cut) for group, peer, cut in gift.snapshot.origins}
        if group not in gift.carries and not broker.settings.deadlines:
            self.origins[group] = (gift.donor, cut_of(_tops(known)))
        elif group in theirs:
            self.origins[group] = theirs[group]
        peer, begun = self.origins.get(group, (gift.donor, ()))
        past = {s: n for s, n in retired.items() if group_of(s) == group}
        tops = dict(map(split_id, begun))
        raise_to(tops, _tops(past))
        had = [(one, one.had()) for one in (gift, *self._gifts)]
        witness, seen = next(((one, its) for one, its in had if _covers(its, tops)), had[0])
        past = {s: min(n, seen.get(s.partition("@")[0], 0)) for s, n in past.items()}
        tops = dict(map(split_id, begun))
        raise_to(tops, _tops(past))
        cut = cut_of(tops)
        if cut != begun:
            peer = witness.donor
            self.origins[group] = (peer, cut)
        broker.out.append(Join((group,), peer, cut, broker.inbox.guard_us))
        if group in gift.carries or group in self.origins:
            raise_to(past, known)
        broker.reader.start_at(past)


def _tops(marks: Mapping[str, int]) -> dict[str, int]:
    """The newest of each sender, of whatever group."""
    tops: dict[str, int] = {}
    for stream, n in marks.items():
        raise_to(tops, {stream.partition("@")[0]: n})
    return tops


def _covers(had: Mapping[str, int], tops: Mapping[str, int]) -> bool:
    return all(n <= had.get(sender, 0) for sender, n in tops.items())


def _nodes(envelope: Envelope) -> tuple[Node, ...]:
    """Its own node: the graph may have forgotten it already, since everybody has it but who comes now."""
    return envelope.stamp.extra if isinstance(envelope.stamp.extra, tuple) else ()
