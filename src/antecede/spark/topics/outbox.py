"""Batches on their way from Spark to live topics: on disk from when Spark has decided on them until they are published.

Decided in this file: what is published of a batch is what its first complete attempt gave, whatever a second one gives;
batches are published in the order of their numbers, each once; and what a process must write down so that the one after
it can tell how far it came.

    OUTBOX/000000000012.arrow     the rows of batch 12, as messages
    OUTBOX/journal.json           up to which batch all is published, and which rows of the next one under which ids
    OUTBOX/error.txt              why the publisher has given up, until one begins again

Nothing here needs Spark or a broker.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from antecede.errors import InputError
from antecede.spark.manifest import sync_folder, whole_or_not, writing
from antecede.spark.topics.spool import name_for

__all__ = ["MESSAGES", "Doing", "Journal", "Outbox", "as_messages", "packed"]

_FIELDS: list[tuple[str, pa.DataType]] = [
    ("topic", pa.string()),
    ("payload", pa.binary()),
    ("headers", pa.map_(pa.string(), pa.string())),
    ("deadline_us", pa.int64()),
    ("after", pa.list_(pa.string())),
]
MESSAGES = pa.schema(_FIELDS)
OWN = ("topic", "headers", "deadline_us", "after", "causes")
"""Columns that say how a row is published; without a column `payload` all others are its payload, as JSON."""


@dataclass(frozen=True)
class Doing:
    """A batch that is being published: the rows at `places`, as messages `first`, `first` + 1, ... of `sender`."""

    batch: int
    sender: str
    first: int
    places: tuple[int, ...]


@dataclass(frozen=True)
class Journal:
    name: str
    """What the publisher is called among brokers; each of its processes is another life of that name."""
    query: str
    """Whose batches these are."""
    done: int = -1
    """All batches up to this one are published."""
    rows: int = 0
    """So many messages were published."""
    expired: int = 0
    """So many rows had a deadline that was over before they were published."""
    doing: Doing | None = None


class Outbox:
    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, number: int) -> Path:
        return self.root / f"{number:012d}.arrow"

    def begin(self, name: str | None, query: str, prefix: str = "spark-") -> Journal:
        """The journal, made where there is none; refused where it is another query's."""
        with writing(self.root):
            self.root.mkdir(parents=True, exist_ok=True)
        if not (self.root / "journal.json").exists():
            self.note(Journal(name or name_for(self.root, prefix), query))
        known = self.journal()
        if query and known.query and known.query != query:
            raise InputError(f"{self.root} holds batches of query {known.query}, not {query}: give another outbox")
        return known

    def journal(self) -> Journal:
        said = json.loads((self.root / "journal.json").read_text("utf-8"))
        doing = said.pop("doing")
        return Journal(**said, doing=Doing(**{**doing, "places": tuple(doing["places"])}) if doing else None)

    def note(self, journal: Journal) -> None:
        whole_or_not(self.root / "journal.json", json.dumps(asdict(journal)))

    def put(self, number: int, parts: Sequence[bytes]) -> None:
        """The rows of a batch, unless it was put before."""
        if number <= self.journal().done or self.path(number).exists():
            return
        temporary = self.root / f".{number:012d}.tmp"
        with writing(self.root):
            with temporary.open("wb") as file, pa.ipc.new_file(file, MESSAGES) as writer:
                for part in parts:
                    for batch in pa.ipc.open_stream(part):
                        writer.write_batch(batch)
            with temporary.open("rb") as written:
                os.fsync(written.fileno())
            temporary.replace(self.path(number))
            sync_folder(self.root)

    def waiting(self) -> list[int]:
        """The numbers of batches that are not published."""
        done = self.journal().done
        return sorted(n for path in self.root.glob("[0-9]*.arrow") if (n := int(path.stem)) > done)

    def rows(self, number: int) -> list[dict[str, Any]]:
        with pa.OSFile(str(self.path(number)), "rb") as file:
            return pa.ipc.open_file(file).read_all().to_pylist(maps_as_pydicts="strict")

    def finish(self, number: int, rows: int, expired: int) -> None:
        before = self.journal()
        self.note(replace(before, done=number, rows=before.rows + rows, expired=before.expired + expired, doing=None))
        self.path(number).unlink(missing_ok=True)

    def fail(self, sentence: str) -> None:
        whole_or_not(self.root / "error.txt", sentence)

    def failed(self) -> str | None:
        path = self.root / "error.txt"
        return path.read_text("utf-8") if path.exists() else None

    def forgive(self) -> None:
        (self.root / "error.txt").unlink(missing_ok=True)


def as_messages(table: pa.Table, topic: str | None) -> pa.Table:
    """Rows of Spark as messages: column `topic` or the option, `payload` or all other columns as JSON, `headers`,
    `deadline_us`, and as causes `after`, else `causes`."""
    have = table.column_names
    rows = table.num_rows

    def column(name: str, kind: Any) -> Any:
        return table[name].cast(kind) if name in have else pa.nulls(rows, kind)

    topics = table["topic"].cast(pa.string()) if "topic" in have else pa.array([topic] * rows, pa.string())
    if topics.null_count:
        raise InputError("a row to be published has no topic: fill the column topic, or give option topic without it")
    if "payload" in have:
        payload: Any = table["payload"].cast(pa.binary())
        if payload.null_count:
            raise InputError("a row to be published has no payload: leave it out, or give it an empty one")
    else:
        rest = table.select([name for name in have if name not in OWN])
        payload = pa.array([json.dumps(row, default=str).encode() for row in rest.to_pylist()], pa.binary())
    after = column("after" if "after" in have else "causes", pa.list_(pa.string()))
    headers, deadline_us = column("headers", MESSAGES.field("headers").type), column("deadline_us", pa.int64())
    return pa.table([topics, payload, headers, deadline_us, after], schema=MESSAGES)


def packed(table: pa.Table) -> bytes:
    """Messages as bytes: what a task hands to the driver."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, MESSAGES) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()
