"""Cells as tasks: the same table however they are dealt out, failures as rows, resume without repeating, cancelling."""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

import antecede
from antecede.errors import InputError
from antecede.sim.epidemic import Epidemic, broadcast
from antecede.spark.sweep import Cell, Progress, Sweep, code_of, measure_cell, seed_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MEASURE = "antecede.lab.cells:spread"
CELLS = [
    Cell({"subscribers": n, "fanout": fanout, "loss": 0.05}, seed)
    for n, fanout, seed in itertools.product((60, 90), (2, 3), range(4))
]


def ticking() -> Callable[[], float]:
    ticks = itertools.count()
    return lambda: float(next(ticks))


def sweep(directory: Path, cells: list[Cell] = CELLS, root: int = 5) -> Sweep:
    return Sweep(directory, MEASURE, cells, root=root, replay=lambda number: f"again {number}")


def test_a_cell_is_measured_by_name_with_its_own_dice() -> None:
    row = measure_cell(MEASURE, {"subscribers": 60, "fanout": 3}, seed_of(5, 2))
    assert row["to_all"] == broadcast(Epidemic(60, fanout=3), seed_of(5, 2)).rounds_to()
    assert len({seed_of(5, i) for i in range(1000)}) == 1000 and seed_of(5, 1) != seed_of(6, 1)


def test_rows_say_what_was_measured_with_what(tmp_path: Path) -> None:
    table = sweep(tmp_path).run(clock=ticking())
    assert table.num_rows == len(CELLS) and table.equals(pq.read_table(tmp_path / "cells.parquet"))
    first = table.to_pylist()[0]
    assert (first["subscribers"], first["seed"], first["antecede"]) == (60, 0, antecede.__version__)
    assert first["error"] is None and first["replay"] is None and first["to_all"] > 3


def test_a_cell_that_fails_is_a_row_with_its_replay(tmp_path: Path) -> None:
    cells = [CELLS[0], Cell({"subscribers": 1}, 0), CELLS[1]]
    rows = sweep(tmp_path, cells).run(clock=ticking()).to_pylist()
    assert [row["error"] is None for row in rows] == [True, False, True]
    assert "InputError: subscribers is 1" in rows[1]["error"] and rows[1]["replay"] == "again 1"


def test_progress_says_what_is_left(tmp_path: Path) -> None:
    seen: list[Progress] = []
    sweep(tmp_path).run(clock=ticking(), progress=seen.append)
    assert seen[0].count == len(CELLS) and 0 < seen[0].done < len(CELLS) and (seen[0].left_s or 0) > 0
    assert seen[-1].done == len(CELLS) and seen[-1].left_s == 0


class Killed(Exception):
    pass


def test_killed_in_the_middle_nothing_is_repeated_and_nothing_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = sweep(tmp_path / "whole").run(clock=ticking())

    def kill(progress: Progress) -> None:
        if progress.done >= 5:
            raise Killed

    with pytest.raises(Killed):
        sweep(tmp_path / "cut").run(clock=ticking(), progress=kill)
    with (tmp_path / "cut" / "cells.jsonl").open("a") as file:
        file.write('{"number": 15, "row"')  # the last line was being written
    before = len((tmp_path / "cut" / "cells.jsonl").read_text().splitlines()) - 2
    assert 0 < before < len(CELLS)
    measured: list[int] = []
    from antecede.spark import sweep as module

    inner = module._measured
    monkeypatch.setattr(module, "_measured", lambda *given: (measured.append(1), inner(*given))[1])
    again = sweep(tmp_path / "cut").run(clock=ticking(), resume=True)
    assert again.equals(whole) and len(measured) == len(CELLS) - before


def test_another_sweep_in_the_same_place_is_refused(tmp_path: Path) -> None:
    sweep(tmp_path).run(clock=ticking())
    with pytest.raises(InputError, match="--resume"):
        sweep(tmp_path).run(clock=ticking())
    with pytest.raises(InputError, match="root 5, not 6"):
        sweep(tmp_path, root=6).run(clock=ticking(), resume=True)
    with pytest.raises(InputError, match="with cells"):
        sweep(tmp_path, CELLS[1:]).run(clock=ticking(), resume=True)
    (tmp_path / "cells.jsonl").write_text("no\nsweep\n")
    with pytest.raises(InputError, match="is not a sweep"):
        sweep(tmp_path).run(clock=ticking(), resume=True)


def test_what_other_code_began_is_not_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sweep(tmp_path).run(clock=ticking())
    row = pq.read_table(tmp_path / "cells.parquet").to_pylist()[0]
    assert row["code"] == code_of() and len(code_of()) == 12
    monkeypatch.setattr("antecede.spark.sweep.code_of", lambda: "0" * 12)
    with pytest.raises(InputError, match=f"a sweep with code {code_of()}, not {'0' * 12}: choose another --out"):
        sweep(tmp_path).run(clock=ticking(), resume=True)


def test_a_line_of_the_simulator_is_other_code_and_the_words_of_a_claim_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied = tmp_path / "antecede"
    shutil.copytree(Path(antecede.__file__).parent, copied, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr("antecede.__file__", str(copied / "__init__.py"))
    inner = code_of.__wrapped__
    before = inner()
    assert before == code_of(), "the same code elsewhere is the same code"
    for name, counts in (("lab/claims/acks.py", False), ("report/kept.py", False), ("lab/cells.py", True),
                         ("core/order/graph.py", True), ("sim/uniform.py", True)):  # fmt: skip
        with (copied / name).open("a") as file:
            file.write("# other\n")
        after = inner()
        assert (after != before) == counts, name
        before = after


def test_one_partition_or_eight_the_table_is_the_same(spark: SparkSession, tmp_path: Path) -> None:
    here = sweep(tmp_path / "here").run(clock=ticking())
    tables = [
        sweep(tmp_path / str(parts)).run(spark, clock=ticking(), partitions=parts) for parts in (1, 8)
    ]  # fmt: skip
    assert tables[0].equals(tables[1]) and tables[0].equals(here)
    lines = [json.loads(line) for line in (tmp_path / "8" / "cells.jsonl").read_text().splitlines()]
    assert sorted(line["number"] for line in lines[1:]) == list(range(len(CELLS)))


def test_whoever_interrupts_a_sweep_stops_its_tasks(tmp_path: Path) -> None:
    """Of the session only what is said to it counts here: that the tag of the tasks is interrupted."""
    said: list[tuple[str, str]] = []

    class Session:
        sparkContext = None

        def addTag(self, tag: str) -> None:
            said.append(("add", tag))

        def interruptTag(self, tag: str) -> None:
            said.append(("interrupt", tag))

        def range(self, *_: int) -> None:
            raise KeyboardInterrupt

    session: Any = Session()
    with pytest.raises(KeyboardInterrupt):
        sweep(tmp_path).run(session, clock=ticking(), partitions=2)
    assert [what for what, _ in said] == ["add", "interrupt"] and said[0][1] == said[1][1]
    assert len((tmp_path / "cells.jsonl").read_text().splitlines()) == 1  # the head: nothing was measured
