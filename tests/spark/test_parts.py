"""Data files: whole when they have their name, split by value, few of them open."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from antecede.errors import EnvironmentFault
from antecede.spark import parts
from antecede.spark.parts import Target, split, write_files


def batch(ids: list[int], names: list[str | None]) -> pa.RecordBatch:
    return pa.record_batch(
        {"id": pa.array(ids, pa.int64()), "name": pa.array(names, pa.string()), "score": [0.5] * len(ids)}
    )


def test_rows_are_split_by_value_in_their_order() -> None:
    found = list(split(batch([1, 2, 3, 4, 5], ["x", None, "x", "", None]), ["name"]))
    got = {values["name"]: part.column("id").to_pylist() for values, part in found}
    assert got == {"x": [1, 3], None: [2, 5], "": [4]} and all(p.schema.names == ["id", "score"] for _, p in found)
    assert [v for v, _ in split(batch([1, 1, 2], ["x", "y", "x"]), ["id", "name"])] == [
        {"id": 1, "name": "x"}, {"id": 1, "name": "y"}, {"id": 2, "name": "x"},
    ]  # fmt: skip


def test_files_are_whole_when_they_have_their_name(tmp_path: Path) -> None:
    target = Target(str(tmp_path), {})

    def batches() -> Any:
        yield batch([1, 2], ["a", "b"])
        assert [p.suffix for p in tmp_path.iterdir()] == [".tmp"] and all(p.name[0] == "." for p in tmp_path.iterdir())
        yield batch([], [])
        yield batch([3], ["c"])

    (file,) = write_files(target, batches(), 7)
    assert (
        file.rows == 3 and file.path.startswith("part-00007-") and file.bytes == (tmp_path / file.path).stat().st_size
    )
    assert pq.read_table(tmp_path / file.path).column("id").to_pylist() == [1, 2, 3]
    assert write_files(target, iter([batch([], [])]), 0) == ()


def test_a_task_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def batches() -> Any:
        yield batch([1, 2], ["a", "b"])
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_files(Target(str(tmp_path), {}, ("name",)), batches(), 0)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_many_values_need_few_open_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "OPEN_FILES", 3)
    target = Target(str(tmp_path), {}, ("id",))
    files = write_files(target, iter([batch(list(range(10)), ["x"] * 10)] * 2), 0)
    assert len(files) == 20 and sum(file.rows for file in files) == 20
    assert len(list(tmp_path.glob("id=*"))) == 10


@pytest.mark.parametrize("where", ["write", "close"])
def test_a_full_disk_is_a_sentence_with_the_path_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    if where == "write":
        monkeypatch.setattr(parts.pq.ParquetWriter, "write_batch", full)
    else:
        monkeypatch.setattr(os, "fsync", full)
    target = Target(str(tmp_path / "t"), {}, ("name",))
    with pytest.raises(EnvironmentFault, match=rf"no room left to write {tmp_path}/t/name=x: free some"):
        write_files(target, iter([batch([1, 2], ["x", "y"])]), 0)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_path_that_goes_up_and_down_again(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (file,) = write_files(Target(f"{tmp_path}/in/../out", {}), iter([batch([1], ["a"])]), 0)
    assert (tmp_path / "out" / file.path).is_file()
