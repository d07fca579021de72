"""What passes between the tasks of an audit: pieces of what rows tell, chunks of deliveries, rows of results.

Decided in this file: the columns of each, and that everything is said of a domain: a run of a source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from antecede.spark.auditing.chunks import CHUNK, Coded
from antecede.spark.auditing.keys import schema_of
from antecede.spark.auditing.tables import domain_of, run_of

__all__ = [
    "PIECE", "RESULT", "SHIPPED", "Batches", "Results", "Source", "by_run", "grouped", "opened", "piece", "pieces",
    "unknown_tail",
]  # fmt: skip

PIECE = schema_of(domain=pa.string(), what=pa.string(), piece=pa.binary())
SHIPPED = schema_of(part=pa.int32(), domain=pa.string(), **dict(zip(CHUNK.names, CHUNK.types, strict=True)))
RESULT = schema_of(
    what=pa.string(),
    domain=pa.string(),
    source=pa.string(),
    run=pa.string(),
    verdict=pa.string(),
    process=pa.string(),
    message=pa.string(),
    other=pa.string(),
    step=pa.int64(),
    text=pa.string(),
    turn=pa.int32(),
    peer=pa.string(),
    first=pa.int64(),
    then=pa.int64(),
    after_us=pa.int64(),
    rows=pa.int64(),
    deliveries=pa.int64(),
    messages=pa.int64(),
    processes=pa.int64(),
)
"""`what`: finding, doubt, question, tail (a process without an end), quarantine, counts, again."""

Batches = Iterator[pa.RecordBatch]
Source = Callable[[Any], Iterator[tuple[str, Any]]]
"""From the batches a task is given to (source, table of rows); a string in the place of the table is a reason."""


def unknown_tail(name: str) -> str:
    return f"the records of {name} stop without an end: what it did later is unknown"


class Results:
    """Rows of RESULT, in batches."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []

    def add(self, what: str, domain: str, **values: Any) -> None:
        source, run = run_of(domain)
        self.rows.append({"what": what, "domain": domain, "source": source, "run": run, **values})

    def batches(self, least: int = 1) -> Batches:
        if len(self.rows) >= least:
            yield pa.RecordBatch.from_pylist(self.rows, schema=RESULT)
            self.rows = []


def piece(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def opened(data: bytes) -> pa.Table:
    return pa.ipc.open_stream(data).read_all()


def by_run(source: str, table: Any) -> Iterator[tuple[str, Any]]:
    """The table, one part for each run in it."""
    run = Coded.of(table.column("run"))
    if len(run.words) == 1 and not (run.codes < 0).any():
        yield domain_of(source, run.words[0]), table
        return
    order = np.argsort(run.codes, kind="stable")
    sorted_rows, codes = table.take(pa.array(order)), run.codes[order]
    for number, start, size in zip(*np.unique(codes, return_index=True, return_counts=True), strict=True):
        word = run.words[number] if number >= 0 else ""
        yield domain_of(source, word), sorted_rows.slice(int(start), int(size))


def pieces(rows: list[tuple[str, str, bytes]]) -> pa.RecordBatch:
    columns = list(zip(*rows, strict=True)) if rows else [(), (), ()]
    return pa.RecordBatch.from_arrays([pa.array(c, f.type) for c, f in zip(columns, PIECE, strict=True)], schema=PIECE)


def grouped(batches: Batches) -> Iterator[tuple[str, dict[str, list[bytes]]]]:
    """Pieces of one domain after the other; they come sorted by domain."""
    current: str | None = None
    held: dict[str, list[bytes]] = {}
    for batch in batches:
        for domain, what, content in zip(*(batch.column(i).to_pylist() for i in range(3)), strict=True):
            if domain != current:
                if current is not None:
                    yield current, held
                current, held = domain, {}
            held.setdefault(what, []).append(content)
    if current is not None:
        yield current, held
