"""A stage is done when nothing it depends on has changed and its table holds what it wrote; else it is done again."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from antecede.errors import InputError
from antecede.spark.manifest import DataFile, Manifest, commit
from antecede.spark.stamps import Ledger, Stamp, files_below, fingerprint, key_of


def table(root: Path, rows: int, overwrite: bool = False) -> None:
    root.mkdir(parents=True, exist_ok=True)
    (root / f"part-{rows}.parquet").touch()
    commit(root, Manifest(-1, None, {}, (), (DataFile(f"part-{rows}.parquet", rows, 0),)), overwrite=overwrite)


def test_a_stamp_holds_for_its_key_and_its_rows(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    assert ledger.done("ordered", "k") is None
    table(tmp_path / "ordered", 7)
    ledger.put(Stamp("ordered", "k", 7, {"delivered": 7}, 1.5))
    again = Ledger(tmp_path)
    assert again.done("ordered", "k") == Stamp("ordered", "k", 7, {"delivered": 7}, 1.5)
    assert again.done("ordered", "other") is None, "what it was told has changed"
    table(tmp_path / "ordered", 8, overwrite=True)
    assert again.done("ordered", "k") is None, "its table was written by somebody else"


def test_a_stamp_without_its_table_is_none(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.put(Stamp("fused", "k", 0))
    assert ledger.done("fused", "k") is None


def test_keys_follow_all_that_decides(tmp_path: Path) -> None:
    assert key_of("a", {"x": 1, "y": 2}) == key_of("a", {"y": 2, "x": 1}) != key_of("a", {"x": 1, "y": 3})
    file = tmp_path / "in" / "a.parquet"
    file.parent.mkdir()
    file.write_text("x")
    before = fingerprint([str(tmp_path / "in")])
    os.utime(file, ns=(1, 1))
    changed = fingerprint([str(tmp_path / "in")])
    assert changed != before
    (tmp_path / "in" / "b.parquet").write_text("y")
    assert fingerprint([str(tmp_path / "in")]) != changed


def test_a_table_is_known_by_its_manifests(tmp_path: Path) -> None:
    table(tmp_path / "t", 3)
    before = fingerprint([str(tmp_path / "t")])
    table(tmp_path / "t", 3, overwrite=True)
    assert fingerprint([str(tmp_path / "t")]) != before


def test_hidden_files_are_no_inputs(tmp_path: Path) -> None:
    for name in ("a.parquet", ".b.parquet", "_c.parquet", "d.csv", "sub/e.parquet", "_tmp/f.parquet"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    found = [path.relative_to(tmp_path).as_posix() for path in files_below([str(tmp_path)], (".parquet",))]
    assert found == ["a.parquet", "sub/e.parquet"]
    with pytest.raises(InputError, match="does not exist"):
        files_below([str(tmp_path / "none")])


@pytest.mark.parametrize("text", ["{", json.dumps({"format": 1}), json.dumps({"format": 7, "stages": []})])
def test_a_damaged_ledger_is_refused_in_a_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "pipeline.json").write_text(text, "utf-8")
    with pytest.raises(InputError, match=r"pipeline.json .*new output"):
        Ledger(tmp_path)
