"""A message and its stamp to bytes: what is written, what is derived, and what several frames share.

An envelope is encoded once into *parts* that stay with it: the numbers of the message, the numbers of the stamp
(`wire/stamps.py`), and the tables of names they refer to. A frame is its envelopes' parts with each distinct table
once; so the size of a frame is a sum, and measuring is adding. Deadlines are relative to the rank (close where the rank
is a clock). A message has topics, none of them twice. `brief`: stamps that follow from another one of the frame are
not written (`wire/following.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat
from sys import intern
from typing import TypeAlias, cast

from msgspec import Raw, Struct
from msgspec.msgpack import Decoder, Encoder

from antecede.core.message import LOOSE, ORDERS, Envelope, Message, Stamp
from antecede.core.names import MAX_TOPICS
from antecede.errors import InputError, RemoteProtocolError
from antecede.wire.following import FOLLOWS, FollowingStamp, following
from antecede.wire.limits import MAX_CELLS, MAX_NUMBER, MAX_PAYLOAD, MAX_RANK
from antecede.wire.names import BUDGET, Memo, joined, layout_for, split_names
from antecede.wire.nodes import are_groups, cells_of
from antecede.wire.stamps import StampRow, are_own, read_stamp, read_stamp_row, stamp_row

__all__ = [
    "BatchRow",
    "BriefRow",
    "Parts",
    "array_size",
    "batch_control",
    "batch_row",
    "batch_size",
    "bin_size",
    "pack",
    "packed_batch",
    "parts_of",
    "read_batch",
    "read_brief",
    "read_in_parts",
    "weigh",
]

pack = Encoder().encode


class NoteRow(Struct, array_like=True, forbid_unknown_fields=True, gc=False):
    seq: int
    deadline: int | None = None
    """Less the rank."""
    expires: int | None = None
    """Less the deadline, or the rank where there is none."""
    order: int = 0
    """Which of ORDERS."""


BatchRow: TypeAlias = tuple[list[bytes], list[bytes], list[int], list[Raw], list[Raw], list[bytes]]
"""Heads (sender, topics, spare streams); tables (layouts, names of nodes); for each envelope the index of its head, of
its layout and, with nodes, of their names; notes; stamps; payloads (none at all where only headers travel). Of a stamp
that is not written there is no layout either."""

BriefRow: TypeAlias = tuple[list[bytes], list[bytes], list[int], list[NoteRow], Raw, list[bytes]]
"""The same, as a client reads it."""

Parts: TypeAlias = tuple[bytes, bytes, bytes | None, bytes, bytes]
"""One envelope, encoded: head, layout, names of nodes, note, stamp. Tables stay apart so that frames can share them."""

read_note = Decoder(NoteRow).decode
read_stamp_rows = Decoder(list[StampRow | None]).decode
"""None: FOLLOWS."""

TOO_MANY_CELLS = f"more than {MAX_CELLS} own marks and groups of nodes in one batch"

_CAUSAL, _NONE = ORDERS.index("causal"), ORDERS.index("none")

Head: TypeAlias = tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]
"""Sender, topics, the sender's streams in these topics, spare streams."""
_heads: Memo[Head] = Memo(BUDGET)


def parts_of(envelope: Envelope) -> Parts:
    """Encodes on the first call and keeps the result in the envelope."""
    if envelope.wire is not None:
        return cast(Parts, envelope.wire)
    message, stamp = envelope.message, envelope.stamp
    if len(message.payload) > MAX_PAYLOAD:
        raise InputError(f"the payload of {message.id} has {len(message.payload)} bytes; at most {MAX_PAYLOAD} travel")
    if not are_groups(message.topics) or not are_own(stamp.own):
        raise InputError(f"{message.id} has none or too many of topics or own marks, or one of them twice")
    layout = layout_for(stamp.covers)
    spare: dict[str, int] = {}
    row, names = stamp_row(message, stamp, layout, spare)
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
    if message.order != "causal":
        note += cast("list[int]", [None] * (3 - len(note)))
        note.append(ORDERS.index(message.order))
    parts = head, layout.raw, names, pack(note), pack(row)
    envelope.wire = parts
    return parts


