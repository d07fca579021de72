"""Which files of a table count: one small manifest per committed batch, and nothing else is believed.

Decided in this file: a batch is there when its manifest is there, and a manifest appears whole or not at all; a batch
that is run again under its number replaces its manifest; a table has one writer (a streaming query, known by its id, or
batch writes); data files that no manifest names - what a kill leaves behind - are orphans, which readers never see and
`clean` removes. Old manifests are folded into one file, so that a long stream stays quick to read.

A table is a directory that every worker sees under the same path:

    TABLE/[column=value/]part-*.parquet      data, whole when they have this name
    TABLE/_manifest/000000000012.json        what batch 12 wrote
    TABLE/_manifest/folded-000000000011.json what batches up to 11 wrote
"""

from __future__ import annotations

import errno
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from antecede.errors import EnvironmentFault, InputError

__all__ = [
    "FOLDER",
    "DataFile",
    "Manifest",
    "clean",
    "commit",
    "committed",
    "is_table",
    "local_path",
    "orphans",
    "whole_or_not",
    "writing",
]

FORMAT = 1
FOLDER = "_manifest"
FOLD_EVERY = 50
"""Batches between foldings; raising it makes readers open more files, lowering it rewrites the list more often."""


@dataclass(frozen=True, slots=True)
class DataFile:
    path: str
    """Below the table."""
    rows: int
    bytes: int
    values: dict[str, Any] = field(default_factory=dict)
    """The partition columns, which are not in the file."""


@dataclass(frozen=True, slots=True)
class Manifest:
    number: int
    """The id of the batch in a stream; batch writes count."""
    query: str | None
    """The id of the streaming query, empty where no task was there to tell it; None for batch writes."""
    schema: dict[str, Any]
    """The whole schema as Spark writes it, partition columns among it."""
    partition_by: tuple[str, ...]
    files: tuple[DataFile, ...]
    hides: int = -1
    """An overwrite: what has this number or a smaller one no longer counts."""

    @property
    def rows(self) -> int:
        return sum(file.rows for file in self.files)


def local_path(text: str) -> Path:
    """The absolute path that `text` means; other file systems than mounted ones are refused in one sentence."""
    scheme, colon, rest = text.partition(":/")
    if colon and scheme == "file":
        return Path("/" + rest.lstrip("/"))
    if colon and scheme.isalnum() and len(scheme) > 1:
        raise InputError(f"{text} is not a mounted path: give one that all workers see, such as a shared folder")
    return Path(text).absolute()


