"""Standard output: what becomes of it when its reader has read enough (`| head`).

Decided here: what nobody reads any more is dropped, and the command comes to the end, and to the exit code, that it has
with a reader. A command that is for its reader only ends there, fine.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["Leaky", "patient_output"]


class Leaky(io.RawIOBase):
    """Writes to a descriptor until its reader closes it."""

    def __init__(self, descriptor: int, *, for_readers: bool = False) -> None:
        self.descriptor, self.for_readers = descriptor, for_readers
        self.closed_by_reader = False

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self.descriptor

    def isatty(self) -> bool:
        return os.isatty(self.descriptor)

    def write(self, data: Any) -> int:
        if not self.closed_by_reader:
            try:
                return os.write(self.descriptor, data)
            except BrokenPipeError:
                self.closed_by_reader = True
                if self.for_readers:
                    raise SystemExit(0) from None
        return len(data)


@contextmanager
def patient_output(for_readers: bool) -> Iterator[None]:
    """Standard output that no reader can break; streams with nothing real behind them (in tests) stay as they are."""
    given = sys.stdout
    try:
        descriptor = given.fileno()
    except (OSError, ValueError, AttributeError):  # nothing behind it, or closed
        yield
        return
    given.flush()
    raw = Leaky(descriptor, for_readers=for_readers)
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(raw), encoding=given.encoding, errors=given.errors, line_buffering=raw.isatty()
    )
    try:
        yield
    finally:
        raw.for_readers = False  # it is over: the rest changes no exit code
        try:
            sys.stdout.flush()
        finally:
            raw.closed_by_reader = True  # what could not be written now is not tried again when Python ends
            sys.stdout = given
