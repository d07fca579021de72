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


def let_go_rows(cut: tuple[str, ...], *, declared: bool = True) -> list[tuple[Any, ...]]:
    """Broker A delivers p:1 and p:2 and lets go of p:1; then s joins behind `cut` and delivers p:2 alone."""
    recorder = Recorder("r")
    recorder.row("p", "subscriber", 1, "publish", "p:1", ("G",), after=() if declared else None)
    recorder.row("p", "subscriber", 2, "publish", "p:2", ("G",), after=("p:1",) if declared else None)
    recorder.row("A", "broker", 0, "join", groups=("G",))
    for n in (1, 2):
        recorder.row("A", "broker", n, "arrive", f"p:{n}", ("G",), peer="p")
        recorder.row("A", "broker", n, "deliver", f"p:{n}", ("G",), reason="causes")
    recorder.row("A", "broker", 3, "collect", "p:1")
    recorder.row("s", "subscriber", 4, "join", groups=("G",), peer="A", cut=cut)
    recorder.row("s", "subscriber", 5, "arrive", "p:2", ("G",), peer="A")
    recorder.row("s", "subscriber", 5, "deliver", "p:2", ("G",), reason="causes")
    for name, role in (("p", "subscriber"), ("A", "broker"), ("s", "subscriber")):
        recorder.row(name, role, 9, "end", reason="quiet")
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
