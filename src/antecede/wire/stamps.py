"""A stamp to numbers and back: what is written, what is derived, and what waits until somebody looks.

Derived instead of written: `own` where it follows from sender, seq, topics and `covers`; `needs` as indexes into
`covers`. The marks of `needs` come back in the layout's order: they are a set.
Whatever could be wrong with a stamp is found when it comes. But `covers` and `needs` are put together only when
somebody asks for them (`ReadStamp`): most who receive a message deliver it and never look. And stamps of one sender
differ in their numbers only: what else there is to look at, their `Shape`, is looked at once.
A message has own marks, none of them twice, in streams of its sender: orders count on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, compress
from typing import TypeAlias, cast

from msgspec import Struct
from msgspec.msgpack import Decoder

from antecede.core.message import Mark, Message, Stamp, series_of
from antecede.errors import InputError, RemoteProtocolError
from antecede.wire.limits import MAX_NUMBER
from antecede.wire.names import BUDGET, Layout, Memo, bits_of, deltas, marked, read_layout
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
    covers: tuple[int, ...] = ()
    needs: int | bytes | tuple[int, ...] = NEEDS_NONE
    """NEEDS_*, a bitmap over `covers`, or indexes."""
    lag: tuple[int, ...] = ()
    """What the needs are less than their covers; empty: nothing."""
    own_at: tuple[int, ...] | None = None
    """Indexes of the own streams; None: one per topic."""
    nodes: NodesRow | None = None
    until: tuple[int, ...] | None = None
    """How much later than it the newest cause of each stream expires (usually sooner: below zero)."""


_STAMP_DEFAULTS: tuple[object, ...] = (OWN_NONE, 0, [], NEEDS_NONE, (), None, None, None)

read_stamp_row = Decoder(StampRow).decode


class ReadStamp(Stamp):
    """A stamp that came. `covers` and `needs` are there from the first look on; until then Python finds no such
    attribute, and asks `__getattr__`."""

    __slots__ = ("_numbers", "_shape")
    SAVED_AS = Stamp

    def __init__(self, own: tuple[Mark, ...], rank: int, extra: object, shape: Shape, numbers: tuple[int, ...]) -> None:
        self.own, self.rank, self.extra = own, rank, extra
        self._shape, self._numbers = shape, numbers

    def __getattr__(self, name: str) -> object:
        if name == "covers":
            self.covers = dict(zip(self._shape.streams, self._numbers, strict=False))  # spare streams have no number
            return self.covers
        if name == "needs":
            self.needs = self._shape.needs(self._numbers)
            return self.needs
        raise AttributeError(name)

    def newest_needs(self) -> tuple[Mark, ...]:
        return self._shape.newest_needs(self._numbers)

    def is_next_of(self, last: ReadStamp) -> bool:
        """The usual case of a stamp that follows from another one (`wire/following.py`), seen without looking at what
        either covers or needs: they differ in numbers only, in those of their own stream only, and there by one.
        False: a closer look may still find that it follows."""
        shape, own = self._shape, self.own
        place, mine, others = shape.chained, self._numbers, last._numbers
        if shape is not last._shape or place is None or self.rank != last.rank + 1:
            return False
        before = own[0][1] - 1
        if own[0][0] != shape.own_streams[0] or last.own[0][1] != before or self.extra is not None:
            return False
        if mine[place] != before or others[place] != before - 1:
            return False
        return mine[:place] == others[:place] and mine[place + 1 :] == others[place + 1 :] and last.extra is None

    def reaches_out(self) -> bool:
        own, shape = self.own, self._shape
        if shape.stays and len(own) == 1 and own[0][0] == shape.own_streams[0]:
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
    needs: Needs = NEEDS_NONE
    lag: Sequence[int] = ()
    if stamp.needs:
        try:  # the usual case: it covers all that it needs
            pairs = tuple(sorted([(at[stream], covers[stream] - n) for stream, n in stamp.needs]))
        except KeyError:
            pairs = tuple(sorted([(index_of(stream), covers.get(stream, 0) - n) for stream, n in stamp.needs]))
        needs, lag = _written.get((pairs, total)) or _write_needs(pairs, total)
    names = None
    nodes = until = None
    if isinstance(stamp.extra, dict):
        if stamp.extra.keys() != covers.keys():
            raise InputError(f"{message.id} has an extra that cannot travel: one time for each stream in `covers` can")
        until = [until_us - (message.deadline_us or 0) for until_us in layout.pick(stamp.extra)]
    elif stamp.extra is not None:
        if not isinstance(stamp.extra, tuple):
            raise InputError(f"{message.id} has an extra that cannot travel: a tuple of nodes of the context graph can")
        names, nodes = encode_nodes(cast("tuple[Node, ...]", stamp.extra))
    row: list[object] = [own, stamp.rank, deltas(layout.pick(covers)), needs, lag, own_at, nodes, until]
    while row and row[-1] == _STAMP_DEFAULTS[len(row) - 1]:
        row.pop()
    return row, names


Needs: TypeAlias = int | bytes | tuple[int, ...]

_written: Memo[tuple[Needs, tuple[int, ...]]] = Memo(BUDGET)


def _write_needs(pairs: tuple[tuple[int, int], ...], total: int) -> tuple[Needs, tuple[int, ...]]:
    """Needs and lags of a row, of a stamp that covers `total` streams. A sender needs the same again and again: the
    newest of a stream, and so many before it."""
    indexes = [index for index, _ in pairs]
    lag = tuple([behind for _, behind in pairs])
    if not any(lag):
        lag = ()
    needs: Needs
    if indexes == list(range(total)):
        needs = NEEDS_ALL
    elif len(indexes) > 2 + total // 8 and indexes[-1] < total and len(set(indexes)) == len(indexes):
        needs = bits_of(indexes)
    else:
        needs = tuple(deltas(indexes))
    return _written.put((pairs, total), (needs, lag), 1 + len(pairs))


def _is_of(stream: str, sender: str) -> bool:
    return stream.partition("@")[0] == sender


def are_own(own: tuple[Mark, ...]) -> bool:
    return bool(own) and len(dict(own)) == len(own)


class Shape:
    """All of a stamp but its numbers: which streams it speaks of, which are its own, and which it needs. Its indexes
    are right; whether numbers fit is asked for each stamp (`fits`)."""

    __slots__ = ("_floors", "_lag", "_newest", "_places", "_total", "chained", "own_streams", "stays", "streams")

    def __init__(self, row: StampRow, layout: Layout, own_streams: tuple[str, ...], spare: tuple[str, ...]) -> None:
        total = self._total = len(layout.streams)
        if total != len(row.covers):
            raise RemoteProtocolError("a stamp whose numbers do not fit its streams")
        self.streams = layout.streams + spare
        """Of `covers`, then those that are only needed."""
        if row.own_at is not None:
            if row.own_at and min(row.own_at) < 0:
                raise RemoteProtocolError("a negative index of a stream")
            sender = series_of(own_streams[0])
            own_streams = tuple([self.streams[index] for index in row.own_at])
            if not all(_is_of(stream, sender) for stream in own_streams):
                raise RemoteProtocolError("an own mark in a stream of others")
        self.own_streams = own_streams
        group = None if spare else layout.group
        self.stays = group is not None and len(own_streams) == 1 and own_streams[0].partition("@")[2] == group
        """Whether all streams it speaks of are of one group, which is also that of its only own stream."""
        self._places = _places_of(row.needs, total, len(spare))
        """Of the needs among `streams`."""
        self._lag = row.lag
        if row.lag and len(row.lag) != len(self._places):
            raise RemoteProtocolError("a stamp whose lags do not fit its needs")
        self.chained = self._own_chain()
        lags: dict[int, list[int]] = {}
        for place, lag in zip(self._places, row.lag, strict=False):
            lags.setdefault(place, []).append(lag)
        self._floors = [(place, max(some), min(0, *some)) for place, some in lags.items()]
        """Between which numbers a stream's must be so that each need is a number too."""
        least = {place: min(some) for place, some in lags.items()} if lags else dict.fromkeys(self._places, 0)
        self._newest = [(self.streams[place], place, lag) for place, lag in least.items()]

    def _own_chain(self) -> int | None:
        """The place of its only own stream, if it needs of that stream the newest ones, however many, and nothing else.

        Example: p:8 covers {p@G: 7, q@G: 3} and needs p@G:7, p@G:6 and p@G:5, with the lags 0, 1, 2."""
        if len(self.own_streams) != 1 or self.own_streams[0] not in self.streams[: self._total]:
            return None
        place = self.streams.index(self.own_streams[0])
        lags = self._lag or (0,) * len(self._places)
        chained = len(lags) > 0 and set(self._places) == {place} and sorted(lags) == list(range(len(lags)))
        return place if chained else None

    def fits(self, numbers: tuple[int, ...]) -> bool:
        """Whether each need is a number."""
        total = self._total
        for place, most, least in self._floors:
            n = numbers[place] if place < total else 0
            if n < most or n - least > MAX_NUMBER:
                return False
        return True

    def newest_needs(self, numbers: tuple[int, ...]) -> tuple[Mark, ...]:
        total = self._total
        return tuple([(stream, (numbers[at] if at < total else 0) - lag) for stream, at, lag in self._newest])

    def needs(self, numbers: tuple[int, ...]) -> tuple[Mark, ...]:
        streams, numbers = self.streams, numbers + (0,) * (len(self.streams) - self._total)
        if self._lag:
            pairs = zip(self._places, self._lag, strict=True)
            return tuple([(streams[place], numbers[place] - lag) for place, lag in pairs])
        return tuple([(streams[place], numbers[place]) for place in self._places])


