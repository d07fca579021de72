"""What `antecede explore` prints, writes and refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from antecede import cli
from antecede.core.order.reader import Reader

Capture = pytest.CaptureFixture[str]
FAULTY = ("--members", 2, "--losses", 1, "--slow", 1, "--deadline-ms", 100, "--script", "A G1; A G1 within 30")


@pytest.fixture
def command(capsys: Capture) -> Callable[..., tuple[int, str, str]]:
    def call(*arguments: object) -> tuple[int, str, str]:
        code = cli.main(["explore", *map(str, arguments)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_a_clean_search_says_how_much_it_saw(command: Any) -> None:
    code, out, err = command("--recipe", "graph", "--messages", 1)
    assert code == 0 and not err
    assert out.startswith("graph (repaired): complete, no violation. ") and " states, " in out and out.count("\n") == 1


def test_for_programs(command: Any) -> None:
    code, out, _ = command("--messages", 1, "--losses", 0, "--json")
    body = json.loads(out)
    assert code == 0 and body["complete"] and body["states"] == 54 and body["recipe"] == "solicit"
    assert body["findings"] == [] and body["transcript"] is None and body["seconds"] > 0


def test_a_violation_is_printed_written_and_can_be_replayed(
    command: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "found.txt"
    with monkeypatch.context() as planted:
        planted.setattr(Reader, "stale", lambda self, stamp: False)
        code, out, _ = command(*FAULTY, "--out", path)
        assert code == 1 and out.startswith(path.read_text("utf-8")) and "violation found" in out
        assert "verdict: inversion at B: delivered A:1 after A:2" in out
        code, again, _ = command("--replay", path)
        assert code == 1 and again == path.read_text("utf-8")
        code, out, _ = command(*FAULTY, "--json")
        assert code == 1 and json.loads(out)["findings"][0]["verdict"] == "inversion"
    code, out, _ = command("--replay", path)
    assert code == 1 and "Not as" in out and "superseded" in out  # mended: it goes another way
    code, out, _ = command("--replay", path, "--json")
    assert code == 1 and json.loads(out)["differs"] and not json.loads(out)["findings"]


def test_a_recipe_that_needs_deadlines_gets_some(command: Any) -> None:
    code, out, _ = command("--recipe", "dcco", "--messages", 1)
    assert code == 0 and "complete" in out


def test_more_states_than_allowed_is_said_and_is_no_success(command: Any) -> None:
    code, out, err = command("--max-states", 100)
    assert code == 2 and "NOT complete" in out and "more than 100 states" in err


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--recipe", "gaph"), "did you mean graph"),
        (("--reading", "printed-z"), "no reading"),
        (("--losses", 1000), "losses is 1000"),
        (("--script", "A sings"), "--script has"),
        (("--replay", "/nowhere.txt"), "nowhere.txt"),
    ],
)
def test_what_cannot_work_is_one_sentence(command: Any, arguments: tuple[object, ...], word: str) -> None:
    code, out, err = command(*arguments)
    assert code == 2 and not out and word in err and err.count("\n") == 1


def test_a_file_that_is_no_text_is_refused(command: Any, tmp_path: Path) -> None:
    path = tmp_path / "bytes"
    path.write_bytes(b"\xff\xfe\x00")
    code, _, err = command("--replay", path)
    assert code == 2 and "must be text" in err


def test_progress_is_shown_to_people_only(command: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr("antecede.cli.progress.PATIENCE_S", 0.0)
    _, out, err = command("--messages", 1)
    assert "steps deep" in err and "steps deep, " not in out.splitlines()[0]
