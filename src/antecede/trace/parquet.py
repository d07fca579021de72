"""Traces on disk: Parquet for what is finished, an Arrow IPC stream for what a live node is still writing.

Decided in this file: a run directory holds `records.parquet` (or several `records-*`), `scenario.json` and
`totals.json`; output appears under its name only when it is complete; both writing and reading need memory for one
batch, not for the run; and what is not a trace is refused with one sentence that says what and where.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import repeat
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from antecede.errors import InputError, one_line
from antecede.trace import ipc
from antecede.trace.record import COLUMNS, FORMAT, LATER, Row, arrow_schema
from antecede.trace.writing import temporary_for, write_whole, writing

__all__ = [
    "StreamAppender",
    "TraceWriter",
    "open_parquet",
    "read_batches",
    "read_rows",
    "read_scenario",
    "read_totals",
    "write_run",
]

ROW_GROUP = 65_536
"""Rows per row group at most: about 10 MB in memory while they wait; raising it costs memory, lowering it size."""
PIECE = 4096
"""Rows that become columns at once: so few that they are still in the processor's cache when they do."""


def to_batch(rows: Sequence[Sequence[Any]], schema: pa.Schema) -> pa.RecordBatch:
    columns = zip(*rows, strict=True)
    arrays = [_column(values, kind) for values, kind in zip(columns, schema.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _column(values: tuple[Any, ...], kind: Any) -> Any:
    """(Half of the columns of a live node are empty, and it writes few rows at a time.)"""
    if values[0] is None and values.count(None) == len(values):
        return pa.nulls(len(values), kind)
    return pa.array(values, type=kind)


class TraceWriter:
    """Writes one run: `write` any number of times, `close` once; before `close` nothing appears under its name.

    Used as a context manager it closes on success and leaves nothing behind on an exception.
    """

    def __init__(self, directory: str | Path, *, row_group: int = ROW_GROUP) -> None:
        self.directory = Path(directory)
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot write a trace to {self.directory}: {error.strerror}") from error
        self._target = self.directory / "records.parquet"
        self._temporary = temporary_for(self._target)
        self._schema = arrow_schema()
        self._rows: list[Sequence[Any]] = []
        self._batches: list[pa.RecordBatch] = []
        self._piece = min(PIECE, row_group)
        self._group_pieces = row_group // self._piece
        with writing(self._target, self._temporary):
            self._writer: pq.ParquetWriter | None = pq.ParquetWriter(
                self._temporary, self._schema, compression="zstd", write_page_checksum=True
            )

    def write(self, rows: Iterable[Sequence[Any]]) -> None:
        self._rows.extend(rows)
        while len(self._rows) >= self._piece:
            self._batches.append(to_batch(self._rows[: self._piece], self._schema))
            del self._rows[: self._piece]
            if len(self._batches) == self._group_pieces:
                self._put()

    def _put(self) -> None:
        """What has become columns so far is one row group."""
        assert self._writer is not None
        with writing(self._target):
            self._writer.write_table(pa.Table.from_batches(self._batches, self._schema))
        self._batches.clear()

    def close(self, scenario: dict[str, Any] | None = None, totals: dict[str, Any] | None = None) -> Path:
        """Complete the run: the side files first, so that a directory with records is a whole one."""
        if self._writer is None:
            return self._target
        if self._rows:
            self._batches.append(to_batch(self._rows, self._schema))
            self._rows = []
        if self._batches:
            self._put()
        with writing(self._target, self._temporary):
            self._writer.close()
            self._writer = None
            for name, value in (("scenario.json", scenario), ("totals.json", totals)):
                if value is not None:
                    write_json(self.directory / name, {"format": FORMAT, **value})
            self._temporary.replace(self._target)
        return self._target

    def abandon(self) -> None:
        """Leave nothing behind."""
        if self._writer is not None:
            with suppress(OSError):  # it writes what it still holds, also to a disk that is full
                self._writer.close()
            self._writer = None
        self._temporary.unlink(missing_ok=True)

    def __enter__(self) -> TraceWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()


def write_run(
    directory: str | Path,
    rows: Iterable[Sequence[Any]],
    scenario: dict[str, Any] | None = None,
    totals: dict[str, Any] | None = None,
) -> Path:
    """A whole run at once; returns the path of its records."""
    with TraceWriter(directory) as writer:
        for row in rows:
            writer.write((row,))
        return writer.close(scenario, totals)


def write_json(path: Path, value: dict[str, Any]) -> None:
    write_whole(path, json.dumps(value, indent=2, sort_keys=True) + "\n")


class StreamAppender:
    """Appends rows of a live node to an Arrow IPC stream; what `append` has returned from survives kill -9.

    (Not a power cut: nothing is fsynced.) A file is never continued, since a torn tail would hide what follows:
    a node that starts again begins a new one. Each batch is one write: Arrow's own writer makes one of every buffer.
    """

    def __init__(self, path: str | Path) -> None:
        self._schema = arrow_schema()
        self.path = Path(path)
        try:
            self._file = self.path.open("xb", buffering=0)
        except OSError as error:
            raise InputError(f"cannot begin a trace at {self.path}: {error.strerror}") from error
        self._write(self._schema.serialize())

    def append(self, rows: Sequence[Sequence[Any]]) -> None:
        if rows:
            self._write(to_batch(rows, self._schema).serialize())

    def _write(self, data: bytes | pa.Buffer) -> None:
        left = memoryview(data)
        while left:  # a disk that fills up takes the beginning, and refuses the rest
            left = left[self._file.write(left) :]

    def close(self) -> None:
        self._write(ipc.END)
        self._file.close()

    def abandon(self) -> None:
        """Leave the stream without an end, as kill -9 would."""
        self._file.close()


def trace_files(path: str | Path) -> list[Path]:
    """The files that make up the trace at `path`, in the order of their names."""
    root = Path(path)
    if not root.exists():
        raise InputError(f"{root} does not exist: give a run directory or a records file")
    if root.is_file():
        return [root]
    found = files_in(root)
    if not found and (root / "sweep.jsonl").exists():
        raise InputError(
            f"{root} is a sweep, which is judged as it runs and keeps no records: its verdicts are in sweep.jsonl"
        )
    if not found:
        raise InputError(f"{root} holds no records (expected records.parquet, records-*.parquet or *.arrow)")
    return found


def files_in(folder: Path) -> list[Path]:
    """Its files named records*, and every stream; of a stream and the Parquet it was rotated into, the Parquet."""
    found: dict[str, Path] = {}
    for file in sorted(folder.iterdir()):  # .parquet comes after .arrow and takes its place
        wanted = file.suffix == ".arrow" or (file.suffix == ".parquet" and file.stem.startswith("records"))
        if (wanted or (file.suffix == ".parquet" and file.stem in found)) and not hidden(file) and file.is_file():
            found[file.stem] = file
    return [found[stem] for stem in sorted(found)]


def hidden(path: Path) -> bool:
    return path.name.startswith((".", "_"))


def open_parquet(path: Path) -> pq.ParquetFile:
    """The file, if it is Parquet at all and whole."""
    try:
        with path.open("rb") as f:
            head = f.read(4)
            f.seek(0, os.SEEK_END)
            size = f.tell()
            f.seek(max(0, size - 4))
            tail = f.read(4)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    if head != b"PAR1":
        raise InputError(f"{path} is not a trace: neither Parquet nor an Arrow stream")
    if tail != b"PAR1" or size < 12:
        raise InputError(f"{path} is a truncated Parquet file ({size} bytes, no footer)")
    try:
        return pq.ParquetFile(path, page_checksum_verification=True)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{path} is a damaged Parquet file: {one_line(error)}") from error


def validated(schema: pa.Schema, path: Path) -> None:
    """Refuse what is not a trace; say which columns are missing or of another type."""
    missing = [c.name for c in COLUMNS if c.name not in (*schema.names, *LATER)]
    if missing:
        raise InputError(
            f"{path} is not a trace: column{'s' * (len(missing) > 1)} {', '.join(missing)} missing "
            "(for a table of your own, name its columns: --id --parents --receiver --position)"
        )
    version = (schema.metadata or {}).get(b"antecede.format")
    if version is not None and version != str(FORMAT).encode():
        raise InputError(f"{path} is a trace of format {version.decode(errors='replace')}; this reads format {FORMAT}")
    twice = [c.name for c in COLUMNS if len(schema.get_all_field_indices(c.name)) > 1]
    if twice:
        raise InputError(f"{path} is not a trace: it has more than one column {', '.join(twice)}")
    for column in [column for column in COLUMNS if column.name in schema.names]:
        kind = schema.field(column.name).type
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
        good = {
            "string": pa.types.is_string(kind) or pa.types.is_large_string(kind),
            "int64": pa.types.is_integer(kind),
            "int32": pa.types.is_integer(kind),
            "list<string>": _is_list_of_texts(kind),
        }[column.type]
        if not good and not (column.nullable and pa.types.is_null(kind)):
            raise InputError(f"{path} is not a trace: column {column.name} is {kind}, not {column.type}")


def _is_list_of_texts(kind: Any) -> bool:
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind)):
        return False
    inner = kind.value_type
    return any(test(inner) for test in (pa.types.is_string, pa.types.is_large_string, pa.types.is_null))


