"""Traces of any size for bench/spark_audit.py, written in bounded memory, with faults whose verdicts are known.

Messages come in blocks of 64, one of each publisher; each names three parents in the six blocks before its own, and the
sender's previous message is a cause anyway. Every receiver gets every message: it arrives and is delivered within its
block, in an order of that receiver's own. So all is causal by construction, whatever the order within blocks is.

Faults, each 1 in `one_in` deliveries, in places of their own so that none disturbs another:

    duplicate   delivered twice                                          -> duplicate
    late        delivered after its deadline                             -> late
    gap         neither arrives nor is delivered                         -> gap, at the first successor delivered there
    inversion   delivered right after its first successor                -> inversion, and a gap at that successor
    stuck       arrives and is discarded instead of delivered            -> stuck
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from antecede.trace.parquet import write_json
from antecede.trace.record import FORMAT, arrow_schema

BLOCK, REACH = 64, 6
PLANTED = ("duplicate", "overdue", "gap", "inversion", "stuck")
DEADLINE_US = 60_000_000
BLOCK_US = 10_000
BLOCKS_AT_ONCE = 64
ROW_GROUP = 65_536
ROWS_PER_FILE = 10_000_000
KINDS = ["publish", "arrive", "deliver", "discard", "join", "end"]
PUBLISH, ARRIVE, DELIVER, DISCARD, JOIN, END = range(6)
REASONS = ["causes", "late", "quiet"]

Ints = Any
Verdict = tuple[str, str, str, str | None, int | None]


@dataclass(frozen=True)
class Shape:
    deliveries: int
    receivers: int = 50
    one_in: int = 100_000
    seed: int = 1

    @property
    def blocks(self) -> int:
        return max(REACH + 2, self.deliveries // self.receivers // BLOCK)

    @property
    def messages(self) -> int:
        return self.blocks * BLOCK


def parents_of(shape: Shape, block: int) -> Ints:
    """64 x 3 message numbers; of the first blocks none."""
    if block == 0:
        return np.zeros((BLOCK, 0), np.int64)
    dice = np.random.default_rng((shape.seed, 1, block))
    return block * BLOCK - 1 - dice.integers(0, min(block, REACH) * BLOCK, (BLOCK, 3))


def orders_of(shape: Shape, block: int, what: int) -> Ints:
    """receivers x 64: the place of each message of the block in that receiver's order."""
    dice = np.random.default_rng((shape.seed, 2 + what, block))
    return dice.permuted(np.tile(np.arange(BLOCK, dtype=np.int8), (shape.receivers, 1)), axis=1)


def name(message: int) -> str:
    return f"p{message % BLOCK:02d}:{message // BLOCK + 1}"


# --- faults ----------------------------------------------------------------------------------------------------------


@dataclass
class Faults:
    removed: dict[int, list[tuple[int, int, bool]]]
    """block -> (receiver, message, its arrival too): not delivered there and then."""
    added: dict[int, list[tuple[int, float, int, int]]]
    """block -> (receiver, place, message, kind)."""
    delayed: dict[int, list[tuple[int, int]]]
    """block -> (receiver, message): the simulator's clock is past the deadline."""
    expected: list[tuple[str, int, int, int | None]]
    """verdict, receiver, message, other."""


def plant(shape: Shape) -> Faults:
    faults = Faults({}, {}, {}, [])
    dice = np.random.default_rng((shape.seed, 9))
    count = round(shape.deliveries / shape.one_in) * len(PLANTED)
    # Each has a stretch of blocks at its receiver for itself: 3 * REACH are more than a fault reaches.
    stretch = 3 * REACH
    places = (shape.blocks - 2 * REACH) // stretch * shape.receivers
    if count > places:
        raise SystemExit(f"{count} faults do not fit into {places} places: more deliveries, or fewer faults")
    chosen = dice.choice(places, count, replace=False)
    for number, place in enumerate(chosen.tolist()):
        receiver, block = place % shape.receivers, place // shape.receivers * stretch + REACH
        message = block * BLOCK + int(dice.integers(BLOCK))
        what = PLANTED[number % len(PLANTED)]
        PLANT[what](shape, faults, receiver, block, message)
    return faults


