"""Vector per group (Birman, Schiper, Stephenson 1991; 003 s2; PROTOCOLS s3.2): the Writer's end.

One entry per (group, sender): the number of the newest message that sender addressed to that group. A flat group is the
case of one group (000, 002, where the stream is the sender, and numbers have no holes). A message is stamped with all
entries its sender knows, also of groups it is not in: without them order through a third group is lost. To test all of
them costs time in the number of senders, so `needs` holds only those that rose since the sender's previous message to
the same groups, and that message itself: if it was delivered, the rest lies behind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from antecede.core.frames import Node
from antecede.core.interest import Interest, stream_of
from antecede.core.message import Envelope, Mark, Message, Stamp

__all__ = ["VectorWriter"]


class VectorWriter:
    cuts = False
    __slots__ = (
        "_epoch",
        "_last",
        "_own",
        "_rose",
        "_sent",
        "chain",
        "clock",
        "dense",
        "flat",
        "name",
        "rank",
        "stable",
    )

    def __init__(self, name: str, *, flat: bool, chain: int = 1) -> None:
        self.name = name
        self.chain = chain
        """How many of its own previous messages a stamp names. More than one is for those who give up what is lost for
        good: they must know what it was. Costs a byte each."""
        self._own: dict[str, list[int]] = {}
        self.flat = self.dense = flat
        self.clock: dict[str, int] = {}
        """Marks of everything in this process's past, closed; ordered by when each last rose."""
        self.rank = 0
        self.stable: dict[str, int] = {}
        self._rose: dict[str, int] = {}
        self._sent: dict[str, int] = {}
        self._epoch = 1
        self._last: Stamp | None = None

    def streams(self, topics: Sequence[str]) -> tuple[str, ...]:
        return (self.name,) if self.flat else tuple(stream_of(self.name, topic) for topic in topics)

    def stamp(self, message: Message, after: Sequence[Stamp] | None) -> Stamp:
        """`after`: stamps of the declared causes; None means everything learned so far."""
        streams = self.streams(message.topics)
        own = tuple((stream, message.seq) for stream in streams)
        self.rank += 1
        if after is None:
            covers = dict(self.clock)
            needs = self._risen(streams)
        else:
            covers = _close([*after, self._last] if self._last is not None else list(after))
            needs = tuple({**dict.fromkeys(self._previous(streams)), **dict.fromkeys(covers.items())})
        stamp = Stamp(own, needs, covers, self.rank)
        for stream, n in own:
            self._raise(stream, n)
            previous = self._own.setdefault(stream, [])
            previous.append(n)
            del previous[: -self.chain]
        if after is None:
            for stream in streams:
                self._sent[stream] = self._epoch
        self._epoch += 1
        self._last = stamp
        return stamp

    def _risen(self, streams: tuple[str, ...]) -> tuple[Mark, ...]:
        """What rose since the oldest of my latest messages to each of these streams, and those messages themselves."""
        since = min(self._sent.get(stream, 0) for stream in streams)
        needs = self._previous(streams)
        for stream, epoch in reversed(self._rose.items()):
            if epoch <= since:
                break
            if stream in self._own:
                needs += [mark for mark in self._previous((stream,)) if stream not in streams]
            else:
                needs.append((stream, self.clock[stream]))
        return tuple(needs)

    def _previous(self, streams: tuple[str, ...]) -> list[Mark]:
        return [(stream, n) for stream in streams for n in reversed(self._own.get(stream, ()))]

    def learn(self, envelope: Envelope) -> None:
        """A message was delivered here: it and its causes are causes of what follows.

        The clock stays closed. If it holds the sender's previous message it holds what that one covers, and what rose
        since is enough; otherwise (that one was skipped here, or lies behind a cut) everything is merged.
        """
        stamp = envelope.stamp
        clock = self.clock
        sender = envelope.message.sender
        risen = True
        for stream, n in stamp.needs:
            if n > clock.get(stream, 0) and stream.partition("@")[0] == sender:
                risen = False
        for stream, n in stamp.needs if risen else stamp.covers.items():
            if n > clock.get(stream, 0):
                self._raise(stream, n)
        for stream, n in stamp.own:
            if n > clock.get(stream, 0):
                self._raise(stream, n)
        if stamp.rank > self.rank:
            self.rank = stamp.rank

    def _raise(self, stream: str, n: int) -> None:
        self.clock[stream] = n
        rose = self._rose
        rose.pop(stream, None)
        rose[stream] = self._epoch

    def arrived(self, envelope: Envelope) -> Envelope:
        """A stamp as it came from a peer; nothing is left to work out."""
        return envelope

    def relay(self, envelope: Envelope) -> Envelope:
        """As it travels between peers."""
        return envelope

    def bare(self, envelope: Envelope) -> Envelope:
        return envelope

    def nodes(self) -> tuple[Node, ...]:
        return ()

    def known(self, mark: Mark) -> Stamp | None:
        """Nothing is known of a message that never came."""
        return None

    def past(self) -> Mapping[str, int]:
        """Marks of everything in the past of what was delivered here, of all groups."""
        return self.clock

    def gave_up(self, mark: Mark) -> None:
        """Nothing is kept per message."""

    def adopt(self, nodes: Sequence[Node]) -> None:
        """There is no graph."""

    def project(self, envelope: Envelope, interest: Interest) -> Envelope:
        """For the tier below: the same stamp. Its reader looks only at the streams that concern it."""
        return envelope

    def forget(self, now_us: int) -> None:
        """Nothing is kept per message."""

    def heard(self, stable: Mapping[str, int]) -> None:
        """Nothing is cut by what others have."""


def _close(stamps: Sequence[Stamp]) -> dict[str, int]:
    covers: dict[str, int] = {}
    for stamp in stamps:
        for stream, n in stamp.covers.items():
            if n > covers.get(stream, 0):
                covers[stream] = n
        for stream, n in stamp.own:
            if n > covers.get(stream, 0):
                covers[stream] = n
    return covers
