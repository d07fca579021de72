"""A message and its stamp to bytes: what is written, what is derived, and what several frames share.

An envelope is encoded once into *parts* that stay with it: the numbers of the message, the numbers of the stamp, and the
tables of names they refer to. A frame is its envelopes' parts with each distinct table once; so the size of a frame is a
sum, and measuring is adding. Derived instead of written: `own` where it follows from sender, seq, topics and `covers`;
`needs` as indexes into `covers`; deadlines relative to the rank (close where the rank is a clock).
The marks of `needs` come back in the layout's order: they are a set.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import compress
from typing import TypeAlias, cast

from msgspec import Raw, Struct
from msgspec.msgpack import Decoder, Encoder

from antecede.core.message import NO_STAMP, Envelope, Mark, Message, Stamp
from antecede.errors import InputError, RemoteProtocolError
from antecede.wire.limits import MAX_NUMBER, MAX_PAYLOAD
from antecede.wire.names import (
    EMPTY,
    Layout,
    bits_of,
    deltas,
    joined,
    layout_for,
    marked,
    read_layout,
    split_names,
    sums,
)
from antecede.wire.nodes import Node, NodesRow, decode_nodes, encode_nodes

__all__ = ["BatchRow", "Parts", "array_size", "batch_row", "batch_size", "bin_size", "pack", "parts_of", "read_batch"]

pack = Encoder().encode

OWN_NONE, OWN_SENDER, OWN_TOPICS = 0, 1, 2
"""No own marks; (sender, seq); one per topic, each one above what `covers` says of that stream."""
NEEDS_NONE, NEEDS_ALL = 0, 1


class NoteRow(Struct, array_like=True, forbid_unknown_fields=True, gc=False):
    seq: int
    deadline: int | None = None
    """Less the rank."""
    expires: int | None = None
    """Less the deadline, or the rank where there is none."""


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


_STAMP_DEFAULTS: tuple[object, ...] = (OWN_NONE, 0, [], NEEDS_NONE, [], None, None)

BatchRow: TypeAlias = tuple[list[bytes], list[bytes], list[int], list[Raw], list[Raw], list[bytes]]
"""Heads (sender, topics, spare streams); tables (layouts, names of nodes); for each envelope the index of its head, of its
layout and, with nodes, of their names; notes; stamps; payloads (none at all where only headers travel)."""

read_note = Decoder(NoteRow).decode
read_stamp = Decoder(StampRow).decode


class Parts:
    """One envelope, encoded; tables are not in `note` and `stamp`, so that frames can share them."""

    __slots__ = ("head", "layout", "names", "note", "stamp")

    def __init__(self, head: bytes, layout: bytes, names: bytes | None, note: bytes, stamp: bytes) -> None:
        self.head = head
        self.layout = layout
        self.names = names
        self.note = note
        self.stamp = stamp


def parts_of(envelope: Envelope) -> Parts:
    """Encodes on the first call; `size` and `stamp_size` then say what the envelope costs in a frame of its own."""
    if envelope.wire is not None:
        return cast(Parts, envelope.wire)
    message, stamp = envelope.message, envelope.stamp
    if len(message.payload) > MAX_PAYLOAD:
        raise InputError(f"the payload of {message.id} has {len(message.payload)} bytes; at most {MAX_PAYLOAD} travel")
    layout = layout_for(stamp.covers)
    spare: dict[str, int] = {}
    row, names = _stamp_row(message, stamp, layout, spare)
    head = joined((message.sender, *message.topics))
    if spare:
        head += b"\xff" + joined(tuple(spare))
    note: list[int] = [message.seq]
    if message.deadline_us is not None:
        note.append(message.deadline_us - stamp.rank)
    if message.expires_us is not None:
        base_us = stamp.rank if message.deadline_us is None else message.deadline_us
        note += cast("list[int]", [None] * (2 - len(note)))
        note.append(message.expires_us - base_us)
    return _keep(envelope, Parts(head, layout.raw, names, pack(note), pack(row)))


def batch_row(envelopes: Iterable[Envelope], bare: bool = False) -> BatchRow:
    """`bare`: headers only, payloads stay here."""
    heads: dict[bytes, int] = {}
    tables: dict[bytes, int] = {}
    refs: list[int] = []
    notes: list[Raw] = []
    stamps: list[Raw] = []
    payloads: list[bytes] = []
    for envelope in envelopes:
        parts = parts_of(envelope)
        refs.append(heads.setdefault(parts.head, len(heads)))
        refs.append(tables.setdefault(parts.layout, len(tables)))
        if parts.names is not None:
            refs.append(tables.setdefault(parts.names, len(tables)))
        notes.append(Raw(parts.note))
        stamps.append(Raw(parts.stamp))
        if not bare:
            payloads.append(envelope.message.payload)
    return list(heads), list(tables), refs, notes, stamps, payloads


def batch_size(envelopes: Sequence[Envelope], bare: bool = False) -> tuple[int, int]:
    """(bytes, control bytes) of `pack(batch_row(...))`, without building it."""
    if len(envelopes) == 1 and not bare:
        envelope = envelopes[0]
        if envelope.size < 0:
            parts_of(envelope)
        return envelope.size + 7, envelope.stamp_size  # seven array headers
    heads: dict[bytes, int] = {}
    tables: dict[bytes, int] = {}
    size = control = refs = 0
    for envelope in envelopes:
        parts = parts_of(envelope)
        at = heads.setdefault(parts.head, len(heads))
        size += len(parts.note) + (1 if at < 128 else 2 if at < 256 else 3 if at < 65_536 else 5)
        for table in (parts.layout,) if parts.names is None else (parts.layout, parts.names):
            at = tables.setdefault(table, len(tables))
            control += 1 if at < 128 else 2 if at < 256 else 3 if at < 65_536 else 5
            refs += 1
        control += len(parts.stamp)
        if not bare:
            size += bin_size(envelope.message.payload)
    control += sum(map(bin_size, tables))
    count = len(envelopes)
    headers = 1 + array_size(len(heads)) + array_size(len(tables)) + array_size(count + refs)
    headers += 2 * array_size(count) + array_size(0 if bare else count)
    return headers + size + sum(map(bin_size, heads)) + control, control


def read_batch(row: BatchRow, bare: bool = False) -> tuple[Envelope, ...]:
    heads, tables, refs, notes, stamps, payloads = row
    if len(stamps) != len(notes) or len(payloads) != (0 if bare else len(notes)):
        raise RemoteProtocolError("a batch whose columns differ in length")
    if payloads and max(map(len, payloads)) > MAX_PAYLOAD:
        raise RemoteProtocolError(f"a payload of more than {MAX_PAYLOAD} bytes")
    if refs and min(refs) < 0:
        raise RemoteProtocolError("a reference to no table")
    left = iter(refs)
    envelopes = []
    for index, note_raw in enumerate(notes):
        head, layout_raw = heads[next(left)], tables[next(left)]
        stamp_raw = stamps[index]
        note, row_ = read_note(note_raw), read_stamp(stamp_raw)
        names = None if row_.nodes is None else tables[next(left)]
        if head.find(b"\xff") < 0:
            sender, *rest = split_names(head)
            spare: tuple[str, ...] = ()
        else:
            first, _, second = head.partition(b"\xff")
            sender, *rest = split_names(first)
            spare = split_names(second)
        topics = tuple(rest)
        if not 0 <= note.seq <= MAX_NUMBER:
            raise RemoteProtocolError("a sequence number outside 0..2^63-1")
        deadline_us = None if note.deadline is None else note.deadline + row_.rank
        base_us = row_.rank if deadline_us is None else deadline_us
        expires_us = None if note.expires is None else note.expires + base_us
        if max(abs(deadline_us or 0), abs(expires_us or 0)) > MAX_NUMBER:
            raise RemoteProtocolError("a time that no clock can show")
        message = Message(sender, note.seq, topics, b"" if bare else payloads[index], deadline_us, expires_us)
        stamp = _read_stamp(message, row_, layout_raw, spare, names)
        envelope = Envelope(message, stamp)
        _keep(envelope, Parts(head, layout_raw, names, bytes(note_raw), bytes(stamp_raw)))
        envelopes.append(envelope)
    if next(left, None) is not None:
        raise RemoteProtocolError("more references than envelopes")
    return tuple(envelopes)


def bin_size(data: bytes) -> int:
    length = len(data)
    return length + (2 if length < 256 else 3 if length < 65_536 else 5)


def array_size(length: int) -> int:
    return 1 if length < 16 else 3 if length < 65_536 else 5


def _keep(envelope: Envelope, parts: Parts) -> Parts:
    control = bin_size(parts.layout) + 1 + len(parts.stamp)
    if parts.names is not None:
        control += 1 + (0 if parts.names == parts.layout else bin_size(parts.names))
    envelope.stamp_size = control
    envelope.size = control + bin_size(parts.head) + 1 + len(parts.note) + bin_size(envelope.message.payload)
    envelope.wire = parts
    return parts


def _stamp_row(
    message: Message, stamp: Stamp, layout: Layout, spare: dict[str, int]
) -> tuple[list[object], bytes | None]:
    covers, at = stamp.covers, layout.at
    total = len(layout.streams)

    def index_of(stream: str) -> int:
        here = at.get(stream)
        return total + spare.setdefault(stream, len(spare)) if here is None else here

    own: int | list[int] = OWN_NONE
    own_at: list[int] | None = None
    if stamp.own:
        if stamp.own == ((message.sender, message.seq),):
            own = OWN_SENDER
        else:
            if stamp.own == _next_marks(message, covers):
                own = OWN_TOPICS
            else:
                own = [n for _, n in stamp.own]
                if [stream for stream, _ in stamp.own] != [f"{message.sender}@{topic}" for topic in message.topics]:
                    own_at = [index_of(stream) for stream, _ in stamp.own]
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
    nodes = None
    if stamp.extra is not None:
        names, nodes = encode_nodes(cast("tuple[Node, ...]", stamp.extra))
    row: list[object] = [own, stamp.rank, deltas(layout.pick(covers)), needs, lag, own_at, nodes]
    while row and row[-1] == _STAMP_DEFAULTS[len(row) - 1]:
        row.pop()
    return row, names


def _read_stamp(
    message: Message, row: StampRow, layout_raw: bytes, spare: tuple[str, ...], names: bytes | None
) -> Stamp:
    numbers = sums(row.covers)
    layout = read_layout(layout_raw, len(numbers)) if layout_raw else EMPTY
    streams = layout.streams
    if len(streams) != len(numbers) or not 0 <= row.rank <= MAX_NUMBER:
        raise RemoteProtocolError("a stamp whose numbers do not fit its streams")
    covers = dict(zip(streams, numbers))
    own: tuple[Mark, ...] = ()
    if row.own == OWN_SENDER:
        own = ((message.sender, message.seq),)
    elif row.own == OWN_TOPICS:
        own = _next_marks(message, covers)
    elif isinstance(row.own, list):
        if row.own_at is None:
            at = [f"{message.sender}@{topic}" for topic in message.topics]
        else:
            at = [_stream(streams, spare, index) for index in row.own_at]
        if len(at) != len(row.own) or min(row.own, default=0) < 0 or max(row.own, default=0) > MAX_NUMBER:
            raise RemoteProtocolError("own marks that do not fit their streams")
        own = tuple(zip(at, row.own))
    elif row.own != OWN_NONE:
        raise RemoteProtocolError("an unknown form of own marks")
    extra = None if row.nodes is None or names is None else decode_nodes(names, row.nodes)
    if not (own or covers or row.needs or row.rank) and extra is None:
        return NO_STAMP
    return Stamp(own, _read_needs(row, streams, spare, covers), covers, row.rank, extra)


def _read_needs(
    row: StampRow, streams: tuple[str, ...], spare: tuple[str, ...], covers: Mapping[str, int]
) -> tuple[Mark, ...]:
    form = row.needs
    marks: tuple[Mark, ...]
    if isinstance(form, list):
        named = [_stream(streams, spare, index) for index in sums(form)]
        marks = tuple((stream, covers.get(stream, 0)) for stream in named)
    elif isinstance(form, bytes):
        marks = tuple(compress(covers.items(), marked(form, len(streams))))
    elif form == NEEDS_ALL:
        marks = tuple(covers.items())
    elif form == NEEDS_NONE:
        marks = ()
    else:
        raise RemoteProtocolError("an unknown form of needs")
    if row.lag:
        if len(row.lag) != len(marks):
            raise RemoteProtocolError("a stamp whose needs and lags differ in number")
        marks = tuple((stream, n - behind) for (stream, n), behind in zip(marks, row.lag))
        if min(n for _, n in marks) < 0:
            raise RemoteProtocolError("a need below zero")
    return marks


def _next_marks(message: Message, covers: Mapping[str, int]) -> tuple[Mark, ...]:
    sender = message.sender
    streams = [f"{sender}@{topic}" for topic in message.topics]
    return tuple((stream, covers.get(stream, 0) + 1) for stream in streams)


def _stream(streams: tuple[str, ...], spare: tuple[str, ...], index: int) -> str:
    if index < 0:
        raise RemoteProtocolError("a negative index of a stream")
    return streams[index] if index < len(streams) else spare[index - len(streams)]
