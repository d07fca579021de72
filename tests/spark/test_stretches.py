"""Files are found, cut and read: every row once, and what cannot be read is named with its rows."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from antecede.errors import InputError
from antecede.spark.bad import bad_files
from antecede.spark.stretches import Stretch, cut, pack, read_stretch, trace_sources
from antecede.trace.parquet import trace_files
from antecede.trace.record import arrow_schema
from tests.spark.traces import flip, steps, write_parquet, write_stream


def read(*stretches: Stretch, quarantine: str | None = None) -> list[int]:
    return [step for s in stretches for step in steps(read_stretch(s, quarantine, None))]


def test_a_folder_of_runs(tmp_path: Path) -> None:
    write_parquet(tmp_path / "a", 5)
    write_parquet(tmp_path / "deep" / "b", 5)
    write_stream(tmp_path / "c" / "n1.arrow", 1)
    write_stream(tmp_path / "c" / "n2.arrow", 1)
    write_parquet(tmp_path / ".hidden", 5)
    write_parquet(tmp_path / "_quarantine", 5)
    (tmp_path / "a" / "other.parquet").touch()
    assert list(trace_sources(tmp_path)) == ["a/records", "c/n1", "c/n2", "deep/b/records"]
    for run in ("a", "c", "deep/b"):
        assert list(trace_sources(tmp_path / run).values()) == trace_files(tmp_path / run)
    assert list(trace_sources(tmp_path / "a" / "records.parquet")) == ["records"]
    with pytest.raises(InputError, match="does not exist"):
        trace_sources(tmp_path / "gone")


def test_a_stream_that_was_rotated_is_the_same_file(tmp_path: Path) -> None:
    write_stream(tmp_path / "records-1.arrow", 5)
    write_stream(tmp_path / "n.arrow", 5)
    both = {"n": tmp_path / "n.arrow", "records-1": tmp_path / "records-1.arrow"}
    assert trace_sources(tmp_path) == both
    write_parquet(tmp_path, 5).rename(tmp_path / "records-1.parquet")
    assert trace_sources(tmp_path) == both | {"records-1": tmp_path / "records-1.parquet"}
    (tmp_path / "n.arrow").rename(tmp_path / "n.parquet")
    assert list(trace_sources(tmp_path)) == ["records-1"] and list(trace_sources(tmp_path, {"n"})) == ["n", "records-1"]
    assert trace_files(tmp_path) == [tmp_path / "records-1.parquet"]


@pytest.mark.parametrize(("first", "rows"), [(0, 950), (0, 1), (949, 1), (90, 300), (250, 100), (99, 2)])
@pytest.mark.parametrize("size", [1, 150, 10_000])
def test_cut_stretches_give_every_row_once(tmp_path: Path, first: int, rows: int, size: int) -> None:
    path = write_parquet(tmp_path / "a", 950)
    write_stream(tmp_path / "s" / "n.arrow", *[95] * 10)
    for file in (path, tmp_path / "s" / "n.arrow"):
        stretches = list(cut(file, first, rows, size))
        assert read(*stretches) == list(range(first, first + rows))
        assert all(s.rows >= size for s in stretches[:-1]) and (size > 1 or len(stretches) >= rows // 100)


def test_a_stream_is_entered_in_the_middle(tmp_path: Path) -> None:
    path = tmp_path / "n.arrow"
    write_stream(path, *[10] * 10)
    late = list(cut(path, 73, 20, 1))
    assert [(s.base, s.first, s.rows) for s in late] == [(70, 73, 7), (80, 80, 10), (90, 90, 3)]
    again = list(cut(path, 95, 5, 100, (late[-1].at, late[-1].base)))
    assert [(s.base, s.first) for s in again] == [(90, 95)] and read(*again) == [95, 96, 97, 98, 99]


def test_small_stretches_go_together() -> None:
    packs = pack(iter(Stretch("x", 0, n) for n in (5, 5, 5, 100, 1, 1)), 10)
    assert [[s.rows for s in p] for p in packs] == [[5, 5], [5], [100], [1, 1]]
    assert pack(iter(()), 10) == []


def test_a_damaged_row_group_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "a", 500)
    about = pq.ParquetFile(path).metadata.row_group(2).column(3)
    flip(path, about.data_page_offset + about.total_compressed_size // 2)
    whole = Stretch(str(path), 0, 500)
    with pytest.raises(InputError, match=r"records\.parquet is a damaged Parquet file: from row 200 on"):
        read(whole)
    assert read(whole, quarantine=str(tmp_path / "q")) == [*range(200), *range(300, 500)]
    assert [(b.file, b.first, b.rows) for b in bad_files(tmp_path / "q")] == [(str(path), 200, 100)]


def test_a_damaged_stream_is_read_up_to_the_damage(tmp_path: Path) -> None:
    path = tmp_path / "a" / "n.arrow"
    write_stream(path, 10, 10, 10)
    whole = list(cut(path, 0, 30, 100))
    flip(path, path.read_bytes().rindex(b"publish", 0, path.stat().st_size - 3000))
    with pytest.raises(InputError, match="damaged Arrow stream"):
        read(*whole)
    got = read(*whole, quarantine=str(tmp_path / "q"))
    (bad,) = bad_files(tmp_path / "q")
    assert got == list(range(bad.first)) and bad.first + (bad.rows or 0) == 30 and bad.first in (10, 20)


def test_rows_without_what_they_must_have(tmp_path: Path) -> None:
    path = write_parquet(tmp_path, 10)
    table = pq.read_table(path)
    kinds = pa.array([None if n in (3, 7) else "publish" for n in range(10)])
    fields = [field.with_nullable(True) for field in arrow_schema()]
    broken = table.cast(pa.schema(fields)).set_column(5, "kind", kinds)
    pq.write_table(broken, path)
    with pytest.raises(InputError, match="column kind has empty cells"):
        read(Stretch(str(path), 0, 10))
    assert read(Stretch(str(path), 2, 8), quarantine=str(tmp_path / "q")) == [2, 4, 5, 6, 8, 9]
    assert [(b.first, b.rows) for b in bad_files(tmp_path / "q")] == [(3, 1), (7, 1)]


def test_a_file_that_became_shorter(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "a", 10)
    with pytest.raises(InputError, match="had 20 rows and has 10 now"):
        read(Stretch(str(path), 5, 15))
    write_stream(tmp_path / "n.arrow", 10)
    with pytest.raises(InputError, match="had 20 rows and has 10 now"):
        read(Stretch(str(tmp_path / "n.arrow"), 5, 15))
    with pytest.raises(InputError, match="has 10 rows; its manifest says 11"):
        list(read_stretch(Stretch(str(path), 0, 10, whole=11), None, ["step"]))