def weigh(envelope: Envelope) -> tuple[int, int]:
    """(bytes, control bytes) of this envelope in a frame of its own; remembered in the envelope."""
    if envelope.size < 0:
        head, layout, names, note, stamp = parts_of(envelope)
        control = bin_size(layout) + 1 + len(stamp)
        if names is not None:
            control += 1 + (0 if names == layout else bin_size(names))
        envelope.stamp_size = control
        envelope.size = control + bin_size(head) + 1 + len(note) + bin_size(envelope.message.payload)
    return envelope.size, envelope.stamp_size


def batch_row(envelopes: Sequence[Envelope], bare: bool = False, brief: bool = False) -> BatchRow:
    """`bare`: headers only, payloads stay here."""
    heads: dict[bytes, int] = {}
    tables: dict[bytes, int] = {}
    refs: list[int] = []
    notes: list[Raw] = []
    stamps: list[Raw] = []
    payloads: list[bytes] = []
    cells = 0
    for envelope, follows in zip(envelopes, following(envelopes) if brief else repeat(False), strict=False):
        cells += cells_of(envelope.stamp)
        head, layout, names, note, stamp = parts_of(envelope)
        refs.append(heads.setdefault(head, len(heads)))
        if not follows:
            refs.append(tables.setdefault(layout, len(tables)))
            if names is not None:
                refs.append(tables.setdefault(names, len(tables)))
        notes.append(Raw(note))
        stamps.append(Raw(FOLLOWS if follows else stamp))
        if not bare:
            payloads.append(envelope.message.payload)
    if cells > MAX_CELLS:
        raise InputError(f"{cells} own marks and groups of nodes in one batch; at most {MAX_CELLS} are sent")
    return list(heads), list(tables), refs, notes, stamps, payloads


Packed: TypeAlias = tuple[Raw, int, int]
"""A batch, its bytes and, of those, control bytes."""

_recent: tuple[tuple[Envelope, ...], Packed] = ((), (Raw(pack(([], [], [], [], [], []))), 7, 0))


def packed_batch(envelopes: tuple[Envelope, ...]) -> Packed:
    """`batch_row`, brief, packed. A broker hands the same batch to one subscriber after the other: the last is kept."""
    global _recent
    known, packed = _recent
    if known != envelopes:  # envelopes compare by identity
        data = pack(batch_row(envelopes, brief=True))
        packed = Raw(data), len(data), batch_size(envelopes, brief=True)[1]
        _recent = envelopes, packed
    return packed


def batch_size(envelopes: Sequence[Envelope], bare: bool = False, brief: bool = False) -> tuple[int, int]:
    """(bytes, control bytes) of `pack(batch_row(...))`, without building it."""
    if len(envelopes) == 1 and not bare:
        size, control = weigh(envelopes[0])
        return size + 7, control  # seven array headers
    heads: dict[bytes, int] = {}
    tables: dict[bytes, int] = {}
    size = control = refs = 0
    for envelope, follows in zip(envelopes, following(envelopes) if brief else repeat(False), strict=False):
        head, layout, names, note, stamp = parts_of(envelope)
        at = heads.setdefault(head, len(heads))
        size += len(note) + (1 if at < 128 else 2 if at < 256 else 3 if at < 65_536 else 5)
        if not bare:
            size += bin_size(envelope.message.payload)
        if follows:
            control += len(FOLLOWS)
            continue
        for table in (layout,) if names is None else (layout, names):
            at = tables.setdefault(table, len(tables))
            control += 1 if at < 128 else 2 if at < 256 else 3 if at < 65_536 else 5
            refs += 1
        control += len(stamp)
    control += sum(map(bin_size, tables))
    count = len(envelopes)
    headers = 1 + array_size(len(heads)) + array_size(len(tables)) + array_size(count + refs)
    headers += 2 * array_size(count) + array_size(0 if bare else count)
    return headers + size + sum(map(bin_size, heads)) + control, control


