"""A stamp to numbers and back: what is written, what is derived, and what waits until somebody looks.

Derived instead of written: `own` where it follows from sender, seq, topics and `covers`; `needs` as indexes into
`covers`. The marks of `needs` come back in the layout's order: they are a set.
Whatever could be wrong with a stamp is found when it comes. But `covers` and `needs` are put together only when
somebody asks for them (`ReadStamp`): most who receive a message deliver it and never look.
A message has own marks, none of them twice, in streams of its sender: orders count on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, compress
from operator import sub
from typing import cast

from msgspec import Struct
from msgspec.msgpack import Decoder

from antecede.core.message import Mark, Message, Stamp
from antecede.errors import InputError, RemoteProtocolError
from antecede.wire.limits import MAX_NUMBER
from antecede.wire.names import Layout, bits_of, deltas, marked, read_layout, sums
from antecede.wire.nodes import Node, NodesRow, decode_nodes, encode_nodes

__all__ = ["ReadStamp", "StampRow", "are_own", "read_stamp", "read_stamp_row", "stamp_row"]

OWN_NONE, OWN_SENDER, OWN_TOPICS, OWN_SEQ = 0, 1, 2, 3
"""None (refused); (sender, seq); one per topic (or in the streams of `own_at`): one above what `covers` says of that
stream, or the message's seq."""
NEEDS_NONE, NEEDS_ALL = 0, 1


class StampRow(Struct, array_like=True, forbid_unknown_fields=True, gc=False):
    """Trailing defaults are left out. Indexes above the layout's streams count on through the head's spare streams."""

    own: int | list[int] = OWN_NONE
    rank: int = 0
    covers: list[int] = []
    needs: int | bytes | list[int] = NEEDS_NONE
    """NEEDS_*, a bitmap over `covers`, or indexes."""
    lag: list[int] = []
    """What the needs are less than their covers; empty: nothing."""
    own_at: list[int] | None = None
    """Indexes of the own streams; None: one per topic."""
    nodes: NodesRow | None = None
    until: list[int] | None = None
    """How much later than it the newest cause of each stream expires (usually sooner: below zero)."""


_STAMP_DEFAULTS: tuple[object, ...] = (OWN_NONE, 0, [], NEEDS_NONE, [], None, None, None)

read_stamp_row = Decoder(StampRow).decode


class ReadStamp(Stamp):
    """A stamp that came. `covers` and `needs` are there from the first look on; until then Python finds no such
    attribute, and asks `__getattr__`."""

    __slots__ = ("_group", "_needed", "_numbers", "_places", "_streams")
    SAVED_AS = Stamp

    def __init__(
        self, own: tuple[Mark, ...], rank: int, extra: object, streams: tuple[str, ...], numbers: list[int],
        places: Sequence[int], needed: list[int], group: str | None,
    ) -> None:  # fmt: skip
        """`needed`: the numbers that are needed of the streams at `places`; `group`: of all streams, if it is one."""
        self.own, self.rank, self.extra = own, rank, extra
        self._streams, self._numbers, self._places, self._needed = streams, numbers, places, needed
        self._group = group

    def __getattr__(self, name: str) -> object:
        if name == "covers":
            self.covers = dict(zip(self._streams, self._numbers, strict=False))  # spare streams have no number
            return self.covers
        if name == "needs":
            self.needs = tuple(zip(map(self._streams.__getitem__, self._places), self._needed, strict=True))
            return self.needs
        raise AttributeError(name)

    def reaches_out(self) -> bool:
        own = self.own
        if self._group is not None and len(own) == 1 and own[0][0].partition("@")[2] == self._group:
            return False  # the usual case: no look at the needs
        return super().reaches_out()


