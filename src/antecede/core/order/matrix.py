"""2-D vector between brokers (004 Figs 4-5, MB1-MB4 and RMB1-RMB5; Rodrigues et al. 2000; PROTOCOLS s3.5).

M[x][y] is the newest message that x addressed to y, also where neither is this broker: without those entries order
through a third broker is lost. A message carries M as it was before it was sent, and the places it is addressed to.
Ready means that the receiver's own column is covered: an entry of the sender too, so a gap in its own stream is seen.
Entries are rounds, not times: two messages of one instant differ, and one number serves both tiers.

y is a *place*, not a process: a broker that comes back empty is addressed as before it crashed. In marks, M[x][y] is
the stream `x@y`, so a digest for y, which holds what concerns y, is its column and nothing else (GB2, repaired).

Towards subscribers a message carries one colour: of the newest predecessor round that is addressed to the subscriber's
groups. The column says to whom, not to which groups; those are known of every message that came, and what never came
counts for all groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from antecede.core.frames import Node
from antecede.core.interest import Interest, group_of, stream_of
from antecede.core.marks import join, newest_of, put
from antecede.core.message import Envelope, Mark, Message, Stamp, split_id
from antecede.core.order.round_clock import RoundClock
from antecede.core.order.rounds import own_below
from antecede.core.order.vector import close
from antecede.core.order.writer import Writer

__all__ = ["ColumnInterest", "MatrixWriter", "place_of"]

ANY = "*"
"""In the place of a group: nobody knows which."""


def place_of(name: str) -> str:
    """
    >>> place_of("A"), place_of("A.2")
    ('A', 'A')
    """
    return name.partition(".")[0]


class ColumnInterest(Interest):
    """A broker's interest in messages is by groups, in marks by its column."""

    __slots__ = ("place",)

    def __init__(self, filters: Iterable[str], place: str) -> None:
        super().__init__(filters)
        self.place = place
        self.key = (place, *self.filters)

    def concerns_group(self, group: str) -> bool:
        return group == self.place


class Note:
    """What is remembered of a message for those that follow it."""

    __slots__ = ("groups", "round", "tops")

    def __init__(self, groups: tuple[str, ...], round: int, tops: Mapping[str, int]) -> None:
        self.groups, self.round, self.tops = groups, round, tops


