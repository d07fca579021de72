"""The context graph's part of a stamp: nodes as plain tuples to numbers, and back. Names live in the frame's tables.

A node is `(sender, seq, groups, preds, deadline_us)`, preds are `(sender, seq)`. A predecessor that stands earlier in
the same list is written as the distance back to it, so a chain costs one byte per edge.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, TypeAlias

from msgspec import Meta

from antecede.core.message import Stamp
from antecede.core.names import MAX_TOPICS
from antecede.errors import InputError, RemoteProtocolError
from antecede.wire.limits import MAX_CELLS, MAX_NUMBER
from antecede.wire.names import joined, split_names

__all__ = ["Node", "NodesRow", "are_groups", "cells_of", "decode_nodes", "encode_nodes"]

Node: TypeAlias = tuple[str, int, tuple[str, ...], tuple[tuple[str, int], ...], int | None]
Index: TypeAlias = Annotated[int, Meta(ge=0)]
NodesRow: TypeAlias = tuple[list[int], list[list[Index]], list[int | None]]
"""Numbers (sender, seq less the one before, group set, count and then the predecessors); group sets; deadlines, each
less the one before."""


def encode_nodes(nodes: tuple[Node, ...]) -> tuple[bytes, NodesRow]:
    names: dict[str, int] = {}
    sets: dict[tuple[str, ...], int] = {}
    place: dict[tuple[str, int], int] = {}
    numbers: list[int] = []
    deadlines: list[int | None] = []
    last_seq = last_us = 0
    for here, (sender, seq, groups, preds, deadline_us) in enumerate(nodes):
        numbers += (
            names.setdefault(sender, len(names)),
            seq - last_seq,
            sets.setdefault(groups, len(sets)),
            len(preds),
        )
        for pred in preds:
            if pred in place:
                numbers.append(here - place[pred])
            else:
                numbers += (-1 - names.setdefault(pred[0], len(names)), pred[1] - seq)
        place[sender, seq] = here
        last_seq = seq
        deadlines.append(None if deadline_us is None else deadline_us - last_us)
        if deadline_us is not None:
            last_us = deadline_us
    if not all(map(are_groups, sets)) or sum(len(node[2]) for node in nodes) > MAX_CELLS:
        raise InputError(f"{len(nodes)} nodes, in too many groups, in none, or in one twice")
    group_rows = [[names.setdefault(group, len(names)) for group in groups] for groups in sets]
    return joined(tuple(names)) if names else b"", (numbers, group_rows, deadlines)


def decode_nodes(table: bytes, row: NodesRow) -> tuple[Node, ...]:
    names = split_names(table)
    numbers, group_rows, deadlines = row
    sets = [tuple(names[index] for index in groups) for groups in group_rows]
    if not all(map(are_groups, sets)):
        raise RemoteProtocolError(f"a node in no group, in one twice, or in more than {MAX_TOPICS}")
    left = iter(numbers)
    take = left.__next__
    nodes: list[Node] = []
    seq = last_us = cells = 0
    for rest in deadlines:
        sender, seq, groups = names[_index(take())], seq + take(), sets[_index(take())]
        cells += len(groups)
        if cells > MAX_CELLS:
            raise RemoteProtocolError(f"nodes in more than {MAX_CELLS} groups")
        preds = []
        for _ in range(_index(take())):
            back = take()
            if back > 0:
                preds.append((nodes[_index(len(nodes) - back)][0], nodes[-back][1]))
            else:
                preds.append((names[_index(-1 - back)], _number(seq + take())))
        if rest is not None:
            last_us += rest
        nodes.append((sender, _number(seq), groups, tuple(preds), None if rest is None else last_us))
    if next(left, None) is not None:
        raise RemoteProtocolError("a graph with more numbers than nodes")
    return tuple(nodes)


def are_groups(groups: Sequence[str]) -> bool:
    """Whether a message or a node can be in these: some, not too many, none of them twice."""
    return 1 <= len(groups) <= MAX_TOPICS and len(set(groups)) == len(groups)


def cells_of(stamp: Stamp) -> int:
    """How many own marks and groups of nodes it brings: no byte need speak of them."""
    nodes = stamp.extra if isinstance(stamp.extra, tuple) else ()
    return len(stamp.own) + sum([len(node[2]) for node in nodes])


def _index(number: int) -> int:
    """Python would read a negative index from the end; on the wire it is a mistake."""
    if number < 0:
        raise RemoteProtocolError("a graph that points outside itself")
    return number


def _number(number: int) -> int:
    if not 0 <= number <= MAX_NUMBER:
        raise RemoteProtocolError("a sequence number outside 0..2^63-1")
    return number