def stamp_row(
    message: Message, stamp: Stamp, layout: Layout, spare: dict[str, int]
) -> tuple[list[object], bytes | None]:
    covers, at = stamp.covers, layout.at
    total = len(layout.streams)

    def index_of(stream: str) -> int:
        here = at.get(stream)
        return total + spare.setdefault(stream, len(spare)) if here is None else here

    own: int | list[int] = OWN_SENDER
    own_at: list[int] | None = None
    sender = message.series
    if stamp.own != ((sender, message.seq),):
        streams = [f"{sender}@{topic}" for topic in message.topics]
        own = [n for _, n in stamp.own]
        if [stream for stream, _ in stamp.own] != streams:
            if not all(_is_of(stream, sender) for stream, _ in stamp.own):
                raise InputError(f"{message.id} has an own mark in a stream of others")
            own_at = [index_of(stream) for stream, _ in stamp.own]
            if own == [message.seq] * len(own):
                own = OWN_SEQ
        elif own == [covers.get(stream, 0) + 1 for stream in streams]:
            own = OWN_TOPICS
        elif own == [message.seq] * len(own):
            own = OWN_SEQ
    needs: int | bytes | list[int] = NEEDS_NONE
    lag: list[int] = []
    if stamp.needs:
        pairs = sorted([(index_of(stream), covers.get(stream, 0) - n) for stream, n in stamp.needs])
        indexes = [index for index, _ in pairs]
        lag = [behind for _, behind in pairs]
        if not any(lag):
            lag = []
        if indexes == list(range(total)):
            needs = NEEDS_ALL
        elif len(indexes) > 2 + total // 8 and indexes[-1] < total and len(set(indexes)) == len(indexes):
            needs = bits_of(indexes)
        else:
            needs = deltas(indexes)
    names = None
    nodes = until = None
    if isinstance(stamp.extra, dict):
        until = [until_us - (message.deadline_us or 0) for until_us in layout.pick(stamp.extra)]
    elif stamp.extra is not None:
        names, nodes = encode_nodes(cast("tuple[Node, ...]", stamp.extra))
    row: list[object] = [own, stamp.rank, deltas(layout.pick(covers)), needs, lag, own_at, nodes, until]
    while row and row[-1] == _STAMP_DEFAULTS[len(row) - 1]:
        row.pop()
    return row, names


def _is_of(stream: str, sender: str) -> bool:
    return stream.partition("@")[0] == sender


def are_own(own: tuple[Mark, ...]) -> bool:
    return bool(own) and len(dict(own)) == len(own)


def read_stamp(
    message: Message,
    row: StampRow,
    layout_raw: bytes,
    own_streams: tuple[str, ...],
    spare: tuple[str, ...],
    names: bytes | None,
) -> Stamp:
    numbers = sums(row.covers)
    layout = read_layout(layout_raw, len(numbers))
    streams, group = layout.streams, layout.group
    if len(streams) != len(numbers):
        raise RemoteProtocolError("a stamp whose numbers do not fit its streams")
    if spare:
        streams, group = streams + spare, None
    if row.own_at is not None:
        if row.own_at and min(row.own_at) < 0:
            raise RemoteProtocolError("a negative index of a stream")
        own_streams = tuple([streams[index] for index in row.own_at])
        if not all(_is_of(stream, message.series) for stream in own_streams):
            raise RemoteProtocolError("an own mark in a stream of others")
    own: tuple[Mark, ...] = ()
    if row.own == OWN_SEQ:
        own = tuple([(stream, message.seq) for stream in own_streams])
    elif row.own == OWN_SENDER:
        own = ((message.series, message.seq),)
    elif row.own == OWN_TOPICS:
        covers = dict(zip(layout.streams, numbers, strict=True))
        own = tuple([(stream, covers.get(stream, 0) + 1) for stream in own_streams])
    elif isinstance(row.own, list):
        if min(row.own, default=0) < 0 or max(row.own, default=0) > MAX_NUMBER:
            raise RemoteProtocolError("an own mark outside 0..2^63-1")
        own = tuple(zip(own_streams, row.own, strict=True))
    if len(own) != 1 and not are_own(own):
        raise RemoteProtocolError("no own marks, an unknown form of them, or a stream twice")
    extra: object = None
    if row.nodes is not None and names is not None:
        extra = decode_nodes(names, row.nodes)
    elif row.until is not None:
        times = [message_us + (message.deadline_us or 0) for message_us in row.until]
        if times and not -MAX_NUMBER <= min(times) <= max(times) <= MAX_NUMBER:
            raise RemoteProtocolError("a time that no clock can show")
        extra = dict(zip(layout.streams, times, strict=True))
    places, needed = _read_needs(row, numbers, len(spare)) if row.needs else ((), [])
    return ReadStamp(own, row.rank, extra, streams, numbers, places, needed, group)


def _read_needs(row: StampRow, numbers: list[int], spare: int) -> tuple[Sequence[int], list[int]]:
    """Which streams it needs something of, by their places, and the number of each. Spare streams count from zero."""
    form, total = row.needs, len(numbers)
    places: Sequence[int]
    if isinstance(form, list):
        places = list(accumulate(form))
        if min(places) < 0 or max(places) >= total + spare:
            raise RemoteProtocolError("a need of a stream that is not there")
        if spare:
            numbers = numbers + [0] * spare
    elif isinstance(form, bytes):
        places = list(compress(range(total), marked(form, total)))
    elif form == NEEDS_ALL:
        places = range(total)
    else:
        raise RemoteProtocolError("an unknown form of needs")
    needed = list(map(numbers.__getitem__, places))
    if row.lag:
        if len(row.lag) != len(needed):
            raise RemoteProtocolError("a stamp whose lags do not fit its needs")
        needed = list(map(sub, needed, row.lag))
        if needed and not 0 <= min(needed) <= max(needed) <= MAX_NUMBER:
            raise RemoteProtocolError("a need outside 0..2^63-1")
    return places, needed
