"""What is written comes back; what is torn is read up to the tear; what is no trace is refused in one sentence."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from antecede.errors import InputError
from antecede.trace import ipc
from antecede.trace.parquet import (
    StreamAppender,
    TraceWriter,
    read_batches,
    read_rows,
    read_scenario,
    read_totals,
    silent,
    trace_files,
    write_run,
)
from antecede.trace.record import LATER, Recorder, arrow_schema, digest


def sample(count: int = 50) -> list[tuple[Any, ...]]:
    recorder = Recorder("r")
    for n in range(count):
        recorder.row("p", "member", n, "publish", f"p:{n}", ("G1", "G2"), deadline_us=n + 9 if n % 2 else None)
        recorder.row("q", "member", n, "join", groups=("G1",), cut=(f"p:{n}",), guard_us=3, peer="p", bytes=n)
    recorder.row("p", "member", 99, "end", reason="quiet", true_us=99)
    return recorder.rows


def test_round_trip(tmp_path: Path) -> None:
    rows = sample()
    write_run(tmp_path, rows, scenario={"seed": 7}, totals={"frames": 3})
    back = list(read_rows(tmp_path))
    assert back == rows
    assert digest(back) == digest(rows)
    assert list(read_rows(tmp_path / "records.parquet")) == rows
    assert read_scenario(tmp_path) == {"format": 1, "seed": 7}
    assert read_totals(tmp_path) == {"format": 1, "frames": 3}
    assert sorted(f.name for f in tmp_path.iterdir()) == ["records.parquet", "scenario.json", "totals.json"]


def test_row_groups_bound_the_memory(tmp_path: Path) -> None:
    with TraceWriter(tmp_path, row_group=10) as writer:
        writer.write(sample())
    assert pq.ParquetFile(tmp_path / "records.parquet").metadata.num_row_groups == 11
    assert max(b.num_rows for b in read_batches(tmp_path, size=16)) <= 16


def test_an_interrupted_writer_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), TraceWriter(tmp_path) as writer:
        writer.write(sample())
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_a_new_run_replaces_the_old_one_only_when_complete(tmp_path: Path) -> None:
    write_run(tmp_path, sample(3))
    writer = TraceWriter(tmp_path)
    writer.write(sample(5))
    assert len(list(read_rows(tmp_path))) == 7
    writer.close()
    assert len(list(read_rows(tmp_path))) == 11


def test_several_files_and_both_kinds(tmp_path: Path) -> None:
    rows = sample(4)
    write_run(tmp_path, rows[:4])
    (tmp_path / "records.parquet").rename(tmp_path / "records-0.parquet")
    stream = StreamAppender(tmp_path / "records-1.arrow")
    stream.append(rows[4:])
    stream.append([])
    stream.close()
    assert list(read_rows(tmp_path)) == rows
    assert list(read_rows(tmp_path / "records-1.arrow")) == rows[4:]


def test_a_stream_is_what_arrow_writes(tmp_path: Path) -> None:
    rows = sample(4)
    stream = StreamAppender(tmp_path / "a.arrow")
    stream.append(rows[:3])
    stream.append(rows[3:])
    stream.close()
    with (tmp_path / "b.arrow").open("wb") as file, pa.ipc.new_stream(file, arrow_schema()) as writer:
        for batch in read_batches(tmp_path / "a.arrow"):
            writer.write_batch(batch)
    assert (tmp_path / "a.arrow").read_bytes() == (tmp_path / "b.arrow").read_bytes()


def test_a_stream_is_never_continued(tmp_path: Path) -> None:
    StreamAppender(tmp_path / "a.arrow").close()
    with pytest.raises(InputError, match="exists"):
        StreamAppender(tmp_path / "a.arrow")


def test_a_torn_tail_costs_only_what_is_torn(tmp_path: Path) -> None:
    rows = sample(4)
    stream = StreamAppender(tmp_path / "whole.arrow")
    sizes = []
    for row in rows:
        stream.append([row])
        sizes.append((tmp_path / "whole.arrow").stat().st_size)
    whole = (tmp_path / "whole.arrow").read_bytes()
    stream.close()
    torn = tmp_path / "torn.arrow"
    for length in range(0, len(whole), 7):
        torn.write_bytes(whole[:length])
        complete = sum(size <= length for size in sizes)
        assert list(read_rows(torn)) == rows[:complete]


def test_a_stream_survives_kill_9(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys; from antecede.trace.parquet import StreamAppender;"
        "from antecede.trace.record import Recorder; r = Recorder('r');"
        "[r.row('p', 'member', n, 'collect', f'p:{n}') for n in range(5)];"
        f"s = StreamAppender({str(tmp_path / 'records-p.arrow')!r}); s.append(r.rows); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code], check=False, env={**os.environ, "PYTHONPATH": ":".join(sys.path)})
    assert [r.step for r in read_rows(tmp_path)] == [0, 1, 2, 3, 4]


def refused(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        list(read_rows(path))
    sentence = str(caught.value)
    assert str(path) in sentence and "\n" not in sentence
    return sentence


def test_missing_path(tmp_path: Path) -> None:
    assert "does not exist" in refused(tmp_path / "nothing")


def test_empty_directory(tmp_path: Path) -> None:
    assert "holds no records" in refused(tmp_path)


def test_truncated_parquet(tmp_path: Path) -> None:
    whole = write_run(tmp_path / "run", sample()).read_bytes()
    for length in (5, len(whole) // 2, len(whole) - 1):
        (tmp_path / "records.parquet").write_bytes(whole[:length])
        assert "truncated" in refused(tmp_path)


def test_damaged_parquet(tmp_path: Path) -> None:
    whole = write_run(tmp_path, sample()).read_bytes()
    for place in (60, len(whole) // 4, len(whole) - 1000):
        damaged = bytearray(whole)
        damaged[place : place + 40] = bytes(40)
        (tmp_path / "records.parquet").write_bytes(damaged)
        assert "damaged" in refused(tmp_path)


def test_foreign_parquet_names_the_missing_columns(tmp_path: Path) -> None:
    pq.write_table(pa.table({"process": ["p"], "step": [0]}), tmp_path / "records.parquet")
    sentence = refused(tmp_path)
    assert "columns run, role, at_us, kind" in sentence and "missing" in sentence and "process," not in sentence


def test_a_column_of_another_type(tmp_path: Path) -> None:
    table = pa.Table.from_pylist([], schema=arrow_schema())
    table = table.set_column(3, "step", pa.array([], pa.string()))
    pq.write_table(table, tmp_path / "records.parquet")
    assert "column step is string, not int64" in refused(tmp_path)


def test_empty_cells_where_none_may_be(tmp_path: Path) -> None:
    row = list(sample(1)[0])
    row[1] = None
    schema = pa.schema([f.with_nullable(True) for f in arrow_schema()])
    table = pa.Table.from_pylist([dict(zip(schema.names, row, strict=True))], schema=schema)
    pq.write_table(table, tmp_path / "records.parquet")
    assert "column process has empty cells" in refused(tmp_path)


def test_a_later_format(tmp_path: Path) -> None:
    schema = arrow_schema().with_metadata({"antecede.format": "9"})
    pq.write_table(pa.Table.from_pylist([], schema=schema), tmp_path / "records.parquet")
    assert "format 9" in refused(tmp_path)


@pytest.mark.parametrize("name", ["records.parquet", "records.arrow", "notes.txt"])
def test_not_a_trace_at_all(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("once upon a time\n" * 400)
    assert "is not a trace" in refused(tmp_path / name)


def test_a_directory_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write"):
        TraceWriter(tmp_path / "file" / "run")


def test_side_files_that_are_not_json(tmp_path: Path) -> None:
    (tmp_path / "scenario.json").write_text("{")
    with pytest.raises(InputError, match="not JSON"):
        read_scenario(tmp_path)
    (tmp_path / "totals.json").write_text("[]")
    with pytest.raises(InputError, match="not a JSON object"):
        read_totals(tmp_path)


def test_streams_beside_records_belong_to_the_trace(tmp_path: Path) -> None:
    rows = sample()
    for process in {row[1] for row in rows}:
        mine = [row for row in rows if row[1] == process]
        if process == rows[0][1]:
            write_run(tmp_path, mine)
        else:
            stream = StreamAppender(tmp_path / f"{process}.arrow")
            stream.append(mine)
            stream.close()
    assert sorted(read_rows(tmp_path)) == sorted(rows)


def test_a_stream_and_the_parquet_it_was_rotated_into_are_one(tmp_path: Path) -> None:
    rows = sample()
    stream = StreamAppender(tmp_path / "records-r.arrow")
    stream.append(rows)
    stream.close()
    write_run(tmp_path, rows).rename(tmp_path / "records-r.parquet")
    assert trace_files(tmp_path) == [tmp_path / "records-r.parquet"]


def streams(folder: Path) -> Path:
    """One stream for each process, a batch for each row; returns that of q."""
    for process in ("p", "q"):
        stream = StreamAppender(folder / f"records-{process}.arrow")
        for row in sample(3):
            if row[1] == process:
                stream.append([row])
        stream.close()
    return folder / "records-q.arrow"


def test_damage_before_the_end_of_a_stream_is_refused_with_its_place(tmp_path: Path) -> None:
    file = streams(tmp_path)
    whole, first = file.read_bytes(), list(ipc.pieces(file))[1]
    for place in (first.at, first.at + 8, whole.index(b"join")):
        damaged = bytearray(whole)
        damaged[place : place + 4] = b"\xfe\xff\xfe\xff"
        file.write_bytes(damaged)
        assert "records-q.arrow is a damaged Arrow stream: " in refused(file) and f"byte {first.at}" in refused(file)


def test_a_stream_without_a_whole_batch_is_silent(tmp_path: Path) -> None:
    file = streams(tmp_path)
    whole, first = file.read_bytes(), list(ipc.pieces(file))[1]
    for length in (0, 3, 100, first.at, first.at + first.size - 1):
        file.write_bytes(whole[:length])
        assert silent(file) and list(read_rows(file)) == []
    file.write_bytes(whole[: first.at + first.size])
    assert not silent(file) and not silent(tmp_path / "records-p.arrow")
    damaged = bytearray(whole)
    damaged[first.at + 4 : first.at + 8] = b"\x00\x00\x00\x7f"  # a message that runs past the end
    file.write_bytes(damaged)
    assert silent(file)


def changed(name: str, array: pa.Array) -> pa.Table:
    """A trace of one row in which a column is another one."""
    table = pa.Table.from_pylist([dict(zip(arrow_schema().names, sample(1)[0], strict=True))], schema=arrow_schema())
    return table.set_column(table.column_names.index(name), name, array)


BAD_TEXT = pa.Array.from_buffers(
    pa.string(), 1, [None, pa.py_buffer(b"\x00\x00\x00\x00\x02\x00\x00\x00"), pa.py_buffer(b"\xff\xfe")]
)


@pytest.mark.parametrize(
    ("name", "array", "sentence"),
    [
        ("groups", pa.array([["G1", None]]), "column groups has lists with empty places"),
        ("cut", pa.array([[None]], pa.list_(pa.string())), "column cut has lists with empty places"),
        ("groups", pa.array([[1]]), "column groups is list<.*: int64>, not list<string>"),
        ("message", BAD_TEXT, "column message: Invalid UTF8"),
        ("process", BAD_TEXT, "column process: Invalid UTF8"),
    ],
)
def test_cells_that_are_no_texts(tmp_path: Path, name: str, array: pa.Array, sentence: str) -> None:
    pq.write_table(changed(name, array), tmp_path / "records.parquet")
    assert re.search(sentence, refused(tmp_path))


def test_a_column_that_is_there_twice(tmp_path: Path) -> None:
    table = changed("bytes", pa.array([1], pa.int32()))
    pq.write_table(table.append_column("step", table.column("step")), tmp_path / "records.parquet")
    assert "more than one column step" in refused(tmp_path)


def test_side_files_too_deep_or_of_a_later_format(tmp_path: Path) -> None:
    for text, sentence in (("[" * 100_000, "not JSON"), ('{"format": 99}', "format 99; this reads format 1")):
        (tmp_path / "scenario.json").write_text(text)
        with pytest.raises(InputError, match=sentence):
            read_scenario(tmp_path)


def test_files_from_before_a_column_came_are_traces(tmp_path: Path) -> None:
    rows = sample()
    write_run(tmp_path, rows)
    file = tmp_path / "records.parquet"
    pq.write_table(pq.read_table(file).drop_columns(list(LATER)), file)
    assert list(read_rows(tmp_path)) == rows


def test_predicates_and_what_they_see_are_kept(tmp_path: Path) -> None:
    recorder = Recorder("r")
    recorder.row("p", "member", 1, "publish", "p:1", ("G1",), headers='{"x":"1"}')
    recorder.row("q", "member", 1, "join", groups=("G1",), where="x > 1")
    write_run(tmp_path, recorder.rows)
    assert [(row.where, row.headers) for row in read_rows(tmp_path)] == [(None, '{"x":"1"}'), ("x > 1", None)]
    bare = [(*row[:-2], None, None) for row in recorder.rows]
    assert digest(bare) != digest(recorder.rows)
