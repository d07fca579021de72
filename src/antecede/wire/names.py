"""Names on the wire: which streams a stamp speaks of, written once per frame and remembered on both sides.

Stamps of one process speak of the same streams again and again, only the numbers change. So the streams of a stamp
(its *layout*) are one table entry of the frame, apart from the numbers; both directions are memoised, and a name costs
work only when it is new. Two forms:

    a NUL b NUL c                                  streams that are plain senders
    a NUL b FF "" NUL @G1 [FF bitmap]              the grid senders x suffixes, of which the bitmap exists (none: all)

NUL is in no name (MQTT forbids it in topics too) and FF is in no UTF-8 text. Streams travel in this grid's order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate, compress
from operator import itemgetter, sub
from sys import intern
from typing import Generic, TypeAlias, TypeVar

from antecede.core.frames import Ranges
from antecede.core.message import make_id
from antecede.errors import InputError, RemoteProtocolError
from antecede.wire.limits import MAX_FILTER, MAX_FRAME, MAX_MARKS, MAX_NAME, MAX_NUMBER

__all__ = [
    "BUDGET",
    "EMPTY",
    "IdsRow",
    "Layout",
    "Memo",
    "RangesRow",
    "bits_of",
    "deltas",
    "filters_row",
    "ids_row",
    "joined",
    "layout_for",
    "marked",
    "ranges_row",
    "read_filters",
    "read_ids",
    "read_layout",
    "read_ranges",
    "split_names",
    "sums",
]

V = TypeVar("V")
IdsRow: TypeAlias = tuple[bytes, list[int], list[int]]
"""Senders; for each message id the place of its sender there, and its number."""
RangesRow: TypeAlias = tuple[bytes, list[int], list[int], list[int]]
"""A layout; for each range the place of its stream there, where it begins and how wide it is."""


class Memo(dict[object, V], Generic[V]):
    """A cache with a budget: forgetting everything at once is crude, cheap, and rare."""

    def __init__(self, budget: int) -> None:
        super().__init__()
        self.budget = budget
        self.spent = 0

    def put(self, key: object, value: V, cost: int) -> V:
        self.spent += cost
        if self.spent > self.budget:
            self.clear()
            self.spent = cost
        self[key] = value
        return value


class Layout:
    """The streams of a stamp, in wire order."""

    __slots__ = ("at", "group", "pick", "raw", "streams")

    def __init__(self, streams: tuple[str, ...], raw: bytes) -> None:
        self.streams = streams
        self.raw = raw
        self.at = {stream: index for index, stream in enumerate(streams)}
        groups = {group if at else None for _, at, group in (stream.partition("@") for stream in streams)}
        self.group = groups.pop() if len(groups) == 1 else None
        """The group of all these streams; None: there are several, or they are no streams of groups."""
        self.pick: Callable[[Mapping[str, int]], tuple[int, ...]]
        if len(streams) > 1:
            self.pick = itemgetter(*streams)
        elif streams:
            self.pick = lambda numbers: (numbers[streams[0]],)
        else:
            self.pick = lambda numbers: ()


EMPTY = Layout((), b"")

BUDGET = 400_000
"""Of one memo, in names: about 50 MB at the very most, reached only by processes that hear of as many streams."""

_written: Memo[Layout] = Memo(BUDGET)
_read: Memo[Layout] = Memo(BUDGET)
_joined: Memo[bytes] = Memo(BUDGET)
_split: Memo[tuple[str, ...]] = Memo(BUDGET)


def joined(names: tuple[str, ...]) -> bytes:
    """At least one name, NUL between them."""
    known = _joined.get(names)
    return known if known is not None else _joined.put(names, _join(names), len(names))


def split_names(raw: bytes) -> tuple[str, ...]:
    known = _split.get(raw)
    if known is not None:
        return known
    names = _cut(raw)
    return _split.put(raw, names, len(names))


def filters_row(filters: tuple[str, ...]) -> bytes | None:
    """They may have predicates, which are longer than names, come seldom, and are not remembered."""
    return _join(filters, MAX_FILTER) if filters else None


def read_filters(raw: bytes | None) -> tuple[str, ...]:
    return () if raw is None else _cut(raw, MAX_FILTER)


def layout_for(streams: Iterable[str]) -> Layout:
    """The layout of these distinct streams (a mapping's keys)."""
    key = frozenset(streams)  # clocks are often kept in the order in which they last rose: order is no part of the key
    if not key:
        return EMPTY
    known = _written.get(key)
    if known is not None:
        return known
    if len(key) > MAX_MARKS:
        raise InputError(f"{len(key)} streams in one stamp; at most {MAX_MARKS} fit")
    cells = set()
    for stream in key:
        base, at, group = stream.partition("@")
        cells.add((base, at + group))
    bases, suffixes = sorted({c[0] for c in cells}), sorted({c[1] for c in cells})
    grid = [(base, suffix) for base in bases for suffix in suffixes] if len(bases) * len(suffixes) <= MAX_MARKS else []
    if not grid:
        raise InputError(f"{len(bases)} senders in {len(suffixes)} groups: more than {MAX_MARKS} streams in one stamp")
    present = [cell in cells for cell in grid]
    raw = _join(tuple(bases))
    if suffixes != [""] or bases == [""]:
        raw += b"\xff" + _join(tuple(suffixes))
        if not all(present):
            raw += b"\xff" + bits_of([i for i, here in enumerate(present) if here])
    layout = _read.get(raw)
    if layout is None:
        layout = _remember(tuple(base + suffix for base, suffix in compress(grid, present)), raw)
    return _written.put(key, layout, 2 * len(key))


def read_layout(raw: bytes, most: int) -> Layout:
    """`most`: how many streams the sender's numbers speak of; more are refused before anything is built."""
    if not raw:
        return EMPTY
    known = _read.get(raw)
    if known is not None:
        if len(known.streams) > most:
            raise RemoteProtocolError(f"{len(known.streams)} streams for {most} numbers")
        return known
    parts = raw.split(b"\xff", 2)
    bases = _cut(parts[0])
    if len(parts) == 1:
        streams = bases
    else:
        suffixes = _cut(parts[1])
        if len(bases) * len(suffixes) > MAX_MARKS:
            raise RemoteProtocolError("more streams than a stamp may speak of")
        cells = len(bases) * len(suffixes)
        present = marked(parts[2], cells) if len(parts) == 3 else b"\1" * cells
        if sum(present) > most:
            raise RemoteProtocolError(f"{sum(present)} streams for {most} numbers")
        streams = tuple(compress((intern(base + suffix) for base in bases for suffix in suffixes), present))
    if len(streams) > min(most, MAX_MARKS) or len(set(streams)) != len(streams):
        raise RemoteProtocolError(f"{len(streams)} streams, some perhaps twice, for {most} numbers")
    return _remember(streams, raw)


def bits_of(indexes: Iterable[int]) -> bytes:
    """Little-endian: bit i of the number is index i."""
    number = 0
    for index in indexes:
        number |= 1 << index
    return number.to_bytes((number.bit_length() + 7) // 8, "little")


def marked(bits: bytes, cells: int) -> bytes:
    """One byte, 0 or 1, per cell: selectors for `compress`."""
    number = int.from_bytes(bits, "little")
    if number.bit_length() > cells:
        raise RemoteProtocolError("a bitmap speaks of more than there is")
    return f"{number:0{cells}b}".encode().translate(_DIGITS)[::-1] if cells else b""


_DIGITS = bytes(1 if value == ord("1") else 0 for value in range(256))


def deltas(numbers: tuple[int, ...] | list[int]) -> list[int]:
    """Neighbouring counters are often close: their differences are one byte where they themselves are three."""
    if not numbers:
        return []
    return [numbers[0], *map(sub, numbers[1:], numbers)]


def sums(numbers: list[int]) -> list[int]:
    """The way back from `deltas`, refusing what no counter can be."""
    if not numbers:
        return numbers
    result = list(accumulate(numbers))
    if min(result) < 0 or max(result) > MAX_NUMBER:
        raise RemoteProtocolError("a counter lies outside 0..2^63-1")
    return result


def _remember(streams: tuple[str, ...], raw: bytes) -> Layout:
    return _read.put(raw, Layout(streams, raw), len(streams))


def _join(names: tuple[str, ...], most: int = MAX_NAME) -> bytes:
    text = "\0".join(names)
    if text.count("\0") != len(names) - 1:
        raise InputError("a name holds the character NUL, which separates names on the wire")
    if max(map(len, names)) > most:
        raise InputError(f"a name has more than {most} characters: {max(names, key=len)[:40]}...")
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise InputError(f"a name is not Unicode text: {text[:40]!r}") from None


def _cut(raw: bytes, most: int = MAX_NAME) -> tuple[str, ...]:
    names = tuple(map(intern, raw.decode().split("\0")))
    if max(map(len, names)) > most:
        raise RemoteProtocolError(f"a name has more than {most} characters")
    return names


def read_ranges(row: RangesRow) -> Ranges:
    raw, places, lows, widths = row
    streams = read_layout(raw, len(places)).streams
    below = sums(lows)
    highs = [low + width for low, width in zip(below, widths, strict=True)]
    if highs and not 0 <= min(highs) <= max(highs) <= MAX_NUMBER:
        raise RemoteProtocolError("a range outside 0..2^63-1")
    return tuple(zip([streams[place] for place in sums(places)], below, highs, strict=True))


def ranges_row(ranges: Ranges) -> RangesRow:
    layout = layout_for([stream for stream, _, _ in ranges])
    places = deltas([layout.at[stream] for stream, _, _ in ranges])
    return layout.raw, places, deltas([low for _, low, _ in ranges]), [high - low for _, low, high in ranges]


def ids_row(ids: Sequence[str]) -> IdsRow:
    names: dict[str, int] = {}
    places, seqs = [], []
    for message_id in ids:
        sender, _, seq = message_id.rpartition(":")
        if not (seq.isascii() and seq.isdigit()) or make_id(sender, int(seq)) != message_id:
            raise InputError(f"not a message id: {message_id!r}")
        places.append(names.setdefault(sender, len(names)))
        seqs.append(int(seq))
    if sum(map(len, ids)) > MAX_FRAME:
        raise InputError(f"the ids of {len(ids)} messages are longer than a frame may be")
    return joined(tuple(names)) if names else b"", deltas(places), deltas(seqs)


def read_ids(row: IdsRow) -> tuple[str, ...]:
    """A sender is written once for all its ids: so bytes do not bound them."""
    names, places = split_names(row[0]), sums(row[1])
    if sum(len(names[place]) for place in places) > MAX_FRAME:
        raise RemoteProtocolError(f"the ids of {len(places)} messages are longer than a frame may be")
    return tuple(make_id(names[place], seq) for place, seq in zip(places, sums(row[2]), strict=True))
