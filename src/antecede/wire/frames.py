"""Frames to bytes and back: one pair of functions per kind, in one table; what a frame costs.

A frame is a version byte, a kind byte and one MessagePack value (its integers are varints). Kinds are numbers for ever:
a new kind takes a new one, a changed kind a new version. Everything malformed is a RemoteProtocolError.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias, TypeVar

from msgspec import Meta, MsgspecError, Raw, Struct
from msgspec.msgpack import Decoder

from antecede.core.frames import (
    Ack,
    Attach,
    Attached,
    Data,
    Detach,
    Digest,
    Frame,
    Fuse,
    Fused,
    Gone,
    Grow,
    Grown,
    Item,
    Items,
    Kept,
    PageRequest,
    Publish,
    Published,
    Quiet,
    Received,
    Request,
    Retired,
    Rumours,
    Snapshot,
    SnapshotPage,
    SnapshotRequest,
    Top,
    Want,
)
from antecede.core.message import Envelope
from antecede.errors import InputError, RemoteProtocolError
from antecede.wire.envelopes import (
    BatchRow,
    BriefRow,
    batch_control,
    batch_row,
    batch_size,
    pack,
    packed_batch,
    read_batch,
    read_brief,
    read_in_parts,
)
from antecede.wire.following import next_after, read_next_after
from antecede.wire.limits import MAX_FRAME, MAX_NUMBER
from antecede.wire.names import (
    IdsRow,
    RangesRow,
    deltas,
    filters_row,
    ids_row,
    joined,
    layout_for,
    ranges_row,
    read_filters,
    read_ids,
    read_layout,
    read_ranges,
    split_names,
    sums,
)
from antecede.wire.news import NEWS_KINDS
from antecede.wire.nodes import NodesRow, decode_nodes, encode_nodes

__all__ = ["VERSION", "decode", "decode_in_parts", "encode", "measure"]

VERSION = 1

Number: TypeAlias = Annotated[int, Meta(ge=0, le=MAX_NUMBER)]
MapRow: TypeAlias = tuple[bytes, list[int]]
NextMapRow: TypeAlias = tuple[bytes | None, list[int]]
"""A map after another one; without a layout: the same streams, and how much less each is (none: equal)."""
DigestRow: TypeAlias = tuple[bool, list[NextMapRow]]
"""reply; offer and have, or offer, have, done, stable."""
ItemsRow: TypeAlias = tuple[Number, list[int], list[int | bytes], list[int]]
"""attachment, indexes, `after` bitmaps, positions of the gone. At the end indexes are left out that are one more than
the last; the bitmap of an item that follows from its sender's last one in the frame is NEXT (`wire/following.py`)."""
_read_items_row = Decoder(ItemsRow).decode
SnapshotRow: TypeAlias = tuple[
    MapRow,
    IdsRow,
    BatchRow | None,
    BatchRow | None,
    tuple[bytes, NodesRow] | None,
    list[tuple[str, str, IdsRow]],
    MapRow,
    bool,
]
"""past, cut, envelopes, headers, nodes, origins, dropped, blank."""
NEXT = -1
_FOUR = pack((None,) * 4)[:1]
"""How an array of four begins."""

_MALFORMED = (MsgspecError, ValueError, IndexError, StopIteration, RecursionError)
"""What reading fails with. ValueError: bytes that are not UTF-8, columns of different lengths. IndexError: a reference
to nothing. RecursionError: lists within lists, where something is skipped or kept as it came."""


def encode(frame: Frame) -> bytes:
    kind = _KIND_OF.get(type(frame))
    if kind is None:
        kind_of = type(frame).__name__
        raise InputError(f"{kind_of} is no kind in core/frames.FRAMES: no other travels; Rumours is there for Spreads")
    try:
        data = kind.prefix + pack(kind.row(frame))
    except (OverflowError, UnicodeEncodeError, ValueError) as fault:
        raise InputError(f"a {frame.kind} frame cannot be sent: {fault}") from None
    if len(data) > MAX_FRAME:
        raise InputError(f"a {frame.kind} frame has {len(data)} bytes; at most {MAX_FRAME} are sent")
    if frame.control >= 0:
        frame.size = len(data)
    return data


def decode(data: bytes | memoryview) -> Frame:
    kind = _kind_of(data)
    try:
        frame = kind.frame(kind.parse(memoryview(data)[2:]))
    except _MALFORMED as fault:
        raise RemoteProtocolError(f"a malformed {kind.name} frame: {fault}") from None
    if frame.control >= 0:
        frame.size = len(data)
    return frame


