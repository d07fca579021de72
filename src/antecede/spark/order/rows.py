"""Rows on their way through a task: Arrow chunks by slot, what became of each slot, and how rows are fed to domains.

A slot is a row's number for life. Chunks are kept while something in them waits; when most of what is kept has gone
out, the rest is copied together, so that all copying stays proportional to the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from antecede.spark.order.arrow import empty_lists, lists, named, runs, together
from antecede.spark.order.behind import NEVER
from antecede.spark.order.columns import FOREIGN, WORKING
from antecede.spark.order.domain import CYCLE, FATES, INVALID, REASONS, Domain
from antecede.spark.order.work import FIRST, Work, times
from antecede.spark.tables.making import array, from_numpy

__all__ = ["Chunk", "Rows", "feed"]

Numbers: TypeAlias = "np.ndarray[Any, Any]"

BATCH = 20_000
"""Rows in a batch that goes back to Spark, about."""

WITH_THEM = ("_foreign", "_fault")
"""Columns that are not the user's and travel with the rows, because they are told in the end."""

NO_ID, ON_CYCLE = "id is null", "it is among its own ancestors"

LOOSE = 100_000
"""Rows that may be kept in vain before the rest is copied together."""


class Chunk:
    """Rows with ascending slots; `slots` is None when these have no holes."""

    __slots__ = ("batch", "end", "first", "slots")

    def __init__(self, batch: pa.RecordBatch, first: int, slots: Numbers | None = None) -> None:
        self.batch = batch
        self.slots = slots
        self.first = first if slots is None else int(slots[0])
        self.end = first + batch.num_rows if slots is None else int(slots[-1]) + 1

    def places(self, slots: Numbers) -> Numbers:
        return slots - self.first if self.slots is None else np.searchsorted(self.slots, slots)

    def take(self, slots: Numbers) -> pa.RecordBatch:
        whole = len(slots) == self.batch.num_rows
        return self.batch if whole else self.batch.take(from_numpy(self.places(slots), pa.int64()))

    def without(self, slots: Numbers) -> Chunk | None:
        """What is left without these."""
        if len(slots) == self.batch.num_rows:
            return None
        left = np.ones(self.batch.num_rows, dtype=bool)
        left[self.places(slots)] = False
        mine = np.arange(self.first, self.end) if self.slots is None else self.slots
        return Chunk(self.batch.take(from_numpy(np.flatnonzero(left), pa.int64())), 0, mine[left])


