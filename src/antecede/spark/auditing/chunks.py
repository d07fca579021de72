"""Rows of a trace in the form in which they travel: a few bytes a row, one chunk for each process in a batch.

Decided in this file: what of a row is needed (rows that name no known message are counted and left out), that ids
travel as dense numbers, and that times travel as differences where they fit. A chunk says how many rows of its process
the batch held in all, and where they end, so that a process whose steps do not run from 0 on is noticed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from antecede.spark.auditing.judge import DUPLICATE, FOREIGN, NO_TIME, OVERFLOW, PLAIN, Events
from antecede.spark.auditing.keys import keys_of, schema_of

__all__ = ["CHUNK", "EVENT_KINDS", "REASON_CODES", "Coded", "Rows", "code_rows", "integers", "pack", "unpack"]

Ints = NDArray[Any]

CHUNK = schema_of(
    process=pa.string(),
    count=pa.int32(),
    rows=pa.int64(),
    last_step=pa.int64(),
    last_at_us=pa.int64(),
    step_sum=pa.int64(),
    form=pa.int32(),
    base_us=pa.int64(),
    events=pa.binary(),
    peers=pa.list_(pa.string()),
)

EVENT_KINDS = ("publish", "arrive", "deliver", "discard")
REASON_CODES = {"duplicate": DUPLICATE, "foreign": FOREIGN, "overflow": OVERFLOW}
WIDE_AT, WIDE_TRUE, HAS_TRUE = 1, 2, 4
"""Bits of `form`: times that do not fit into 32 bits as differences; whether there is a simulator's clock."""


@dataclass
class Coded:
    """A column of few different texts: numbers among `words`, -1 for null."""

    codes: Ints
    words: list[str]

    @classmethod
    def of(cls, column: Any) -> Coded:
        array = column
        if isinstance(array, pa.ChunkedArray):
            array = array.unify_dictionaries() if pa.types.is_dictionary(array.type) else array
            array = array.combine_chunks()
        if pa.types.is_null(array.type):
            array = array.cast(pa.string())
        if not pa.types.is_dictionary(array.type):
            array = array.dictionary_encode()
        codes = array.indices.fill_null(-1) if array.null_count else array.indices
        return cls(codes.to_numpy().astype(np.int32), array.dictionary.to_pylist())

    def recoded(self, table: Callable[[str], int], missing: int, kind: Any) -> Ints:
        """Each word through `table`."""
        return np.array([*(table(word) for word in self.words), missing], kind)[self.codes]


@dataclass
class Rows:
    """The columns of a batch of rows that the main pass needs."""

    process: Coded
    step: Ints
    at_us: Ints
    true_us: Ints
    kind: Ints
    """Number among EVENT_KINDS; -1: another kind."""
    reason: Ints
    key: Ints
    """Of the message; 0: none."""
    peer: Coded

    def __len__(self) -> int:
        return len(self.step)


def integers(column: Any, missing: int) -> Ints:
    return np.asarray((column.fill_null(missing) if column.null_count else column).to_numpy())


def code_rows(table: Any) -> Rows:
    """From the columns of a trace; where kind, reason and key are numbers already, they are taken as they are."""
    if "key" in table.column_names:
        return Rows(
            process=Coded.of(table.column("process")),
            step=integers(table.column("step"), -1),
            at_us=integers(table.column("at_us"), 0),
            true_us=integers(table.column("true_us"), int(NO_TIME)),
            kind=integers(table.column("kind"), -1).astype(np.int8),
            reason=integers(table.column("reason"), PLAIN).astype(np.uint8),
            key=integers(table.column("key"), 0).view(np.uint64),
            peer=Coded.of(table.column("peer")),
        )
    kind, reason = Coded.of(table.column("kind")), Coded.of(table.column("reason"))
    event = {name: code for code, name in enumerate(EVENT_KINDS)}
    return Rows(
        process=Coded.of(table.column("process")),
        step=integers(table.column("step"), -1),
        at_us=integers(table.column("at_us"), 0),
        true_us=integers(table.column("true_us"), int(NO_TIME)),
        kind=kind.recoded(lambda word: event.get(word, -1), -1, np.int8),
        reason=reason.recoded(lambda word: REASON_CODES.get(word, PLAIN), PLAIN, np.uint8),
        key=keys_of(table.column("message")),
        peer=Coded.of(table.column("peer")),
    )


