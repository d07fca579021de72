"""What could not be read, and why: a folder of small notes, one per damaged file, range or set of rows.

Decided in this file: whoever meets something unreadable - a plan on the driver, a task on a worker - writes a note that
names it; the name of a note is made from what it tells, so that doing it twice leaves one. Nothing is moved or deleted:
the data stays where it was, the note says which of it was left out.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from antecede.errors import InputError
from antecede.spark.manifest import local_path, whole_or_not

__all__ = ["Bad", "bad_files", "note", "withdraw"]


@dataclass(frozen=True, slots=True)
class Bad:
    """Rows `first` to `first + rows` of `file`, which were left out."""

    file: str
    reason: str
    first: int = 0
    rows: int | None = None
    """None: all from there on; nobody knows how many they are."""


def _name(file: str, first: int) -> str:
    return hashlib.sha256(f"{file}\0{first}".encode()).hexdigest()[:24] + ".json"


def note(folder: str | Path, bad: Bad) -> None:
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
        if not (place / _name(bad.file, bad.first)).exists():
            whole_or_not(place / _name(bad.file, bad.first), json.dumps(asdict(bad)))
    except OSError as error:
        raise InputError(f"cannot note in {place} that {bad.reason}: {error.strerror}") from error


def withdraw(folder: str | Path, file: str) -> None:
    """`file` as a whole can be read after all."""
    (Path(folder) / _name(file, 0)).unlink(missing_ok=True)


def bad_files(folder: str | Path) -> list[Bad]:
    """Every note in the quarantine `folder`, by file and row; none where the folder does not exist."""
    place = local_path(str(folder))
    notes = [Bad(**json.loads(path.read_text("utf-8"))) for path in sorted(place.glob("[0-9a-f]*.json"))]
    return sorted(notes, key=lambda bad: (bad.file, bad.first))
