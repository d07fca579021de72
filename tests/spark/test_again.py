"""What is finished is known without Spark: by its settings, its inputs and its tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from antecede.errors import InputError
from antecede.spark.again import keys_of, last_report, output_of, whole_key
from antecede.spark.config import Pipeline, config_from
from antecede.spark.manifest import DataFile, Manifest, commit
from antecede.spark.outcome import Report, Stage
from antecede.spark.stamps import Ledger


def config(tmp_path: Path, **more: Any) -> Pipeline:
    source = {"kind": "table", "path": str(tmp_path / "in")}
    return config_from({"source": source, "output": {"path": str(tmp_path / "out")}, **more})


def finish(told: Pipeline) -> Report:
    """As a run leaves it."""
    root = output_of(told)
    for name in ("quarantine", "ordered"):
        commit(root / name, Manifest(-1, None, {}, (), (DataFile("x", 3, 1),)))
    report = Report(str(root), 6, (Stage("quarantine", 3, {"damaged": 0}, 0.5), Stage("ordered", 3)))
    Ledger(root).save(report=report.to_json(), key=whole_key(told))
    return report


@pytest.fixture
def told(tmp_path: Path) -> Pipeline:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.parquet").write_bytes(b"one")
    return config(tmp_path)


def test_nothing_new_is_the_last_report(told: Pipeline, tmp_path: Path) -> None:
    assert last_report(told) is None
    done = finish(told)
    again = last_report(told)
    assert again is not None and again.rows_in == 6 and not any(stage.repeated for stage in again.stages)
    assert [(stage.name, stage.rows, stage.seconds) for stage in again.stages] == [
        (stage.name, stage.rows, stage.seconds) for stage in done.stages
    ]
    assert last_report(config(tmp_path, spark={"master": "local[2]"})) is not None, "where it runs does not matter"


def test_whatever_changes_is_something_to_do(told: Pipeline, tmp_path: Path) -> None:
    finish(told)
    assert last_report(config(tmp_path, order={"unknown": "skip"})) is None
    assert last_report(config(tmp_path, audit={"wanted": False})) is None
    (tmp_path / "in" / "b.parquet").write_bytes(b"two")
    assert last_report(told) is None
    (tmp_path / "in" / "b.parquet").unlink()
    assert last_report(told) is not None
    commit(tmp_path / "out" / "ordered", Manifest(-1, None, {}, (), (DataFile("y", 1, 1),)))
    assert last_report(told) is None, "the table is not what it was"


def test_what_was_interrupted_is_not_finished(told: Pipeline) -> None:
    report = finish(told)
    Ledger(output_of(told)).save(report=report.to_json(), key=None)
    assert last_report(told) is None


def test_a_stage_follows_the_one_before(told: Pipeline, tmp_path: Path) -> None:
    one, two = keys_of(told), keys_of(config(tmp_path, order={"unknown": "skip"}))
    assert {name for name in one if one[name] != two[name]} == {"ordered", "fused", "findings"}


def test_an_output_that_cannot_be_written_is_one_sentence(told: Pipeline, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"file/below cannot be written \(Not a directory\)"):
        output_of(config(tmp_path, output={"path": str(tmp_path / "file" / "below")}))