def readable(column: Any, name: str, path: str | Path) -> None:
    """Refuse a column of a trace in which texts are no texts, or lists have empty places."""
    texts = getattr(column, "dictionary", column)
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        texts = column.flatten()
        if texts.null_count:
            raise InputError(f"{path} is not a trace: column {name} has lists with empty places")
    try:
        texts.validate(full=True)
    except (pa.ArrowException, ValueError) as error:
        raise InputError(f"{path} is not a trace: column {name}: {one_line(error)}") from error


def completed(rows: Any) -> Any:
    """A batch or a table of a trace, with the columns that came later."""
    for name in LATER:
        if name not in rows.schema.names:
            rows = rows.append_column(pa.field(name, pa.string()), pa.nulls(rows.num_rows, pa.string()))
    return rows


def read_batches(path: str | Path, *, size: int = ROW_GROUP) -> Iterator[pa.RecordBatch]:
    """Record batches of the trace at `path`, columns in the order of the schema."""
    names = [c.name for c in COLUMNS]
    for file in trace_files(path):
        if file.suffix == ".arrow" or not _is_parquet(file):
            yield from _stream_batches(file, names)
            continue
        parquet = open_parquet(file)
        validated(parquet.schema_arrow, file)
        try:
            for batch in parquet.iter_batches(batch_size=size, columns=names):
                yield completed(batch).select(names)
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{file} is a damaged Parquet file: {one_line(error)}") from error


