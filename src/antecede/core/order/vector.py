"""Vector per group (Birman, Schiper, Stephenson 1991; 003 s2; PROTOCOLS s3.2): the Writer's end.

A vector has one entry per (group, sender): the number of the newest message that sender addressed to that group. A flat
group is the case of one group (000, 002, where the stream is the sender, and numbers have no holes). A message is
stamped with all entries in its sender's past, also of groups the sender is not in: without them order through a third
group is lost.

To test all entries costs time in the number of senders. Enough are, per group, the *leaves*: the messages that are
addressed to the group, lie in the sender's past, and precede no other such message. A process that has delivered the
leaves has all before them behind. `needs` holds the leaves; the other entries travel for receivers that must skip a
message. Example: p:2 follows p:1, q:1 follows p:2, all in G. A message that follows q:1 needs q:1 alone, and covers {p:
2, q: 1}.

Delivering a message only replaces leaves: the vector itself is put together when a message is published. And leaves are
replaced only then: until then the newest message of each stream waits unread (`learn`), since it replaces all that an
older one of the stream would have. So a process that only receives never looks at a stamp.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from antecede.core.entries import EACH, Groups
from antecede.core.interest import group_of, stream_of
from antecede.core.marks import beyond, join, put
from antecede.core.message import Envelope, Mark, Message, Stamp, series_of
from antecede.core.order.writer import Writer

__all__ = ["HIGHEST", "LEAP", "VectorWriter", "close", "without"]

LEAP = 2**40
"""So much may the rank of a delivered message be ahead and be followed: more than a cluster counts in years, so a
newcomer follows all true ones. Raising it lets fewer false ones use up all ranks."""
HIGHEST = 2**61
"""Ranks beyond it are not followed: half of what travels is left to count in."""


class VectorWriter(Writer):
    def __init__(self, name: str, *, flat: bool, chain: int = 1, groups: Groups = EACH) -> None:
        super().__init__()
        self.name = name
        self.groups = groups
        """Under which a message falls: it has a stream in each."""
        self.chain = chain
        """How many of its own previous messages a stamp names. More than one is for those who give up what is lost for
        good: they must know what it was. Costs a byte each."""
        self.flat = self.dense = flat
        self.rank = 0
        self._own: dict[str, tuple[Mark, ...]] = {}
        """Per stream of this process, its last messages, as many as a stamp names, the newest first."""
        self._last: Stamp | None = None
        self._leaves: dict[str, dict[Mark, Mapping[str, int]]] = {}
        """Per group: mark -> what it covers (nothing is known of those that were only heard of). None if flat."""
        self._tips: dict[Mark, Stamp] = {}
        """What was delivered or published here and precedes nothing else that was: together they cover the past."""
        self._unread: dict[tuple[str, ...], Stamp] = {}
        """What was delivered since, the newest of each stream (or streams): leaves and tips do not know of it yet."""

    # -- writing ---------------------------------------------------------------------------------------------------

    def stamp(self, message: Message, after: Sequence[Stamp] | None) -> Stamp:
        self.catch_up()
        groups = self.groups.of(message.topics)
        streams = (self.name,) if self.flat else tuple([stream_of(self.name, group) for group in groups])
        own = tuple([(stream, message.seq) for stream in streams])
        self.rank += 1
        needs: dict[Mark, None] = {}
        if self.chain > 1:
            for marks in self._own.values():
                needs.update(dict.fromkeys(marks))
        if after is None:
            covers = close(self._tips.values())
            for leaves in (self._tips,) if self.flat else self._leaves.values():
                needs.update(dict.fromkeys([leaf for leaf in leaves if leaf[1] <= covers.get(leaf[0], 0)]))
        else:
            covers = close([*after, self._last] if self._last is not None else after)
            needs.update(dict.fromkeys(covers.items()))
        stamp = Stamp(own, tuple(needs), covers, self.rank)
        self._take_in(stamp)
        for mark in own:
            self._own[mark[0]] = (mark, *self._own.get(mark[0], ())[: self.chain - 1])
        self._last = stamp
        return stamp

    # -- reading ---------------------------------------------------------------------------------------------------

    def learn(self, envelope: Envelope) -> None:
        """A message was delivered here: it and its causes are causes of what follows.

        A later message of a sender covers all that its earlier ones cover, and them. So of those addressed to the same
        groups only the last one counts, unless an earlier one told of causes in other groups (`reaches_out`)."""
        stamp = envelope.stamp
        self.follow(stamp.rank)
        unread = self._unread
        streams, n = stamp.place()
        earlier = unread.pop(streams, None)
        if earlier is not None and earlier.place()[1] >= n:
            unread[streams] = earlier
            self.catch_up()
            self._take_in(stamp)
        elif not self.flat and stamp.reaches_out():
            self.catch_up()
            self._take_in(stamp)
        else:
            unread[streams] = stamp

    def follow(self, rank: int) -> None:
        """The next publication comes after a message of this rank. Where nobody can have counted so far, the rank is a
        lie, and only the liar's own message is sorted wrongly at a deadline. Example: Eve stamps a message with 2^62;
        Ann delivers it, and stamps her next one with her own rank and one more. Had she followed Eve's rank, her home
        would refuse hers."""
        if self.rank < rank <= min(self.rank + LEAP, HIGHEST):
            self.rank = rank

    def catch_up(self) -> None:
        """Leaves and tips know of all that was delivered."""
        if self._unread:
            for stamp in self._unread.values():
                self._take_in(stamp)
            self._unread.clear()

    def _take_in(self, stamp: Stamp) -> None:
        covers = stamp.covers
        tips = self._tips
        for tip in [tip for tip in tips if tip[1] <= covers.get(tip[0], 0)] if covers else ():
            del tips[tip]
        tips[stamp.own[0]] = stamp
        if self.flat:
            return  # of the one group: its leaves are the tips
        addressed = set()
        for mark in stamp.own:
            group = group_of(mark[0])
            addressed.add(group)
            leaves = self._leaves.get(group)
            if leaves is None:
                leaves = self._leaves[group] = {}
            elif covers:
                for leaf in [leaf for leaf in leaves if leaf[1] <= covers.get(leaf[0], 0)]:
                    del leaves[leaf]
            leaves[mark] = covers
        for mark in stamp.needs:
            group = group_of(mark[0])
            if group not in addressed:
                leaves = self._leaves.get(group)
                if leaves is None or mark not in leaves:
                    self._hear_of(mark, group)

    def _hear_of(self, mark: Mark, group: str) -> None:
        """A cause in a group that the message itself is not addressed to: perhaps a leaf there."""
        stream, n = mark
        leaves = self._leaves.setdefault(group, {})
        for leaf, covers in leaves.items():
            if n <= covers.get(stream, 0) or (leaf[0] == stream and n <= leaf[1]):
                return
        for leaf in [leaf for leaf in leaves if leaf[0] == stream]:
            del leaves[leaf]
        leaves[mark] = {}

    def retire(self, marks: Mapping[str, int]) -> None:
        """Streams are over everywhere, up to these marks: no stamp need name them. A cause that was named only through
        a message of theirs is named by itself from now on."""
        for stream in [stream for stream in self._own if stream in marks]:
            self._own[stream] = tuple([mark for mark in self._own[stream] if mark[1] > marks[stream]])
        past = self.past()
        tips: dict[Mark, Stamp] = {}
        for stamp in self._tips.values():
            rest = without(stamp, marks)
            if rest.own:
                tips[rest.own[0]] = rest
        covered = close(tips.values())
        for stream, n in past.items():
            if n > max(marks.get(stream, 0), covered.get(stream, 0)):
                tips[stream, n] = Stamp(((stream, n),))
        self._tips = tips
        past = beyond(past, marks)
        for group, leaves in list(self._leaves.items()):
            self._retire_leaves(group, leaves, past)
        if self._last is not None:
            last = without(self._last, marks)
            self._last = last if last.own or last.covers else None

    def _retire_leaves(self, group: str, leaves: dict[Mark, Mapping[str, int]], past: Mapping[str, int]) -> None:
        """Only what is in the past stays. (The past loses what is over before this process is told so: it delivers a
        message whose stamp was passed on without it, and that message replaces the tips that still named it.)"""
        rest: dict[Mark, Mapping[str, int]] = {}
        uncovered: dict[str, int] = {}
        for leaf, covers in leaves.items():
            fewer = {stream: n for stream, n in covers.items() if n <= past.get(stream, 0)}
            if leaf[1] <= past.get(leaf[0], 0):
                rest[leaf] = fewer
            else:
                join(uncovered, {stream: n for stream, n in fewer.items() if group_of(stream) == group})
        self._leaves[group] = rest
        for mark in uncovered.items():
            self._hear_of(mark, group)
        if not rest:
            del self._leaves[group]

    def past(self) -> Mapping[str, int]:
        self.catch_up()
        return close(self._tips.values())


def without(stamp: Stamp, marks: Mapping[str, int]) -> Stamp:
    """A stamp that names none of these. Where one of another sender was needed, all that is left is needed by itself:
    it may have stood for others."""
    covers, mine = beyond(stamp.covers, marks), {series_of(stream) for stream, _ in stamp.own}
    own = tuple(mark for mark in stamp.own if mark[1] > marks.get(mark[0], 0))
    needs = tuple(mark for mark in stamp.needs if mark[1] > marks.get(mark[0], 0))
    if any(n <= marks.get(stream, 0) and series_of(stream) not in mine for stream, n in stamp.needs):
        needs = tuple(dict.fromkeys((*needs, *covers.items())))
    return Stamp(own, needs, covers, stamp.rank, stamp.extra)


def close(stamps: Iterable[Stamp]) -> dict[str, int]:
    """What these messages cover, and they themselves."""
    covers: dict[str, int] = {}
    for stamp in stamps:
        if not covers:
            covers = dict(stamp.covers)
            for stream, n in stamp.own:
                covers[stream] = n
            continue
        join(covers, stamp.covers)
        put(covers, stamp.own)
    return covers