def decode_in_parts(data: bytes | memoryview, most: int) -> Iterator[Frame]:
    """The same; of publications at most so many at a time, each part when it is asked for: a client decides how many
    there are in a frame, and who reads it has others to serve."""
    kind = _kind_of(data)
    try:
        row = kind.parse(memoryview(data)[2:])
        if kind is not _PUBLISH or len(row[1][3]) <= most:
            frame = kind.frame(row)
            if frame.control >= 0:
                frame.size = len(data)
            yield frame
        else:
            bare, batch = row
            for envelopes in read_in_parts(batch, most, bare):
                yield Publish(envelopes, bare)
    except _MALFORMED as fault:
        raise RemoteProtocolError(f"a malformed {kind.name} frame: {fault}") from None


def _kind_of(data: bytes | memoryview) -> Kind:
    if not 3 <= len(data) <= MAX_FRAME:
        raise RemoteProtocolError(f"a frame of {len(data)} bytes")
    if data[0] != VERSION:
        raise RemoteProtocolError(f"wire version {data[0]}; this is version {VERSION}")
    kind = _KINDS.get(data[1])
    if kind is None:
        raise RemoteProtocolError(f"unknown kind of frame: {data[1]}")
    return kind


def measure(frame: Frame) -> tuple[int, int]:
    """(bytes on the wire, of which stamps), exactly what `encode` would make; remembered in the frame."""
    if frame.size >= 0:
        return frame.size, frame.control
    if isinstance(frame, Data):
        size, control = batch_size(frame.envelopes)
        size += 4  # version, kind, the array of two, `answer`
    elif isinstance(frame, Items):
        size, control = _items_size(frame)
    elif isinstance(frame, Publish):
        size, control = batch_size(frame.envelopes, frame.headers_only)
        size += 4
    else:
        size, control = len(encode(frame)), 0
        snapshot = frame.snapshot if isinstance(frame, SnapshotPage) else frame
        if isinstance(snapshot, Snapshot) and snapshot.envelopes:
            control = batch_size(snapshot.envelopes)[1]
        elif isinstance(frame, Gone) and frame.headers:
            control = batch_size(frame.headers, True)[1]
        elif isinstance(frame, Rumours) and frame.envelopes:
            control = batch_size(frame.envelopes)[1]
        elif isinstance(frame, Grown) and frame.items:
            control = _items_size(frame)[1]
    frame.size, frame.control = size, control
    return size, control


def _map_row(numbers: Mapping[str, int]) -> MapRow:
    layout = layout_for(numbers)
    return layout.raw, deltas(layout.pick(numbers))


def _map(row: MapRow) -> dict[str, int]:
    numbers = sums(row[1])
    return dict(zip(read_layout(row[0], len(numbers)).streams, numbers, strict=True))


def _next_map_row(numbers: Mapping[str, int], before: Mapping[str, int]) -> NextMapRow:
    """What is offered, held and done are mostly the same marks: then almost nothing is written."""
    if numbers == before:
        return None, []
    if numbers.keys() != before.keys():
        return _map_row(numbers)
    pick = layout_for(numbers).pick
    return None, [first - second for first, second in zip(pick(before), pick(numbers), strict=True)]


def _next_map(row: NextMapRow, before: dict[str, int]) -> dict[str, int]:
    raw, numbers = row
    if raw is not None:
        return _map((raw, numbers))
    if not numbers:
        return dict(before)
    result = {stream: n - behind for (stream, n), behind in zip(before.items(), numbers, strict=True)}
    if not 0 <= min(result.values()) <= max(result.values()) <= MAX_NUMBER:
        raise RemoteProtocolError("a counter lies outside 0..2^63-1")
    return result


def _digest_row(frame: Digest) -> DigestRow:
    maps = [_map_row(frame.offer), _next_map_row(frame.have, frame.offer)]
    if frame.done or frame.stable:
        maps += [_next_map_row(frame.done, frame.have), _next_map_row(frame.stable, frame.done)]
    return frame.reply, maps


def _digest(row: DigestRow) -> Digest:
    reply, maps = row
    if len(maps) not in (2, 4):
        raise RemoteProtocolError("a digest with some of its parts")
    read: list[dict[str, int]] = []
    for one in maps:
        read.append(_next_map(one, read[-1] if read else {}))
    offer, have, done, stable = read if len(read) == 4 else [*read, {}, {}]
    return Digest(offer, have, done, stable, reply)


