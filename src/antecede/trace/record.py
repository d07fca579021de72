"""The schema of a trace, once: every column, its type, its meaning; Arrow's and Spark's schemas are derived from here.

Decided in this file: what a row is (a plain tuple in column order, so that writing one costs little; `Row` names the
places), that steps are contiguous from 0 in each process (the `Recorder` counts them, nobody else), and what the
digest of a run is made of. Nothing here knows a protocol: a record says what happened, never why it was right.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "COLUMNS",
    "FORMAT",
    "KINDS",
    "LATER",
    "REASONS",
    "RETAINED",
    "ROLES",
    "Column",
    "Digest",
    "Recorder",
    "Row",
    "arrow_schema",
    "digest",
    "is_copy",
    "odd_reason",
]

FORMAT = 1
"""Version of the trace; written into every file, raised when a column changes its meaning."""

KINDS = (
    "publish",
    "arrive",
    "deliver",
    "discard",
    "ask",
    "answer",
    "join",
    "leave",
    "move",
    "collect",
    "crash",
    "restart",
    "end",
)
ROLES = ("member", "broker", "subscriber")
RETAINED = "retained"
"""Of a delivery: a copy that was kept, not the message on its way."""
REASONS = {
    "deliver": ("causes", "deadline", "own", RETAINED),
    "discard": ("late", "superseded", "duplicate", "expired", "overflow", "foreign", "gone"),
    "crash": ("expelled", "left"),
    "end": ("quiet", "stopped"),
}


def odd_reason(kind: str, reason: str | None) -> bool:
    """Whether rows of that kind never have that reason."""
    return reason is not None and reason not in REASONS.get(kind, ())


def is_copy(row: Row) -> bool:
    """A retained copy was handed over: state, no delivery, so nothing follows from it."""
    return row.kind == "deliver" and row.reason == RETAINED


class Column(NamedTuple):
    name: str
    type: str
    """`string`, `int64`, `int32` or `list<string>`."""
    nullable: bool
    meaning: str


COLUMNS: tuple[Column, ...] = (
    Column("run", "string", False, "one execution"),
    Column("process", "string", False, "a name, with .incarnation after a restart with empty memory"),
    Column("role", "string", False, "member, broker or subscriber"),
    Column("step", "int64", False, "local order in that process, contiguous from 0: ground truth for happened-before"),
    Column("at_us", "int64", False, "that process's clock"),
    Column("kind", "string", False, "one of KINDS"),
    Column("message", "string", True, "sender:seq"),
    Column("groups", "list<string>", True, "publish: topics; join, leave: filters gained or lost"),
    Column("deadline_us", "int64", True, "publish: not to be delivered after it"),
    Column(
        "reason",
        "string",
        True,
        "discard, deliver, end: the claim of the protocol, crash: why if it was none; one of REASONS",
    ),
    Column("after", "list<string>", True, "publish: null = all delivered so far, else exactly these; '-': unordered"),
    Column(
        "cut",
        "list<string>",
        True,
        "join, move: one sender:seq per sender; these and their past lie behind; A@:17: the first 17 that A let go of",
    ),
    Column("guard_us", "int64", True, "join: how long before a deadline this process stops waiting"),
    Column("expires_us", "int64", True, "publish: end of the lifetime towards subscribers, where there is one"),
    Column("true_us", "int64", True, "the simulator's clock; lateness is judged by it where present"),
    Column(
        "peer",
        "string",
        True,
        "arrive: sender of the frame; join, move: the broker; ask: who is asked; discard: whose queue it was in, with "
        "overflow at a broker its client, with late this process itself, whose application did not take it in time",
    ),
    Column("bytes", "int32", True, "size on the wire"),
    Column("control_bytes", "int32", True, "of which causal metadata"),
    Column("where", "string", True, "join, leave: the predicate of these filters; null: they select by topic alone"),
    Column("headers", "string", True, "publish: what predicates see of it, as a JSON object; null: nothing"),
)
LATER = ("where", "headers")
"""Columns that came later: files without them hold a trace too, in which they are null."""


FIRST = len(COLUMNS) - len(LATER)
"""The place of the first of those."""


class Row(NamedTuple):
    """One local step of one process: the columns above, in their order. `Row._make(t)` names a plain tuple."""

    run: str
    process: str
    role: str
    step: int
    at_us: int
    kind: str
    message: str | None = None
    groups: Sequence[str] | None = None
    deadline_us: int | None = None
    reason: str | None = None
    after: Sequence[str] | None = None
    cut: Sequence[str] | None = None
    guard_us: int | None = None
    expires_us: int | None = None
    true_us: int | None = None
    peer: str | None = None
    bytes: int | None = None
    control_bytes: int | None = None
    where: str | None = None
    headers: str | None = None


def arrow_schema() -> pa.Schema:
    """The Arrow schema of a trace, with the format version in its metadata."""
    import pyarrow as pa  # here, so that recording and checking rows in memory needs no Arrow

    types = {"string": pa.string(), "int64": pa.int64(), "int32": pa.int32(), "list<string>": pa.list_(pa.string())}
    fields = [pa.field(c.name, types[c.type], c.nullable) for c in COLUMNS]
    return pa.schema(fields, metadata={"antecede.format": str(FORMAT)})


class Recorder:
    """Collects rows of one run; hands them to `sink` in batches, or keeps them all in `rows` when there is none.

    >>> recorder = Recorder("demo")
    >>> recorder.row("p", "member", 0, "publish", "p:1", groups=("G1",))
    >>> recorder.row("p", "member", 5, "end", reason="quiet")
    >>> [(r[3], r[5]) for r in recorder.rows]
    [(0, 'publish'), (1, 'end')]
    """

    __slots__ = ("_append", "_batch", "_digest", "_sink", "_steps", "count", "rows", "run")

    def __init__(
        self,
        run: str,
        sink: Callable[[list[tuple[Any, ...]]], object] | None = None,
        *,
        batch: int = 65_536,
        digest: bool = False,
    ) -> None:
        self.run = run
        self.rows: list[tuple[Any, ...]] = []
        """Rows not yet handed on: one list object for the life of the recorder."""
        self.count = 0
        """Rows handed on; `len(rows)` more wait."""
        self._append = self.rows.append
        self._sink = sink
        self._batch = batch if sink is not None else 0
        self._steps: dict[str, int] = {}
        self._digest = Digest() if digest else None

    def row(
        self,
        process: str,
        role: str,
        at_us: int,
        kind: str,
        message: str | None = None,
        groups: tuple[str, ...] | None = None,
        deadline_us: int | None = None,
        reason: str | None = None,
        after: tuple[str, ...] | None = None,
        cut: tuple[str, ...] | None = None,
        guard_us: int | None = None,
        expires_us: int | None = None,
        true_us: int | None = None,
        peer: str | None = None,
        bytes: int | None = None,
        control_bytes: int | None = None,
        where: str | None = None,
        headers: str | None = None,
    ) -> None:
        """One step of `process`. Lists are given as tuples: rows are kept as they are, not copied."""
        steps = self._steps
        step = steps.get(process, 0)
        steps[process] = step + 1
        self._append(
            (self.run, process, role, step, at_us, kind, message, groups, deadline_us, reason,
             after, cut, guard_us, expires_us, true_us, peer, bytes, control_bytes, where, headers)
        )  # fmt: skip
        if self._batch and len(self.rows) >= self._batch:
            self.flush()

    def arrivals(
        self, process: str, role: str, at_us: int, peer: str, ids: Sequence[str], sizes: Sequence[int],
        controls: Sequence[int],
    ) -> None:  # fmt: skip
        """One step of `process` for each of these messages, which came in one frame."""
        run, first = self.run, self._steps.get(process, 0)
        self._steps[process] = first + len(ids)
        self.rows += [
            (run, process, role, step, at_us, "arrive", message, None, None, None,
             None, None, None, None, None, peer, size, control, None, None)
            for step, message, size, control in zip(count(first), ids, sizes, controls, strict=False)
        ]  # fmt: skip
        if self._batch and len(self.rows) >= self._batch:
            self.flush()

    def flush(self) -> None:
        """Hand on what waits. The sink must be done with the list when it returns: it is emptied."""
        if self._sink is None or not self.rows:
            return
        if self._digest is not None:
            self._digest.update(self.rows)
        self._sink(self.rows)
        self.count += len(self.rows)
        self.rows.clear()

    def hexdigest(self) -> str:
        """Digest of everything recorded so far (needs `digest=True` where there is a sink)."""
        if self._sink is None:
            return digest(self.rows)
        if self._digest is None:
            raise ValueError("this Recorder hands its rows on and was not asked for a digest: pass digest=True")
        self.flush()
        return self._digest.hexdigest()


class Digest:
    """SHA-256 of rows by process and step, in bounded memory: one running hash per process, then one over those.

    The run's name is left out (the same execution under another name is the same), and every row enters as the ASCII
    text of its tuple, which is equal on every Python and under any PYTHONHASHSEED; columns that came later enter where
    they say something, so that what was recorded before them keeps its digest. Rows of one process must come in the
    order of their steps; how processes interleave does not matter.
    """

    def __init__(self) -> None:
        self._parts: dict[str, Any] = {}

    def update(self, rows: Iterable[Sequence[Any]]) -> None:
        texts: dict[str, list[str]] = {}
        for row in rows:
            values = row[1:] if any(row[FIRST:]) else row[1:FIRST]
            if type(values) is not tuple or list in map(type, values):
                values = tuple(tuple(v) if isinstance(v, list) else v for v in values)
            texts.setdefault(row[1], []).append(ascii(values))
        for process, lines in texts.items():
            part = self._parts.get(process)
            if part is None:
                part = self._parts[process] = hashlib.sha256()
            part.update(("\n".join(lines) + "\n").encode("ascii"))

    def hexdigest(self) -> str:
        whole = hashlib.sha256()
        for process in sorted(self._parts):
            whole.update(f"{process!a} {self._parts[process].hexdigest()}\n".encode("ascii"))
        return whole.hexdigest()


def digest(rows: Iterable[Sequence[Any]]) -> str:
    """The digest of rows that come, for each process, in the order of its steps."""
    running = Digest()
    batch: list[Sequence[Any]] = []
    for row in rows:
        batch.append(row)
        if len(batch) >= 65_536:
            running.update(batch)
            batch = []
    running.update(batch)
    return running.hexdigest()
