"""A table in this process: rows in = rows of the table + rows set aside."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from antecede.errors import InputError
from antecede.spark.tables.files import files_of
from antecede.spark.tables.local import has_times, read_local
from tests.spark.hostile import CASES, Case


def test_csv_files_of_one_table(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,n\n001,1\n2\n")
    (tmp_path / "b.csv").write_text("id,n\n002,2.5\n")
    (tmp_path / "c.csv").touch()
    taken = read_local(files_of([tmp_path]), {"id"})
    assert taken.table.to_pydict() == {"id": ["001", "002"], "n": [1.0, 2.5]}
    assert [(Path(bad.file).name, bad.row) for bad in taken.aside] == [("a.csv", "2")] and taken.rows_in == 3
    (tmp_path / "c.csv").write_text("id,m\n1,2\n")
    with pytest.raises(InputError, match=r"c.csv has other columns than .*a.csv: the column m"):
        read_local(files_of([tmp_path]))
    (tmp_path / "c.csv").write_text("n,id\n1,2\n")
    with pytest.raises(InputError, match=r"c.csv has other columns than .*a.csv: their order"):
        read_local(files_of([tmp_path]))


def test_a_column_of_times_is_told_from_one_of_numbers(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,n,at,none,odd\n1,7,2024-05-01,,soon\n1,8,2024-05-02,,9\n")
    (tmp_path / "a.json").write_text('{"n": 7, "at": "2024-05-01T12:00:00Z", "odd": "7"}\n')
    when = pa.array([1], pa.timestamp("us"))
    pq.write_table(pa.table({"n": [7], "at": when, "odd": ["7"], "text": ["2024-05-01"]}), tmp_path / "a.parquet")
    holds = {"a.csv": {"n": False, "at": True, "none": False, "odd": False}}
    holds |= {"a.json": {"n": False, "at": True, "odd": False}}
    holds |= {"a.parquet": {"n": False, "at": True, "odd": False, "text": True}}
    for name, columns in holds.items():
        assert {column: has_times(files_of([tmp_path / name]), column) for column in columns} == columns


def test_json_rows_may_have_other_keys(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"id": 1, "p": ["x"]}\n')
    (tmp_path / "b.json").write_text('{"id": "b", "q": 2}\nnonsense\n')
    taken = read_local(files_of([tmp_path]), {"id", "p"})
    assert taken.table.to_pylist() == [
        {"id": "1", "p": ["x"], "q": None},
        {"id": "b", "p": None, "q": 2},
    ] and [bad.reason for bad in taken.aside] == ["not JSON (line 2)"]  # fmt: skip


def test_encodings(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("id\nJosé\n".encode("latin-1"))
    assert len(read_local(files_of([tmp_path])).aside) == 1
    assert read_local(files_of([tmp_path]), (), "latin-1").table["id"].to_pylist() == ["José"]


def test_parquet_and_what_cannot_be_read(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": pa.array(["a"]).dictionary_encode()}), tmp_path / "a.parquet")
    assert read_local(files_of([tmp_path])).table.to_pydict() == {"id": ["a"]}
    (tmp_path / "b.parquet").touch()
    with pytest.raises(InputError, match=r"b.parquet cannot be read"):
        read_local(files_of([tmp_path]))
    for name, data, said in (("e.csv", "", "no header"), ("e.json", "", "no row"), ("e.json", "x\n", "not JSON")):
        (tmp_path / "one").mkdir(exist_ok=True)
        (tmp_path / "one" / name).write_text(data)
        with pytest.raises(InputError, match=said):
            read_local(files_of([tmp_path / "one" / name]))
    (tmp_path / "parted" / "day=1").mkdir(parents=True)
    (tmp_path / "parted" / "day=1" / "x.parquet").touch()
    with pytest.raises(InputError, match="--engine spark"):
        read_local(files_of([tmp_path / "parted"]))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_row_of_a_hostile_table_is_read_or_set_aside(case: Case, tmp_path: Path) -> None:
    case.write(tmp_path)
    try:
        taken = read_local(files_of([tmp_path]), set(case.columns.values()) - {"at", "at.us", "n"}, case.encoding)
    except InputError as error:
        assert case.refused and case.refused in str(error)
        return
    if case.refused is None:
        assert (taken.table.num_rows, len(taken.aside)) == (len(case.rows), case.aside)
        assert all(bad.reason and bad.row for bad in taken.aside)


def test_no_spark_is_loaded(tmp_path: Path) -> None:
    import subprocess
    import sys

    code = "import sys, antecede.spark.tables; print([m for m in ('pyspark', 'pandas') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
