"""Messages that a sender publishes one after the other: in a frame to a client only the first stamp is written.

A sender that has delivered nothing in between stamps its next message with what it put on the last one, and that one
itself. So the second stamp *follows* from the first, and one byte says so. Its own marks are in the same streams, one
number higher; its rank is one more; it covers what the other does, and that one; it needs that one, of its own streams
as many as that one needs (the oldest is left out), and of other groups what that one needs. The same holds for the
numbers of an attachment: what the second item comes after is what the first does, and the first.

Example. c1 publishes c1:7 and c1:8 to G; both come in one frame. Written of c1:7: its stamp covers {c1@G: 6, c2@G: 3}
and needs c2@G:3. Of c1:8, whose stamp covers {c1@G: 7, c2@G: 3} and needs c1@G:7, written is one byte. Where senders
name two of their own, c1:7 needs c1@G:6, c1@G:5 and c2@G:3, and c1:8 needs c1@G:7 and c1@G:6.

Who writes compares: a stamp that differs is written as any other. Only frames to clients are so short. Brokers pass on
what they get, each message by itself, and keep its encoded stamp for that.
"""

from __future__ import annotations

from collections.abc import Sequence

from antecede.core.frames import Item
from antecede.core.interest import group_of
from antecede.core.message import Envelope, Mark, Stamp
from antecede.errors import RemoteProtocolError
from antecede.wire.stamps import ReadStamp

__all__ = ["FOLLOWS", "FollowingStamp", "following", "next_after", "read_next_after"]

FOLLOWS = b"\xc0"
"""In the place of a stamp: it follows from that of its sender's last message in the frame."""

SPAN = 1_024
"""So wide may a bitmap be that is not written; clients are sent no more than `WINDOW` items ahead. It bounds what few
bytes can make a receiver keep."""


class FollowingStamp(Stamp):
    """A stamp that was not written. `own`, `covers` and `needs` are there from the first look on."""

    __slots__ = ("base", "seq", "streams")
    SAVED_AS = Stamp

    def __init__(self, base: Stamp, streams: tuple[str, ...], seq: int, rank: int) -> None:
        """`base`: the last stamp of its sender that was written, of a message before number `seq`. Its own marks are
        in these streams."""
        self.rank, self.extra = rank, None
        self.base, self.streams, self.seq = base, streams, seq

    def __getattr__(self, name: str) -> object:
        if name == "own":
            self.own = _numbered(self.base.own, self.seq)
            return self.own
        if name == "covers":
            self.covers = {**self.base.covers, **dict(_numbered(self.base.own, self.seq - 1))}
            return self.covers
        if name == "needs":
            self.needs = _needs(self.base, self.seq)
            return self.needs
        raise AttributeError(name)

    def place(self) -> tuple[tuple[str, ...], int]:
        return self.streams, self.seq

    def replaces(self, earlier: Stamp) -> bool:
        if type(earlier) is FollowingStamp:
            return earlier.base is self.base and earlier.seq < self.seq
        return earlier is self.base

    def reaches_out(self) -> bool:
        return self.base.reaches_out()

    @classmethod
    def read(cls, last: Stamp | None, seq: int) -> FollowingStamp:
        """The stamp of message number `seq`, whose sender's last message in the frame has the stamp `last`."""
        if type(last) is cls:
            base, streams, before = last.base, last.streams, last.seq
        else:
            if last is None or last.extra is not None or _numbered(last.own, last.own[0][1]) != last.own:
                raise RemoteProtocolError("a stamp that follows from none")
            base, (streams, before) = last, last.place()
        if seq != before + 1:
            raise RemoteProtocolError("a stamp that follows from that of another message")
        return cls(base, streams, seq, last.rank + 1)


def _numbered(own: tuple[Mark, ...], seq: int) -> tuple[Mark, ...]:
    return tuple([(stream, seq) for stream, _ in own])


def _needs(base: Stamp, seq: int) -> tuple[Mark, ...]:
    """What the stamp of message `seq` needs, if it and all after `base` follow: of each own stream the newest before
    it, as many as `base` needs there, and of other groups what `base` needs.

    >>> _needs(Stamp((("p@G", 7),), (("p@G", 6), ("p@G", 5), ("q@G", 3), ("q@H", 1))), 8)
    (('p@G', 7), ('p@G', 6), ('q@H', 1))
    """
    streams = {stream: [n] for stream, n in base.own}
    groups = {group_of(stream) for stream in streams}
    for stream, n in base.needs:
        if stream in streams:
            streams[stream].append(n)
    needs: list[Mark] = []
    for stream, (number, *chain) in streams.items():
        numbers = [*range(seq - 1, number - 1, -1), *sorted(chain, reverse=True)]
        needs += [(stream, n) for n in numbers[: max(1, len(chain))]]
    return (*needs, *[mark for mark in base.needs if group_of(mark[0]) not in groups])


def _follows(last: Stamp, stamp: Stamp, seq: int) -> bool:
    """Whether the stamp of message `seq` follows from that of the message before it."""
    if isinstance(stamp, ReadStamp) and isinstance(last, ReadStamp) and stamp.is_next_of(last):
        return True
    own, before = last.own, seq - 1
    if stamp.rank != last.rank + 1 or stamp.extra is not None or last.extra is not None:
        return False
    if own != _numbered(own, before) or stamp.own != _numbered(own, seq):
        return False
    needs = _needs(last, seq)
    if len(stamp.needs) != len(needs) or (stamp.needs != needs and set(stamp.needs) != set(needs)):
        return False
    return stamp.covers == {**last.covers, **dict(own)}


_recent: tuple[tuple[Envelope, ...], list[bool]] = ((), [])


def following(envelopes: Sequence[Envelope]) -> list[bool]:
    """Which of them have stamps that need not be written. A broker hands the same batch to one subscriber after the
    other: the last answer is kept."""
    global _recent
    batch = tuple(envelopes)
    known, flags = _recent
    if known != batch:  # envelopes compare by identity
        flags, last = [], dict[str, Stamp]()
        for envelope in batch:
            message, stamp = envelope.message, envelope.stamp
            series = message.series
            before = last.get(series)
            flags.append(before is not None and _follows(before, stamp, message.seq))
            last[series] = stamp
        _recent = batch, flags
    return flags


def next_after(index: int, after: int, of: int) -> int | None:
    """What item number `of` comes after, if it comes after item `index` and what that one does; None: too far away.

    >>> bin(next_after(4, 0b101, 6))
    '0b10110'
    """
    apart = of - index
    if not 0 < apart <= SPAN or after.bit_length() + apart > SPAN:
        return None
    return after << apart | 1 << (apart - 1)


def read_next_after(last: Item | None, of: int) -> int:
    if last is not None:
        index, after = last.index, last.after
        if index + 1 == of and after.bit_length() < SPAN:  # the usual case
            return after << 1 | 1
        follows = next_after(index, after, of)
        if follows is not None:
            return follows
    raise RemoteProtocolError("an item that follows from none")
