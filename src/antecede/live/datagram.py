"""What one datagram holds, and which frames travel together.

A datagram is a version byte, the sender's name once, then frames, each after its length. Batches are the unit of the
hot path: what one turn of a node sends to the same peers is merged into as few frames as fit (`bundle`) and as few
datagrams as fit (`pack`). No order among frames is implied, so nothing is lost by merging, nor by cutting one in two
where its parts are independent (`halves`): a frame that is too large is the one loss that no repetition mends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Any, TypeAlias, TypeVar

from antecede.core.effects import Send
from antecede.core.frames import (
    Data,
    Frame,
    Gone,
    Grown,
    Item,
    Items,
    Kept,
    Publish,
    Published,
    Received,
    Request,
    Want,
)
from antecede.core.message import Envelope
from antecede.errors import InputError, RemoteProtocolError
from antecede.wire import MAX_DATAGRAM, MAX_NAME, decode, weigh

__all__ = ["MAX_BODY", "Outgoing", "bundle", "halves", "pack", "prefix_for", "sender_of", "unpack"]

VERSION = 1
Outgoing: TypeAlias = tuple[tuple[str, ...], Frame]
MAX_BODY = MAX_DATAGRAM - 4 * MAX_NAME - 8
"""Bytes of one frame that surely fits a datagram beside the longest name; larger ones cannot be sent."""

_EXTRA = 16
"""Bytes: more than a place in a batch takes, an item's index included, and what says how long its bitmap is."""

_IDS = 64
"""Ids in one frame, however long their names: acknowledgements are small and many."""

T = TypeVar("T")


def prefix_for(sender: str) -> bytes:
    name = sender.encode()
    if not 0 < len(sender) <= MAX_NAME:
        raise InputError(f"a process needs a name of 1 to {MAX_NAME} characters")
    return bytes((VERSION,)) + len(name).to_bytes(2, "little") + name


def pack(prefix: bytes, frames: Iterable[bytes], most: int = MAX_DATAGRAM) -> Iterator[bytes]:
    """Datagrams of at most `most` bytes that hold these encoded frames, each as full as fits."""
    parts, size = [prefix], len(prefix)
    for data in frames:
        if size + 3 + len(data) > most and len(parts) > 1:
            yield b"".join(parts)
            parts, size = [prefix], len(prefix)
        parts.append(len(data).to_bytes(3, "little"))
        parts.append(data)
        size += 3 + len(data)
    if len(parts) > 1:
        yield b"".join(parts)


def sender_of(datagram: memoryview) -> tuple[str, int]:
    """The process that a datagram says it is from, and where its content begins."""
    at = 3 + int.from_bytes(datagram[1:3], "little")
    try:
        sender = str(datagram[3:at], "utf-8")
    except UnicodeDecodeError:
        raise RemoteProtocolError("a sender whose name is not text") from None
    if not sender or len(sender) > MAX_NAME or at > len(datagram):
        raise RemoteProtocolError("a datagram without a sender")
    return sender, at


def unpack(datagram: memoryview) -> tuple[str, list[Frame]]:
    """The sender and the frames of a datagram. One malformed frame condemns all: its sender is not believed."""
    if datagram[:1] != bytes((VERSION,)):
        raise RemoteProtocolError("not a datagram of this version")
    sender, at = sender_of(datagram)
    frames = []
    while at < len(datagram):
        end = at + 3 + int.from_bytes(datagram[at : at + 3], "little")
        if end > len(datagram):
            raise RemoteProtocolError("a datagram that ends within a frame")
        frames.append(decode(datagram[at + 3 : end]))
        at = end
    return sender, frames


def bundle(sends: Sequence[Send]) -> list[Outgoing]:
    """The same content in as few frames as fit a datagram: messages for the same peers share one frame, and a batch
    that a machine made too large is cut."""
    if len(sends) == 1:
        send = sends[0]
        if not isinstance(send.frame, Data | Publish | Items) or len(send.frame.messages()) <= 1:
            return [(send.to, send.frame)]
    data: dict[tuple[tuple[str, ...], bool], list[Envelope]] = {}
    publish: dict[tuple[tuple[str, ...], bool], list[Envelope]] = {}
    items: dict[tuple[tuple[str, ...], int], list[tuple[Item, ...]]] = {}
    published: dict[tuple[tuple[str, ...], type[Kept | Published | Received]], dict[str, None]] = {}
    out: list[Outgoing] = []
    for send in sends:
        frame = send.frame
        if isinstance(frame, Data):
            data.setdefault((send.to, frame.answer), []).extend(frame.envelopes)
        elif isinstance(frame, Items):
            items.setdefault((send.to, frame.attachment), []).append(frame.items)
        elif isinstance(frame, Publish):
            publish.setdefault((send.to, frame.headers_only), []).extend(frame.envelopes)
        elif isinstance(frame, Kept | Published | Received):
            published.setdefault((send.to, type(frame)), {}).update(dict.fromkeys(frame.ids))
        else:
            out.append((send.to, frame))
    for (to, kind), ids in published.items():
        out += [(to, kind(tuple(part))) for part in _batched(ids, _IDS)]
    for (to, answer), envelopes in data.items():
        out += [(to, Data(part, answer)) for part in _cut(envelopes, _weight)]
    for (to, bare), envelopes in publish.items():
        out += [(to, Publish(part, bare)) for part in _cut(envelopes, _weight)]
    alike: dict[tuple[int, ...], tuple[list[tuple[Item, ...]], list[tuple[tuple[str, ...], int]]]] = {}
    for client, given in items.items():  # clients that share a channel are given the very same items
        alike.setdefault(tuple(map(id, given)), (given, []))[1].append(client)
    for given, clients in alike.values():
        for part in _cut(list(chain.from_iterable(given)), _item_weight):
            out += [(to, Items(attachment, part)) for to, attachment in clients]
    return out


def halves(frame: Frame) -> tuple[Frame, Frame] | None:
    """The same content in two frames; None where it cannot be had apart.

    >>> [half.indexes for half in halves(Want(1, (4, 5, 7))) or ()], halves(Want(1, (4,)))
    ([(4,), (5, 7)], None)
    """
    whole: Any = frame
    name = _PARTS.get(type(frame))
    parts = () if name is None else getattr(whole, name)
    if name is None or len(parts) < 2:
        return None
    middle = len(parts) // 2
    return replace(whole, **{name: parts[:middle]}), replace(whole, **{name: parts[middle:]})


_PARTS: dict[type[Frame], str] = {
    Data: "envelopes", Publish: "envelopes", Gone: "headers", Items: "items", Grown: "items", Request: "ranges",
    Want: "indexes", Published: "ids", Received: "ids",
}  # fmt: skip
"""Frames whose parts say as much one by one."""


def _cut(things: list[T], weight_of: Callable[[T], int]) -> Iterator[tuple[T, ...]]:
    start = size = 0
    for index, weight in enumerate(map(weight_of, things)):
        if size + weight > MAX_BODY and index > start:
            yield tuple(things[start:index])
            start, size = index, 0
        size += weight
    yield tuple(things[start:])


def _weight(envelope: Envelope) -> int:
    return weigh(envelope)[0] + _EXTRA


def _item_weight(item: Item) -> int:
    envelope = item.envelope
    size = envelope.size if envelope.size >= 0 else weigh(envelope)[0]
    return size + _EXTRA + item.after.bit_length() // 8


def _batched(things: Iterable[T], size: int) -> Iterator[list[T]]:
    """As itertools.batched, which Python 3.11 lacks."""
    left = iter(things)
    while part := list(islice(left, size)):
        yield part
