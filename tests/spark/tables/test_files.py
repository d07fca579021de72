"""Which files a path holds; whatever is wrong with them names the file."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from antecede.errors import InputError
from antecede.spark.manifest import DataFile, Manifest, commit
from antecede.spark.tables.files import files_of, is_small, kind_of, one_schema, parquet_rows


def test_kinds_by_name() -> None:
    names = ("a.parquet", "a.CSV", "a.csv.gz", "a.jsonl", "a.ndjson.gz", "a.txt", "a.parquet.gz", "a")
    assert [kind_of(Path(name)) for name in names] == ["parquet", "csv", "csv", "json", "json", None, None, None]


def test_files_of_a_folder_without_what_is_hidden(tmp_path: Path) -> None:
    for name in ("b.csv", "a.csv", "_SUCCESS", ".a.csv.crc", "_x/c.csv", "deep/d.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("id\n1\n")
    found = files_of([tmp_path])
    assert [file.name for file in found.files] == ["a.csv", "b.csv", "d.csv"]
    assert (found.kind, found.root, found.bytes) == ("csv", None, 15)
    (tmp_path / "day=1").mkdir()
    (tmp_path / "day=1" / "e.csv").touch()
    assert files_of([tmp_path]).root == tmp_path


def test_small_is_all_that_lies_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("antecede.spark.tables.files.LOCAL_BYTES", 20_000)
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "gone").symlink_to("nowhere")
    (tmp_path / "deep" / "a").write_bytes(b"x" * 5_000)
    assert is_small([tmp_path]) and is_small([tmp_path / "deep" / "a"]) and not is_small(["s3://bucket/table"])
    (tmp_path / "b").write_bytes(b"x" * 15_000)
    assert not is_small([tmp_path]) and is_small([tmp_path / "b"]) and not is_small([tmp_path / "b"] * 2)


def test_a_table_of_antecede_is_what_its_manifest_says(tmp_path: Path) -> None:
    for name in ("part-1.parquet", "orphan.parquet"):
        pq.write_table(pa.table({"id": ["a"]}), tmp_path / name)
    commit(tmp_path, Manifest(-1, None, {}, (), (DataFile("part-1.parquet", 1, 9),)))
    assert [file.name for file in files_of([tmp_path]).files] == ["part-1.parquet"]


def test_what_is_no_table_is_one_sentence_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"{tmp_path} holds no Parquet, CSV or JSON-lines file"):
        files_of([tmp_path])
    with pytest.raises(InputError, match="nowhere does not exist"):
        files_of([tmp_path / "nowhere"])
    (tmp_path / "a.csv").touch()
    (tmp_path / "b.json").touch()
    with pytest.raises(InputError, match=r"a.csv and .*b.json are of different kinds"):
        files_of([tmp_path])
    (tmp_path / "notes.txt").touch()
    with pytest.raises(InputError, match=r"notes.txt is no Parquet"):
        files_of([tmp_path])


def test_parquet_files_must_agree(tmp_path: Path) -> None:
    def write(name: str, **columns: object) -> Path:
        pq.write_table(pa.table(columns), tmp_path / name)
        return tmp_path / name

    first = write("a.parquet", id=["a"], n=[1])
    assert one_schema([first, write("b.parquet", id=["b"], n=[2])]).names == ["id", "n"]
    assert parquet_rows([first, tmp_path / "b.parquet"]) == 2
    for columns, said in (
        ({"id": ["a"], "n": ["1"]}, "c.parquet has n as string, where it is bigint in .*a.parquet"),
        ({"id": ["a"]}, "c.parquet has no column n, unlike .*a.parquet"),
        ({"id": ["a"], "n": [1], "m": [1]}, "c.parquet has a column m, unlike"),
        ({"n": [1], "id": ["a"]}, "c.parquet has another order than"),
    ):
        with pytest.raises(InputError, match=said):
            one_schema([first, write("c.parquet", **columns)])
    torn = tmp_path / "torn.parquet"
    torn.write_bytes(first.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"torn.parquet cannot be read as Parquet"):
        one_schema([first, torn])
