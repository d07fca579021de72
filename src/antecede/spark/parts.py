"""The data files of a table: written by whoever has rows, hidden until they are whole, under names nobody else has.

Decided in this file: Parquet with checksums, one folder for each value of the columns a table is split by, named as
Spark and Hive name them. What counts is decided by the manifest alone (`manifest.py`). A disk that is full, or a place
that cannot be written, is one sentence that names it, and what was begun there is removed. Nothing here needs Spark.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from antecede.spark.manifest import DataFile, sync_folder, writing

__all__ = ["Target", "folder_name", "split", "write_files"]

NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""What a null is called in the name of a folder; the convention of Hive, which every reader knows."""

MISREAD = re.compile(r"[\x00-\x1f\x7f\"#%'*/:=?\\{\[\]^]")
"""What Spark escapes in the name of a folder, and nothing else: it reads each %xx back as one character."""

OPEN_FILES = 64
"""Files a task keeps open; more values than that cost more, smaller files, not more memory."""


@dataclass(frozen=True)
class Target:
    """Where and how to write; goes to the tasks."""

    root: str
    schema: dict[str, Any]
    partition_by: tuple[str, ...] = ()
    overwrite: bool = False


class _Open:
    """One file that is being written."""

    def __init__(self, folder: Path, partition: int, schema: pa.Schema, values: dict[str, Any]) -> None:
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            # The random part of the name is what makes it ours: attempts, retries and restarts never share one.
            handle, name = tempfile.mkstemp(dir=folder, prefix=f".part-{partition:05d}-", suffix=".parquet.tmp")
        self._file = os.fdopen(handle, "wb")
        self._temporary = folder / Path(name).name  # mkstemp has taken each .. out of the path, and root has it
        self._writer = pq.ParquetWriter(self._file, schema, compression="zstd", write_page_checksum=True)
        self._values = values
        self._rows = 0

    def write(self, batch: pa.RecordBatch) -> None:
        with writing(self._temporary.parent):
            self._writer.write_batch(batch)
        self._rows += batch.num_rows

    def close(self, root: Path) -> DataFile:
        """Whole and on disk first, then visible."""
        try:
            with writing(self._temporary.parent):
                self._writer.close()
                self._file.flush()
                os.fsync(self._file.fileno())
                self._file.close()
                self._temporary.chmod(0o644)
                final = self._temporary.with_name(self._temporary.name[1:].removesuffix(".tmp"))
                self._temporary.rename(final)
                sync_folder(final.parent)
                return DataFile(final.relative_to(root).as_posix(), self._rows, final.stat().st_size, self._values)
        except BaseException:
            self.abandon()
            raise

    def abandon(self) -> None:
        """Away with it first: to close it writes to the disk that may be full."""
        self._temporary.unlink(missing_ok=True)
        for part in (self._writer, self._file):
            with suppress(OSError, ValueError):
                part.close()


def folder_name(name: str, value: Any) -> str:
    """`name=value`, escaped as Spark and Hive do."""
    text = "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    return f"{MISREAD.sub(escaped, name)}={MISREAD.sub(escaped, text) or NO_VALUE}"


def escaped(found: re.Match[str]) -> str:
    return f"%{ord(found[0]):02X}"


def split(batch: pa.RecordBatch, by: Sequence[str]) -> Iterator[tuple[dict[str, Any], pa.RecordBatch]]:
    """The rows of each combination of values, in the order they came, without the columns of the values."""
    if not by:
        yield {}, batch
        return
    rest = batch.select([name for name in batch.schema.names if name not in by])
    codes = np.zeros(batch.num_rows, np.int64)
    for name in by:
        column: Any = batch.column(name).dictionary_encode()
        size = len(column.dictionary)
        codes = codes * (size + 1) + column.indices.fill_null(size).to_numpy()
    order = np.argsort(codes, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(codes[order])) + 1):
        values = {name: batch.column(name)[int(rows[0])].as_py() for name in by}
        yield values, rest.take(rows)


def write_files(target: Target, batches: Iterator[pa.RecordBatch], partition: int) -> tuple[DataFile, ...]:
    """All of `batches` as files of the table that do not count yet."""
    root = Path(target.root)
    done: list[DataFile] = []
    opened: dict[tuple[Any, ...], _Open] = {}
    try:
        for batch in batches:
            if not batch.num_rows:
                continue
            for values, rows in split(batch, target.partition_by):
                key = tuple(values.values())
                writer = opened.pop(key, None)
                if writer is None:
                    while len(opened) >= OPEN_FILES:
                        done.append(opened.pop(next(iter(opened))).close(root))  # the one longest unused
                    folder = root.joinpath(*(folder_name(name, value) for name, value in values.items()))
                    writer = _Open(folder, partition, rows.schema, {n: plain(v) for n, v in values.items()})
                opened[key] = writer
                writer.write(rows)
        while opened:
            done.append(opened.pop(next(iter(opened))).close(root))
    finally:
        for writer in opened.values():
            writer.abandon()
    return tuple(done)


def plain(value: Any) -> Any:
    """As JSON can say it: a date becomes its text."""
    return value if value is None or isinstance(value, bool | int | str) else str(value)
