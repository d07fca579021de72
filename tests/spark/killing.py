"""Killing a streaming query and judging what is left: used by the tests and by bench/kills.py."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from antecede.spark import sink
from antecede.spark.manifest import is_table, orphans

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

VICTIM = Path(__file__).with_name("victim.py")
SOURCE = Path(sink.__file__).parents[2]
PATIENCE_S = 240


def plain(frame: DataFrame) -> DataFrame:
    """No operator: rows pass."""
    return frame


def without_duplicates(frame: DataFrame) -> DataFrame:
    """A stateful operator of Spark's own: what it lets through must not depend on kills."""
    return frame.dropDuplicates(["run", "process", "step"])


def family(root: int) -> list[int]:
    """The process and all that it started, children before their parents."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has just ended
        children.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found: list[int] = []
    waiting = [root]
    while waiting:
        found.append(waiting.pop())
        waiting += children.get(found[-1], [])
    return found


def kill_family(root: int) -> None:
    """SIGKILL, the youngest last: nobody is left to notice and tidy up."""
    for process in family(root):
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            continue


@dataclass(frozen=True)
class Place:
    """Where a query reads and writes."""

    root: Path

    @property
    def runs(self) -> Path:
        return self.root / "runs"

    @property
    def checkpoint(self) -> Path:
        return self.root / "checkpoint"

    @property
    def table(self) -> Path:
        return self.root / "table"


@dataclass(frozen=True)
class Wound:
    """What a kill left."""

    point: str
    rows: int
    batches: int
    orphans: int
    noted: int
    """Batches that Spark has noted as done."""


def start(place: Place, operator: str, point: str, batch: int, mark: Path) -> subprocess.Popen[bytes]:
    words = [place.runs, place.checkpoint, place.table, operator, point, batch, mark]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    with (place.root / "victim.log").open("ab") as log:
        command = [sys.executable, str(VICTIM), *map(str, words)]
        return subprocess.Popen(command, env=environment, cwd=place.root, stderr=log, start_new_session=True)


def kill_at(place: Place, operator: str, point: str, batch: int, moment: Callable[[], bool] | None = None) -> Wound:
    """Run the query and kill it, at a point, or (never) when `moment` says so; or let it end before that."""
    mark = place.root / f"mark-{time.monotonic_ns()}"
    victim = start(place, operator, point, batch, mark)
    try:
        limit = time.monotonic() + PATIENCE_S
        while victim.poll() is None and not (mark.exists() or (moment is not None and moment())):
            if time.monotonic() > limit:
                raise TimeoutError(f"the query did not come to {point}: {said(place)}")
            time.sleep(0.01)
        if victim.poll() is not None and victim.returncode != 0:
            raise RuntimeError(said(place))
    finally:
        kill_family(victim.pid)
        victim.wait()
    return wound(place, point if mark.exists() or moment is not None else "ended")


def finish(place: Place, operator: str) -> None:
    """Let the query run to its end."""
    victim = start(place, operator, "never", 0, place.root / "never")
    try:
        if victim.wait(PATIENCE_S) != 0:
            raise RuntimeError(said(place))
    finally:
        kill_family(victim.pid)


def said(place: Place) -> str:
    return (place.root / "victim.log").read_text()[-3000:]


def wound(place: Place, point: str) -> Wound:
    rows = sink.table_rows(place.table) if is_table(place.table) else {}
    left = len(orphans(place.table)) if rows else sum(path.is_file() for path in place.table.rglob("*"))
    noted = sum(1 for path in place.checkpoint.glob("commits/[0-9]*"))
    return Wound(point, sum(rows.values()), len(rows), left, noted)


def held(place: Place, columns: list[str]) -> Counter[tuple[Any, ...]]:
    """Every row that counts, read through the manifest without Spark."""
    found: Counter[tuple[Any, ...]] = Counter()
    for file in sink.files(place.table) if is_table(place.table) else []:
        table = pq.read_table(file, columns=columns)
        found.update(zip(*(table.column(name).to_pylist() for name in columns), strict=True))
    return found
