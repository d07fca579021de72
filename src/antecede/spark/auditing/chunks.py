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

from antecede.spark.auditing.judge import DUPLICATE, FOREIGN, NO_TIME, OVERFLOW, OWN, PLAIN, Events
from antecede.spark.auditing.keys import keys_of, schema_of
from antecede.trace.record import RETAINED

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
REASON_CODES = {"duplicate": DUPLICATE, "foreign": FOREIGN, "overflow": OVERFLOW, "own": OWN}
WIDE_AT, WIDE_TRUE, HAS_TRUE, SAME_TRUE, ALL_STEPS, FEW_NAMES = 1, 2, 4, 8, 16, 32
"""Bits of `form`: times that do not fit into 32 bits as differences; whether there is a simulator's clock, and whether
it is the process's own; steps without a hole between them, of which the first is enough; peers that fit into a byte."""

FEW_PEERS = 256
"""Up to so many, a chunk names all peers of its batch; from more, its own."""


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
    message: Any
    """Keys, or texts."""
    peer: Coded

    def __len__(self) -> int:
        return len(self.step)

    def messages(self, find: Callable[[Ints], Ints]) -> tuple[Ints, Ints]:
        """The numbers of the messages (-1: not known), and which rows name one at all."""
        if isinstance(self.message, np.ndarray):
            return find(self.message), self.message != 0
        numbers, named = [], []
        for chunk in self.message.chunks:
            if not pa.types.is_dictionary(chunk.type):
                chunk = chunk.dictionary_encode()
            # What repeats is looked for once.
            known = np.append(find(keys_of(chunk.dictionary)), np.int32(-1))
            spots = chunk.indices.fill_null(len(known) - 1).to_numpy() if chunk.null_count else chunk.indices.to_numpy()
            numbers.append(known[spots])
            named.append(spots < len(known) - 1)
        if not numbers:
            return np.zeros(0, np.int32), np.zeros(0, bool)
        return np.concatenate(numbers), np.concatenate(named)


def integers(column: Any, missing: int) -> Ints:
    if pa.types.is_null(column.type):
        return np.full(len(column), missing, np.int64)
    return np.asarray((column.fill_null(missing) if column.null_count else column).to_numpy())


def code_rows(table: Any) -> Rows:
    """From the columns of a trace."""
    event = {name: code for code, name in enumerate(EVENT_KINDS)}
    kind = Coded.of(table.column("kind")).recoded(lambda word: event.get(word, -1), -1, np.int8)
    reasons = Coded.of(table.column("reason"))
    reason = reasons.recoded(lambda word: REASON_CODES.get(word, PLAIN), PLAIN, np.uint8)
    copies = (kind == event["deliver"]) & reasons.recoded(lambda word: word == RETAINED, False, bool)
    kind = np.where(copies, np.int8(-1), kind)  # state, no delivery
    message = table.column("message")
    return Rows(
        process=Coded.of(table.column("process")),
        step=integers(table.column("step"), -1),
        at_us=integers(table.column("at_us"), 0),
        true_us=integers(table.column("true_us"), int(NO_TIME)),
        kind=kind,
        reason=reason,
        message=message,
        peer=Coded.of(table.column("peer")),
    )


def pack(rows: Rows, find: Callable[[Ints], Ints]) -> tuple[pa.RecordBatch, dict[str, int]]:
    """The chunks of a batch, and how many rows were left out and why; `find` gives the numbers of keys."""
    event = rows.kind >= 0
    message, named = rows.messages(find)
    used = event & (message >= 0)
    nameless = int((event & ~named).sum())
    left_out = {"nameless": nameless, "unknown": int((event & (message < 0)).sum()) - nameless}
    count = len(rows.process.words)
    codes = rows.process.codes.astype(np.int16) if count < 2**15 else rows.process.codes
    order = np.argsort(codes, kind="stable") if len(codes) and (codes[1:] < codes[:-1]).any() else None

    def by_process(column: Ints) -> Ints:
        return column if order is None else column[order]

    # As narrow as they may be before they are moved about.
    form, columns = narrowed(rows, message)
    codes, columns = by_process(codes), [by_process(column) for column in columns]
    step, base_us = columns[1], int(rows.at_us[0]) if len(rows) else 0
    bounds = np.searchsorted(codes, np.arange(count + 1))
    keep = None if used.all() else by_process(used)
    chunks: dict[str, list[Any]] = {name: [] for name in CHUNK.names}
    for number, name in enumerate(rows.process.words):
        start, stop = int(bounds[number]), int(bounds[number + 1])
        if start == stop:
            continue
        steps = step[start:stop]
        last = int(np.argmax(steps))
        mine = [column[start:stop] for column in columns]
        last_at_us = int(mine[3][last]) + base_us
        if keep is not None and not keep[start:stop].all():
            mine = [column[keep[start:stop]] for column in mine]
        whole, data, peers = bytes_of(mine, form, rows.peer.words)
        values = (
            name, len(mine[0]), stop - start, int(steps[last]), last_at_us, int(steps.sum(dtype=np.int64)), whole,
            base_us, data, peers,
        )  # fmt: skip
        for column, value in zip(CHUNK.names, values, strict=True):
            chunks[column].append(value)
    return pa.RecordBatch.from_pydict(chunks, schema=CHUNK), left_out