def is_table(root: Path) -> bool:
    return (root / FOLDER).is_dir()


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """What cannot be written inside is one sentence that names `path`."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise EnvironmentFault(f"there is no room left to write {path}: free some, or write elsewhere") from error
        why = error.strerror or type(error).__name__
        raise InputError(f"{path} cannot be written ({why}): choose a place that can") from error


def whole_or_not(path: Path, text: str) -> None:
    """Write `path` so that everybody sees all of it or nothing, also after a kill or a power cut."""
    with writing(path):
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".tmp")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).chmod(0o644)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """A new name survives a power cut only when its folder is on disk too."""
    if os.name != "nt":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def as_text(manifest: Manifest) -> str:
    return json.dumps({"format": FORMAT, "rows": manifest.rows, **asdict(manifest)}, separators=(",", ":"))


def from_value(value: dict[str, Any], path: Path) -> Manifest:
    if value.get("format") != FORMAT:
        raise InputError(f"{path} is a manifest of format {value.get('format')}; this reads format {FORMAT}")
    try:
        return Manifest(
            value["number"],
            value["query"],
            value["schema"],
            tuple(value["partition_by"]),
            tuple(DataFile(**file) for file in value["files"]),
            value["hides"],
        )
    except (KeyError, TypeError) as error:
        raise InputError(f"{path} is not a manifest: {error!r}") from error


def read_lines(path: Path) -> Iterator[Manifest]:
    try:
        for line in path.read_text("utf-8").splitlines():
            yield from_value(json.loads(line), path)
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error


def numbered(root: Path) -> tuple[Path | None, list[Path]]:
    """The newest folded file, and the manifests after it."""
    folded: Path | None = None
    single: list[Path] = []
    for path in sorted((root / FOLDER).iterdir() if is_table(root) else ()):
        stem = path.stem
        if path.suffix == ".json" and stem.startswith("folded-") and stem[7:].isdigit():
            folded = path
        elif path.suffix == ".json" and stem.isdigit():
            single.append(path)
    last = int(folded.stem[7:]) if folded is not None else -1
    return folded, [path for path in single if int(path.stem) > last]


def committed(root: Path) -> list[Manifest]:
    """The manifests that count, in the order of their numbers."""
    if not is_table(root):
        raise InputError(f"{root} is not a table of antecede: it has no {FOLDER}")
    found: list[Manifest] = []
    for path in listed(root):
        found.extend(read_lines(path))
    hidden = max((manifest.hides for manifest in found), default=-1)
    return [manifest for manifest in found if manifest.number > hidden]


def listed(root: Path) -> list[Path]:
    folded, single = numbered(root)
    return [*([folded] if folded is not None else []), *single]


def refuse_stranger(root: Path, manifest: Manifest, last: Manifest) -> None:
    """One table, one writer, one shape: a second stream would use the same numbers and replace batches of the first."""
    if manifest.query != last.query and not (manifest.query == "" or last.query == ""):
        names = [f"query {m.query}" if m.query is not None else "batch writes" for m in (last, manifest)]
        raise InputError(f"{root} holds the output of {names[0]}, not of {names[1]}: give another path or remove it")
    if (manifest.schema, manifest.partition_by) != (last.schema, last.partition_by) and manifest.hides < 0:
        raise InputError(f"{root} holds rows of another schema or partitioning: give another path or remove it")


def commit(root: Path, manifest: Manifest, *, overwrite: bool = False) -> Manifest:
    """Make the files of `manifest` count, at once. A batch write (number -1) gets the next number."""
    folder = root / FOLDER
    with writing(root):
        folder.mkdir(parents=True, exist_ok=True)
    known = committed(root)
    number = manifest.number if manifest.number >= 0 else max((m.number for m in known), default=-1) + 1
    whole = replace(manifest, number=number, hides=number - 1 if overwrite else -1)
    if known:
        refuse_stranger(root, whole, known[-1])
    whole_or_not(folder / f"{number:012d}.json", as_text(whole))
    if number and number % FOLD_EVERY == 0:
        fold(root, number - 1)
    return whole


def fold(root: Path, last: int) -> None:
    """One file for all manifests up to `last`; only the newest batch can be run again, and it is not among them.

    What the folding before this one made superfluous is removed now, not what this one does: a reader that has listed
    the folder must still find what it saw.
    """
    before = numbered(root)[0]
    kept = [manifest for manifest in committed(root) if manifest.number <= last]
    whole_or_not(root / FOLDER / f"folded-{last:012d}.json", "".join(as_text(m) + "\n" for m in kept))
    if before is not None:
        known = int(before.stem[7:])
        for path in (root / FOLDER).glob("*.json"):
            number = path.stem.removeprefix("folded-")
            if number.isdigit() and path != before and int(number) <= known:
                path.unlink(missing_ok=True)


def data_files(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name != FOLDER)
        yield from (Path(folder) / name for name in sorted(names))


def orphans(root: Path) -> list[Path]:
    """Files below the table that no manifest names."""
    named = {root / file.path for manifest in committed(root) for file in manifest.files}
    return [path for path in data_files(root) if path not in named]


def clean(path: str | Path, *, idle: bool = False) -> list[Path]:
    """Remove orphans and return them.

    `idle=True` says that nobody writes to the table now: then all go. Else only those of a stream that are older than
    its newest manifest, since what a running batch writes is younger than that.
    """
    root = local_path(str(path))
    known = committed(root)
    found: Sequence[Path] = orphans(root)
    if not idle:
        if not known or known[-1].query is None:
            return []
        newest = (root / FOLDER / f"{known[-1].number:012d}.json").stat().st_mtime_ns
        found = [orphan for orphan in found if orphan.stat().st_mtime_ns < newest]
    for orphan in found:
        orphan.unlink(missing_ok=True)
    return list(found)
