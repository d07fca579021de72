"""Arrow streams that somebody is still writing: where the whole batches lie, without reading them.

Decided in this file: a tail that is not all there yet is no fault - it did not happen so far - while bytes that are
there and make no sense are. Batches are found by the headers of their messages (the framing of Arrow IPC: ff ff ff ff,
the length of the header, the header, the body), so that looking for news costs a few bytes a batch, and reading goes on
where it stopped.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa

from antecede.errors import InputError, one_line

__all__ = ["Piece", "batches", "pieces", "stream_schema"]

SCHEMA, DICTIONARY, RECORDS = 1, 2, 3
"""Kinds of messages, as Arrow numbers them."""
MARK = b"\xff\xff\xff\xff"
"""What every message begins with."""
END = MARK + bytes(4)
"""A message without a header: the end of a stream."""


class Piece(NamedTuple):
    """One message of a stream."""

    at: int
    size: int
    kind: int
    rows: int


def _field(table: bytes, at: int, index: int) -> int:
    """Where field `index` of the flatbuffer table at `at` is; 0 where it is absent."""
    (back,) = struct.unpack_from("<i", table, at)
    (size,) = struct.unpack_from("<H", table, at - back)
    if 4 + 2 * index >= size:
        return 0
    (offset,) = struct.unpack_from("<H", table, at - back + 4 + 2 * index)
    return at + int(offset) if offset else 0


def _header(table: bytes) -> tuple[int, int, int]:
    """Kind, rows and length of the body of the message whose header is `table`."""
    (root,) = struct.unpack_from("<I", table, 0)
    kind_at, inner_at, body_at = (_field(table, root, index) for index in (1, 2, 3))
    kind = table[kind_at] if kind_at else 0
    body = struct.unpack_from("<q", table, body_at)[0] if body_at else 0
    rows = 0
    if kind == RECORDS:
        inner = inner_at + struct.unpack_from("<I", table, inner_at)[0]
        rows_at = _field(table, inner, 0)
        rows = struct.unpack_from("<q", table, rows_at)[0] if rows_at else 0
    if kind not in (SCHEMA, DICTIONARY, RECORDS) or body < 0 or rows < 0:
        raise ValueError(f"a message of kind {kind} with {rows} rows in {body} bytes")
    return kind, rows, body


def _pieces(file: BinaryIO, path: Path, at: int) -> Iterator[Piece]:
    size = os.fstat(file.fileno()).st_size
    while at + 8 <= size:
        file.seek(at)
        mark, length = struct.unpack("<iI", file.read(8))
        if mark == 0 or (mark == -1 and length == 0):
            return  # its writer has closed it (old writers end with zeros, and so do files after a power cut)
        if mark != -1:
            what = "damaged Arrow stream" if at else "trace"
            raise InputError(f"{path} is {'a' if at else 'not a'} {what}: no message begins at byte {at}")
        if at + 8 + length > size:
            return
        try:
            kind, rows, body = _header(file.read(length))
        except (struct.error, IndexError, ValueError) as error:
            raise InputError(f"{path} is a damaged Arrow stream: at byte {at}, {one_line(error)}") from error
        if at + 8 + length + body > size:
            return
        yield Piece(at, 8 + length + body, kind, rows)
        at += 8 + length + body


def pieces(path: Path, at: int = 0) -> Iterator[Piece]:
    """The whole messages from byte `at` on, as far as they are written."""
    try:
        with path.open("rb") as file:
            yield from _pieces(file, path, at)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error


def stream_schema(path: Path) -> pa.Schema | None:
    """The schema of the stream; None while it is not written yet."""
    first = next(pieces(path), None)
    if first is None:
        with path.open("rb") as file:
            if not MARK.startswith(file.read(4)):
                raise InputError(f"{path} is not a trace: neither Parquet nor an Arrow stream")
        return None
    if first.kind != SCHEMA:
        raise InputError(f"{path} is not a trace: an Arrow stream begins with its schema")
    try:
        with path.open("rb") as file:
            return pa.ipc.read_schema(pa.py_buffer(file.read(first.size)))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{path} is not a trace: {one_line(error)}") from error


def _has_dictionary(kind: Any) -> bool:
    return pa.types.is_dictionary(kind) or any(_has_dictionary(kind.field(i).type) for i in range(kind.num_fields))


def batches(path: Path, at: int, row: int) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Each whole batch from the message at byte `at` on, whose first row has number `row`; with that number.

    A batch whose bytes make no sense is one sentence.
    """
    schema = stream_schema(path)
    if schema is None:
        return
    if any(_has_dictionary(field.type) for field in schema):
        yield from _from_the_start(path, row)  # dictionaries stand anywhere before the batches that use them
        return
    for piece in pieces(path, at):
        if piece.kind == RECORDS:
            yield row, _batch(path, piece, schema)
            row += piece.rows


def _batch(path: Path, piece: Piece, schema: pa.Schema) -> pa.RecordBatch:
    try:
        with path.open("rb") as file:
            file.seek(piece.at)
            message = pa.ipc.read_message(pa.py_buffer(file.read(piece.size)))
        return _checked(pa.ipc.read_record_batch(message, schema))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{path} is a damaged Arrow stream: at byte {piece.at}, {one_line(error)}") from error


def _from_the_start(path: Path, row: int) -> Iterator[tuple[int, pa.RecordBatch]]:
    whole = sum(piece.size for piece in pieces(path))
    at = 0
    try:
        with path.open("rb") as file:
            reader = pa.ipc.open_stream(pa.py_buffer(file.read(whole)))
            for batch in reader:
                if at >= row:
                    yield at, _checked(batch)
                at += batch.num_rows
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{path} is a damaged Arrow stream: at row {at}, {one_line(error)}") from error


def _checked(batch: pa.RecordBatch) -> pa.RecordBatch:
    batch.validate(full=True)
    return batch
