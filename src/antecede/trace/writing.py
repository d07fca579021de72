"""How files are written: whole or not at all, and a failure names the path. Decided once for everything that writes.

What is written appears under its name when it is complete; a disk that is full leaves nothing behind.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from antecede.errors import InputError, one_line

__all__ = ["temporary_for", "write_whole", "writing"]


@contextmanager
def writing(path: Path, *leftovers: Path) -> Iterator[None]:
    """Turn the system's refusal into a sentence about `path`; then, or if anything else fails, `leftovers` are gone."""
    try:
        yield
    except BaseException as error:
        for leftover in leftovers:
            with suppress(OSError):
                leftover.unlink()
        if isinstance(error, OSError):
            raise InputError(f"cannot write {path}: {error.strerror or one_line(error)}.") from error
        raise


def temporary_for(path: Path) -> Path:
    """Where `path` is written until it is complete."""
    return path.with_name(f".{path.name}.{os.getpid()}.tmp")


def write_whole(path: Path, text: str) -> None:
    temporary = temporary_for(path)
    with writing(path, temporary):
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