B = TypeVar("B", Data, Publish)


def _weighed(frame: B, batch: BatchRow) -> B:
    """What a frame weighs is known as long as it is in bytes: who sends it asks, and who writes records."""
    control = batch_control(batch)
    if control is not None:
        frame.control = control
    return frame


def _data_row(frame: Data) -> tuple[bool, BatchRow]:
    batch = batch_row(frame.envelopes)
    return _weighed(frame, batch).answer, batch


def _publish_row(frame: Publish) -> tuple[bool, BatchRow]:
    batch = batch_row(frame.envelopes, frame.headers_only)
    return _weighed(frame, batch).headers_only, batch


def _items_row(frame: Items | Grown) -> ItemsRow:
    return frame.attachment, *_columns(frame.items)


def _columns(items: tuple[Item, ...]) -> tuple[list[int], list[int | bytes], list[int]]:
    indexes = deltas([item.index for item in items])
    while len(indexes) > 1 and indexes[-1] == 1:
        indexes.pop()
    return indexes, _afters(items), deltas([place for place, item in enumerate(items) if item.gone])


def _afters(items: tuple[Item, ...]) -> list[int | bytes]:
    written: list[int | bytes] = []
    last: dict[str, Item] = {}
    for item in items:
        after, series = item.after, item.envelope.message.series
        before = last.get(series)
        if before is not None and next_after(before.index, before.after, item.index) == after:
            written.append(NEXT)
        else:
            written.append(after if after <= MAX_NUMBER else _as_bytes(after))
        last[series] = item
    return written


def _items_batch(frame: Items | Grown) -> BatchRow:
    """What is gone travels as a header: its payload is dropped."""
    row = batch_row([item.envelope for item in frame.items], brief=True)
    payloads = row[-1]
    for place, item in enumerate(frame.items):
        if item.gone:
            payloads[place] = b""
    return row


class GrownRow(Struct, array_like=True, forbid_unknown_fields=True):
    change: Number
    first: Number
    cut: IdsRow
    items: ItemsRow
    batch: BriefRow | None
    origins: list[tuple[str, IdsRow]] = []


def _grown_row(frame: Grown) -> tuple[object, ...]:
    batch = _items_batch(frame) if frame.items else None
    row = (frame.change, frame.first, ids_row(frame.cut), _items_row(frame), batch)
    return (*row, [(group, ids_row(own)) for group, own in frame.origins]) if frame.origins else row


def _grown(row: GrownRow) -> Grown:
    items = _read_items(row.items, row.batch).items if row.batch is not None else ()
    origins = tuple((group, read_ids(own)) for group, own in row.origins)
    return Grown(row.items[0], row.change, row.first, read_ids(row.cut), items, origins)


def _top(row: tuple[int, ...]) -> Top:
    if not 2 <= len(row) <= 3:
        raise RemoteProtocolError(f"{len(row)} numbers where a TOP has two or three")
    return Top(*row)


def _items(row: tuple[Raw, BriefRow]) -> Items:
    own, batch = row
    frame = _read_items(_read_items_row(own), batch)
    control = batch_control(batch)
    if control is not None:
        frame.control = len(own) + control
    return frame


def _read_items(row: ItemsRow, batch: BriefRow) -> Items:
    attachment, indexes, after, gone = row
    if indexes:
        indexes += [1] * (len(after) - len(indexes))
    items = []
    last: dict[str, Item] = {}
    for index, bits, envelope in zip(sums(indexes), after, read_brief(batch), strict=True):
        series = envelope.message.series
        if bits == NEXT:
            bits = read_next_after(last.get(series), index)
        elif isinstance(bits, bytes):
            bits = int.from_bytes(bits, "little")
        if bits < 0:
            raise RemoteProtocolError("a bitmap below zero")
        last[series] = item = Item(index, bits, envelope)
        items.append(item)
    for place in sums(gone):
        if 0 <= place < len(items):
            items[place].gone = True
    return Items(attachment, tuple(items))


_recent: tuple[tuple[Item, ...] | None, bytes, BatchRow | Raw, int] = (None, b"", Raw(b""), 0)