_shapes: Memo[Shape] = Memo(BUDGET)


def _shape_of(row: StampRow, layout_raw: bytes, own_streams: tuple[str, ...], spare: tuple[str, ...]) -> Shape:
    key = layout_raw, own_streams, spare, len(row.covers), row.own_at, row.needs, row.lag
    known = _shapes.get(key)
    if known is not None:
        return known
    shape = Shape(row, read_layout(layout_raw, len(row.covers)), own_streams, spare)
    return _shapes.put(key, shape, 4 + len(shape.streams) + len(row.lag))


def read_stamp(
    message: Message,
    row: StampRow,
    layout_raw: bytes,
    own_streams: tuple[str, ...],
    spare: tuple[str, ...],
    names: bytes | None,
) -> Stamp:
    numbers = row.covers
    if numbers:
        if len(numbers) > 1:
            numbers = tuple(accumulate(numbers))
        if min(numbers) < 0 or max(numbers) > MAX_NUMBER:
            raise RemoteProtocolError("a counter lies outside 0..2^63-1")
    shape = _shape_of(row, layout_raw, own_streams, spare)
    if not shape.fits(numbers):
        raise RemoteProtocolError("a need outside 0..2^63-1")
    own: tuple[Mark, ...] = ()
    own_streams, form = shape.own_streams, row.own
    if form == OWN_SEQ:
        if len(own_streams) == 1:  # the usual case
            own = ((own_streams[0], message.seq),)
        else:
            own = tuple([(stream, message.seq) for stream in own_streams])
    elif form == OWN_SENDER:
        own = ((message.series, message.seq),)
    elif form == OWN_TOPICS:
        covers = dict(zip(shape.streams, numbers, strict=False))
        own = tuple([(stream, covers.get(stream, 0) + 1) for stream in own_streams])
        if any(n > MAX_NUMBER for _, n in own):
            raise RemoteProtocolError("an own mark outside 0..2^63-1")
    elif isinstance(form, list):
        if min(form, default=0) < 0 or max(form, default=0) > MAX_NUMBER:
            raise RemoteProtocolError("an own mark outside 0..2^63-1")
        own = tuple(zip(own_streams, form, strict=True))
    if len(own) != 1 and not are_own(own):
        raise RemoteProtocolError("no own marks, an unknown form of them, or a stream twice")
    extra: object = None
    if row.nodes is not None and names is not None:
        extra = decode_nodes(names, row.nodes)
    elif row.until is not None:
        times = [message_us + (message.deadline_us or 0) for message_us in row.until]
        if times and not -MAX_NUMBER <= min(times) <= max(times) <= MAX_NUMBER:
            raise RemoteProtocolError("a time that no clock can show")
        extra = dict(zip(shape.streams[: len(numbers)], times, strict=True))
    return ReadStamp(own, row.rank, extra, shape, numbers)


def _places_of(needs: int | bytes | tuple[int, ...], total: int, spare: int) -> Sequence[int]:
    """Which streams it needs something of, by their places. Spare streams count on."""
    if isinstance(needs, tuple):
        places = tuple(accumulate(needs))
        if places and (min(places) < 0 or max(places) >= total + spare):
            raise RemoteProtocolError("a need of a stream that is not there")
        return places
    if isinstance(needs, bytes):
        return tuple(compress(range(total), marked(needs, total)))
    if needs not in (NEEDS_NONE, NEEDS_ALL):
        raise RemoteProtocolError("an unknown form of needs")
    return range(total) if needs == NEEDS_ALL else ()