class Rows:
    def __init__(self) -> None:
        self.chunks: list[Chunk] = []
        self.next_slot = 0
        self.ready = 0
        self._slots: list[Numbers] = []
        self._places: list[Numbers] = []
        self._codes: list[Numbers] = []
        self._odd: dict[int, tuple[int, list[str]]] = {}
        self._revealed: dict[int, int] = {}

    def add(self, batch: pa.RecordBatch) -> int:
        """Returns the slot of its first row."""
        first = self.next_slot
        if batch.num_rows:
            self.chunks.append(Chunk(batch, first))
            self.next_slot += batch.num_rows
        return first

    def collect(self, domain: Domain) -> None:
        """Take over what a domain has decided."""
        if domain.out:
            slots = np.array(domain.out, dtype=np.int64)
            self._note(slots, np.arange(domain.pos - len(slots), domain.pos), np.zeros(len(slots), dtype=np.int8))
            domain.out.clear()
            if domain.odd:
                self._odd.update(domain.odd)
                domain.odd.clear()
        if domain.rest:
            slots = np.array([slot for slot, _, _ in domain.rest], dtype=np.int64)
            codes = np.array([fate for _, fate, _ in domain.rest], dtype=np.int8)
            self._note(slots, np.full(len(slots), -1), codes)
            self._revealed.update({slot: count for slot, _, count in domain.rest if count})
            domain.rest.clear()

    def _note(self, slots: Numbers, places: Numbers, codes: Numbers) -> None:
        self._slots.append(slots)
        self._places.append(places)
        self._codes.append(codes)
        self.ready += len(slots)

    def emit(self, *, keep: bool = False) -> Iterator[pa.RecordBatch]:
        """What is decided, in the order of slots. `keep`: let go of it in the chunks too, at once."""
        slots, places, codes = self._decided()
        pieces: list[pa.RecordBatch] = []
        left: list[Chunk] = []
        begin = 0
        for chunk in self.chunks:
            low, high = np.searchsorted(slots, [chunk.first, chunk.end]).tolist()
            if low < high:
                pieces.append(chunk.take(slots[low:high]))
                if high - begin >= BATCH:
                    yield self._batch(pieces, slots[begin:high], places[begin:high], codes[begin:high])
                    pieces, begin = [], high
            if keep and (rest := chunk.without(slots[low:high]) if low < high else chunk):
                left.append(rest)
        if pieces:
            yield self._batch(pieces, slots[begin:], places[begin:], codes[begin:])
        if keep:
            self.chunks = left
        self._odd.clear()
        self._revealed.clear()

    def _decided(self) -> tuple[Numbers, Numbers, Numbers]:
        if not self.ready:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int8)
        slots, places, codes = (np.concatenate(part) for part in (self._slots, self._places, self._codes))
        self._slots, self._places, self._codes = [], [], []
        self.ready = 0
        if not (slots[1:] > slots[:-1]).all():
            order = np.argsort(slots, kind="stable")
            return slots[order], places[order], codes[order]
        return slots, places, codes

    def _batch(self, pieces: list[pa.RecordBatch], slots: Numbers, places: Numbers, codes: Numbers) -> pa.RecordBatch:
        body = pieces[0] if len(pieces) == 1 else together(pieces)
        gone = places < 0
        by = np.zeros(len(slots), dtype=np.int8)
        revealed = np.zeros(len(slots), dtype=np.int32)
        missing = self._tell(slots, by, revealed, body)
        columns = {
            "causal_pos": from_numpy(places, pa.int64(), gone),
            "fate": named(FATES, codes),
            "released_by": named(REASONS, by, gone),
            "missing": empty_lists(len(slots)) if missing is None else array(missing, pa.list_(pa.string())),
            "revealed": from_numpy(revealed, pa.int32()),
        }
        columns["why"] = self._why(codes, body)
        own = [name for name in body.schema.names if name not in WITH_THEM]
        return pa.RecordBatch.from_arrays([*(body[name] for name in own), *columns.values()], names=[*own, *columns])

    def _why(self, codes: Numbers, body: pa.RecordBatch) -> Any:
        """For rows no order can be given to: the reason."""
        if not (codes >= CYCLE).any():
            return pa.nulls(len(codes), pa.string())
        faults = body["_fault"].to_pylist() if "_fault" in body.schema.names else [None] * len(codes)
        said = {CYCLE: ON_CYCLE, INVALID: NO_ID}
        told = [faults[place] or said[code] if code in said else None for place, code in enumerate(codes.tolist())]
        return array(told, pa.string())

    def _tell(self, slots: Numbers, by: Numbers, revealed: Numbers, body: pa.RecordBatch) -> list[list[str]] | None:
        """Fill in what few rows have to tell. Returns what is missing before each, None when nothing is."""
        abroad = body["_foreign"] if "_foreign" in body.schema.names else None
        nowhere = abroad is None or abroad.null_count == len(abroad)
        if not self._odd and not self._revealed and nowhere:
            return None
        missing: list[list[str]] = [[]] * len(slots)
        foreign = [None] * len(slots) if abroad is None or nowhere else abroad.to_pylist()
        for place, slot in enumerate(slots.tolist()):
            if slot in self._odd:
                by[place], missing[place] = self._odd[slot]
            if slot in self._revealed:
                revealed[place] = self._revealed[slot]
            if foreign[place]:
                missing[place] = [*(FOREIGN + one for one in foreign[place] or () if one is not None), *missing[place]]
        return missing

    def compact(self, domain: Domain) -> None:
        """Let go of chunks in which nothing waits; copy the rest together when it has become loose."""
        kept = sum(chunk.batch.num_rows for chunk in self.chunks)
        if self.ready or (kept <= 2 * domain.waiting + LOOSE and domain.waiting):
            return
        slots = np.array(sorted(row.slot for row in domain.held.values() if not row.ghost), dtype=np.int64)
        slots = np.unique(slots)
        pieces = []
        for chunk in self.chunks:
            low, high = np.searchsorted(slots, [chunk.first, chunk.end]).tolist()
            if low < high:
                pieces.append(chunk.take(slots[low:high]))
        self.chunks = [Chunk(together(pieces), 0, slots)] if pieces else []


# -- to the domains --------------------------------------------------------------------------------------------------


def feed(batch: pa.RecordBatch, work: Work, rows: Rows, domain_of: Callable[[str | None], Domain]) -> None:
    """Sorted rows, group by group, to their domains. A domain that is asked for ends the one before it."""
    own = [name for name in batch.schema.names if name not in WORKING or name in WITH_THEM]
    first = rows.add(batch.select(own))
    edges, groups = ([batch.num_rows], [None]) if work.group is None else runs(batch[work.group])
    names, needs = batch[work.name].to_pylist(), lists(batch[work.needs])
    other = [None] * len(names) if work.other is None else batch[work.other].to_pylist()
    at, late = times(batch, work.at, FIRST), times(batch, work.late, NEVER)
    due = late if work.due == work.late else times(batch, work.due, NEVER)
    start = 0
    for edge, group in zip(edges, groups, strict=True):
        domain = domain_of(group)
        if edge - start == len(names):
            domain.take(range(first, first + edge), names, other, needs, at, late, due)
        else:
            part = slice(start, edge)
            mine = range(first + start, first + edge)
            domain.take(mine, names[part], other[part], needs[part], at[part], late[part], due[part])
        rows.collect(domain)
        start = edge
