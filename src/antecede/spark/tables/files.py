"""Which files a path holds and of what kind they are, before anything in them is believed.

Decided in this file: a table is Parquet, CSV with a header, or JSON, all files of one kind; what begins with a dot or
an underscore is no data; a table of antecede's own is what its manifest says; Parquet files must all have the same
columns. Whatever is wrong is one sentence that names the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from antecede.errors import InputError, one_line
from antecede.spark.manifest import committed, is_table
from antecede.spark.tables.kinds import shown_type

__all__ = ["KINDS", "LOCAL_BYTES", "Found", "files_of", "is_small", "kind_of", "one_schema", "parquet_rows"]

KINDS = {".parquet": "parquet", ".csv": "csv", ".json": "json", ".jsonl": "json", ".ndjson": "json"}
"""By the end of the name; CSV and JSON may be packed, with `.gz` behind it."""
LOCAL_BYTES = 32_000_000
"""Files below this size in all need no Spark, which takes longer to start: one or two million rows, some ten seconds
and at most 2 GB of memory."""
WANTED = "Parquet, CSV or JSON-lines file"


class Found(NamedTuple):
    kind: str
    """parquet, csv or json."""
    files: list[Path]
    root: Path | None
    """The folder they are in, where folders below it carry values of columns (`day=1/`)."""

    @property
    def bytes(self) -> int:
        return sum(file.stat().st_size for file in self.files)


def is_small(paths: Sequence[str | Path]) -> bool:
    """Whether all that lies below these paths, whatever it is, is below LOCAL_BYTES; what is elsewhere is not."""
    size = 0
    for path in map(Path, paths):
        if not path.exists():
            return False
        for file in [path] if path.is_file() else path.rglob("*"):
            size += file.lstat().st_size
            if size >= LOCAL_BYTES:
                return False
    return True


def kind_of(file: Path) -> str | None:
    """The kind of a file by its name; None: it is no table."""
    packed = file.suffix == ".gz"
    kind = KINDS.get(Path(file.stem).suffix.lower() if packed else file.suffix.lower())
    return None if packed and kind == "parquet" else kind


def files_of(paths: Sequence[str | Path]) -> Found:
    """All files of a table, or one sentence."""
    files: list[Path] = []
    root = None
    for path in map(Path, paths):
        if not path.exists():
            raise InputError(f"{path} does not exist: give a {WANTED}, or a folder of them")
        inside = [path]
        if path.is_dir():
            inside = below(path)
            if any("=" in part for file in inside for part in file.relative_to(path).parts[:-1]):
                root = path
        files += inside
    kinds = {kind_of(file): file for file in reversed(files)}
    if None in kinds:
        raise InputError(f"{kinds[None]} is no {WANTED}: name it so that its end says which, or take it away")
    if len(kinds) > 1:
        first, second, *_ = sorted(str(file) for file in kinds.values())
        raise InputError(f"{first} and {second} are of different kinds: give tables of one kind at a time")
    if not files:
        raise InputError(f"{', '.join(map(str, paths))} holds no {WANTED}")
    return Found(str(next(iter(kinds))), files, root)


def below(folder: Path) -> list[Path]:
    if is_table(folder):
        return [folder / file.path for manifest in committed(folder) for file in manifest.files]
    found = []
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not any(part.startswith((".", "_")) for part in path.relative_to(folder).parts):
            found.append(path)
    return found


def one_schema(files: Sequence[Path]) -> pa.Schema:
    """The columns that all these Parquet files have, by their footers."""
    import pyarrow.parquet as pq

    first: pa.Schema | None = None
    for file in files:
        try:
            schema = pq.read_schema(file)
        except (OSError, pa.ArrowException) as error:
            raise InputError(f"{file} cannot be read as Parquet: {one_line(error)}") from error
        if first is None:
            first = schema
        elif told(schema) != told(first):
            raise InputError(f"{file} has {difference(schema, first)} {files[0]}: give tables of one schema at a time")
    assert first is not None
    return first


def parquet_rows(files: Sequence[Path]) -> int:
    """How many rows these files say they hold."""
    import pyarrow.parquet as pq

    return sum(int(pq.read_metadata(file).num_rows) for file in files)


def told(schema: pa.Schema) -> list[tuple[str, str]]:
    """Names and types as they matter: what a list calls its elements, or whether nulls are foreseen, does not."""
    return [(name, shown_type(kind)) for name, kind in zip(schema.names, schema.types, strict=True)]


def difference(schema: pa.Schema, first: pa.Schema) -> str:
    if schema.names != first.names:
        more = [name for name in schema.names if name not in first.names]
        less = [name for name in first.names if name not in schema.names]
        return (
            f"a column {more[0]}, unlike" if more else f"no column {less[0]}, unlike" if less else "another order than"
        )
    mine, other = next(pair for pair in zip(told(schema), told(first), strict=True) if pair[0] != pair[1])
    return f"{mine[0]} as {mine[1]}, where it is {other[1]} in"