def batch_control(row: BatchRow | BriefRow) -> int | None:
    """Control bytes of a batch as it came; None where references to tables have different sizes."""
    _, tables, refs, notes, stamps, _ = row
    if refs and max(refs) > 127:
        return None
    written = len(stamps) - array_size(len(notes)) if isinstance(stamps, Raw) else sum(map(len, stamps))
    return written + sum(map(bin_size, tables)) + len(refs) - len(notes)


def read_batch(row: BatchRow, bare: bool = False) -> tuple[Envelope, ...]:
    """`bare`: headers only. What came encoded stays with each envelope: brokers pass it on."""
    parts = list(read_in_parts(row, len(row[3]), bare))
    return parts[0] if parts else ()


def read_in_parts(row: BatchRow, most: int, bare: bool = False) -> Iterator[tuple[Envelope, ...]]:
    """The same, `most` at a time: each part is read when it is asked for."""
    heads, tables, refs, notes, stamps, payloads = row
    _check_columns(refs, len(notes), len(stamps), payloads, bare)
    left = iter(refs)
    envelopes: list[Envelope] = []
    cells = 0
    for index, (note_raw, stamp_raw) in enumerate(zip(notes, stamps, strict=True)):
        try:
            head, note = heads[next(left)], read_note(note_raw)
            layout, stamp_row = tables[next(left)], read_stamp_row(stamp_raw)
            names = None if stamp_row.nodes is None else tables[next(left)]
            message, own_streams, spare = _read_message(head, note, stamp_row.rank, b"" if bare else payloads[index])
            stamp = read_stamp(message, stamp_row, layout, own_streams, spare, names)
        except StopIteration:  # which a generator must not let out
            raise RemoteProtocolError("fewer references, or fewer names, than envelopes need") from None
        parts = head, layout, names, bytes(note_raw), bytes(stamp_raw)
        envelopes.append(Envelope(message, stamp, -1, -1, parts))
        cells += cells_of(stamp) if names is not None else len(stamp.own)
        if cells > MAX_CELLS:
            raise RemoteProtocolError(TOO_MANY_CELLS)
        if len(envelopes) == most and index + 1 < len(notes):
            yield tuple(envelopes)
            envelopes = []
    if next(left, None) is not None:
        raise RemoteProtocolError("more references than envelopes")
    if envelopes:
        yield tuple(envelopes)


def read_brief(row: BriefRow) -> list[Envelope]:
    """A batch of a frame to a client, where stamps may be left out that follow. Clients pass nothing on.

    Most messages are the next of a run: of the same sender and topics as the one before them in the frame, with the
    number after its, no deadline, and a stamp that follows. Of such a one nothing is left to look at but its number."""
    heads, tables, refs, notes, stamps_raw, payloads = row
    stamps = read_stamp_rows(stamps_raw)
    _check_columns(refs, len(notes), len(stamps), payloads, False)
    left = iter(refs)
    envelopes = []
    cells = 0
    last: dict[str, Stamp] = {}
    stamp: Stamp | None = None
    run: FollowingStamp | None = None
    place, series, sender, topics = -1, "", "", tuple[str, ...]()
    for note, written, payload in zip(notes, stamps, payloads, strict=True):
        here, seq = next(left), note.seq
        if (
            run is not None and written is None and here == place and seq == run.seq + 1 <= MAX_NUMBER
            and run.rank < MAX_RANK and note.order == _CAUSAL and note.deadline is None and note.expires is None
        ):  # fmt: skip
            stamp = run = FollowingStamp(run.base, run.streams, seq, run.rank + 1)
            message = Message(sender, seq, topics, payload)
            cells += len(run.streams)
        else:
            if stamp is not None:
                last[series] = stamp
            if written is None:
                sender, topics, _, _ = _heads.get(heads[here]) or _read_head(heads[here])
                stamp = run = FollowingStamp.read(last.get(sender if note.order != _NONE else sender + LOOSE), seq)
                message = _message(sender, topics, note, stamp.rank, payload)
                cells += len(run.streams)
                if note.order != _CAUSAL:
                    run = None
            else:
                layout, run = tables[next(left)], None
                message, own_streams, spare = _read_message(heads[here], note, written.rank, payload)
                names = None if written.nodes is None else tables[next(left)]
                stamp = read_stamp(message, written, layout, own_streams, spare, names)
                cells += cells_of(stamp)
            place, series = here, message.series
        if cells > MAX_CELLS:
            raise RemoteProtocolError(TOO_MANY_CELLS)
        envelopes.append(Envelope(message, stamp))
    if next(left, None) is not None:
        raise RemoteProtocolError("more references than envelopes")
    return envelopes