def _items_rows(frame: Items) -> tuple[Raw, BatchRow | Raw]:
    """A broker hands the same items to one client after the other, in frames that differ in their attachments: what was
    last written of items is kept. (It is the very same tuple, which nobody changes once it is in a frame.)"""
    global _recent
    items = frame.items
    if _recent[0] is not items:
        columns = b"".join(map(pack, _columns(items)))
        if any(item.gone for item in items):
            _recent = items, columns, _items_batch(frame), -1
        else:
            batch, _, control = packed_batch(tuple([item.envelope for item in items]))
            _recent = items, columns, batch, control
    _, columns, written, control = _recent
    own = _FOUR + pack(frame.attachment) + columns
    if control >= 0:
        frame.control = len(own) + control
    return Raw(own), written


def _items_size(frame: Items | Grown) -> tuple[int, int]:
    """The index and `after` are the stamp of the lower tier: control bytes, all of them."""
    own = len(pack(_items_row(frame)))
    if any(item.gone for item in frame.items):
        size = len(pack(_items_batch(frame)))
        control = batch_size([item.envelope for item in frame.items], brief=True)[1]
    else:
        size, control = batch_size([item.envelope for item in frame.items], brief=True)
    return 3 + own + size, own + control


def _snapshot_row(frame: Snapshot) -> tuple[Any, ...]:
    return (
        _map_row(frame.past),
        ids_row(frame.cut),
        batch_row(frame.envelopes) if frame.envelopes else None,
        batch_row(frame.headers, True) if frame.headers else None,
        encode_nodes(frame.nodes) if frame.nodes else None,
        [(group, peer, ids_row(cut)) for group, peer, cut in frame.origins],
        _map_row(frame.dropped),
        frame.blank,
    )


def _snapshot(row: SnapshotRow) -> Snapshot:
    past, cut, envelopes, headers, nodes, origins, dropped, blank = row
    return Snapshot(
        _map(past),
        read_ids(cut),
        _envelopes(envelopes),
        _envelopes(headers, True),
        () if nodes is None else decode_nodes(*nodes),
        tuple((group, peer, read_ids(cut)) for group, peer, cut in origins),
        _map(dropped),
        blank,
    )


def _page(row: tuple[int, int, int, SnapshotRow]) -> SnapshotPage:
    number, index, count, snapshot = row
    if index >= count:
        raise RemoteProtocolError("a page beyond the last one")
    return SnapshotPage(number, index, count, _snapshot(snapshot))


def _envelopes(row: BatchRow | None, bare: bool = False) -> tuple[Envelope, ...]:
    return () if row is None else read_batch(row, bare)


def _names_row(names: tuple[str, ...]) -> bytes | None:
    return joined(names) if names else None


def _names(raw: bytes | None) -> tuple[str, ...]:
    return () if raw is None else split_names(raw)