def narrowed(rows: Rows, message: Ints) -> tuple[int, list[Ints]]:
    """message, step, peer, at_us less its first, kind and reason, perhaps true_us; and their form."""
    form = 0
    offset = rows.at_us - (rows.at_us[0] if len(rows) else 0)
    form |= 0 if small(offset) else WIDE_AT
    columns = [
        message.astype(np.int32, copy=False),
        rows.step.astype(np.int32),
        rows.peer.codes.astype(np.int8) if len(rows.peer.words) < 128 else rows.peer.codes,
        offset if form & WIDE_AT else offset.astype(np.int32),
        rows.kind.view(np.uint8) | rows.reason << np.uint8(2),
    ]
    form |= FEW_NAMES if len(rows.peer.words) < 128 else 0
    ahead = rows.true_us - rows.at_us
    if not ahead.any():
        return form | SAME_TRUE, columns
    if (rows.true_us == NO_TIME).all():
        return form, columns
    if (rows.true_us == NO_TIME).any() or not small(ahead):
        return form | HAS_TRUE | WIDE_TRUE, [*columns, rows.true_us]
    return form | HAS_TRUE, [*columns, ahead.astype(np.int32)]


def bytes_of(columns: list[Ints], form: int, words: list[str]) -> tuple[int, bytes, list[str]]:
    message, step, peer, offset, what, *rest = columns
    if len(words) > FEW_PEERS:
        different, peer = np.unique(np.append(peer, -1), return_inverse=True)
        peer, words = (peer[:-1] - 1).astype(np.int32), [words[p] for p in different[1:]]
    if len(step) and int(step[-1]) - int(step[0]) == len(step) - 1 and (step[1:] > step[:-1]).all():
        form |= ALL_STEPS
        step = step[:1]
    return form, b"".join(part.tobytes() for part in (message, step, peer, offset, *rest, what)), words


def small(values: Ints) -> bool:
    return not len(values) or bool(values.max() < 2**31 and values.min() >= -(2**31))


def unpack(chunks: Iterable[dict[str, Any]]) -> tuple[Events, str | None]:
    """The events of one process from all its chunks, by step; and what is wrong with its steps, if anything.

    Where a chunk has `read` in the place of `events`, its bytes are fetched when their turn comes.
    """
    held = sorted(chunks, key=lambda chunk: chunk["last_step"])
    total = sum(chunk["rows"] for chunk in held)
    step_sum = sum(chunk["step_sum"] for chunk in held)
    last = held[-1] if held else {"last_step": -1, "last_at_us": 0}
    wrong = None
    if total != last["last_step"] + 1 or step_sum != total * (total - 1) // 2:
        wrong = f"{total} rows with steps up to {last['last_step']}; steps must run from 0 on, each once"
        if total > last["last_step"] + 1:
            wrong += ": two processes of this name ran at once, or the same rows were given twice"
    count = sum(chunk["count"] for chunk in held)
    names: dict[str, int] = {}
    for chunk in held:
        for name in chunk["peers"]:
            names.setdefault(name, len(names))
    kinds = (np.int32, np.int32, np.int16 if len(names) < 2**15 else np.int32, np.int64, np.int64, np.uint8)
    columns = [np.empty(count, kind) for kind in kinds]
    place = 0
    for chunk in held:
        if chunk["count"]:
            for column, values in zip(columns, arrays_of(chunk, names), strict=True):
                column[place : place + len(values)] = values
            place += chunk["count"]
    step = columns[1]
    if len(step) and (step[1:] < step[:-1]).any():
        order = np.argsort(step, kind="stable")
        columns = [column[order] for column in columns]
    message, step, peer, at_us, true_us, what = columns
    events = Events(
        step=step, at_us=at_us, true_us=true_us, kind=what & 3, reason=what >> 2, message=message, peer=peer,
        peers=list(names), last_at_us=last["last_at_us"],
    )  # fmt: skip
    return events, wrong


def arrays_of(chunk: dict[str, Any], names: dict[str, int]) -> Iterator[Ints]:
    """message, step, peer, at_us, true_us, kind and reason."""
    count, form = chunk["count"], chunk["form"]
    data = chunk["read"]() if "read" in chunk else chunk["events"]
    place = 0

    def take(kind: Any, size: int = count) -> Ints:
        nonlocal place
        array = np.frombuffer(data, kind, size, place)
        place += array.nbytes
        return array

    yield take(np.int32)
    if form & ALL_STEPS:
        yield np.arange(count, dtype=np.int32) + take(np.int32, 1)
    else:
        yield take(np.int32)
    peers = [names[name] for name in chunk["peers"]]
    yield np.array([*peers, -1], np.int32)[take(np.int8 if form & FEW_NAMES else np.int32)]
    at_us = take(np.int64 if form & WIDE_AT else np.int32) + np.int64(chunk["base_us"])
    yield at_us
    if form & HAS_TRUE:
        yield take(np.int64) if form & WIDE_TRUE else take(np.int32) + at_us
    else:
        yield at_us if form & SAME_TRUE else np.full(count, NO_TIME, np.int64)
    yield take(np.uint8)
