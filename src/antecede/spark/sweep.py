"""Many small measurements - cells - as Spark tasks: what a cell is, what is kept of it, and how a sweep goes on.

Decided here: a cell is a set of knobs and a seed, measured by a function that is named, so that any worker finds it;
its result depends on nothing else but the code that measures, so the table is the same whatever the partitions. A cell
that fails is a row with its error and the command that replays it. Cells go out in waves of few partitions with many
cells each; after every wave its results are in `cells.jsonl`, so a sweep that was killed goes on behind the last whole
wave, and nothing that is in the file is measured again; its head names the code, and a sweep that other code began is
refused. Whoever interrupts a sweep stops its tasks too. Without a session the same waves run in this process.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import antecede
from antecede.errors import InputError, one_line

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Cell", "Progress", "Sweep", "code_of", "measure_cell", "seed_of"]

FORMAT = 1
FIRST = 2
"""Cells per partition in the first wave; then more, until a wave takes about `WAVE_S`."""
WAVE_S = 8.0
"""Raising it costs what is measured again after a kill, lowering it the start of more jobs."""
MEASURES = ("core", "sim", "wire", "trace", "lab")
"""Packages that decide what a cell gives. Of the lab those files that lie flat in it: what a claim asks of its cells is
in the design, and what it makes of them is no part of a cell."""
SCHEMA = "number bigint, body string, error string"

Clock = Callable[[], float]
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Cell:
    """One measurement: what is varied, and which of the seeds."""

    knobs: Mapping[str, Any]
    seed: int


@dataclass(frozen=True, slots=True)
class Progress:
    done: int
    count: int
    failed: int
    left_s: float | None
    """How long the rest will take, by what this run has measured; None: not known yet."""


def seed_of(root: int, seed: int) -> int:
    """The number a cell's dice begin with. Cells that share `seed` share it: comparisons are paired."""
    return int(np.random.SeedSequence([root, seed]).generate_state(1, np.uint32)[0])


@functools.cache
def code_of() -> str:
    """The code that measures, in twelve letters: other code, other letters."""
    root = Path(antecede.__file__).parent
    said = hashlib.sha256()
    for package in MEASURES:
        files = (root / package).glob("*.py") if package == "lab" else (root / package).rglob("*.py")
        for path in sorted(files):
            said.update(f"{path.relative_to(root).as_posix()}\0".encode() + path.read_bytes() + b"\0")
    return said.hexdigest()[:12]


def measure_cell(measure: str, knobs: Mapping[str, Any], seed: int) -> Row:
    """Call `module:function` with the knobs and the seed; its row."""
    module, _, name = measure.partition(":")
    function: Callable[..., Row] = getattr(importlib.import_module(module), name)
    return function(knobs, seed)


def _measured(measure: str, root: int, cell: Cell) -> tuple[str | None, str | None]:
    """(row as JSON, error): a bug in one cell must not hide what the others show."""
    try:
        row = measure_cell(measure, cell.knobs, seed_of(root, cell.seed))
        return json.dumps(row, sort_keys=True), None
    except Exception as error:
        return None, f"{type(error).__name__}: {one_line(error)}"


