"""A client's frontier to bytes and back: what an application keeps beside its own results to go on from later.

Decided here: the form (a prefix with a version, then the streams once and their numbers as differences, as in frames)
and that whoever reads refuses what no client can have written. Equal frontiers have equal bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypeAlias

from msgspec import Meta, MsgspecError
from msgspec.msgpack import Decoder, Encoder

from antecede.core.home.frontier import Frontier
from antecede.core.message import is_loose
from antecede.errors import InputError, RemoteProtocolError
from antecede.wire.limits import MAX_FRAME, MAX_NUMBER, MAX_RANK
from antecede.wire.names import deltas, joined, layout_for, read_layout, split_names, sums

__all__ = ["FRONTIER_VERSION", "restore", "save"]

FRONTIER_VERSION = 1

Marks: TypeAlias = tuple[bytes, list[int]]
Body: TypeAlias = tuple[
    bytes, Marks, Marks, Marks, list[tuple[list[int], list[int]]], Annotated[int, Meta(ge=0, le=MAX_RANK)]
]
"""Whose it is; its marks; where it began; up to where unordered streams lie behind, and for each of them the numbers
beyond that and how far back the ones before them are; the rank."""

_PREFIX = b"\xacF" + bytes((FRONTIER_VERSION,))
_pack = Encoder().encode
_unpack = Decoder(Body).decode


def save(frontier: Frontier) -> bytes:
    """
    >>> save(Frontier("ann", {"ben@room": 7}, rank=7)).hex()
    'ac460196c403616e6e92c40962656eff40726f6f6d910792c4009092c400909007'
    """
    loose = layout_for(frontier.loose)
    beyond = [frontier.loose[stream][1] for stream in loose.streams]
    body: Body = (
        joined((frontier.process,)),
        _marks(frontier.marks),
        _marks(frontier.began),
        (loose.raw, deltas([frontier.loose[stream][0] for stream in loose.streams])),
        [(deltas([n for n, _ in pairs]), [n - before for n, before in pairs]) for pairs in beyond],
        frontier.rank,
    )
    data = _PREFIX + _pack(body)
    if len(data) > MAX_FRAME:
        raise InputError(f"a frontier of {len(data)} bytes; at most {MAX_FRAME} are saved")
    return data


def restore(data: bytes) -> Frontier:
    """What was saved. Corrupt or foreign bytes are a RemoteProtocolError: somebody else wrote them."""
    if not data.startswith(_PREFIX[:2]) or not len(_PREFIX) < len(data) <= MAX_FRAME:
        raise RemoteProtocolError(f"these {len(data)} bytes are no saved frontier")
    if data[2] != FRONTIER_VERSION:
        raise RemoteProtocolError(f"a frontier of version {data[2]}; this is version {FRONTIER_VERSION}")
    try:
        raw, marks, began, loose, beyond, rank = _unpack(data[3:])
        (process,) = split_names(raw)
        fronts = _read(loose)
        if len(fronts) != len(beyond) or not all(map(is_loose, fronts)):
            raise RemoteProtocolError("a frontier tells of unordered messages what cannot be")
        pairs = {s: (fronts[s], _beyond(fronts[s], *row)) for s, row in zip(fronts, beyond, strict=True)}
        return Frontier(process, _read(marks), _read(began), pairs, rank)
    except (MsgspecError, ValueError) as fault:
        raise RemoteProtocolError(f"a corrupt frontier: {fault}") from None


def _marks(marks: Mapping[str, int]) -> Marks:
    layout = layout_for(marks)
    numbers = list(layout.pick(marks))
    if numbers and not 0 <= min(numbers) <= max(numbers) <= MAX_NUMBER:
        raise InputError("a frontier holds a counter outside 0..2^63-1")
    return layout.raw, deltas(numbers)


def _read(row: Marks) -> dict[str, int]:
    numbers = sums(row[1])
    return dict(zip(read_layout(row[0], len(numbers)).streams, numbers, strict=True))


def _beyond(front: int, ns: list[int], back: list[int]) -> tuple[tuple[int, int], ...]:
    numbers = sums(ns)
    pairs = tuple((n, n - by) for n, by in zip(numbers, back, strict=True))
    if any(not front < n or not 0 <= before < n for n, before in pairs) or numbers != sorted(set(numbers)):
        raise RemoteProtocolError("a frontier tells of unordered messages what cannot be")
    return pairs
