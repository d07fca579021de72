"""`antecede pipeline`: the file to begin with, what is refused, and what the report looks like."""

from __future__ import annotations

import importlib.metadata
import json
from pathlib import Path

import pytest

from antecede.cli import main, pipeline
from antecede.spark.config import load_config
from antecede.spark.manifest import Manifest, commit
from antecede.spark.outcome import DAMAGED, ROWS_IN, Report, Stage

REPORT = Report(
    "out",
    1_010,
    (
        Stage("quarantine", 11, {ROWS_IN: 1_010, DAMAGED: 1, "id is null": 10, "damaged Parquet file": 1}, 0.5),
        Stage("ordered", 1_000, {"delivered": 990, "late": 10}, 2.25),
        Stage("fused", 20, {"all": 20}, 9.0, repeated=False),
        Stage("findings", 0, {}, 1.0),
    ),
)


def test_init_writes_a_file_that_can_be_read_and_keeps_what_is_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.toml"
    assert main(["pipeline", "--init", str(path)]) == 0
    assert f"antecede pipeline {path}" in capsys.readouterr().out
    assert load_config(path).fuse is not None
    path.write_text("mine", "utf-8")
    assert main(["pipeline", "--init", str(path)]) == 2
    assert "is there already" in capsys.readouterr().err and path.read_text("utf-8") == "mine"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[source]\npath = 'a'\nfromat = 'csv'\n[output]\npath = 'o'\n", "did you mean format?"),
        ("[source]\npath = 'nowhere'\n[output]\npath = 'CONFIG.toml'\n", "is a file"),
        ("[source]\npath = 'nowhere'\n[output]\npath = '.'\n", "no part of a pipeline"),
    ],
)
def test_what_cannot_work_is_one_sentence_and_exit_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    path = tmp_path / "CONFIG.toml"
    path.write_text(text, "utf-8")
    assert main(["pipeline", str(path)]) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1


def test_an_input_that_is_not_there_is_said_before_spark_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "CONFIG.toml"
    path.write_text("[source]\npath = 'runs/first'\n[output]\npath = 'out'\n", "utf-8")
    monkeypatch.setattr("antecede.spark.pipeline.run_pipeline", lambda *_, **__: pytest.fail("Spark was started"))
    assert main(["pipeline", str(path)]) == 2
    assert "runs/first does not exist: correct source.path." in capsys.readouterr().err


def write_config(tmp_path: Path, more: str = "") -> Path:
    (tmp_path / "in").mkdir()
    path = tmp_path / "CONFIG.toml"
    path.write_text(f"[source]\nkind = 'table'\npath = 'in'\n[output]\npath = 'out'\n{more}", "utf-8")
    return path


def test_without_spark_it_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = importlib.metadata.version

    def version(name: str) -> str:
        if name == "pyspark":
            raise importlib.metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    assert main(["pipeline", str(write_config(tmp_path))]) == 2
    error = capsys.readouterr().err
    assert "Spark needs pyspark" in error and "pip install 'antecede[spark]'" in error and error.count("\n") == 1


def test_a_dead_master_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("antecede.spark.sessions.running", lambda: None)  # whatever other tests have running
    path = write_config(tmp_path, "[spark]\nmaster = 'spark://127.0.0.1:1'\n")
    assert main(["pipeline", str(path)]) == 2
    error = capsys.readouterr().err
    assert "no Spark master answers at 127.0.0.1:1" in error and error.count("\n") == 1


@pytest.mark.parametrize("words", [["--out", "file/below"], ["CONFIG.toml"]])
def test_an_output_that_cannot_be_written_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    write_config(tmp_path).write_text("[source]\npath = 'in'\n[output]\npath = 'file/below'\n", "utf-8")
    assert main(["pipeline", *words]) == 2
    error = capsys.readouterr().err
    assert "file/below" in error and "Not a directory" in error and error.count("\n") == 1


def test_nothing_new_is_said_without_starting_spark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from antecede.spark.again import whole_key
    from antecede.spark.stamps import Ledger

    path = write_config(tmp_path)
    config = load_config(path)
    (tmp_path / "out").mkdir()
    Ledger(tmp_path / "out").save(report=Report("out", 0, (Stage("ordered", 0),)).to_json(), key=whole_key(config))
    commit(tmp_path / "out" / "ordered", Manifest(-1, None, {}, (), ()))
    monkeypatch.setattr("antecede.spark.sessions.check_packages", lambda: pytest.fail("Spark is not needed"))
    assert main(["pipeline", str(path)]) == 0
    assert "Nothing has changed since this was last run: nothing was done." in capsys.readouterr().out


def test_out_is_for_the_demonstration(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pipeline", str(tmp_path / "c.toml"), "--out", str(tmp_path)]) == 2
    assert "for the demonstration" in capsys.readouterr().err


def test_the_report_for_people_and_for_programs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pipeline, "demonstrate", lambda out: REPORT)
    assert main(["pipeline"]) == 2, "all is written, and some of it is in quarantine"
    shown = capsys.readouterr().out.splitlines()
    assert shown[2].split() == ["ordered", "1,000", "990", "delivered,", "10", "late", "2.2"]
    assert shown[3].endswith("done before")
    assert shown[5] == "1,010 rows in = 1,010 rows out; 1 damaged files or parts are named in quarantine."
    assert main(["pipeline", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["rows_in"] == 1_010


def test_the_report_fits_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    counts = {f"time is not a time: {n:04}": 1 for n in range(5)}
    pipeline.show(Report("out", 5, (Stage("quarantine", 5, {ROWS_IN: 5, **counts}, 28.1),)))
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    assert all(f"{n:04}" in shown for n in range(5))


def test_what_was_found_or_does_not_reconcile_is_exit_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = Report("out", 1, (Stage("ordered", 1), Stage("findings", 2, {"records inversion": 2})))
    monkeypatch.setattr(pipeline, "demonstrate", lambda out: found)
    assert main(["pipeline"]) == 1 and "2 records inversion" in capsys.readouterr().out
    monkeypatch.setattr(pipeline, "demonstrate", lambda out: Report("out", 2, (Stage("ordered", 1),)))
    assert main(["pipeline"]) == 1 and "do not reconcile" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("stages", "code"),
    [
        ((Stage("quarantine", 0, {ROWS_IN: 3}), Stage("ordered", 3, {"delivered": 2, "late": 1})), 0),
        ((Stage("quarantine", 1, {ROWS_IN: 3, "id is null": 1}), Stage("ordered", 2, {"delivered": 2})), 2),
        ((Stage("quarantine", 0, {ROWS_IN: 3}), Stage("ordered", 3, {"delivered": 2, "invalid": 1})), 2),
        ((Stage("quarantine", 0, {ROWS_IN: 3}), Stage("ordered", 3, {"delivered": 1, "cycle": 2})), 2),
        ((Stage("quarantine", 1, {ROWS_IN: 3}), Stage("ordered", 1, {"delivered": 1})), 1),
    ],
    ids=["all-fine", "quarantine", "invalid", "cycle", "not-reconciled"],
)
def test_what_could_not_be_read_or_ordered_is_exit_2_as_for_order(stages: tuple[Stage, ...], code: int) -> None:
    assert pipeline.code_of(Report("out", 3, stages)) == code
