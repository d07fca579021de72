"""Messages that a sender publishes one after the other: in a frame to a client only the first stamp is written.

A sender that has delivered nothing in between stamps its next message with what it put on the last one, and that one
itself. So the second stamp *follows* from the first, and one byte says so. Its own marks are in the same streams, with
the message's number; its rank is one more; it covers what the other does, and that one; it needs that one, and of other
groups what that one needs. The same holds for the numbers of an attachment: what the
second item comes after is what the first does, and the first.

Example. c1 publishes c1:7 and c1:8 to G; both come in one frame. Written of c1:7: its stamp covers {c1@G: 6, c2@G: 3}
and needs c2@G:3. Of c1:8, whose stamp covers {c1@G: 7, c2@G: 3} and needs c1@G:7, written is one byte.

Who writes compares: a stamp that differs is written as any other. Only frames to clients are so short. Brokers pass on
what they get, each message by itself, and keep its encoded stamp for that.
"""

from __future__ import annotations

from collections.abc import Sequence

from antecede.core.interest import group_of
from antecede.core.message import Envelope, Mark, Stamp
from antecede.errors import RemoteProtocolError

__all__ = ["FOLLOWS", "FollowingStamp", "following", "next_after", "read_next_after"]

FOLLOWS = b"\xc0"
"""In the place of a stamp: it follows from that of its sender's last message in the frame."""

SPAN = 1_024
"""So wide may a bitmap be that is not written; clients are sent no more than `WINDOW` items ahead. It bounds what few
bytes can make a receiver keep."""


class FollowingStamp(Stamp):
    """A stamp that was not written. `covers` and `needs` are there from the first look on."""

    __slots__ = ("_base", "_before")
    SAVED_AS = Stamp

    def __init__(self, own: tuple[Mark, ...], rank: int, base: Stamp, before: tuple[Mark, ...]) -> None:
        """`base`: the last stamp of its sender that was written, `before`: the own marks of the last message."""
        self.own, self.rank, self.extra = own, rank, None
        self._base, self._before = base, before

    def __getattr__(self, name: str) -> object:
        if name == "covers":
            self.covers = {**self._base.covers, **dict(self._before)}
            return self.covers
        if name == "needs":
            self.needs = _needs(self._base, self._before)
            return self.needs
        raise AttributeError(name)

    def reaches_out(self) -> bool:
        return self._base.reaches_out()

    @classmethod
    def read(cls, last: Stamp | None, seq: int) -> FollowingStamp:
        """The stamp of message number `seq`, whose sender's last message in the frame has the stamp `last`."""
        if last is None or last.extra is not None:
            raise RemoteProtocolError("a stamp that follows from none")
        base = last._base if isinstance(last, FollowingStamp) else last
        return cls(tuple([(stream, seq) for stream, _ in last.own]), last.rank + 1, base, last.own)


def _needs(stamp: Stamp, before: tuple[Mark, ...]) -> tuple[Mark, ...]:
    groups = {group_of(stream) for stream, _ in before}
    return (*before, *[mark for mark in stamp.needs if group_of(mark[0]) not in groups])


def _follows(last: Stamp, stamp: Stamp, seq: int) -> bool:
    own = last.own
    if stamp.rank != last.rank + 1 or stamp.extra is not None or last.extra is not None:
        return False
    if stamp.own != tuple([(stream, seq) for stream, _ in own]):
        return False
    needs = _needs(last, own)
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


def read_next_after(last: tuple[int, int] | None, of: int) -> int:
    after = None if last is None else next_after(*last, of)
    if after is None:
        raise RemoteProtocolError("an item that follows from none")
    return after