class MatrixWriter(Writer):
    def __init__(self, name: str, interest: Interest, clock: RoundClock) -> None:
        super().__init__()
        self.name = name
        self.place = place_of(name)
        self.interest = interest
        self.clock = clock
        self.matrix: dict[str, int] = {}
        self.carriers: dict[str, set[str]] = {}
        """Group -> the places that carry it, also those whose broker is gone: it may come back."""
        self._last: Stamp | None = None
        self._notes: dict[str, Note] = {}

    def meet(self, name: str, groups: Sequence[str]) -> None:
        """There is such a broker. What went to its groups before this one knew of it precedes what it will be sent."""
        place = place_of(name)
        new = [group for group in groups if place not in self.carriers.get(group, ())]
        for group in new:
            self.carriers.setdefault(group, set()).add(place)
        if new:
            for message_id, note in self._notes.items():
                if not set(new).isdisjoint(note.groups):
                    sender, seq = split_id(message_id)
                    join(self.matrix, {stream_of(sender, place): seq})

    # -- writing ---------------------------------------------------------------------------------------------------

    def stamp(self, message: Message, after: Sequence[Stamp] | None) -> Stamp:
        places = {self.place}.union(*(self.carriers.get(topic, ()) for topic in message.topics))
        own = tuple((stream_of(self.name, place), message.seq) for place in sorted(places))
        if after is None:
            covers = dict(self.matrix)
        else:
            covers = close([*after, self._last] if self._last is not None else after)
            join(covers, {stream: self.matrix.get(stream, 0) for stream, _ in own})  # to places met since, too
        stamp = self._local(own, covers, message.seq)
        self._take_in(message, stamp)
        self._last = stamp
        return stamp

    def _local(self, own: tuple[Mark, ...], covers: Mapping[str, int], round: int) -> Stamp:
        column = tuple((stream, n) for stream, n in covers.items() if group_of(stream) == self.place)
        return Stamp(own, column, covers, round)

    def _take_in(self, message: Message, stamp: Stamp) -> None:
        tops = self._tops(message, stamp)
        stamp.extra = tops
        self._notes[message.id] = Note(message.topics, message.seq, tops)
        join(self.matrix, stamp.covers)
        put(self.matrix, stamp.own)
        for topic in message.topics:
            for place in sorted(self.carriers.get(topic, ())):
                join(self.matrix, {stream_of(message.sender, place): message.seq})

    # -- reading ---------------------------------------------------------------------------------------------------

    def arrived(self, envelope: Envelope) -> Envelope:
        """A stamp as it came. Its sender may not have known of this place: the message is addressed to this place all
        the same, and follows here, for all anybody can tell, whatever it follows anywhere."""
        message, stamp = envelope.message, envelope.stamp
        own, covers, here = stamp.own, stamp.covers, (stream_of(message.sender, self.place), message.seq)
        if here not in own and self.interest.wants(message.topics):
            own, covers = (*own, here), dict(covers)
            for sender, n in newest_of(stamp.covers).items():
                join(covers, {stream_of(sender, self.place): n})
        return Envelope(message, self._local(own, covers, message.seq))

    def learn(self, envelope: Envelope) -> None:
        self._take_in(envelope.message, envelope.stamp)
        self.clock.saw(envelope.message.seq)

    def past(self) -> Mapping[str, int]:
        return self.matrix

    # -- for others ------------------------------------------------------------------------------------------------

    def relay(self, envelope: Envelope) -> Envelope:
        """As it travels between brokers; the column is the receiver's to find."""
        return Envelope(envelope.message, Stamp(envelope.stamp.own, (), envelope.stamp.covers))

    bare = relay

    def project(self, envelope: Envelope, interest: Interest) -> Envelope:
        """One colour; and towards subscribers a message ends with its lifetime, whatever its deadline."""
        message, stamp = envelope.message, envelope.stamp
        tops = stamp.extra if isinstance(stamp.extra, dict) else self._tops(message, stamp)
        newest = max((n for group, n in tops.items() if group == ANY or interest.concerns_group(group)), default=0)
        for group in self.carriers:
            if interest.concerns_group(group) and group not in self.interest.filters:
                newest = max(newest, self._newest_elsewhere(group, stamp))
        copy = Message(
            message.sender, message.seq, message.topics, message.payload, message.expires_us, message.expires_us
        )
        return Envelope(copy, Stamp(own_below(message), rank=self.clock.colour_of(newest, message.seq)))

    def _tops(self, message: Message, stamp: Stamp) -> dict[str, int]:
        """Per group, the newest predecessor round, as far as it may live."""
        tops: dict[str, int] = {}
        for stream, n in stamp.needs:
            if message.seq - n > self.clock.colours:
                continue
            note = self._notes.get(f"{stream.partition('@')[0]}:{n}")
            if note is None:
                tops[ANY] = max(n, tops.get(ANY, 0))
                continue
            for group, top in (*note.tops.items(), *((group, n) for group in note.groups)):
                if top > tops.get(group, 0):
                    tops[group] = top
        return tops

    def _newest_elsewhere(self, group: str, stamp: Stamp) -> int:
        """Of a group that is not carried here: no newer than what went to any one place that carries it."""
        best = None
        for place in self.carriers[group]:
            newest = max((n for stream, n in stamp.covers.items() if group_of(stream) == place), default=0)
            best = newest if best is None else min(best, newest)
        return best or 0

    # -- what other Orders need ------------------------------------------------------------------------------------

    def nodes(self) -> tuple[Node, ...]:
        """The places, for a newcomer: one whose broker is gone for now is in nobody's view, but will come back."""
        places: dict[str, list[str]] = {}
        for group, carriers in self.carriers.items():
            for place in carriers:
                places.setdefault(place, []).append(group)
        return tuple((place, 0, tuple(groups), (), None) for place, groups in sorted(places.items()))

    def adopt(self, nodes: Sequence[Node], dropped: Mapping[str, int]) -> None:
        for place, _, groups, _, _ in nodes:
            self.meet(place, groups)

    def forget(self, now_us: int) -> None:
        """What cannot be the predecessor of anything that still lives need not be remembered."""
        oldest = self.clock.round_at(now_us) - 2 * self.clock.colours - 1
        for message_id in [one for one, note in self._notes.items() if note.round < oldest]:
            del self._notes[message_id]
