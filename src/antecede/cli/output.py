"""Standard output: what becomes of it when its reader has read enough (`| head`), and how a sentence fits a terminal.

Decided here: what nobody reads any more is dropped, and the command comes to the end, and to the exit code, that it has
with a reader. A command that is for its reader only ends there, fine. Sentences are wrapped between words for a person
at a terminal, and one line each for programs.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

__all__ = ["Leaky", "fitted", "patient_output", "wrapped"]

COLUMNS = 80
"""Of a usual terminal, where nothing says how wide it is."""


def wrapped(text: str, columns: int = COLUMNS, *, indent: str = "  ") -> str:
    """Each line broken between words, the rest of it under `indent`; a line that stands two spaces in is a command, to
    be copied whole.

    >>> print(wrapped("No broker answers: start one.\\n  antecede broker --listen 127.0.0.1:7401", 20))
    No broker answers:
      start one.
      antecede broker --listen 127.0.0.1:7401
    """
    return "\n".join(
        line
        if len(line) <= columns or (line[:2] == "  " and line[2] != " ")
        else textwrap.fill(line, columns, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
        for line in text.split("\n")
    )


def fitted(text: str, stream: TextIO | None = None, *, indent: str = "  ", used: int = 0) -> str:
    """As it is shown on `stream` (left out: standard output): wrapped where that is a terminal, else as it is. `used`:
    columns that something takes before it."""
    to = stream or sys.stdout
    if not to.isatty():
        return text
    return wrapped(text, shutil.get_terminal_size((COLUMNS, 24)).columns - used, indent=indent)


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
