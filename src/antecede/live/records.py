"""The records of one live process on disk: a stream that survives kill -9, rotated into Parquet while it grows.

Decided here: every process writes files of its own, `records-NAME-N.arrow`, so that all processes of a cluster may
share one directory and `antecede check DIR` judges them together; a finished stream becomes Parquet in a thread,
under the same name, and is removed only then, so that at every moment each row can be read once. A process whose disk
is full goes on without records: its stream ends where the disk did, as if it had been killed there.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from antecede.errors import InputError

__all__ = ["ROTATE_ROWS", "Records", "load_arrow"]

log = logging.getLogger("antecede.records")

ROTATE_ROWS = 250_000
"""Rows of one stream. Raising it costs disk (a stream is not compressed); lowering it makes many files."""


class Records:
    def __init__(self, directory: str | Path, name: str, *, rotate_rows: int = ROTATE_ROWS) -> None:
        self.directory = Path(directory)
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            raise InputError(f"Records cannot be written to {self.directory}: {fault.strerror}.") from fault
        self.name = name
        self.rows = 0
        self.failed = False
        """Whether the disk refused a row: from then on none is written, so that the stream never has a hole."""
        self._rotate_rows = rotate_rows
        self._in_file = 0
        self._threads: list[threading.Thread] = []
        self._number = 0
        load_arrow()
        self._begin()

    def _begin(self) -> None:
        from antecede.trace.parquet import StreamAppender

        while True:
            stem = f"records-{self.name}-{self._number}"
            self._number += 1
            if not any((self.directory / f"{stem}.{suffix}").exists() for suffix in ("arrow", "parquet")):
                break
        self._appender = StreamAppender(self.directory / f"{stem}.arrow")
        self._in_file = 0

    def append(self, rows: Sequence[Sequence[Any]]) -> None:
        if self.failed:
            return
        try:
            self._append(rows)
        except OSError as fault:  # a full disk: messages matter more than records of them
            self.failed = True
            self._appender.abandon()
            log.error(
                "records cannot be written to %s any more: %s. %s goes on without them; `antecede check` will say that "
                "its end is unknown. Make room and start it again.",
                self.directory, fault.strerror or fault, self.name,
            )  # fmt: skip

    def _append(self, rows: Sequence[Sequence[Any]]) -> None:
        self._appender.append(rows)
        self.rows += len(rows)
        self._in_file += len(rows)
        if self._in_file >= self._rotate_rows:
            finished = self._finish()
            self._begin()
            thread = threading.Thread(target=to_parquet, args=(finished,), name="antecede-records", daemon=True)
            self._threads = [one for one in self._threads if one.is_alive()]
            self._threads.append(thread)
            thread.start()

    def _finish(self) -> Path:
        self._appender.close()
        return self._appender.path

    def close(self) -> None:
        try:
            if not self.failed:
                self._finish()
        except OSError as fault:
            log.error("the records in %s have no end: %s", self.directory, fault.strerror or fault)
        for thread in self._threads:
            thread.join()


def load_arrow() -> None:
    """pyarrow imports pandas with the first array it makes, which takes up to seconds: before anybody waits for this
    process, and not when the first rows are written and frames wait for them."""
    import pyarrow as pa

    pa.array([""])


def to_parquet(stream: Path) -> Path:
    """The same rows as Parquet beside the stream, which is removed when they are all there."""
    import pyarrow.parquet as pq

    from antecede.trace.parquet import read_batches
    from antecede.trace.record import arrow_schema

    target = stream.with_suffix(".parquet")
    temporary = stream.with_name(f".{target.name}.tmp")
    with pq.ParquetWriter(temporary, arrow_schema(), compression="zstd", write_page_checksum=True) as writer:
        for batch in read_batches(stream):
            writer.write_batch(batch)
    temporary.replace(target)
    stream.unlink()
    return target
