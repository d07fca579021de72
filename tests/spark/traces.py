"""Small traces for the tests of this folder."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa

from antecede.trace.parquet import StreamAppender, TraceWriter
from antecede.trace.record import Recorder

OPEN: list[StreamAppender] = []
"""Streams that a test left open; closed when it is over."""


def rows(run: str, count: int, first: int = 0) -> list[tuple[Any, ...]]:
    """`count` steps of one process; the step tells rows apart."""
    recorder = Recorder(run)
    for n in range(first + count):
        recorder.row("p", "member", n, "publish", f"p:{n}", ("G",), deadline_us=n if n % 2 else None, after=("q:1",))
    return recorder.rows[first:]


def write_parquet(folder: Path, made: int | list[tuple[Any, ...]], *, row_group: int = 100) -> Path:
    """A run of the rows that are given, or of so many."""
    with TraceWriter(folder, row_group=row_group) as writer:
        writer.write(rows(folder.name, made) if isinstance(made, int) else made)
    return folder / "records.parquet"


def chain(run: str, count: int, *, block: int = 300, seed: int = 1) -> list[tuple[Any, ...]]:
    """Messages of which each comes after the one before it, out of order within each block."""
    dice, recorder = random.Random(f"{seed} {run}"), Recorder(run)
    for n in range(count):
        recorder.row("p", "member", n, "publish", f"{run}-p:{n}", ("G",), after=(f"{run}-p:{n - 1}",) if n else ())
    for first in range(0, count, block):
        part = recorder.rows[first : first + block]
        dice.shuffle(part)
        recorder.rows[first : first + block] = part
    return recorder.rows


def write_stream(path: Path, *counts: int) -> StreamAppender:
    """A stream that is still open, with a batch for each count."""
    path.parent.mkdir(parents=True, exist_ok=True)
    appender = StreamAppender(path)
    OPEN.append(appender)
    done = 0
    for count in counts:
        appender.append(rows(path.parent.name, count, done))
        done += count
    return appender


def steps(batches: Any) -> list[int]:
    """The steps in Arrow batches, in their order."""
    return [step for batch in batches for step in pa.RecordBatch.column(batch, "step").to_pylist()]


def flip(path: Path, at: int) -> None:
    """Turn one byte around; a negative place counts from the end."""
    data = bytearray(path.read_bytes())
    data[at] ^= 0xFF
    path.write_bytes(bytes(data))