def deliver_place(shape: Shape, receiver: int, message: int) -> float:
    return BLOCK + float(orders_of(shape, message // BLOCK, 1)[receiver, message % BLOCK])


def first_successor(shape: Shape, receiver: int, message: int) -> int:
    """Of its children the one delivered first there: all else that follows it follows one of them."""
    block = message // BLOCK
    children = [message + BLOCK]
    for later in range(block + 1, block + REACH + 1):
        children += (later * BLOCK + np.flatnonzero((parents_of(shape, later) == message).any(axis=1))).tolist()
    return min(children, key=lambda child: (child // BLOCK, deliver_place(shape, receiver, child)))


def plant_duplicate(shape: Shape, faults: Faults, receiver: int, block: int, message: int) -> None:
    place = deliver_place(shape, receiver, message) + 0.5
    faults.added.setdefault(block, []).append((receiver, place, message, DELIVER))
    faults.expected.append(("duplicate", receiver, message, None))


def plant_overdue(shape: Shape, faults: Faults, receiver: int, block: int, message: int) -> None:
    faults.delayed.setdefault(block, []).append((receiver, message))
    faults.expected.append(("overdue", receiver, message, None))


def plant_gap(shape: Shape, faults: Faults, receiver: int, block: int, message: int) -> None:
    faults.removed.setdefault(block, []).append((receiver, message, True))
    faults.expected.append(("gap", receiver, first_successor(shape, receiver, message), message))


def plant_inversion(shape: Shape, faults: Faults, receiver: int, block: int, message: int) -> None:
    successor = first_successor(shape, receiver, message)
    place = deliver_place(shape, receiver, successor) + 0.5
    faults.removed.setdefault(block, []).append((receiver, message, False))
    faults.added.setdefault(successor // BLOCK, []).append((receiver, place, message, DELIVER))
    faults.expected.append(("inversion", receiver, message, successor))
    faults.expected.append(("gap", receiver, successor, message))


def plant_stuck(shape: Shape, faults: Faults, receiver: int, block: int, message: int) -> None:
    place = deliver_place(shape, receiver, message)
    faults.removed.setdefault(block, []).append((receiver, message, False))
    faults.added.setdefault(block, []).append((receiver, place, message, DISCARD))
    faults.expected.append(("stuck", receiver, message, None))


PLANT = {
    "duplicate": plant_duplicate, "overdue": plant_overdue, "gap": plant_gap, "inversion": plant_inversion,
    "stuck": plant_stuck,
}  # fmt: skip


# --- rows ------------------------------------------------------------------------------------------------------------


def block_rows(shape: Shape, block: int, faults: Faults) -> dict[str, Ints]:
    """What the receivers did with the messages of one block: receiver, message, kind, and whether it was late."""
    receivers = np.repeat(np.arange(shape.receivers, dtype=np.int32), 2 * BLOCK)
    orders = [np.argsort(orders_of(shape, block, what), axis=1) for what in (0, 1)]
    message = (np.concatenate(orders, axis=1).astype(np.int64) + block * BLOCK).reshape(-1)
    kind = np.tile(np.repeat(np.array([ARRIVE, DELIVER], np.int8), BLOCK), shape.receivers)
    late = np.zeros(len(kind), bool)
    for receiver, one in faults.delayed.get(block, ()):
        late |= (receivers == receiver) & (message == one) & (kind == DELIVER)
    removed, added = faults.removed.get(block, ()), faults.added.get(block, ())
    if not removed and not added:
        return {"receiver": receivers, "message": message, "kind": kind, "late": late}
    place = np.tile(np.arange(2 * BLOCK, dtype=np.float64), shape.receivers)
    keep = np.ones(len(kind), bool)
    for receiver, one, arrival in removed:
        keep &= ~((receivers == receiver) & (message == one) & ((kind == DELIVER) | arrival))
    more = np.array([(r, p, m, k) for r, p, m, k in added]).reshape(-1, 4)
    receivers = np.concatenate([receivers[keep], more[:, 0].astype(np.int32)])
    place = np.concatenate([place[keep], more[:, 1]])
    message = np.concatenate([message[keep], more[:, 2].astype(np.int64)])
    kind = np.concatenate([kind[keep], more[:, 3].astype(np.int8)])
    late = np.concatenate([late[keep], np.zeros(len(more), bool)])
    order = np.lexsort((place, receivers))
    return {"receiver": receivers[order], "message": message[order], "kind": kind[order], "late": late[order]}


class Steps:
    """Contiguous steps for each process, however its rows are spread over batches."""

    def __init__(self, count: int) -> None:
        self.next = np.zeros(count, np.int64)

    def of(self, process: Ints) -> Ints:
        order = np.argsort(process, kind="stable")
        mine = process[order]
        heads = np.flatnonzero(np.diff(mine, prepend=-1))
        sizes = np.diff(heads, append=len(mine))
        steps = np.empty(len(process), np.int64)
        steps[order] = self.next[mine] + np.arange(len(mine)) - np.repeat(heads, sizes)
        self.next[mine[heads]] += sizes
        return steps


def batches(shape: Shape, faults: Faults, steps_of: dict[Any, int]) -> Iterator[pa.RecordBatch]:
    """The whole run; the steps of what is expected are left in `steps_of`."""
    processes = [f"r{n:03d}" for n in range(shape.receivers)] + [f"p{n:02d}" for n in range(BLOCK)]
    steps = Steps(len(processes))
    wanted = {(r, m): v for v, r, m, _ in faults.expected}
    everyone = np.arange(len(processes))
    listeners = everyone[: shape.receivers]
    yield batch(processes, listeners, steps.of(listeners), np.zeros(len(listeners), np.int64), JOIN)
    for start in range(0, shape.blocks, BLOCKS_AT_ONCE):
        blocks = range(start, min(shape.blocks, start + BLOCKS_AT_ONCE))
        told = np.concatenate([np.arange(b * BLOCK, b * BLOCK + BLOCK) for b in blocks])
        who = shape.receivers + told % BLOCK
        parents = [[name(p) for p in row] for b in blocks for row in parents_of(shape, b).tolist()]
        at_us = told // BLOCK * BLOCK_US
        yield batch(processes, who, steps.of(who), at_us, PUBLISH, message=told, parents=parents)
        parts = [block_rows(shape, b, faults) for b in blocks]
        columns = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
        rows = steps.of(columns["receiver"])
        sizes = [len(part["kind"]) for part in parts]
        at_us = np.repeat(np.array(blocks) * BLOCK_US + BLOCK_US // 2, sizes)
        if wanted:
            note_steps(columns, rows, wanted, steps_of, shape)
        yield batch(
            processes, columns["receiver"], rows, at_us, columns["kind"], message=columns["message"],
            late=columns["late"],
        )  # fmt: skip
    end_us = shape.blocks * BLOCK_US + 2 * DEADLINE_US
    yield batch(processes, everyone, steps.of(everyone), np.full(len(everyone), end_us), END)


def note_steps(
    columns: dict[str, Ints], rows: Ints, wanted: dict[tuple[int, int], str], steps_of: dict[Any, int], shape: Shape
) -> None:
    code = columns["receiver"].astype(np.int64) * shape.messages + columns["message"]
    keys = np.array([r * shape.messages + m for r, m in wanted])
    for row in np.flatnonzero(np.isin(code, keys)).tolist():
        one = (int(columns["receiver"][row]), int(columns["message"][row]))
        kind = "arrive" if columns["kind"][row] == ARRIVE else "out"
        if kind == "out" and (*one, "out") in steps_of:
            kind = "again"
        steps_of.setdefault((*one, kind), int(rows[row]))


def batch(
    processes: list[str],
    process: Ints,
    step: Ints,
    at_us: Ints,
    kind: Ints | int,
    *,
    message: Ints | None = None,
    parents: list[list[str]] | None = None,
    late: Ints | None = None,
) -> pa.RecordBatch:
    count = len(process)
    kinds = np.full(count, kind, np.int8) if isinstance(kind, int) else kind

    def words(codes: Ints, texts: list[str], mask: Ints | None = None) -> Any:
        codes = pa.array(codes.astype(np.int32), mask=mask)
        return pa.DictionaryArray.from_arrays(codes, pa.array(texts)).cast(pa.string())

    columns: dict[str, Any] = {
        "run": words(np.zeros(count), ["bench"]),
        "process": words(process, processes),
        "role": words(np.zeros(count), ["member"]),
        "step": pa.array(step),
        "at_us": pa.array(at_us),
        "kind": words(kinds, KINDS),
        "true_us": pa.array(at_us if late is None else at_us + late * np.int64(DEADLINE_US + BLOCK_US)),
    }
    if message is not None:
        different, codes = np.unique(message, return_inverse=True)
        columns["message"] = words(codes, [name(m) for m in different.tolist()])
        senders = [f"p{n:02d}" for n in range(BLOCK)]
        columns["peer"] = words(message % BLOCK, senders, mask=kinds != ARRIVE)
        columns["bytes"] = pa.array(np.full(count, 160, np.int32), mask=kinds != ARRIVE)
        columns["control_bytes"] = pa.array(np.full(count, 24, np.int32), mask=kinds != ARRIVE)
    reason = np.select([kinds == DELIVER, kinds == DISCARD, kinds == END], [0, 1, 2], 0)
    columns["reason"] = words(reason, REASONS, mask=~np.isin(kinds, (DELIVER, DISCARD, END)))
    if isinstance(kind, int) and kind in (PUBLISH, JOIN):
        columns["groups"] = pa.array([["all"]] * count, pa.list_(pa.string()))
    if parents is not None:
        columns["after"] = pa.array(parents, pa.list_(pa.string()))
        columns["deadline_us"] = pa.array(at_us + DEADLINE_US)
    if isinstance(kind, int) and kind == JOIN:
        columns["guard_us"] = pa.array(np.zeros(count, np.int64))
    schema = arrow_schema()
    arrays = [columns[f.name] if f.name in columns else pa.nulls(count, f.type) for f in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def write(shape: Shape, directory: Path) -> list[Verdict]:
    """The run directory, in files of some millions of rows; returns exactly what an audit must find in it."""
    directory.mkdir(parents=True, exist_ok=True)
    faults = plant(shape)
    steps_of: dict[Any, int] = {}
    writer: pq.ParquetWriter | None = None
    rows = number = 0
    for part in batches(shape, faults, steps_of):
        if writer is None:
            file = directory / f"records-{number:04d}.parquet"
            writer = pq.ParquetWriter(file, arrow_schema(), compression="zstd", write_page_checksum=True)
        writer.write_table(pa.Table.from_batches([part]), row_group_size=ROW_GROUP)
        rows += part.num_rows
        if rows >= ROWS_PER_FILE:
            writer.close()
            writer, rows, number = None, 0, number + 1
    if writer is not None:
        writer.close()
    write_json(directory / "scenario.json", {"format": FORMAT, "recipe": "bench", "skew_ms": 0})
    where = {"duplicate": "again", "stuck": "arrive"}
    return [
        (
            verdict,
            f"r{receiver:03d}",
            name(message),
            None if other is None else name(other),
            steps_of.get((receiver, message, where.get(verdict, "out"))),
        )
        for verdict, receiver, message, other in faults.expected
    ]


def write_table(file: Path, rows: int, rooms: int, seed: int) -> None:
    """A table of deliveries as another system may leave it: each room a receiver with a history of its own.

    A message comes after one or two of the sixty before it; it is delivered near its place, now and then too early.
    """
    dice = np.random.default_rng(seed)
    size = rows // rooms
    room, number = np.repeat(np.arange(rooms), size), np.tile(np.arange(size), rooms)
    above = number[:, None] - 1 - dice.integers(0, (30, 60), (len(room), 2))
    above[dice.random(len(room)) < 0.5, 1] = -1
    names = np.char.add(np.char.add("g", room.astype(str)), np.char.add("-", np.char.zfill(number.astype(str), 7)))
    some = (above >= 0) & np.stack([np.ones(len(room), bool), above[:, 0] != above[:, 1]], axis=1)
    parents = names[(room * size)[:, None] + np.maximum(above, 0)][some]
    at = np.concatenate([[0], np.cumsum(some.sum(axis=1))]).astype(np.int32)
    place = np.empty(len(room), np.int64)
    place[np.lexsort((number + dice.exponential(1.5, len(room)), room))] = np.tile(np.arange(size), rooms)
    texts: Any = pa.array(parents)  # in several chunks, if they are many
    texts = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
    lists: Any = pa.ListArray.from_arrays(pa.array(at), texts)
    columns = {"room": np.char.add("room", room.astype(str)), "n": place, "msg": names, "refs": lists}
    shuffled: Any = pa.array(dice.permutation(len(room)))
    pq.write_table(pa.table(columns).take(shuffled), file, row_group_size=100_000)
