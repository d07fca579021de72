"""How a broker begins when others have history (PROTOCOLS s3.6, SNAPSHOT): it delivers nothing before it knows where.

For each of its groups it asks one broker that carries it, and takes over all that one retains, with the headers of what
expired (an expired message still carries order). What a donor skipped or overtook is not past here: it may still be had
from others, in time. Only where the donor itself began behind a cut does the newcomer too. A group that nobody carries
any more has lost what only its brokers had: there, where no deadline ends the waiting, it begins behind the past of
whatever a surviving broker has delivered, or nothing that follows could ever be delivered again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from antecede.core.effects import Join, Send
from antecede.core.frames import Node, Snapshot, SnapshotRequest
from antecede.core.interest import group_of
from antecede.core.message import Envelope, cut_of, header_of, raise_to, sender_of, split_id
from antecede.core.spread.answer import in_time

if TYPE_CHECKING:
    from antecede.core.broker import BrokerBase

__all__ = ["Joining"]


class Joining:
    __slots__ = ("_blank", "_snapshots", "_tries", "_uncovered", "at_us", "broker", "origins")

    def __init__(self, broker: BrokerBase) -> None:
        self.broker = broker
        self.at_us: int | None = None
        """When to ask again."""
        self._uncovered: dict[str, None] = {}
        self._snapshots: list[tuple[str, tuple[str, ...], Snapshot]] = []
        self._tries = 0
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
        else:
            self._join(now_us)  # alone in the world

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
        broker = self.broker
        donor = broker.members.get(sender)
        if donor is None:
            return
        if frame.blank:
            self._blank.add(sender)
            self.ask(now_us)
            return
        covered = tuple(g for g in self._uncovered if g in donor.groups or sender in self._donors(g))
        for group in covered:
            del self._uncovered[group]
        if covered:
            self._snapshots.append((sender, covered, frame))
            if not self._uncovered:
                self._join(now_us)

    def _join(self, now_us: int) -> None:
        broker = self.broker
        broker.joined = True
        self.at_us = None
        begun = {group for _, covered, _ in self._snapshots for group in covered}
        fresh = tuple(g for g in broker.interest.filters if g not in begun)
        if fresh:
            broker.out.append(Join(fresh, None, (), broker.inbox.guard_us))
        retired: dict[str, int] = {}
        for _, _, snapshot in self._snapshots:
            raise_to(retired, snapshot.retired)
        for sender, covered, snapshot in self._snapshots:
            self._begin_behind(sender, covered, snapshot, retired)
        front, concerns = broker.reader.front, broker.interest.concerns
        retired = {s: n for s, n in retired.items() if not concerns(s) or n <= front.get(s, 0)}
        assert broker.writer is not None
        broker.writer.adopt([node for _, _, snapshot in self._snapshots for node in snapshot.nodes], retired)
        broker.writer.start_at(broker.reader.cut)
        for _, _, snapshot in self._snapshots:
            for header in snapshot.headers:
                if broker.interest.wants(header.message.topics):
                    if header.message.deadline_us is None:  # everybody had it
                        broker.store.add_gone(header, now_us)
                    elif not in_time(header, now_us):
                        broker.skip_expired(broker.arrived(header), now_us)
        for sender, _, snapshot in self._snapshots:
            broker.take_wanted(snapshot.envelopes, sender, now_us)
        self._snapshots = []
        broker.early.take(now_us)

    def _begin_behind(
        self, sender: str, covered: tuple[str, ...], snapshot: Snapshot, retired: Mapping[str, int]
    ) -> None:
        """In the groups that are taken over from `sender`: behind what it began behind itself, and behind what it has
        and any donor has retired. What followed that may be known no more: were it taken in, nothing would hold back
        what another donor gives."""
        broker = self.broker
        carried = broker.members[sender].groups if sender in broker.members else ()
        theirs = {group: (peer, cut) for group, peer, cut in snapshot.origins}
        had = dict(map(split_id, snapshot.cut))
        past = {}
        for group in covered:
            if group not in carried and not broker.settings.deadlines:
                self.origins[group] = (sender, snapshot.cut)
            elif group in theirs:
                self.origins[group] = theirs[group]
            peer, begun = self.origins.get(group, (sender, ()))
            tops = dict(map(split_id, begun))
            for stream, n in retired.items():
                if group_of(stream) == group:
                    past[stream] = min(n, had.get(sender_of(stream), 0))
                    raise_to(tops, {sender_of(stream): past[stream]})
            cut = cut_of(tops)
            if cut != begun:
                peer = sender
                self.origins[group] = (peer, cut)
            broker.out.append(Join((group,), peer, cut, broker.inbox.guard_us))
        behind = [g for g in covered if g in carried or g in self.origins]
        raise_to(past, {s: n for s, n in snapshot.past.items() if group_of(s) in behind})
        broker.reader.start_at(past)


def _nodes(envelope: Envelope) -> tuple[Node, ...]:
    """Its own node: the graph may have forgotten it already, since everybody has it but who comes now."""
    return envelope.stamp.extra if isinstance(envelope.stamp.extra, tuple) else ()