def _is_parquet(file: Path) -> bool:
    """By its name or its first bytes: a stream begins with ff ff ff ff."""
    if file.suffix == ".parquet":
        return True
    try:
        with file.open("rb") as f:
            return f.read(4) != b"\xff\xff\xff\xff"
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror}") from error


def _stream_batches(file: Path, names: list[str]) -> Iterator[pa.RecordBatch]:
    """Whole batches up to the end or the torn tail; steps that a tear hides show as a process without an `end`."""
    schema = ipc.stream_schema(file)
    if schema is None:
        return  # killed while the schema was written
    validated(schema, file)
    for _, batch in ipc.batches(file, 0, 0):
        yield completed(batch).select(names)


def silent(file: Path) -> bool:
    """Whether it is a stream without a whole batch: who wrote it did something, and nobody knows who and what."""
    stream = file.suffix == ".arrow" or not _is_parquet(file)
    return stream and not any(piece.rows for piece in ipc.pieces(file))


def column_values(array: Any) -> Iterable[Any]:
    """The column as Python values, much faster than `to_pylist` where values repeat or are missing."""
    count = len(array)
    if array.null_count == count:
        return repeat(None, count)
    if pa.types.is_integer(array.type):
        if not array.null_count:
            values: list[Any] = array.to_numpy().tolist()
            return values
        filled = array.fill_null(0).to_numpy().tolist()
        valid = array.is_valid().to_numpy(zero_copy_only=False).tolist()
        return [v if ok else None for v, ok in zip(filled, valid, strict=True)]
    if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        array = array.dictionary_encode()
    if pa.types.is_dictionary(array.type):
        words = [*array.dictionary.to_pylist(), None]
        indexes = array.indices.fill_null(len(words) - 1).to_numpy().tolist()
        return [words[i] for i in indexes]
    return [tuple(v) if v is not None else None for v in array.to_pylist()]


def read_rows(path: str | Path) -> Iterator[Row]:
    """Every row of the trace at `path`, in bounded memory, in the order of the files."""
    required = [c.name for c in COLUMNS if not c.nullable]
    for batch in read_batches(path):
        for name in required:
            if batch.column(name).null_count:
                raise InputError(f"{path} is not a trace: column {name} has empty cells")
        for column in COLUMNS:
            readable(batch.column(column.name), column.name, path)
        yield from map(Row._make, zip(*map(column_values, batch.columns), strict=True))


def _read_json(path: str | Path, name: str) -> dict[str, Any] | None:
    root = Path(path)
    file = (root if root.is_dir() else root.parent) / name
    if not file.is_file():
        return None
    try:
        value = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{file} is not JSON: {one_line(error)}") from error
    if not isinstance(value, dict):
        raise InputError(f"{file} is not a JSON object")
    if value.get("format", FORMAT) != FORMAT:
        raise InputError(f"{file} is of format {value['format']!r}; this reads format {FORMAT}")
    return value


def read_scenario(path: str | Path) -> dict[str, Any] | None:
    """`scenario.json` beside the records; None where there is none."""
    return _read_json(path, "scenario.json")


def read_totals(path: str | Path) -> dict[str, Any] | None:
    """`totals.json` beside the records; None where there is none."""
    return _read_json(path, "totals.json")
