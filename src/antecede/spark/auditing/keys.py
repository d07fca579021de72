"""Ids as 64-bit numbers, so that rows can be joined by arithmetic.

Decided in this file: how a text becomes a key (8 bytes at a time, mixed and spread over all bits), and how keys are
found again (sorted, with a table of where each stretch begins). Two ids with one key cannot be told apart, so whoever
builds a table of ids must refuse it (`messages` does); among a billion ids the odds are 1 in 37.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from antecede.core.message import UNORDERED

__all__ = ["UNORDERED_KEYS", "Finder", "keys_of", "schema_of", "spark_key"]

Ints = NDArray[Any]

SPREAD = np.uint64(0x9E3779B97F4A7C15)
STIR = np.uint64(0xBF58476D1CE4E5B9)
AT_ONCE = 65_536
"""Texts taken together: what they need then stays in the processor's cache, which makes it four times quicker."""

MASKS = np.array([0, *((1 << 8 * n) - 1 for n in range(1, 8)), 2**64 - 1], np.uint64)


def schema_of(**types: pa.DataType) -> pa.Schema:
    """An Arrow schema."""
    return pa.schema(list(types.items()))


def stirred(start: Ints) -> Ints:
    value: Any = (start ^ (start >> np.uint64(30))) * STIR
    value ^= value >> np.uint64(27)
    value *= SPREAD
    value ^= value >> np.uint64(31)
    return np.asarray(value)


def keys_of(ids: Any) -> Ints:
    """The key of every text in an Arrow array or list (that of a null is 0).

    >>> keys_of(["p:1", "p:2", None]).tolist()
    [14006765693542481374, 8078932404009878546, 0]
    """
    array: Any = ids if isinstance(ids, pa.Array | pa.ChunkedArray) else pa.array(ids, pa.string())
    if isinstance(array, pa.ChunkedArray):  # one by one: joining dictionaries would cost more than the keys
        return np.concatenate([keys_of(chunk) for chunk in array.chunks] or [np.zeros(0, np.uint64)])
    if pa.types.is_dictionary(array.type):
        words = np.append(keys_of(array.dictionary), np.uint64(0))
        return np.asarray(words[array.indices.fill_null(len(words) - 1).to_numpy()])
    if not pa.types.is_large_string(array.type):
        array = array.cast(pa.large_string())
    if len(array) == 0:
        return np.zeros(0, np.uint64)
    return np.concatenate([plain_keys(array.slice(start, AT_ONCE)) for start in range(0, len(array), AT_ONCE)])


def plain_keys(array: Any) -> Ints:
    count = len(array)
    valid, offset_buffer, data = array.buffers()
    offsets = np.frombuffer(offset_buffer, np.int64)[array.offset : array.offset + count + 1]
    first, last = int(offsets[0]), int(offsets[-1])
    padded = np.zeros(last - first + 8, np.uint8)  # so that the last word may be read whole
    if last > first:
        padded[: last - first] = np.frombuffer(data, np.uint8, last - first, first)
    words = np.ndarray((last - first + 1,), "<u8", padded, strides=(1,))
    start, sizes = offsets[:-1] - first, np.diff(offsets)
    keys = stirred((sizes.astype(np.uint64) + np.uint64(1)) * SPREAD)
    rows: Any = slice(None)
    left = sizes
    while len(left):
        word = words[start] & MASKS[np.minimum(left, 8)]
        keys[rows] = stirred(keys[rows] ^ word)
        more = np.flatnonzero(left > 8)
        rows = more if isinstance(rows, slice) else rows[more]
        start, left = start[more] + 8, left[more] - 8
    keys[keys == 0] = 1
    if valid is not None and array.null_count:
        keys[np.asarray(array.is_null().to_numpy(zero_copy_only=False))] = 0
    return keys


class Finder:
    """Where each key stands in a sorted array of different keys."""

    def __init__(self, keys: Ints) -> None:
        self.keys = keys
        bits = max(1, min(28, int(max(1, len(keys))).bit_length()))
        self._shift = np.uint64(64 - bits)
        counts = np.bincount((keys >> self._shift).astype(np.int64), minlength=1 << bits)
        self._start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64 if len(keys) > 2**31 else np.int32)

    def find(self, wanted: Ints) -> Ints:
        """Its place; -1 where it is not there."""
        found = np.full(len(wanted), -1, np.int64)
        stretch = (wanted >> self._shift).astype(np.int64)
        place: Any = self._start[stretch]
        end: Any = self._start[stretch + 1]
        rows = np.flatnonzero(place < end)
        place, end = place[rows].astype(np.int64), end[rows]
        while len(rows):
            hit = self.keys[place] == wanted[rows]
            found[rows[hit]] = place[hit]
            more = ~hit & (place + 1 < end)
            rows, place, end = rows[more], place[more] + 1, end[more]
        return found


P1, P2, P3, P4, P5 = (
    0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5,
)  # fmt: skip
WORD = 2**64 - 1


def turned(value: int, bits: int) -> int:
    value &= WORD
    return (value << bits | value >> 64 - bits) & WORD


def xxhash64(data: bytes, seed: int) -> int:
    """XXH64, as Spark's function `xxhash64` has it for texts."""
    size, place = len(data), 0

    def word() -> int:
        nonlocal place
        place += 8
        return int.from_bytes(data[place - 8 : place], "little")

    if size >= 32:
        lanes = [seed + P1 + P2, seed + P2, seed, seed - P1]
        while place <= size - 32:
            lanes = [turned(lane + word() * P2, 31) * P1 & WORD for lane in lanes]
        result = sum(turned(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18), strict=True)) & WORD
        for lane in lanes:
            result = ((result ^ turned(lane * P2, 31) * P1 & WORD) * P1 + P4) & WORD
    else:
        result = seed + P5 & WORD
    result = result + size & WORD
    while place <= size - 8:
        result = turned(result ^ turned(word() * P2, 31) * P1 & WORD, 27) * P1 + P4 & WORD
    if place <= size - 4:
        result = turned(result ^ int.from_bytes(data[place : place + 4], "little") * P1 & WORD, 23) * P2 + P3 & WORD
        place += 4
    for byte in data[place:]:
        result = turned(result ^ byte * P5 & WORD, 11) * P1 & WORD
    result = (result ^ result >> 33) * P2 & WORD
    result = (result ^ result >> 29) * P3 & WORD
    return result ^ result >> 32


def spark_key(*texts: str) -> int:
    """What Spark's `xxhash64` gives for these columns, without its sign: for the few names that must be known here."""
    key = 42
    for text in texts:
        key = xxhash64(text.encode(), key)
    return key


UNORDERED_KEYS = np.array([keys_of(UNORDERED)[0], spark_key(*UNORDERED)], np.uint64)
"""What a publication names as its only cause that follows nothing and that nothing follows: here, and by Spark."""