class Sweep:
    """Cells of one measure; results lie in `directory`."""

    def __init__(
        self,
        directory: Path,
        measure: str,
        cells: Sequence[Cell],
        *,
        root: int = 0,
        replay: Callable[[int], str] = lambda number: "",
    ) -> None:
        self.directory, self.measure, self.cells, self.root, self.replay = directory, measure, cells, root, replay
        self.path = directory / "cells.jsonl"
        design = json.dumps([[dict(cell.knobs), cell.seed] for cell in cells], sort_keys=True)
        self.head = {
            "format": FORMAT, "antecede": antecede.__version__, "code": code_of(), "measure": measure, "root": root,
            "cells": len(cells), "design": hashlib.sha256(design.encode()).hexdigest()[:16],
        }  # fmt: skip

    # -- running ---------------------------------------------------------------------------------------------------

    def run(
        self,
        spark: SparkSession | None = None,
        *,
        clock: Clock,
        partitions: int | None = None,
        resume: bool = False,
        progress: Callable[[Progress], None] | None = None,
    ) -> pa.Table:
        """Measure every cell that is not in the file yet; then the table of all, in the order of the cells."""
        done = self._resume() if resume and self.path.exists() else self._begin()
        left = [number for number in range(len(self.cells)) if number not in done]
        parts = partitions or _parallelism(spark)
        begun, measured, size = clock(), 0, FIRST
        with self.path.open("a", encoding="utf-8") as file:
            while left:
                wave, left = left[: parts * size], left[parts * size :]
                started = clock()
                for number, body, error in self._wave(spark, wave, parts):
                    line = {"number": number, "row": json.loads(body) if body else None, "error": error}
                    done[number] = line
                    file.write(json.dumps(line, sort_keys=True) + "\n")
                file.flush()
                measured += len(wave)
                spent = max(clock() - started, 1e-3)
                size = max(1, min(4 * size, round(size * WAVE_S / spent)))
                if progress is not None:
                    failed = sum(1 for row in done.values() if row["error"])
                    progress(Progress(len(done), len(self.cells), failed, (clock() - begun) / measured * len(left)))
        return self._table(done)

    def measured(self) -> int:
        """How many cells are in the file already."""
        return len(self._resume()) if self.path.exists() else 0

    def _wave(
        self, spark: SparkSession | None, wave: list[int], parts: int
    ) -> list[tuple[int, str | None, str | None]]:
        if spark is None:
            return [(number, *_measured(self.measure, self.root, self.cells[number])) for number in wave]
        measure, root = self.measure, self.root
        cells = {number: self.cells[number] for number in wave}
        # Neighbours cost alike: dealt out in turn, no partition gets all the dear ones.
        dealt = [number for part in range(parts) for number in wave[part::parts]]

        def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                numbers = [dealt[place] for place in map(int, batch.column(0).to_numpy())]
                results = [_measured(measure, root, cells[number]) for number in numbers]
                yield pa.RecordBatch.from_arrays(
                    [
                        pa.array(numbers, pa.int64()),
                        pa.array([body for body, _ in results], pa.string()),
                        pa.array([error for _, error in results], pa.string()),
                    ],
                    names=["number", "body", "error"],
                )

        rows = _collected(
            spark,
            lambda: spark.range(0, len(dealt), 1, min(parts, len(dealt))).mapInArrow(work, SCHEMA).collect(),
            f"antecede-sweep-{id(self)}",
        )
        return sorted((row.number, row.body, row.error) for row in rows)

    # -- what is kept ----------------------------------------------------------------------------------------------

    def _begin(self) -> dict[int, Row]:
        if self.path.exists():
            raise InputError(f"{self.path} already holds a sweep: add --resume to go on, or choose another --out.")
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            self.path.write_text(json.dumps(self.head, sort_keys=True) + "\n", encoding="utf-8")
        except OSError as error:
            raise InputError(f"{self.path} cannot be written: {error.strerror}.") from None
        return {}

    def _resume(self) -> dict[int, Row]:
        """What is already measured; a last line that was torn by a kill is dropped."""
        lines = self.path.read_text(encoding="utf-8").split("\n")
        whole, torn = lines[:-1], lines[-1]
        try:
            head, *rows = [json.loads(line) for line in whole]
            done = {int(row["number"]): row for row in rows}
        except (ValueError, TypeError, KeyError):
            raise InputError(f"{self.path} is not a sweep: choose another --out.") from None
        for name, value in self.head.items():
            if head.get(name) != value:
                raise InputError(
                    f"{self.path} is a sweep with {name} {head.get(name)}, not {value}: choose another --out."
                )
        if torn:
            self.path.write_text("".join(line + "\n" for line in whole), encoding="utf-8")
        return done

    def _table(self, done: Mapping[int, Row]) -> pa.Table:
        """One row per cell: its knobs, seed and version, then what was measured, or the error and how to replay it."""
        rows: list[Row] = []
        for number, cell in enumerate(self.cells):
            line = done[number]
            error = line["error"]
            rows.append(
                {
                    "cell": number,
                    **cell.knobs,
                    "seed": cell.seed,
                    "antecede": antecede.__version__,
                    "code": self.head["code"],
                    **(line["row"] or {}),
                    "error": error,
                    "replay": self.replay(number) if error else None,
                }
            )
        names = list(dict.fromkeys(name for row in rows for name in row))
        table = pa.table({name: pa.array([row.get(name) for row in rows]) for name in names})
        made = self.directory / ".cells.parquet"
        pq.write_table(table, made)
        made.rename(self.directory / "cells.parquet")
        return table


def _collected(spark: SparkSession, job: Callable[[], list[Any]], tag: str) -> list[Any]:
    """What the job gives. It runs in a thread of its own: an interruption that hit this one in the middle of a word to
    Java would garble what is said next. Whoever stops waiting stops the tasks too."""

    def tagged() -> list[Any]:
        spark.addTag(tag)  # holds for what this thread starts
        return job()

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(tagged)
        try:
            return future.result()
        except BaseException:
            spark.interruptTag(tag)
            future.exception()  # until it has stopped
            raise


def _parallelism(spark: SparkSession | None) -> int:
    if spark is None:
        return 1
    try:
        return max(1, int(spark.sparkContext.defaultParallelism))
    except Exception:  # over Connect there is no context to ask
        return 8
