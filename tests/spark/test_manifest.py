"""What counts in a table: exactly what manifests name, whatever else lies around."""

from __future__ import annotations

import errno
import os
from dataclasses import replace
from pathlib import Path

import pytest

from antecede.errors import EnvironmentFault, InputError
from antecede.spark import manifest
from antecede.spark.manifest import DataFile, Manifest, clean, commit, committed, local_path, orphans

SCHEMA = {"type": "struct", "fields": [{"name": "x", "type": "long", "nullable": True, "metadata": {}}]}


def batch(number: int, *names: str, query: str | None = "q1") -> Manifest:
    return Manifest(number, query, SCHEMA, (), tuple(DataFile(name, 10, 99) for name in names))


def put(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()


def names(root: Path) -> list[str]:
    return [file.path for one in committed(root) for file in one.files]


def test_a_batch_run_again_replaces_its_manifest(tmp_path: Path) -> None:
    commit(tmp_path, batch(0, "a"))
    commit(tmp_path, batch(1, "b", "c"))
    commit(tmp_path, batch(1, "d"))
    assert names(tmp_path) == ["a", "d"] and [m.rows for m in committed(tmp_path)] == [10, 10]


def test_half_a_manifest_is_never_seen(tmp_path: Path) -> None:
    commit(tmp_path, batch(0, "a"))
    (tmp_path / manifest.FOLDER / ".x.tmp").write_text('{"format":1,"num')
    assert names(tmp_path) == ["a"]
    (tmp_path / manifest.FOLDER / "000000000001.json").write_text('{"format":1,"num')
    with pytest.raises(InputError, match=r"000000000001\.json cannot be read"):
        committed(tmp_path)


def test_formats_and_fields_are_checked(tmp_path: Path) -> None:
    commit(tmp_path, batch(0, "a"))
    path = tmp_path / manifest.FOLDER / "000000000000.json"
    path.write_text(path.read_text().replace('"format":1', '"format":9'))
    with pytest.raises(InputError, match="format 9; this reads format 1"):
        committed(tmp_path)
    path.write_text('{"format":1}')
    with pytest.raises(InputError, match="is not a manifest"):
        committed(tmp_path)


def test_a_second_query_is_refused(tmp_path: Path) -> None:
    commit(tmp_path, batch(0, "a"))
    with pytest.raises(InputError, match="holds the output of query q1, not of query q2"):
        commit(tmp_path, batch(0, "b", query="q2"))
    with pytest.raises(InputError, match="holds the output of query q1, not of batch writes"):
        commit(tmp_path, batch(-1, "b", query=None))
    commit(tmp_path, batch(1, query=""))  # a batch without tasks cannot say whose it is
    other = replace(batch(2, "c"), schema={"type": "struct", "fields": []})
    with pytest.raises(InputError, match="another schema"):
        commit(tmp_path, other)
    assert names(tmp_path) == ["a"]


def test_batch_writes_append_and_overwrite(tmp_path: Path) -> None:
    for name in "ab":
        commit(tmp_path, batch(-1, name, query=None))
    assert [m.number for m in committed(tmp_path)] == [0, 1]
    commit(tmp_path, batch(-1, "c", query=None), overwrite=True)
    commit(tmp_path, batch(-1, "d", query=None))
    assert names(tmp_path) == ["c", "d"]


def test_many_batches_are_folded_and_the_newest_can_still_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manifest, "FOLD_EVERY", 5)
    for number in range(23):
        commit(tmp_path, batch(number, f"f{number}"))
        commit(tmp_path, batch(number, f"f{number}"))
        assert names(tmp_path) == [f"f{n}" for n in range(number + 1)]
    assert len(list((tmp_path / manifest.FOLDER).iterdir())) <= 2 + 5 + 5 + 1
    commit(tmp_path, batch(22, "again"))
    assert names(tmp_path)[-1] == "again" and len(names(tmp_path)) == 23


def test_what_a_reader_has_listed_is_there_until_the_next_folding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manifest, "FOLD_EVERY", 5)
    for number in range(14):
        commit(tmp_path, batch(number, f"f{number}"))
    listed = manifest.listed(tmp_path)
    for number in range(14, 17):
        commit(tmp_path, batch(number, f"f{number}"))
    assert all(path.exists() for path in listed)


def test_orphans_are_found_and_cleaned(tmp_path: Path) -> None:
    put(tmp_path, "a", "x=1/b", "x=1/dead", ".part.tmp")
    commit(tmp_path, batch(0, "a"))
    dead = {tmp_path / "x=1/dead", tmp_path / ".part.tmp", tmp_path / "x=1/b"}
    assert set(orphans(tmp_path)) == dead
    commit(tmp_path, batch(1, "x=1/b"))
    put(tmp_path, "new")  # younger than the newest manifest: a batch may be at it
    assert set(clean(tmp_path)) == dead - {tmp_path / "x=1/b"}
    assert clean(str(tmp_path), idle=True) == [tmp_path / "new"] and orphans(tmp_path) == []


def test_batch_writers_may_be_at_it_at_any_time(tmp_path: Path) -> None:
    put(tmp_path, "old", "a")
    commit(tmp_path, batch(-1, "a", query=None))
    assert clean(tmp_path) == [] and clean(tmp_path, idle=True) == [tmp_path / "old"]


def test_paths(tmp_path: Path) -> None:
    assert local_path("file:///x/y") == local_path("file:/x/y") == Path("/x/y")
    assert local_path("x") == Path.cwd() / "x"
    with pytest.raises(InputError, match="s3://bucket/x is not a mounted path"):
        local_path("s3://bucket/x")
    with pytest.raises(InputError, match="is not a table of antecede"):
        committed(tmp_path)


def test_a_full_disk_is_a_sentence_with_the_path_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(tmp_path, batch(0, "a"))

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(EnvironmentFault, match=rf"no room left to write {tmp_path}/_manifest/0+1\.json: free some"):
            commit(tmp_path, batch(1, "b"))
    assert names(tmp_path) == ["a"] and [p.name for p in (tmp_path / manifest.FOLDER).iterdir()] == [
        "000000000000.json"
    ]


def test_a_place_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=rf"{tmp_path}/file/table cannot be written \(Not a directory\): choose"):
        commit(tmp_path / "file" / "table", batch(0, "a"))
