"""What `antecede simulate` prints, writes, leaves alone and refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from antecede import cli
from antecede.trace.parquet import read_rows

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def command(capsys: Capture) -> Callable[..., tuple[int, str, str]]:
    def call(*arguments: object) -> tuple[int, str, str]:
        code = cli.main(["simulate", *map(str, arguments)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_a_run_is_written_whole_and_can_be_repeated_from_its_scenario(command: Any, tmp_path: Path) -> None:
    code, out, _ = command("--recipe", "solicit", "--messages", 20, "--loss", 0.1, "--json", "--out", tmp_path / "run")
    first = json.loads(out)
    assert code == 0 and sum(first["fates"].values()) == 20 * 9 and first["quiet"]
    assert sorted(f.name for f in (tmp_path / "run").iterdir()) == ["records.parquet", "scenario.json", "totals.json"]
    assert sum(1 for _ in read_rows(tmp_path / "run")) > 20 * 9
    _, out, _ = command("--scenario", tmp_path / "run" / "scenario.json", "--json")
    assert json.loads(out)["digest"] == first["digest"]
    _, out, _ = command("--scenario", tmp_path / "run" / "scenario.json", "--loss", 0.2, "--json")
    assert json.loads(out)["digest"] != first["digest"]


def test_what_people_read(command: Any, tmp_path: Path) -> None:
    code, out, _ = command("--recipe", "cbcast", "--messages", 10, "--out", tmp_path / "run")
    assert code == 0 and "became quiet" in out and "verdict: clean" in out and f"antecede check {tmp_path}" in out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--recipe", "solict"], "There is no recipe 'solict' (did you mean solicit?)."),
        (["--loss", "1.1"], "loss is 1.1: a probability lies between 0 and 1."),
        (["--recipe", "graph", "--groups", "G1=A,Z"], "puts Z into G1, but the brokers are A, B, C, D"),
        (["--churn", "join=x"], "write join=0.1"),
        (["--churn", "walk=0.1"], "write join=0.1"),
        (["--churn", "leave=-1"], "leave is -1"),
        (["--perturb", "few:0.3"], "write one:0.3"),
        (["--perturb", "all:1.5"], "write one:0.3"),
        (["--membership", "guess"], "told or swim"),
        (["--delay-ms", "fast"], "--delay-ms is 'fast': give LO:HI"),
        (["--recipe", "cbcast", "--deadline-ms", "10:20"], "has no deadlines: use --deadline-ms none"),
        (["--recipe", "dcco", "--deadline-ms", "none"], "needs deadlines"),
        (["--recipe", "colour", "--deadline-ms", "10:20"], "In recipe colour all messages live 300 ms (6 rounds)"),
        (["--recipe", "rounds", "--skew-ms", "60"], "Recipe rounds cannot tell rounds of 50000 us apart"),
        (["--recipe", "rounds", "--alpha", "0", "--hop-ms", "150"], "guard and last hop take 150000 us of them"),
        (["--recipe", "home", "--spread", "pull"], "Recipe 'home' has its own way to spread"),
        (["--recipe", "graph", "--spread", "loud"], "There is no way to spread called 'loud'"),
        (["--reading", "aloud"], "has no reading 'aloud'"),
        (["--resume"], "--resume goes with --sweep N"),
        (["--sweep", "3"], "--sweep needs --out DIR"),
        (["--sweep", "0", "--out", "x"], "--sweep is 0: it must be at least 1."),
        (["--sweep", "3", "--loss", "0.1"], "--sweep draws its scenarios: leave out --loss."),
        (["--workload", "none.parquet"], "The workload none.parquet does not exist."),
        (["--latency", "none.parquet"], "The latency file none.parquet does not exist."),
        (["--scenario", "none.json"], "none.json cannot be read"),
    ],
)
def test_bad_input_is_one_sentence_and_writes_nothing(
    command: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    if "--sweep" not in arguments:
        arguments = [*arguments, "--out", "run"]
    code, out, err = command(*arguments)
    assert code == 2 and says in err and err.count("\n") == 1 and out == ""
    assert list(tmp_path.iterdir()) == []


def test_a_directory_with_something_else_is_left_alone(command: Any, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    code, _, err = command("--out", tmp_path, "--messages", 5)
    assert code == 2 and "holds thesis.tex, which is no part of a run" in err
    assert [f.name for f in tmp_path.iterdir()] == ["thesis.tex"]
    code, _, err = command("--out", tmp_path / "thesis.tex", "--messages", 5)
    assert code == 2 and "is a file" in err


def test_a_sweep_says_what_it_judged(command: Any, tmp_path: Path) -> None:
    arguments = ("--recipe", "dcco", "--out", tmp_path, "--json", "--sweep")
    code, out, _ = command(*arguments, 3)
    summary = json.loads(out)
    assert code == 0 and summary["scenarios"] == 3 and sum(summary["fates"].values()) == summary["pairs"] > 0
    code, _, err = command(*arguments, 4)
    assert code == 2 and "add --resume" in err
    code, out, _ = command(*arguments, 4, "--resume")
    assert code == 0 and json.loads(out)["scenarios"] == 4


def test_one_scenario_of_a_sweep_can_be_run_alone(command: Any) -> None:
    code, out, _ = command("--recipe", "dcco", "--seed", 7, "--draw", 2, "--json")
    assert code == 0 and json.loads(out)["events"] > 0
