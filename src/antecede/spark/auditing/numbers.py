"""Rows as numbers only: how a DataFrame's rows come out of Java.

Decided in this file: six whole numbers a row. Who it is of and who sent it are keys as Spark computes them, found again
among the names that were told before; what it is and at which step is one number. Texts would cost three times as much
on the way. A row of somebody nobody told of is a stranger's: it is counted, and the caller asks again who took part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from antecede.spark.auditing.chunks import Coded, Rows, integers, pack
from antecede.spark.auditing.judge import NO_TIME
from antecede.spark.auditing.judging import chunks_of, shipped_note
from antecede.spark.auditing.keys import Finder, spark_key
from antecede.spark.auditing.pieces import Batches, Source
from antecede.spark.auditing.tables import Shelf, domain_of, run_of

__all__ = ["KIND_BITS", "REASON_BITS", "ship_numbers"]

Ints = NDArray[Any]

KIND_BITS, REASON_BITS = 3, 2
"""`what` is step, reason and kind, from the highest bits to the lowest; kind 0 is any that ships nothing."""


def ship_numbers(read: Source, scratch: str, parts: int) -> Callable[[Any], Batches]:
    """Columns who, what, at_us, true_us, message, peer."""

    def run(batches: Any) -> Batches:
        shelf = Shelf(scratch)
        directory = Directory(shelf)
        for _, table in read(batches):
            spot = directory.finder.find(integers(table.column("who"), 0).view(np.uint64))
            strangers = int((spot < 0).sum())
            if strangers:
                yield shipped_note(domain_of("", ""), {"stranger": strangers})
            who = np.where(spot >= 0, directory.order[spot], -1)
            domains = directory.domain[who]
            domains[who < 0] = -1
            for number, domain in enumerate(directory.domains):
                rows = np.flatnonzero(domains == number)
                if not len(rows):
                    continue
                if shelf.refused(domain) is not None:
                    yield shipped_note(domain, {"refused": len(rows)})
                    continue
                mine = table if len(rows) == len(table) else table.take(pa.array(rows))
                messages = shelf.get(domain)
                chunks, left_out = pack(directory.rows(number, who[rows], mine), messages.find)
                yield from chunks_of(domain, messages, chunks, left_out, parts)

    return run


class Directory:
    """Everybody by key: of all domains, and of each the names that peers may have."""

    def __init__(self, shelf: Shelf) -> None:
        self.domains: list[str] = []
        self.names: list[list[str]] = []
        self.starts: list[int] = []
        keys: list[int] = []
        of: list[int] = []
        for number, (domain, names) in enumerate(shelf.who()):
            self.domains.append(domain)
            self.names.append(names)
            self.starts.append(len(keys))
            keys += [spark_key(run_of(domain)[1], name) for name in names]
            of += [number] * len(names)
        known = np.array(keys, np.uint64)
        self.order: Ints = np.argsort(known) if keys else np.zeros(1, np.int64)
        self.finder = Finder(known[self.order] if keys else known)
        self.domain = np.array([*of, -1])
        self._peers: dict[int, tuple[Finder, Ints]] = {}

    def rows(self, number: int, who: Ints, table: Any) -> Rows:
        what = integers(table.column("what"), 0)
        kind = (what & (1 << KIND_BITS) - 1).astype(np.int8) - np.int8(1)
        reason = (what >> KIND_BITS & (1 << REASON_BITS) - 1).astype(np.uint8)
        return Rows(
            process=Coded((who - self.starts[number]).astype(np.int32), self.names[number]),
            step=what >> KIND_BITS + REASON_BITS,
            at_us=integers(table.column("at_us"), 0),
            true_us=integers(table.column("true_us"), int(NO_TIME)),
            kind=kind,
            reason=reason,
            message=integers(table.column("message"), 0).view(np.uint64),
            peer=self._peer(number, integers(table.column("peer"), 0).view(np.uint64)),
        )

    def _peer(self, number: int, keys: Ints) -> Coded:
        """Peers that nobody told of are all the same to us: nobody answers for them."""
        names = self.names[number]
        if not keys.any():
            return Coded(np.full(len(keys), -1, np.int32), [])
        if number not in self._peers:
            known = np.array([spark_key(name) for name in names], np.uint64)
            order = np.argsort(known)
            self._peers[number] = Finder(known[order]), order
        finder, order = self._peers[number]
        spot = finder.find(keys)
        codes = np.where(spot >= 0, order[spot], len(names)).astype(np.int32)
        codes[keys == 0] = -1
        return Coded(codes, [*names, "?"])


def tables_of(batches: Any, rows_at_once: int) -> Iterator[tuple[str, Any]]:
    """What Spark hands over, a few thousand rows at a time, joined to pieces worth the work."""
    held: list[Any] = []
    rows = 0
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        if rows >= rows_at_once:
            yield "", pa.Table.from_batches(held)
            held, rows = [], 0
    if held:
        yield "", pa.Table.from_batches(held)
