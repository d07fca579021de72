"""Run directories: what is found below a path, how it is shared out, what is wrong with a file."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from antecede.errors import InputError
from antecede.spark.auditing.scan import MAIN, TELLING, Split, read_split, read_telling, run_directories, splits_of
from antecede.trace.parquet import StreamAppender, TraceWriter, write_run
from antecede.trace.record import COLUMNS, Row
from tests.trace.causal import causal_run


def test_runs_are_found_by_themselves_and_below_a_directory(tmp_path: Path) -> None:
    run = causal_run(1, messages=5)
    for name in ("b", "a"):
        write_run(tmp_path / "all" / name, run)
    (tmp_path / "all" / "notes").mkdir()
    assert run_directories([tmp_path / "all"]) == [tmp_path / "all" / "a", tmp_path / "all" / "b"]
    assert run_directories([tmp_path / "all" / "a"]) == [tmp_path / "all" / "a"]
    with pytest.raises(InputError, match="given twice"):
        run_directories([tmp_path / "all", tmp_path / "all" / "a"])
    with pytest.raises(InputError, match="holds no records"):
        run_directories([tmp_path / "all" / "notes"])
    with pytest.raises(InputError, match="does not exist"):
        run_directories([tmp_path / "nowhere"])


def test_splits_cover_every_row_once(tmp_path: Path) -> None:
    run = causal_run(1, messages=300)
    with TraceWriter(tmp_path, row_group=100) as writer:
        writer.write(run)
    for of in (1, 3, 7, 100):
        steps = [
            (process, step)
            for number in range(of)
            for table in read_split(Split("x", str(tmp_path / "records.parquet"), number, of), MAIN)
            for process, step in zip(table["process"].to_pylist(), table["step"].to_pylist(), strict=True)
        ]
        assert steps == [(row.process, row.step) for row in run]


def test_a_growing_trace_is_one_split(tmp_path: Path) -> None:
    run = causal_run(1, messages=20)
    appender = StreamAppender(tmp_path / "records-1.arrow")
    appender.append(run)
    [split] = splits_of([tmp_path], 8)
    appender.close()
    assert sum(t.num_rows for t in read_split(split, TELLING)) == len(run)


def test_a_damaged_file_is_a_sentence(tmp_path: Path) -> None:
    run = causal_run(1, messages=200)
    file = write_run(tmp_path, run)
    content = bytearray(file.read_bytes())
    content[len(content) // 3 : len(content) // 3 + 64] = bytes(64)
    file.write_bytes(bytes(content))
    with pytest.raises(InputError, match="damaged Parquet file"):
        list(read_split(Split("x", str(file), 0, 1), MAIN))
    file.write_bytes(bytes(content[:200]))
    with pytest.raises(InputError, match="truncated"):
        list(read_split(Split("x", str(file), 0, 1), MAIN))


def test_a_table_that_is_no_trace_is_refused(tmp_path: Path) -> None:
    file = write_run(tmp_path, [Row("r", "p", "member", 0, 0, "end", reason="quiet")])
    pq.write_table(pq.read_table(file).drop_columns(["step"]), file)
    with pytest.raises(InputError, match="column step missing"):
        list(read_split(Split("x", str(file), 0, 1), MAIN))


def test_every_column_that_is_read_is_one_of_the_trace() -> None:
    assert {*MAIN, *TELLING} <= {c.name for c in COLUMNS}


def test_telling_rows_are_read_whole_and_everybody_is_named(tmp_path: Path) -> None:
    run = causal_run(1, messages=100)
    with TraceWriter(tmp_path, row_group=50) as writer:
        writer.write(run)
    kinds = ("publish", "join", "end")
    tables = list(read_telling(Split("x", str(tmp_path / "records.parquet"), 0, 1), kinds))
    rows = [row for table in tables for row in table.to_pylist()]
    told = {(r["process"], r["step"], r["kind"], r["message"]) for r in rows if r["kind"] != "ask"}
    assert told == {(r.process, r.step, r.kind, r.message) for r in run if r.kind in kinds}
    assert {r["process"] for r in rows if r["kind"] == "ask"} == {r.process for r in run}


def test_groups_that_may_lack_names_are_read_whole(tmp_path: Path) -> None:
    run = causal_run(1, messages=20)
    place = next(n for n, row in enumerate(run) if row.kind == "arrive")
    run[place] = run[place]._replace(message=None)
    split = Split("x", str(write_run(tmp_path, run)), 0, 1)
    rows = [row for table in read_telling(split, ("publish",)) for row in table.to_pylist()]
    assert [r["step"] for r in rows if r["kind"] == "arrive" and r["message"] is None] == [run[place].step]