def pack(rows: Rows, find: Callable[[Ints], Ints]) -> tuple[pa.RecordBatch, dict[str, int]]:
    """The chunks of a batch, and how many rows were left out and why; `find` gives the numbers of keys."""
    event = rows.kind >= 0
    nameless = int((event & (rows.key == 0)).sum())
    message = find(rows.key)
    used = event & (message >= 0)
    left_out = {"nameless": nameless, "unknown": int((event & (message < 0)).sum()) - nameless}
    codes = rows.process.codes
    if len(codes) and (codes[1:] < codes[:-1]).any():
        narrow = codes.astype(np.int16) if len(rows.process.words) < 2**15 else codes
        order = np.argsort(narrow, kind="stable")
    else:
        order = np.arange(len(codes))
    bounds = np.searchsorted(codes[order], np.arange(len(rows.process.words) + 1))
    columns: dict[str, list[Any]] = {name: [] for name in CHUNK.names}
    for number, name in enumerate(rows.process.words):
        mine = order[bounds[number] : bounds[number + 1]]
        if not len(mine):
            continue
        steps = rows.step[mine]
        last = int(np.argmax(steps))
        form, base_us, events, peers = bytes_of(rows, mine[used[mine]], message)
        values = (
            name, int(used[mine].sum()), len(mine), int(steps[last]), int(rows.at_us[mine[last]]),
            int(steps.sum()), form, base_us, events, peers,
        )  # fmt: skip
        for column, value in zip(CHUNK.names, values, strict=True):
            columns[column].append(value)
    return pa.RecordBatch.from_pydict(columns, schema=CHUNK), left_out


def bytes_of(rows: Rows, which: Ints, message: Ints) -> tuple[int, int, bytes, list[str]]:
    at_us, true_us = rows.at_us[which], rows.true_us[which]
    base_us = int(at_us[0]) if len(which) else 0
    form = 0
    offset = at_us - base_us
    if len(which) and (offset.max() >= 2**31 or offset.min() < -(2**31)):
        form |= WIDE_AT
    ahead = true_us - at_us
    if len(which) and (true_us != NO_TIME).any():
        form |= HAS_TRUE
        if (true_us == NO_TIME).any() or ahead.max() >= 2**31 or ahead.min() < -(2**31):
            form |= WIDE_TRUE
    peer = rows.peer.codes[which]
    different = np.unique(peer[peer >= 0])
    local = np.full(len(rows.peer.words) + 1, -1, np.int32)
    local[different] = np.arange(len(different))
    parts = [
        message[which].astype(np.int32),
        rows.step[which].astype(np.int32),
        local[peer],
        offset.astype(np.int64 if form & WIDE_AT else np.int32),
    ]
    if form & HAS_TRUE:
        parts.append(true_us if form & WIDE_TRUE else ahead.astype(np.int32))
    parts.append(rows.kind[which].astype(np.uint8) | rows.reason[which] << 2)
    return form, base_us, b"".join(p.tobytes() for p in parts), [rows.peer.words[p] for p in different]


def unpack(chunks: Iterable[dict[str, Any]]) -> tuple[Events, str | None]:
    """The events of one process from all its chunks, by step; and what is wrong with its steps, if anything."""
    parts: list[list[Ints]] = []
    names: dict[str, int] = {}
    total = step_sum = 0
    last_step, last_at_us = -1, 0
    for chunk in chunks:
        total += chunk["rows"]
        step_sum += chunk["step_sum"]
        if chunk["last_step"] > last_step:
            last_step, last_at_us = chunk["last_step"], chunk["last_at_us"]
        if chunk["count"]:
            parts.append(list(arrays_of(chunk, names)))
    wrong = None
    if total != last_step + 1 or step_sum != total * (total - 1) // 2:
        wrong = f"{total} rows with steps up to {last_step}; steps must run from 0 on, each once"
    columns = [np.concatenate(c) for c in zip(*parts, strict=True)] if parts else [np.zeros(0, np.int64)] * 6
    step = columns[1]
    if len(step) and (step[1:] < step[:-1]).any():
        order = np.argsort(step, kind="stable")
        columns = [column[order] for column in columns]
    message, step, peer, at_us, true_us, what = columns
    events = Events(
        step=step, at_us=at_us, true_us=true_us, kind=what & 3, reason=what >> 2, message=message, peer=peer,
        peers=list(names), last_at_us=last_at_us,
    )  # fmt: skip
    return events, wrong


def arrays_of(chunk: dict[str, Any], names: dict[str, int]) -> Iterator[Ints]:
    """message, step, peer, at_us, true_us, kind and reason."""
    count, form, data = chunk["count"], chunk["form"], chunk["events"]
    place = 0

    def take(kind: Any) -> Ints:
        nonlocal place
        array = np.frombuffer(data, kind, count, place)
        place += array.nbytes
        return array

    message, step = take(np.int32), take(np.int32)
    peers = [names.setdefault(name, len(names)) for name in chunk["peers"]]
    peer = np.array([*peers, -1], np.int32)[take(np.int32)]
    at_us = take(np.int64 if form & WIDE_AT else np.int32) + np.int64(chunk["base_us"])
    true_us = np.full(count, NO_TIME, np.int64)
    if form & HAS_TRUE:
        true_us = take(np.int64) if form & WIDE_TRUE else take(np.int32) + at_us
    yield from (message, step, peer, at_us, true_us, take(np.uint8))
