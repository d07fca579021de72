"""Small traces for the tests of this folder."""

from __future__ import annotations

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


def write_parquet(folder: Path, count: int, *, row_group: int = 100) -> Path:
    with TraceWriter(folder, row_group=row_group) as writer:
        writer.write(rows(folder.name, count))
    return folder / "records.parquet"


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
