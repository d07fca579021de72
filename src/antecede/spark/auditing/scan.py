"""Run directories, read inside the tasks: which files there are, how they are shared out, what is wrong with them.

Decided in this file: a split is some row groups of one file, found from the file's own footer by whoever reads it, so
that the driver only lists names; texts that repeat stay dictionaries; and a file that cannot be read is a reason, not
the end.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from antecede.errors import InputError, one_line
from antecede.spark.auditing.attendance import CONTROL
from antecede.spark.auditing.chunks import Coded
from antecede.spark.auditing.telling import odd_reasons
from antecede.trace.parquet import completed, open_parquet, read_batches, readable, silent, trace_files, validated
from antecede.trace.record import COLUMNS, KINDS, LATER, arrow_schema

__all__ = [
    "MAIN",
    "TELLING",
    "Silent",
    "Split",
    "read_columns",
    "read_split",
    "read_telling",
    "run_directories",
    "shared",
    "splits_of",
]

Ints = NDArray[Any]

TEXTS = ["run", "process", "role", "kind", "message", "reason", "peer"]
"""Columns read as dictionaries."""

TELLING = [c.name for c in COLUMNS if c.name not in ("bytes", "control_bytes")]
WHO = ["run", "process", "role", "kind", "reason"]
MAIN = ["run", "process", "step", "at_us", "true_us", "kind", "reason", "message", "peer"]

UNSURE = [*TEXTS, *LATER, "groups", "after", "cut"]
"""Columns of texts, which are looked at before they are used."""

SPLIT_BYTES = 32 * 2**20
"""Of a compressed file: some millions of rows, a second or two of work."""

ROWS_AT_ONCE = 1 << 19
"""Rows held by a task while it reads: about 50 MB."""


class Split(NamedTuple):
    source: str
    """The run directory (or the file itself)."""
    file: str
    number: int
    of: int


class Silent(str):
    """The name of a stream without a whole batch: somebody's tail, and nobody knows whose."""

    __slots__ = ()


def run_directories(paths: Sequence[str | Path]) -> list[Path]:
    """Each path, or the run directories right below it where it is a directory without records of its own."""
    found: list[Path] = []
    for given in paths:
        path = Path(given)
        if path.is_dir() and not has_records(path):
            below = sorted(p for p in path.iterdir() if p.is_dir() and has_records(p))
            if not below:
                trace_files(path)  # says what it expects
            found += below
        else:
            trace_files(path)
            found.append(path)
    if len(set(found)) < len(found):
        twice = next(p for p in found if found.count(p) > 1)
        raise InputError(f"{twice} is given twice: name each run once")
    return found


def has_records(path: Path) -> bool:
    try:
        return bool(trace_files(path))
    except InputError:
        return False


def splits_of(directories: Sequence[Path], least: int) -> list[Split]:
    """What tasks share; at least `least` where there is enough for so many."""
    return shared([(str(d), f) for d in directories for f in trace_files(d)], least)


