"""Rows of a trace that are in run directories, read inside the tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from antecede.errors import InputError
from antecede.spark.auditing.pieces import Source
from antecede.spark.auditing.scan import MAIN, Split, read_split, read_telling
from antecede.spark.auditing.work import Engine, Traces

__all__ = ["SETTINGS", "Files"]

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