def _as_bytes(number: int) -> bytes:
    return number.to_bytes((number.bit_length() + 7) // 8, "little")


@dataclass(slots=True, frozen=True)
class Kind:
    number: int
    name: str
    row: Callable[[Any], object]
    parse: Callable[[bytes | memoryview], Any]
    frame: Callable[[Any], Frame]
    prefix: bytes


_KIND_OF: dict[type, Kind] = {}
_KINDS: dict[int, Kind] = {}


def _kind(number: int, of: type, row: Callable[[Any], object], form: Any, frame: Callable[[Any], Frame]) -> None:
    name = of.kind  # type: ignore[attr-defined]
    _KIND_OF[of] = _KINDS[number] = Kind(number, name, row, Decoder(form).decode, frame, bytes((VERSION, number)))


_kind(1, Data, _data_row, tuple[bool, BatchRow], lambda r: _weighed(Data(read_batch(r[1]), r[0]), r[1]))
_kind(2, Digest, _digest_row, DigestRow, _digest)
_kind(
    3,
    Request,
    lambda f: (ranges_row(f.ranges), f.lasting),
    tuple[RangesRow, bool],
    lambda r: Request(read_ranges(r[0]), r[1]),
)
_kind(
    4,
    Gone,
    lambda f: (ranges_row(f.lacks), batch_row(f.headers, True) if f.headers else None),
    tuple[RangesRow, BatchRow | None],
    lambda r: Gone(_envelopes(r[1], True), read_ranges(r[0])),
)
_kind(
    5,
    Publish,
    _publish_row,
    tuple[bool, BatchRow],
    lambda r: _weighed(Publish(read_batch(r[1], r[0]), r[0]), r[1]),
)
_PUBLISH = _KIND_OF[Publish]
_kind(6, Published, lambda f: ids_row(f.ids), IdsRow, lambda r: Published(read_ids(r)))
_kind(
    7,
    Attach,
    lambda f: (
        f.attachment,
        filters_row(f.filters),
        None if f.frontier is None else _map_row(f.frontier),
        ids_row(f.unacked),
        f.published,
        f.loose,
        f.change,
        _map_row(f.began),
        ids_row(f.missed),
    ),
    tuple[Number, bytes | None, MapRow | None, IdsRow, Number, Number, Number, MapRow, IdsRow],
    lambda r: Attach(
        r[0],
        read_filters(r[1]),
        None if r[2] is None else _map(r[2]),
        read_ids(r[3]),
        r[4],
        r[5],
        r[6],
        _map(r[7]),
        read_ids(r[8]),
    ),
)
_kind(
    8,
    Attached,
    lambda f: (f.attachment, _map_row(f.start), ids_row(f.cut), [(group, ids_row(own)) for group, own in f.origins]),
    tuple[Number, MapRow, IdsRow, list[tuple[str, IdsRow]]],
    lambda r: Attached(r[0], _map(r[1]), read_ids(r[2]), tuple((group, read_ids(own)) for group, own in r[3])),
)
_kind(33, Items, _items_rows, tuple[Raw, BriefRow], _items)
_kind(10, Top, lambda f: (f.attachment, f.top, f.low) if f.low else (f.attachment, f.top), tuple[Number, ...], _top)
_kind(
    11,
    Want,
    lambda f: (f.attachment, deltas(f.indexes)),
    tuple[Number, list[int]],
    lambda r: Want(r[0], tuple(sums(r[1]))),
)
_kind(12, Ack, lambda f: (f.attachment, f.index), tuple[Number, Number], lambda r: Ack(r[0], r[1]))
_kind(13, Detach, lambda f: (f.attachment,), tuple[Number], lambda r: Detach(r[0]))
_kind(14, SnapshotRequest, lambda f: (f.whole,), tuple[bool], lambda r: SnapshotRequest(r[0]))
_kind(15, Snapshot, _snapshot_row, SnapshotRow, _snapshot)
_kind(
    35,
    SnapshotPage,
    lambda f: (f.number, f.index, f.count, _snapshot_row(f.snapshot)),
    tuple[Number, Number, Number, SnapshotRow],
    _page,
)
_kind(36, PageRequest, lambda f: (f.number, f.first), tuple[Number, Number], lambda r: PageRequest(*r))
_kind(16, Received, lambda f: ids_row(f.ids), IdsRow, lambda r: Received(read_ids(r)))
_kind(
    17,
    Rumours,
    lambda f: (
        batch_row(f.envelopes) if f.envelopes else None,
        ranges_row(f.digest),
        _names_row(f.names),
    ),
    tuple[BatchRow | None, RangesRow, bytes | None],
    lambda r: Rumours(_envelopes(r[0]), read_ranges(r[1]), _names(r[2])),
)
_kind(
    24,
    Grow,
    lambda f: (f.attachment, f.change, filters_row(f.filters), f.index, _map_row(f.frontier), _map_row(f.began)),
    tuple[Number, Number, bytes | None, Number, MapRow, MapRow],
    lambda r: Grow(r[0], r[1], read_filters(r[2]), r[3], _map(r[4]), _map(r[5])),
)
_kind(
    34,
    Grown,
    _grown_row,
    GrownRow,
    _grown,
)
_kind(26, Kept, lambda f: ids_row(f.ids), IdsRow, lambda r: Kept(read_ids(r)))
_kind(
    27,
    Fuse,
    lambda f: (f.number, filters_row(f.filters), f.spec, f.have, f.previous, f.client),
    tuple[Number, bytes | None, bytes, Number, str, str],
    lambda r: Fuse(r[0], read_filters(r[1]), *r[2:]),
)
_kind(
    28,
    Fused,
    lambda f: (f.number, f.first, list(f.results), f.state, f.client),
    tuple[Number, Number, list[bytes], bytes, str],
    lambda r: Fused(r[0], r[1], tuple(r[2]), *r[3:]),
)
_kind(29, Quiet, lambda f: _map_row(f.marks), MapRow, lambda r: Quiet(_map(r)))
_kind(30, Retired, lambda f: (f.heard, _map_row(f.marks)), tuple[bool, MapRow], lambda r: Retired(_map(r[1]), r[0]))
for _one in NEWS_KINDS:
    _kind(*_one)
