"""Rows that are in files, read inside the tasks: of traces in run directories, and of tables in Parquet files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from antecede.errors import InputError
from antecede.spark.auditing.pieces import Source
from antecede.spark.auditing.scan import MAIN, Split, read_columns, read_split, read_telling
from antecede.spark.auditing.work import Engine, Traces

__all__ = ["SETTINGS", "Files", "read_tables"]

SETTINGS: dict[str, Any] = {"skew_us": None, "recipe": None, "exempt": []}
"""What is known of runs beside their records, where nothing is said."""


class Files(Traces):
    def __init__(self, splits: list[Split], settings: dict[str, Any]) -> None:
        super().__init__(settings)
        self.splits = splits

    def telling(self, engine: Engine, kinds: tuple[str, ...]) -> tuple[Any, Source]:
        return engine.numbers(len(self.splits)), read_files(self.splits, lambda split: read_telling(split, kinds))

    def shipping(self, engine: Engine) -> tuple[Any, Source]:
        return engine.numbers(len(self.splits)), read_files(self.splits, lambda split: read_split(split, MAIN))


def read_files(splits: list[Split], tables: Callable[[Split], Iterator[Any]]) -> Source:
    def read(batches: Any) -> Iterator[tuple[str, Any]]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                split = splits[number]
                try:
                    for table in tables(split):
                        yield split.source, table
                except InputError as error:
                    yield split.source, str(error)

    return read


def read_tables(splits: list[Split], columns: Mapping[str, str]) -> Source:
    """Rows of a table, with these columns (role -> name). A damaged file is the end: nobody knows what it held."""

    def read(batches: Any) -> Iterator[tuple[str, Any]]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                for table in read_columns(splits[number], sorted(set(columns.values()))):
                    lacking = pa.nulls(table.num_rows)  # of a column that other files have
                    held = [table[name] if name in table.column_names else lacking for name in columns.values()]
                    yield "", pa.Table.from_arrays(held, names=list(columns))

    return read