def _check_columns(refs: list[int], notes: int, stamps: int, payloads: list[bytes], bare: bool) -> None:
    if stamps != notes or len(payloads) != (0 if bare else notes):
        raise RemoteProtocolError("a batch whose columns differ in length")
    if payloads and max(map(len, payloads)) > MAX_PAYLOAD:
        raise RemoteProtocolError(f"a payload of more than {MAX_PAYLOAD} bytes")
    if refs and min(refs) < 0:
        raise RemoteProtocolError("a reference to no table")


def _read_message(
    head: bytes, note: NoteRow, rank: int, payload: bytes
) -> tuple[Message, tuple[str, ...], tuple[str, ...]]:
    """The message, its sender's streams in its topics, and spare streams."""
    sender, topics, own_streams, spare = _heads.get(head) or _read_head(head)
    if note.order == _NONE:
        own_streams = tuple([f"{sender}{LOOSE}@{topic}" for topic in topics])
    return _message(sender, topics, note, rank, payload), own_streams, spare


def _message(sender: str, topics: tuple[str, ...], note: NoteRow, rank: int, payload: bytes) -> Message:
    seq, order, deadline_us, expires_us = note.seq, note.order, note.deadline, note.expires
    if not (0 <= seq <= MAX_NUMBER and 0 <= rank <= MAX_RANK and 0 <= order < len(ORDERS)):
        raise RemoteProtocolError("a sequence number, a rank or an order that is out of bounds")
    if deadline_us is not None or expires_us is not None:
        deadline_us, expires_us = _times(rank, deadline_us, expires_us)
    return Message(sender, seq, topics, payload, deadline_us, expires_us, None, ORDERS[order])


def _times(rank: int, deadline_us: int | None, expires_us: int | None) -> tuple[int | None, int | None]:
    if deadline_us is not None:
        deadline_us += rank
    if expires_us is not None:
        expires_us += rank if deadline_us is None else deadline_us
    if not -MAX_NUMBER <= (deadline_us or 0) <= MAX_NUMBER or not -MAX_NUMBER <= (expires_us or 0) <= MAX_NUMBER:
        raise RemoteProtocolError("a time that no clock can show")
    return deadline_us, expires_us


def bin_size(data: bytes) -> int:
    length = len(data)
    return length + (2 if length < 256 else 3 if length < 65_536 else 5)


def array_size(length: int) -> int:
    return 1 if length < 16 else 3 if length < 65_536 else 5


def _read_head(head: bytes) -> Head:
    first, more, second = head.partition(b"\xff")
    sender, *topics = split_names(first)
    if not are_groups(topics):
        raise RemoteProtocolError(f"a message without topics, with one twice, or with more than {MAX_TOPICS}")
    spare = split_names(second) if more else ()
    streams = tuple(intern(f"{sender}@{topic}") for topic in topics)
    return _heads.put(head, (sender, tuple(topics), streams, spare), 2 + 2 * len(topics) + len(spare))