def shared(files: Sequence[tuple[str, Path]], least: int) -> list[Split]:
    """The same of sources and files."""
    sizes = [(source, file, file.stat().st_size) for source, file in files]
    share = max(2**20, min(SPLIT_BYTES, sum(size for _, _, size in sizes) // max(1, least)))
    splits = []
    for source, file, size in sizes:
        count = max(1, round(size / share)) if file.suffix == ".parquet" else 1
        splits += [Split(source, str(file.absolute()), number, count) for number in range(count)]
    return splits


def read_split(split: Split, columns: Sequence[str]) -> Iterator[Any]:
    """Tables of up to about ROWS_AT_ONCE rows. InputError where the file is damaged."""
    for parquet, groups in parts_of(split):
        if isinstance(parquet, pq.ParquetFile):
            yield rows_of(parquet, groups, columns, split)
        elif not isinstance(parquet, Silent):
            yield parquet.select(list(columns))


def rows_of(parquet: Any, groups: list[int], columns: Sequence[str], split: Split) -> Any:
    with sentences(split):
        table = parquet.read_row_groups(groups, columns=list(columns), use_threads=False)
    if LATER[0] in columns:
        table = completed(table).select(list(columns))
    for name in columns:
        if name in UNSURE:
            for chunk in table.column(name).chunks:
                readable(chunk, name, split.file)
    return table


@contextmanager
def sentences(split: Split) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{split.file} is a damaged Parquet file: {one_line(error)}") from error


def read_telling(split: Split, kinds: Collection[str]) -> Iterator[Any]:
    """Of the rows of these kinds (and of kinds that no trace has) all columns; of the others only who took part.

    Whoever has a row has one here too, of the kind `ask`. Row groups that hold nothing else are read in five columns,
    of which mostly the dictionaries tell enough.
    """
    for parquet, groups in parts_of(split):
        if isinstance(parquet, Silent):
            yield parquet
            continue
        if not isinstance(parquet, pq.ParquetFile):
            yield parquet.select(TELLING)
            continue
        who: set[tuple[str, str, str]] = set()
        for group in groups:
            few = rows_of(parquet, [group], WHO, split)
            who |= taking_part(few)
            kind = Coded.of(few.column("kind"))
            wanted = rows_wanted(parquet, group, kind, odd_reasons(kind, Coded.of(few.column("reason"))), kinds)
            if wanted is None:
                continue
            whole = rows_of(parquet, [group], TELLING, split)
            yield whole if len(wanted) == len(whole) else whole.take(pa.array(wanted))
        yield present(sorted(who))


def rows_wanted(parquet: Any, group: int, kind: Coded, odd: Ints, kinds: Collection[str]) -> Ints | None:
    """The rows of a row group that tell something; None: none do."""
    nameless = 0
    if any(word in CONTROL for word in kind.words):
        nameless = int(kind.recoded(lambda word: word in CONTROL, False, bool).sum())
    if may_lack_names(parquet, group, nameless):
        return np.arange(len(kind.codes))
    if not any(word in kinds or word not in KINDS for word in kind.words) and (kind.codes >= 0).all():
        return np.flatnonzero(odd) if odd.any() else None
    return np.flatnonzero(odd | kind.recoded(lambda word: word in kinds or word not in KINDS, True, bool))


def taking_part(few: Any) -> set[tuple[str, str, str]]:
    """Run, process and role of everybody who has a row."""
    run, process, role = (Coded.of(few.column(name)) for name in ("run", "process", "role"))
    if len(run.words) == len(role.words) == 1:
        return {(run.words[0], name, role.words[0]) for name in process.words}
    columns = (run, process, role)
    place = np.zeros(len(run.codes), np.int64)
    for column in columns:
        place = place * (len(column.words) + 1) + column.codes + 1
    first = np.full((len(run.words) + 1) * (len(process.words) + 1) * (len(role.words) + 1), -1)
    first[place] = np.arange(len(place))
    rows = first[first >= 0]
    named = rows[np.all([column.codes[rows] >= 0 for column in columns], axis=0)]
    return {tuple(column.words[column.codes[row]] for column in columns) for row in named}


def present(who: Sequence[tuple[str, str, str]]) -> Any:
    """One row for each."""
    schema = arrow_schema()
    rows = [
        {"run": run, "process": process, "role": role, "kind": "ask", "step": 0, "at_us": 0}
        for run, process, role in who
    ]
    return pa.Table.from_pylist(rows, schema=pa.schema([schema.field(name) for name in TELLING]))


def may_lack_names(parquet: Any, group: int, nameless: int) -> bool:
    """Whether, by the file's own counts of nulls, a row may lack what it must have: then all of them are looked at."""
    about = parquet.metadata.row_group(group)
    nulls = {}
    for number in range(about.num_columns):
        column = about.column(number)
        if column.path_in_schema in ("message", "process", "step"):
            told = column.statistics
            nulls[column.path_in_schema] = told.null_count if told is not None and told.has_null_count else None
    if nulls.get("process") != 0 or nulls.get("step") != 0 or nulls.get("message") is None:
        return True
    return int(nulls["message"] or 0) > nameless


def parts_of(split: Split) -> Iterator[tuple[Any, list[int]]]:
    """The file and some of its row groups at a time; of a file that is no Parquet, tables; or that it is silent."""
    file = Path(split.file)
    if silent(file):
        yield Silent(file.name), []
    if file.suffix != ".parquet":
        for batches in some_at_once(read_batches(file)):
            yield pa.Table.from_batches(batches).unify_dictionaries().combine_chunks(), []
        return
    open_parquet(file).close()
    with sentences(split):
        parquet = pq.ParquetFile(file, read_dictionary=TEXTS, page_checksum_verification=True, pre_buffer=True)
        validated(parquet.schema_arrow, file)
    with parquet:
        for groups in shares(parquet, split):
            yield parquet, groups


def some_at_once(batches: Iterable[Any]) -> Iterator[list[Any]]:
    """About ROWS_AT_ONCE rows at a time: live processes write a batch each turn, often of a few rows, and a look at a
    batch costs as much as a look at thousands of rows."""
    held: list[Any] = []
    rows = 0
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        if rows >= ROWS_AT_ONCE:
            yield held
            held, rows = [], 0
    if held:
        yield held


def shares(parquet: Any, split: Split) -> Iterator[list[int]]:
    """The row groups of this split, up to about ROWS_AT_ONCE rows at a time."""
    groups = range(parquet.num_row_groups)
    mine = groups[len(groups) * split.number // split.of : len(groups) * (split.number + 1) // split.of]
    held: list[int] = []
    rows = 0
    for group in mine:
        held.append(group)
        rows += parquet.metadata.row_group(group).num_rows
        if rows >= ROWS_AT_ONCE or group == mine[-1]:
            yield held
            held, rows = [], 0


def read_columns(split: Split, columns: Sequence[str]) -> Iterator[Any]:
    """These columns of any Parquet file."""
    with sentences(split), pq.ParquetFile(split.file, page_checksum_verification=True, pre_buffer=True) as parquet:
        for groups in shares(parquet, split):
            yield parquet.read_row_groups(groups, columns=list(columns), use_threads=False)
