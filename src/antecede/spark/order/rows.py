"""Rows on their way through a batch task: Arrow chunks by slot, and what became of each slot.

A slot is a row's number in the task. Chunks are kept while something in them waits; when most of what is kept has gone
out, the rest is copied together, so that all copying stays proportional to the rows.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from antecede.spark.order.columns import FOREIGN
from antecede.spark.order.domain import FATES, REASONS, Domain

__all__ = ["Rows"]

BATCH = 20_000
"""Rows in a batch that goes back to Spark, about."""

LOOSE = 100_000
"""Rows that may be kept in vain before the rest is copied together."""


class Rows:
    def __init__(self) -> None:
        self.starts: list[int] = []
        self.chunks: list[pa.RecordBatch] = []
        self.next_slot = 0
        self.kept = 0
        self.ready = 0
        self.foreign: dict[int, list[str]] = {}
        self._slots: list[np.ndarray] = []
        self._places: list[np.ndarray] = []
        self._codes: list[np.ndarray] = []
        self._odd: dict[int, tuple[int, list[str]]] = {}
        self._revealed: dict[int, int] = {}

    def add(self, chunk: pa.RecordBatch) -> int:
        """Returns the slot of its first row."""
        first = self.next_slot
        self.starts.append(first)
        self.chunks.append(chunk)
        self.next_slot += chunk.num_rows
        self.kept += chunk.num_rows
        return first

    def collect(self, domain: Domain) -> None:
        """Take over what a domain has decided."""
        if domain.out:
            slots = np.array(domain.out, dtype=np.int64)
            self._note(slots, np.arange(domain.pos - len(slots), domain.pos), np.zeros(len(slots), dtype=np.int8))
            domain.out.clear()
            self._odd.update(domain.odd)
            domain.odd.clear()
        if domain.rest:
            slots = np.array([slot for slot, _, _ in domain.rest], dtype=np.int64)
            codes = np.array([fate for _, fate, _ in domain.rest], dtype=np.int8)
            self._note(slots, np.full(len(slots), -1), codes)
            self._revealed.update({slot: count for slot, _, count in domain.rest if count})
            domain.rest.clear()

    def _note(self, slots: np.ndarray, places: np.ndarray, codes: np.ndarray) -> None:
        self._slots.append(slots)
        self._places.append(places)
        self._codes.append(codes)
        self.ready += len(slots)

    def emit(self) -> Iterator[pa.RecordBatch]:
        """What is decided, in the order of slots."""
        if not self.ready:
            return
        slots, places, codes = (np.concatenate(part) for part in (self._slots, self._places, self._codes))
        self._slots, self._places, self._codes = [], [], []
        self.ready = 0
        if len(slots) > 1 and not (slots[1:] > slots[:-1]).all():
            order = np.argsort(slots, kind="stable")
            slots, places, codes = slots[order], places[order], codes[order]
        edges = np.searchsorted(slots, [*self.starts, self.next_slot])
        pieces: list[pa.RecordBatch] = []
        begin = 0
        for number, chunk in enumerate(self.chunks):
            low, high = int(edges[number]), int(edges[number + 1])
            if low == high:
                continue
            taken = slots[low:high] - self.starts[number]
            if high - low == chunk.num_rows:
                pieces.append(chunk)
            else:
                pieces.append(chunk.take(pa.array(taken)))
            if high - begin >= BATCH:
                yield self._batch(pieces, slots[begin:high], places[begin:high], codes[begin:high])
                pieces, begin = [], high
        if pieces:
            yield self._batch(pieces, slots[begin:], places[begin:], codes[begin:])
        self.kept_out = len(slots)
        self._odd.clear()
        self._revealed.clear()

    def _batch(
        self, pieces: list[pa.RecordBatch], slots: np.ndarray, places: np.ndarray, codes: np.ndarray
    ) -> pa.RecordBatch:
        body = pieces[0] if len(pieces) == 1 else pa.concat_batches(pieces)
        size = len(slots)
        gone = places < 0
        by = np.zeros(size, dtype=np.int8)
        missing: list[list[str]] | None = None
        revealed = np.zeros(size, dtype=np.int32)
        if self._odd or self._revealed or self.foreign:
            missing = [[]] * size
            for place, slot in enumerate(slots.tolist()):
                told = self._odd.get(slot)
                if told is not None:
                    by[place], missing[place] = told
                if slot in self._revealed:
                    revealed[place] = self._revealed[slot]
                if slot in self.foreign:
                    missing[place] = [*(FOREIGN + one for one in self.foreign.pop(slot)), *missing[place]]
        columns = {
            "causal_pos": pa.array(places, mask=gone),
            "fate": named(FATES, codes),
            "released_by": named(REASONS, by, gone),
            "missing": empty_lists(size) if missing is None else pa.array(missing, pa.list_(pa.string())),
            "revealed": pa.array(revealed),
        }
        return pa.RecordBatch.from_arrays(
            [*body.columns, *columns.values()], names=[*body.schema.names, *columns]
        )

    def compact(self, domain: Domain) -> None:
        """Let go of chunks in which nothing waits; copy the rest together when it has become loose."""
        if self.ready:
            return
        if not domain.waiting:
            self.settle()
            return
        if self.kept <= 2 * domain.waiting + LOOSE:
            return
        held = [row for row in domain.rows() if not row.ghost]
        held.sort(key=lambda row: row.slot)
        slots = np.array([row.slot for row in held], dtype=np.int64)
        edges = np.searchsorted(slots, [*self.starts, self.next_slot])
        pieces = []
        for number, chunk in enumerate(self.chunks):
            low, high = int(edges[number]), int(edges[number + 1])
            if low < high:
                pieces.append(chunk.take(pa.array(slots[low:high] - self.starts[number])))
        told = {row.slot: row for row in held}
        self.foreign = {slot: found for slot, found in self.foreign.items() if slot in told}
        first = self.next_slot
        self.starts, self.chunks, self.kept = [], [], 0
        if pieces:
            self.add(pa.concat_batches(pieces))
        for number, row in enumerate(held):
            if row.slot in self.foreign:
                self.foreign[first + number] = self.foreign.pop(row.slot)
            row.slot = first + number

    def settle(self) -> None:
        """Nothing waits."""
        if not self.ready:
            self.starts, self.chunks, self.kept = [], [], 0


def named(words: tuple[str, ...], codes: np.ndarray, hidden: np.ndarray | None = None) -> pa.Array:
    chosen = pa.array(codes, mask=hidden)
    return pa.DictionaryArray.from_arrays(chosen, pa.array(words)).dictionary_decode()


def empty_lists(size: int) -> pa.Array:
    return pa.ListArray.from_arrays(pa.array(np.zeros(size + 1, dtype=np.int32)), pa.array([], pa.string()))
