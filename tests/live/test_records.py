"""Records of a live process: its own files, readable while they are written, rotated into Parquet."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from antecede.errors import InputError
from antecede.live.records import Records
from antecede.trace.parquet import read_rows
from antecede.trace.record import Recorder


def rows(process: str, count: int) -> list[tuple[object, ...]]:
    recorder = Recorder("run")
    for n in range(count):
        recorder.row(process, "broker", n, "publish", f"{process}:{n + 1}", groups=("t",))
    return recorder.rows


def test_two_processes_share_a_directory_and_rows_are_read_while_they_are_written(tmp_path: Path) -> None:
    first, second = Records(tmp_path, "A"), Records(tmp_path, "B")
    first.append(rows("A", 3))
    second.append(rows("B", 2))
    assert sorted((row.process, row.step) for row in read_rows(tmp_path)) == [
        ("A", 0), ("A", 1), ("A", 2), ("B", 0), ("B", 1),
    ]  # fmt: skip
    first.close()
    second.close()


def test_a_stream_that_is_full_becomes_parquet_and_every_row_is_there_once(tmp_path: Path) -> None:
    records = Records(tmp_path, "A", rotate_rows=10)
    for row in rows("A", 35):
        records.append([row])
    records.close()
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".arrow", ".parquet", ".parquet", ".parquet"]
    assert sorted(row.step for row in read_rows(tmp_path)) == list(range(35))
    assert records.rows == 35


def test_a_process_of_the_same_name_does_not_write_over_the_first(tmp_path: Path) -> None:
    for _ in range(2):
        records = Records(tmp_path, "A")
        records.append(rows("A", 1))
        records.close()
    assert len(list(tmp_path.iterdir())) == 2


def test_a_directory_that_cannot_be_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be written"):
        Records(tmp_path / "file" / "below", "A")


def test_a_full_disk_ends_the_records_and_not_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    records = Records(tmp_path, "A")
    records.append(rows("A", 2))
    with monkeypatch.context() as disk:
        disk.setattr(records._appender, "append", full)
        records.append(rows("A", 3)[2:])
    records.append(rows("A", 4)[3:])  # there is room again: still nothing, or the stream would have a hole
    records.close()
    assert [row.step for row in read_rows(tmp_path)] == [0, 1]
    (told,) = caplog.messages
    assert "No space left on device" in told and "A goes on without" in told


WRITES = """
import sys
from antecede.live.records import Records
from antecede.trace.record import Recorder
recorder, records = Recorder("run"), Records(sys.argv[1], "A")
before = set(sys.modules)
recorder.row("A", "broker", 0, "publish", "A:1", groups=("t",))
records.append(recorder.rows)
records.close()
print(sorted(name for name in set(sys.modules) - before if name.partition(".")[0] in ("pandas", "numpy")))
"""


def test_the_first_rows_wait_for_no_import(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", WRITES, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
