"""How far a stream has come: offsets of traces and of tables, what is new since, and the stretches between two.

Decided in this file: the form of an offset, which lives in checkpoints and so must stay readable. For a trace it is,
per file, the rows behind us (with the place in a stream where to go on looking); for a table the number of the next
batch. A batch takes its share of every file first, and what is left over from the first files on.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from antecede.errors import InputError
from antecede.spark.bad import Bad, note, withdraw
from antecede.spark.manifest import Manifest, committed
from antecede.spark.stretches import Stretch, cut, trace_sources
from antecede.trace import ipc
from antecede.trace.parquet import open_parquet, validated

__all__ = ["TableTail", "Tail", "TraceTail", "shares"]

Offset = dict[str, Any]
LEAST_SHARE = 1000
"""Rows a file gives to a batch before the next file is asked: less would cut traces into crumbs."""


class Tail(ABC):
    """What grows at one path."""

    @abstractmethod
    def begin(self) -> Offset: ...

    @abstractmethod
    def end(self, start: Offset, most: int | None, goal: Offset | None = None) -> Offset:
        """The offset after the next batch of at most `most` rows, not beyond `goal`; `start` where nothing is new."""

    @abstractmethod
    def between(self, start: Offset, end: Offset, size: int) -> Iterator[Stretch]:
        """The rows after `start` up to `end`, cut into stretches of about `size` rows."""


def shares(waiting: dict[str, int], most: int | None) -> dict[str, int]:
    """How many of the rows that wait in each file the next batch takes."""
    if most is None:
        return {key: rows for key, rows in waiting.items() if rows}
    taken = dict.fromkeys(waiting, 0)
    fair = max(LEAST_SHARE, most // max(1, sum(1 for rows in waiting.values() if rows)))
    for limit in (fair, most):  # a fair share of each, then what is left
        for key, rows in waiting.items():
            more = min(rows, limit) - taken[key]
            more = min(more, most) if more > 0 else 0
            taken[key] += more
            most -= more
    return {key: rows for key, rows in taken.items() if rows}


class TraceTail(Tail):
    """Runs at a path: files that appear, and streams that grow."""

    def __init__(self, root: Path, quarantine: str | None) -> None:
        self.root = root
        self._quarantine = quarantine
        self._good: dict[Path, tuple[int, int]] = {}
        """Parquet files that were found whole: their size and rows. They do not change under their name."""
        self._bad: set[Path] = set()

    def begin(self) -> Offset:
        return {"files": {}}

    def _waiting(self, path: Path, behind: dict[str, int]) -> int:
        """The rows of the file that are not behind us."""
        if path.suffix == ".parquet":
            return self._parquet_rows(path) - behind["rows"]
        schema = ipc.stream_schema(path)
        if schema is None:
            return 0
        validated(schema, path)
        whole = behind["base"]
        try:
            for piece in ipc.pieces(path, behind["at"]):
                whole += piece.rows
        except InputError as error:
            if self._quarantine is None:
                raise
            note(self._quarantine, Bad(str(path), str(error), whole))
        return whole - behind["rows"]

    def _parquet_rows(self, path: Path) -> int:
        size = path.stat().st_size
        known = self._good.get(path)
        if known is None or known[0] != size:
            file = open_parquet(path)
            validated(file.schema_arrow, path)
            self._good[path] = known = (size, file.metadata.num_rows)
        return known[1]

    def _known(self, offset: Offset, key: str) -> dict[str, int]:
        return {"rows": 0, "at": 0, "base": 0, **offset["files"].get(key, {})}

    def end(self, start: Offset, most: int | None, goal: Offset | None = None) -> Offset:
        sources = trace_sources(self.root, start["files"].keys())
        if not sources and not start["files"] and self.root.is_file():
            raise InputError(f"{self.root} is neither Parquet nor an Arrow stream")
        waiting: dict[str, int] = {}
        for key, path in sources.items():
            try:
                waiting[key] = self._waiting(path, self._known(start, key))
                if waiting[key] < 0:
                    raise InputError(f"{path} has become shorter: a trace only grows; begin with a new checkpoint")
            except (InputError, OSError) as error:
                if self._quarantine is None:
                    raise
                note(self._quarantine, Bad(str(path), str(error)))
                self._bad.add(path)
                continue
            if path in self._bad and self._quarantine is not None:
                self._bad.discard(path)
                withdraw(self._quarantine, str(path))
        if goal is not None:
            for key in waiting:
                left = self._known(goal, key)["rows"] - self._known(start, key)["rows"]
                waiting[key] = max(0, min(waiting[key], left))
        files = dict(start["files"])
        for key, rows in shares(waiting, most).items():
            files[key] = self._advance(sources[key], self._known(start, key), rows)
        return {"files": files}

    def _advance(self, path: Path, behind: dict[str, int], rows: int) -> dict[str, int]:
        """The place of a file after `rows` more."""
        rows += behind["rows"]
        if path.suffix == ".parquet":
            return {"rows": rows}
        at, base = behind["at"], behind["base"]
        for piece in ipc.pieces(path, at):
            if base + piece.rows > rows:
                break
            at, base = piece.at + piece.size, base + piece.rows
            if base == rows:
                break
        return {"rows": rows, "at": at, "base": base}

    def between(self, start: Offset, end: Offset, size: int) -> Iterator[Stretch]:
        sources = trace_sources(self.root, end["files"].keys())
        for key in end["files"]:
            behind, goal = self._known(start, key), self._known(end, key)
            rows = goal["rows"] - behind["rows"]
            if rows and key not in sources:
                raise InputError(f"{self.root / key} is gone, with {rows} rows that were not read: put it back")
            if rows:
                yield from cut(sources[key], behind["rows"], rows, size, (behind["at"], behind["base"]))


class TableTail(Tail):
    """A table of the sink: whole batches, in the order of their numbers."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def begin(self) -> Offset:
        return {"next": 0}

    def _from(self, number: int) -> list[Manifest]:
        found = committed(self.root)
        if number and found and found[0].hides >= 0 and found[0].number >= number:
            raise InputError(f"{self.root} was overwritten while it was read: begin with a new checkpoint")
        return [manifest for manifest in found if manifest.number >= number]

    def end(self, start: Offset, most: int | None, goal: Offset | None = None) -> Offset:
        number, rows = int(start["next"]), 0
        for manifest in self._from(number):
            if goal is not None and manifest.number >= goal["next"]:
                break
            rows += manifest.rows
            if most is not None and rows > most and number > start["next"]:
                break  # a batch is taken whole; the first one always
            number = manifest.number + 1
        return {"next": number}

    def between(self, start: Offset, end: Offset, size: int) -> Iterator[Stretch]:
        for manifest in self._from(int(start["next"])):
            if manifest.number < end["next"]:
                for file in manifest.files:
                    for stretch in cut(self.root / file.path, 0, file.rows, size):
                        yield Stretch(stretch.path, stretch.first, stretch.rows, values=file.values, whole=file.rows)
