"""Which rows of which files: finding the files of a trace or table, cutting them into stretches, reading a stretch.

Decided in this file: the unit of work is a stretch - some consecutive rows of one file; a file is known by its path
without its suffix, so that a stream that is rotated into Parquet goes on where it was; and each row that cannot be read
is either a sentence or a note in the quarantine, with the rows around it unharmed. No Spark here: Arrow in, Arrow out.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from antecede.errors import InputError, one_line
from antecede.spark.bad import Bad, note
from antecede.spark.rows import as_trace_batch
from antecede.trace import ipc
from antecede.trace.parquet import completed, files_in, hidden, open_parquet, validated
from antecede.trace.record import COLUMNS, LATER

__all__ = ["Stretch", "cut", "pack", "read_stretch", "trace_sources"]

BATCH_ROWS = 16_384
"""Rows that go to Spark at once: about 3 MB of a trace."""


@dataclass(frozen=True, slots=True)
class Stretch:
    path: str
    first: int
    rows: int
    at: int = 0
    """Streams: the byte of a message at or before `first`."""
    base: int = 0
    """Streams: the number of the first row in that message."""
    values: dict[str, Any] = field(default_factory=dict)
    """Tables: the partition columns, which are not in the file."""
    whole: int | None = None
    """Tables: how many rows the manifest says the file has."""


def trace_sources(root: Path, started: Set[str] = frozenset()) -> dict[str, Path]:
    """key -> file, for every trace at or below `root`, in the order of the keys.

    In each folder the files that count for every reader of traces (`files_in`); what a stream has `started` to read
    counts in any case.
    """
    if root.is_file():
        return {root.stem: root}
    if not root.is_dir():
        raise InputError(f"{root} does not exist: give a run directory, a folder of them, or a records file")
    found: dict[str, Path] = {}
    folders = [root]
    while folders:
        folder = folders.pop()
        inside = sorted(path for path in folder.iterdir() if not hidden(path))
        folders.extend(path for path in inside if path.is_dir())
        rotated = [path for path in inside if path.suffix == ".parquet" and path.is_file()]
        chosen = files_in(folder)
        for path in (*chosen, *rotated):
            key = str(path.relative_to(root).with_suffix(""))
            if path in chosen or key in started:
                found[key] = path
    return dict(sorted(found.items()))


def cut(path: Path, first: int, rows: int, size: int, hint: tuple[int, int] = (0, 0)) -> Iterator[Stretch]:
    """`rows` rows from `first` on, cut where the file can be entered cheaply, into stretches of about `size` rows.

    `hint` is, for a stream, the byte of a message and the number of its first row, at or before `first`.
    """
    end = first + rows
    if path.suffix == ".parquet":
        entries = _row_groups(open_parquet(path))
    else:
        entries = _messages(path, *hint)
    begin, (at, base) = first, hint
    for start, count, byte in entries:
        if start + count <= first:
            continue
        if start > begin and start - begin >= size:
            yield Stretch(str(path), begin, start - begin, at, base)
            begin = start
        if start <= begin:
            at, base = (byte, start) if path.suffix != ".parquet" else (0, 0)
        if start + count >= end:
            break  # not a message further: what follows may be damaged
    if end > begin:
        yield Stretch(str(path), begin, end - begin, at, base)


def _row_groups(file: Any) -> Iterator[tuple[int, int, int]]:
    start = 0
    for index in range(file.metadata.num_row_groups):
        count = file.metadata.row_group(index).num_rows
        yield start, count, index
        start += count


def _messages(path: Path, at: int, row: int) -> Iterator[tuple[int, int, int]]:
    for piece in ipc.pieces(path, at):
        if piece.kind == ipc.RECORDS:
            yield row, piece.rows, piece.at
            row += piece.rows


def pack(stretches: Iterator[Stretch], size: int) -> list[tuple[Stretch, ...]]:
    """Small stretches together, so that a task has about `size` rows to do."""
    packs: list[tuple[Stretch, ...]] = []
    held: list[Stretch] = []
    for stretch in stretches:
        if held and sum(s.rows for s in held) + stretch.rows > size:
            packs.append(tuple(held))
            held = []
        held.append(stretch)
    return [*packs, tuple(held)] if held else packs


def read_stretch(stretch: Stretch, quarantine: str | None, names: list[str] | None) -> Iterator[pa.RecordBatch]:
    """The rows of a stretch: of a trace, or (with `names`) those columns of a table's file.

    What cannot be read is one sentence, or a note in the folder `quarantine`: then the rows of the row group it is in,
    or the rest of a stream, are left out.
    """
    try:
        parts = (
            list(_by_row_group(stretch, names)) if stretch.path.endswith(".parquet") else [(stretch, _stream(stretch))]
        )
    except InputError as error:
        if quarantine is None:
            raise
        note(quarantine, Bad(stretch.path, str(error), stretch.first, stretch.rows))
        return
    for part, batches in parts:
        row, end = part.first, part.first + part.rows
        try:
            for start, batch in batches:
                low, high = max(row, start), min(end, start + batch.num_rows)
                if low < high:
                    clipped = batch.slice(low - start, high - low)
                    good = clipped if names is not None else _whole_rows(clipped, low, stretch.path, quarantine)
                    yield good if names is not None else as_trace_batch(good)
                    row = high
                if row >= end:
                    break
            if row < end:
                raise InputError(f"{stretch.path} had {end} rows and has {row} now: traces and tables only grow")
        except InputError as error:
            if quarantine is None:
                raise
            note(quarantine, Bad(stretch.path, str(error), row, end - row))


Batches = Iterator[tuple[int, pa.RecordBatch]]
"""Batches with the number of their first row."""


def _by_row_group(stretch: Stretch, names: list[str] | None) -> Iterator[tuple[Stretch, Batches]]:
    path = Path(stretch.path)
    file = open_parquet(path)
    if names is None:
        validated(file.schema_arrow, path)
    rows, end = file.metadata.num_rows, stretch.first + stretch.rows
    if stretch.whole is not None and rows != stretch.whole:
        raise InputError(f"{path} has {rows} rows; its manifest says {stretch.whole}")
    if rows < end:
        raise InputError(f"{path} had {end} rows and has {rows} now: traces and tables only grow")
    columns = [column.name for column in COLUMNS] if names is None else names
    for start, count, index in _row_groups(file):
        first, last = max(start, stretch.first), min(start + count, end)
        if first < last:
            yield replace(stretch, first=first, rows=last - first), _row_group(file, path, index, start, columns)


def _row_group(file: Any, path: Path, index: int, row: int, columns: list[str]) -> Batches:
    try:
        for batch in file.iter_batches(BATCH_ROWS, row_groups=[index], columns=columns):
            yield row, (completed(batch) if LATER[0] in columns else batch).select(columns)
            row += batch.num_rows
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path} is a damaged Parquet file: from row {row} on, {one_line(error)}") from error


def _stream(stretch: Stretch) -> Batches:
    path = Path(stretch.path)
    schema = ipc.stream_schema(path)
    if schema is not None:
        validated(schema, path)
    for row, batch in ipc.batches(path, stretch.at, stretch.base):
        for start in range(0, batch.num_rows, BATCH_ROWS):
            yield row + start, batch.slice(start, BATCH_ROWS)


def _whole_rows(batch: pa.RecordBatch, row: int, path: str, quarantine: str | None) -> pa.RecordBatch:
    """Without the rows that lack a cell they must have; Spark would take what it finds in its place for a value."""
    required = [c.name for c in COLUMNS if not c.nullable and batch.column(c.name).null_count]
    if not required:
        return batch
    reason = f"{path} is not a whole trace: column {', '.join(required)} has empty cells"
    if quarantine is None:
        raise InputError(reason)
    compute: Any = pc
    lacking: Any = pa.array([False] * batch.num_rows)
    for name in required:
        lacking = compute.or_(lacking, batch.column(name).is_null())
    for index in compute.indices_nonzero(lacking).to_pylist():
        note(quarantine, Bad(path, reason, row + index, 1))
    return batch.filter(compute.invert(lacking))
