"""Many domains under one key of a stream's state: what is loaded, what is kept as bytes, what goes back.

Groups are hashed into a few keys, since a call into Python costs more than a row. A bucket's value holds each domain's
saved state, which is thawed only when it is touched, and by when the next of its rows is due. The rows that wait stand
beside it as one Arrow table; a row keeps its slot for life, so a domain that is not touched is not rewritten.

The bytes (`wire.freeze`) are [VERSION, rules, next slot, slots of waiting rows, [[group, due, stale, domain], ...]].
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from antecede.errors import RemoteProtocolError
from antecede.spark.order.arrow import table_bytes, table_of, together
from antecede.spark.order.behind import NEVER, Rules
from antecede.spark.order.domain import Domain
from antecede.spark.order.rows import Chunk, Rows
from antecede.wire import freeze, thaw

__all__ = ["VERSION", "Bucket", "Warm"]

VERSION = 1


class Bucket:
    def __init__(self, rules: Rules | None, saved: bytes | None = None, waiting: bytes | None = None) -> None:
        """`rules` None: those it was saved with."""
        self.rules = rules or Rules()
        self.rows = Rows()
        self._saved: dict[str | None, list[Any]] = {}
        self._open: dict[str | None, Domain] = {}
        if saved is not None:
            self._load(saved, waiting, rules is None)

    def _load(self, saved: bytes, waiting: bytes | None, as_saved: bool) -> None:
        value = thaw(saved)
        if not isinstance(value, list) or not value or value[0] != VERSION:
            found = value[0] if isinstance(value, list) and value else "unknown"
            raise RemoteProtocolError(f"saved state of causal_order has version {found}; this is version {VERSION}")
        _, rules, self.rows.next_slot, slots, entries = value
        if as_saved:
            self.rules = Rules(*rules)
        self._saved = {entry[0]: entry for entry in entries}
        if waiting is not None:
            self.rows.chunks = [Chunk(table_of(waiting), 0, np.frombuffer(slots, dtype="<i8"))]

    def domain(self, group: str | None) -> Domain:
        found = self._open.get(group)
        if found is None:
            entry = self._saved.get(group)
            found = Domain(self.rules) if entry is None else Domain.thawed(self.rules, thaw(entry[3]))
            self._open[group] = found
        return found

    def size(self) -> int | None:
        """How many names its domain knows; None if there are several domains."""
        return sum(len(domain.past) for domain in self._open.values()) if len(self._saved) == 1 else None

    def domains(self) -> Iterator[tuple[str | None, Domain]]:
        """Every domain, thawed."""
        for group in [*self._saved, *(group for group in self._open if group not in self._saved)]:
            yield group, self.domain(group)

    def expire(self, now: int) -> None:
        """It is `now` for all domains: nothing earlier will arrive in any."""
        for group, entry in self._saved.items():
            if entry[1] < now or entry[2] < now:
                self.domain(group)
        for domain in self._open.values():
            domain.expire(now)
            self.rows.collect(domain)

    def finish(self) -> None:
        """Nothing will come any more."""
        for _, domain in self.domains():
            domain.finish()
            self.rows.collect(domain)

    def next_due(self) -> int:
        saved = [entry[1] for group, entry in self._saved.items() if group not in self._open]
        return min((*saved, *(domain.next_due() for domain in self._open.values())), default=NEVER)

    def frozen(self) -> tuple[bytes, bytes | None]:
        """The saved state and the rows that wait. All that is decided must have been emitted."""
        for group, domain in self._open.items():
            stale = NEVER if not domain.past else domain.turn_at()
            self._saved[group] = [group, domain.next_due(), stale, freeze(domain.frozen())]
        chunks, slots = self.rows.chunks, np.zeros(0, dtype="<i8")
        if chunks:
            mine = [np.arange(one.first, one.end) if one.slots is None else one.slots for one in chunks]
            slots = np.concatenate(mine).astype("<i8")
            self.rows.chunks = [Chunk(together([chunk.batch for chunk in chunks]), 0, slots)]
        saved = freeze([VERSION, list(self.rules), self.rows.next_slot, slots.tobytes(), list(self._saved.values())])
        return saved, table_bytes(self.rows.chunks[0].batch) if chunks else None


class Warm:
    """Buckets as they were left, for whoever is given the same bytes again: thawing takes time.

    A task of the next micro-batch often runs in the process of the last. Bytes decide, so it is of no consequence where
    they come from. Kept are buckets of one domain, the last ones left, of at most `most` names together.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._kept: dict[bytes, tuple[bytes | None, Bucket, int]] = {}

    def take(self, rules: Rules, saved: bytes, waiting: bytes | None) -> Bucket:
        """That bucket; it is the caller's then."""
        found = self._kept.pop(saved, None)
        if found is not None and found[0] == waiting and found[1].rules == rules:
            return found[1]
        return Bucket(rules, saved, waiting)

    def leave(self, bucket: Bucket, saved: bytes, waiting: bytes | None) -> None:
        names = bucket.size()
        if names is not None and names <= self.most:
            self._kept[saved] = (waiting, bucket, names)
            while sum(count for _, _, count in self._kept.values()) > self.most:
                del self._kept[next(iter(self._kept))]
