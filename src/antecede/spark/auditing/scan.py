"""Run directories, read inside the tasks: which files there are, how they are shared out, what is wrong with them.

Decided in this file: a split is some row groups of one file, found from the file's own footer by whoever reads it, so
that the driver only lists names; texts that repeat stay dictionaries; and a file that cannot be read is a reason, not
the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from antecede.errors import InputError
from antecede.trace.parquet import one_line, open_parquet, read_batches, trace_files, validated
from antecede.trace.record import COLUMNS

__all__ = ["MAIN", "TELLING", "Split", "read_split", "run_directories", "splits_of"]

TEXTS = ["run", "process", "role", "kind", "message", "reason", "peer"]
"""Columns read as dictionaries."""

TELLING = [c.name for c in COLUMNS if c.name not in ("bytes", "control_bytes")]
MAIN = ["run", "process", "step", "at_us", "true_us", "kind", "reason", "message", "peer"]

SPLIT_BYTES = 32 * 2**20
"""Of a compressed file: some millions of rows, a second or two of work."""

ROWS_AT_ONCE = 1 << 19
"""Rows held by a task while it reads: about 50 MB."""


class Split(NamedTuple):
    source: str
    """The run directory (or the file itself)."""
    file: str
    number: int
    of: int


def run_directories(paths: Sequence[str | Path]) -> list[Path]:
    """Each path, or the run directories right below it where it is a directory without records of its own."""
    found: list[Path] = []
    for given in paths:
        path = Path(given)
        if path.is_dir() and not has_records(path):
            below = sorted(p for p in path.iterdir() if p.is_dir() and has_records(p))
            if not below:
                trace_files(path)  # says what it expects
            found += below
        else:
            trace_files(path)
            found.append(path)
    if len(set(found)) < len(found):
        twice = next(p for p in found if found.count(p) > 1)
        raise InputError(f"{twice} is given twice: name each run once")
    return found


def has_records(path: Path) -> bool:
    try:
        return bool(trace_files(path))
    except InputError:
        return False


def splits_of(directories: Sequence[Path], least: int) -> list[Split]:
    """What tasks share; at least `least` where there is enough for so many."""
    sizes = [(str(d), f, f.stat().st_size) for d in directories for f in trace_files(d)]
    share = max(2**20, min(SPLIT_BYTES, sum(size for _, _, size in sizes) // max(1, least)))
    splits = []
    for source, file, size in sizes:
        count = max(1, round(size / share)) if file.suffix == ".parquet" else 1
        splits += [Split(source, str(file.absolute()), number, count) for number in range(count)]
    return splits


def read_split(split: Split, columns: Sequence[str]) -> Iterator[Any]:
    """Tables of up to about ROWS_AT_ONCE rows. InputError where the file is damaged."""
    file = Path(split.file)
    if file.suffix != ".parquet":
        for batch in read_batches(file):
            yield pa.Table.from_batches([batch]).select(list(columns))
        return
    open_parquet(file).close()
    try:
        parquet = pq.ParquetFile(file, read_dictionary=TEXTS, page_checksum_verification=True, pre_buffer=True)
        validated(parquet.schema_arrow, file)
        groups = range(parquet.num_row_groups)
        mine = groups[len(groups) * split.number // split.of : len(groups) * (split.number + 1) // split.of]
        held: list[int] = []
        rows = 0
        for group in mine:
            held.append(group)
            rows += parquet.metadata.row_group(group).num_rows
            if rows >= ROWS_AT_ONCE or group == mine[-1]:
                yield parquet.read_row_groups(held, columns=list(columns), use_threads=False)
                held, rows = [], 0
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{file} is a damaged Parquet file: {one_line(error)}") from error
