"""Rows of live topics on disk, from when a client takes them until Spark has finished their batch.

Decided in this file: why there is a spool, and what is in it. Spark plans a batch as "from this offset to that one" and
after a crash asks for the same batch again. Brokers cannot answer that twice: they let go of what everybody had, and
what has a deadline expires. So whatever is taken from the brokers is first written here, and only then is there an
offset that covers it: a batch that is run again has the same rows, whatever the brokers hold by then.

    SPOOL/reader.json                      the name under which this reader is known to brokers
    SPOOL/000000000001200-345.arrow        a chunk: rows 1200 to 1544, and the client's frontier after them

A chunk appears whole or not at all, and is on disk when it does. Its frontier is where the next life of the client
begins: what was taken and not yet written when a process died is asked for again. The newest chunk is never removed,
since it says how far the reader has come; older ones go when Spark has committed their rows. One process at a time
fills a spool. Nothing here needs Spark or a broker.
"""

from __future__ import annotations

import base64
import fcntl
import hashlib
import json
import os
import socket
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple, TextIO

import pyarrow as pa

from antecede.errors import EnvironmentFault, InputError
from antecede.spark.manifest import sync_folder, whole_or_not, writing

__all__ = ["LIVE", "After", "Chunk", "Spool", "locked", "name_for", "read_chunk"]

_FIELDS: list[tuple[str, pa.DataType]] = [
    ("id", pa.string()),
    ("topic", pa.string()),
    ("payload", pa.binary()),
    ("headers", pa.map_(pa.string(), pa.string())),
    ("sender", pa.string()),
    ("sent_us", pa.int64()),
    ("deadline_us", pa.int64()),
    ("causes", pa.list_(pa.string())),
    ("causal_pos", pa.int64()),
    ("fate", pa.string()),
    ("missing", pa.list_(pa.string())),
]
LIVE = pa.schema(_FIELDS)
"""The columns of live rows; docs/columns.md says what each is."""

PAUSE_S = 0.05
WAIT_S = 20.0
"""How long the process of an earlier run of the query may take to end."""


class Chunk(NamedTuple):
    path: Path
    first: int
    """The number of its first row."""
    rows: int

    @property
    def end(self) -> int:
        return self.first + self.rows


class After(NamedTuple):
    """How far a reader is after a chunk."""

    row: int
    pos: int
    """The place of the next delivered message."""
    frontier: bytes


def locked(path: Path, who: str, wait_s: float = WAIT_S) -> TextIO:
    """An open file that no other process has locked; it is unlocked when it is closed, or its process ends."""
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a", encoding="utf-8")
    for left in reversed(range(1 + round(wait_s / PAUSE_S))):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return file
        except OSError:
            if left:
                Event().wait(PAUSE_S)
    file.close()
    raise InputError(f"{path.parent} is in use by another {who}: give each a folder of its own")


def name_for(folder: Path, prefix: str = "spark-") -> str:
    """A name for whoever keeps what it remembers in this folder of this machine: no other has it, and it stays."""
    return f"{prefix}{hashlib.sha256(f'{socket.gethostname()}:{folder}'.encode()).hexdigest()[:10]}"


class Spool:
    def __init__(self, root: Path) -> None:
        self.root = root

    def name(self, wanted: str | None, prefix: str = "spark-") -> str:
        """The name of this reader among brokers: the one it was given first, or one made up then."""
        path = self.root / "reader.json"
        with writing(self.root):
            self.root.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            whole_or_not(path, json.dumps({"name": wanted or name_for(self.root, prefix)}))
        known = str(json.loads(path.read_text("utf-8"))["name"])
        if wanted is not None and wanted != known:
            raise InputError(f"{self.root} belongs to the reader {known}, not {wanted}: give another folder as spool")
        return known

    def chunks(self) -> list[Chunk]:
        """All there are, in the order of their rows."""
        found = []
        for path in self.root.glob("[0-9]*-*.arrow"):
            first, _, rows = path.stem.partition("-")
            found.append(Chunk(path, int(first), int(rows)))
        return sorted(found, key=lambda chunk: (chunk.first, chunk.rows))

    def after(self) -> After | None:
        """How far it has come; None: nothing was ever written here."""
        chunks = self.chunks()
        return self.said(chunks[-1]) if chunks else None

    @staticmethod
    def said(chunk: Chunk) -> After:
        """How far it had come with this one."""
        return said_of(chunk.path)

    def write(self, rows: Sequence[dict[str, Any]], row: int, pos: int, frontier: bytes) -> After:
        """`rows` as the chunk that begins with number `row`; `pos`: the place of the next delivered message then."""
        after = After(row + len(rows), pos, frontier)
        told = {b"row": b"%d" % after.row, b"pos": b"%d" % after.pos, b"frontier": base64.b64encode(frontier)}
        final = self.root / f"{row:015d}-{len(rows)}.arrow"
        temporary = self.root / f".{final.name}.tmp"
        with writing(self.root):
            with temporary.open("wb") as file:
                with pa.ipc.new_file(file, LIVE.with_metadata(told)) as writer:
                    writer.write_table(pa.Table.from_pylist(list(rows), LIVE.with_metadata(told)))
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(final)
            sync_folder(self.root)
        return after

    def between(self, start: int, end: int) -> list[Chunk]:
        """The chunks of the rows from `start` to `end`; both lie between chunks."""
        found = [chunk for chunk in self.chunks() if chunk.rows and start <= chunk.first and chunk.end <= end]
        edges = [start, *(chunk.end for chunk in found)]
        if [chunk.first for chunk in found] != edges[:-1] or edges[-1] != end:
            raise EnvironmentFault(
                f"{self.root} does not hold rows {start} to {end} any more, which a batch was planned with: "
                "put the folder back, or begin with a new checkpoint and a new spool"
            )
        return found

    def trim(self, end: int) -> None:
        """The rows before `end` are done with."""
        for chunk in self.chunks()[:-1]:
            if chunk.end <= end:
                chunk.path.unlink(missing_ok=True)


def said_of(path: Path) -> After:
    try:
        told = pa.ipc.open_file(pa.memory_map(str(path))).schema.metadata
        return After(int(told[b"row"]), int(told[b"pos"]), base64.b64decode(told[b"frontier"]))
    except (OSError, pa.ArrowInvalid, KeyError, TypeError) as error:
        raise InputError(f"{path} is no part of a spool: {error}") from error


def read_chunk(path: str) -> Iterator[pa.RecordBatch]:
    try:
        with pa.OSFile(path, "rb") as file:
            reader = pa.ipc.open_file(file)
            for place in range(reader.num_record_batches):
                yield reader.get_batch(place)
    except OSError as error:
        raise InputError(f"{path} cannot be read: the spool must be a folder that all workers see ({error})") from error
