"""The audit without Spark, in this process: tables, ShiViz logs and run directories of moderate size.

Decided in this file: what is read how, and which inputs need no Spark. The steps, the readers of
cells and so the verdicts are those of the audit on Spark (`auditing/work`); nothing that this file imports is Spark.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from antecede.spark.auditing.files import SETTINGS, Files
from antecede.spark.auditing.local import Local, Watch
from antecede.spark.auditing.outcome import Audit
from antecede.spark.auditing.scan import run_directories, splits_of
from antecede.spark.auditing.table_rows import roles_of, texts_of
from antecede.spark.auditing.work import Subject, Table, audited, scratch_of
from antecede.spark.imports import EVENT, EVENT_ROLES, events_of, log_files
from antecede.spark.tables.files import LOCAL_BYTES, files_of
from antecede.spark.tables.local import read_local
from antecede.trace.parquet import trace_files

__all__ = ["logs_are_small", "logs_here", "runs_here", "table_here", "table_is_small", "traces_are_small"]

ROWS_AT_ONCE = 1 << 19


def table_is_small(paths: Sequence[str | Path]) -> bool:
    """Whether these tables may be judged here; those whose folders carry values of columns are Spark's."""
    found = files_of(paths)
    return found.root is None and found.bytes < LOCAL_BYTES


def logs_are_small(paths: Sequence[str | Path]) -> bool:
    return sum(Path(path).stat().st_size for path in paths) < LOCAL_BYTES


def traces_are_small(paths: Sequence[str | Path]) -> bool:
    files = [file for directory in run_directories(paths) for file in trace_files(directory)]
    return sum(file.stat().st_size for file in files) < LOCAL_BYTES


def table_here(
    paths: Sequence[str | Path],
    named: Mapping[str, str | None],
    *,
    encoding: str | None = None,
    watch: Watch | None = None,
) -> Audit:
    """Judge Parquet, CSV or JSON-lines files; `named` are roles with their columns (as of `audit_table`)."""
    taken = read_local(files_of(paths), texts_of(named), encoding)
    rows = chosen(taken.table, named)
    if taken.aside:
        problems = pa.array([": ".join(odd) for odd in taken.aside], pa.string())
        rows = pa.concat_tables([rows, pa.table({"problem": problems})], promote_options="default")
    return here(Table(pieces(rows), read), watch)


def logs_here(*paths: str | Path, watch: Watch | None = None) -> Audit:
    """Judge ShiViz logs."""
    files = log_files(paths)
    numbers = Local().numbers(len(files))
    events = pa.Table.from_batches(events_of(files)(iter(numbers)), schema=EVENT)
    return here(Table(pieces(chosen(events, EVENT_ROLES)), read), watch)


def runs_here(*paths: str | Path, settings: Mapping[str, Any] | None = None, watch: Watch | None = None) -> Audit:
    """Judge run directories, directories of run directories, or records files."""
    return here(Files(splits_of(run_directories(paths), 1), {**SETTINGS, **(settings or {})}), watch)


def here(subject: Subject, watch: Watch | None) -> Audit:
    with scratch_of(None) as scratch:
        return audited(Local(watch), subject, scratch)


def chosen(table: pa.Table, named: Mapping[str, str | None]) -> pa.Table:
    """The columns that play a part, named by it; where no position is told, the rows are in order."""
    schema = table.schema
    columns = roles_of([(field.name, field.type) for field in schema], named)
    rows = table.select(list(columns.values())).rename_columns(list(columns))
    if "position" not in columns:
        rows = rows.append_column("position", pa.array(range(table.num_rows), pa.int64()))
    return rows


def pieces(rows: pa.Table) -> list[pa.Table]:
    return [rows.slice(start, ROWS_AT_ONCE) for start in range(0, max(1, rows.num_rows), ROWS_AT_ONCE)]


def read(tables: Any) -> Iterator[tuple[str, Any]]:
    return (("", table) for table in tables)
