"""`antecede lab`: what it lists, runs, prints and refuses."""

from __future__ import annotations

import io
import json
import shlex
import sys
from pathlib import Path

import pytest

from antecede.cli import main, progress
from antecede.errors import InputError
from antecede.lab.claims import all_claims


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_list_names_every_claim(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "list"]) == 0
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 80
    lines = [line for line in printed.partition("\n\n")[0].splitlines() if not line.startswith(" ")]
    assert [line.split()[0] for line in lines] == [claim.name for claim in all_claims()]
    assert "1,080 cells: recipe solicit | dcco | delta; round_trips" in printed
    assert main(["lab", "list", "--quick"]) == 0
    assert "36 cells: recipe solicit | dcco | delta; round_trips 1 | 2 | 5; 4 seeds" in capsys.readouterr().out
    assert main(["lab", "list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert listed[0]["name"] == lines[0].split()[0] and listed[0]["cells"] > 0 and listed[0]["sentence"]


def test_list_names_the_claims_that_are_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "list", "acks", "--json"]) == 0
    assert [claim["name"] for claim in json.loads(capsys.readouterr().out)] == ["acks"]
    assert main(["lab", "list", "nonsense"]) == 2
    assert "There is no claim 'nonsense'" in capsys.readouterr().err


def test_who_interrupts_a_run_is_told_how_to_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: object, **named: object) -> None:
        raise KeyboardInterrupt

    out = tmp_path / "a run"
    monkeypatch.setattr("antecede.lab.run.run_claim", interrupted)
    assert main(["lab", "run", "acks", "atomic", "--quick", "--master", "none", "--out", str(out)]) == 130
    again = f"antecede lab run acks atomic --quick --master none --out '{out}' --resume"
    assert f"Go on with:\n  {again}\n" in capsys.readouterr().err
    monkeypatch.undo()
    assert main(shlex.split(again)[1:]) == 0 and "2 claims in" in capsys.readouterr().out


def test_a_person_hears_that_spark_starts_and_how_many_cells_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)

    def begun(*arguments: object, **named: object) -> None:
        assert "starting Spark" in screen.getvalue()
        raise InputError("there is none")

    monkeypatch.setattr("antecede.spark.sessions.session", begun)
    assert main(["lab", "run", "acks", "--out", str(tmp_path)]) == 2
    monkeypatch.setattr(progress, "PATIENCE_S", 0.0)
    monkeypatch.setattr(progress, "EVERY_S", 0.0)
    assert main(["lab", "run", "acks", "--quick", "--master", "none", "--out", str(tmp_path)]) == 0
    assert "acks: 0 of 14 cells" in screen.getvalue() and "acks: 14 of 14 cells" in screen.getvalue()
    assert "\r\x1b[K" in screen.getvalue() and screen.getvalue().endswith(progress.CLEAR)


def test_run_leaves_a_page_and_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["lab", "run", "acks", "atomic", "--quick", "--master", "none", "--out", str(tmp_path)]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert "acks            holds" in said and "report.html" in said
    assert (tmp_path / "report.html").stat().st_size > 10_000
    assert main(words) == 2
    assert "--resume" in capsys.readouterr().err
    assert main([*words, "--resume", "--json"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert [claim["claim"] for claim in body["claims"]] == ["acks", "atomic"] and body["claims"][0]["failed"] == 0


def test_results_can_be_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["lab", "run", "atomic", "--quick", "--master", "none", "--out", str(tmp_path / "run")]
    assert main(words) == 0
    assert main(["lab", "keep", str(tmp_path / "run"), str(tmp_path / "kept")]) == 0
    said = capsys.readouterr().out
    assert "1 claim, 1 of the quick design" in said and "Not measured: late, " in said
    assert main(["lab", "keep", str(tmp_path / "run"), str(tmp_path / "kept"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["claims"] == 1


def test_kept_figures_can_be_drawn_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "run", "acks", "--quick", "--master", "none", "--out", str(tmp_path / "run")]) == 0
    assert main(["lab", "keep", str(tmp_path / "run"), str(tmp_path / "kept")]) == 0
    capsys.readouterr()
    assert main(["lab", "redraw", str(tmp_path / "kept")]) == 0
    assert capsys.readouterr().out.startswith("1 figure drawn from the tables in ")
    page = tmp_path / "kept" / "README.md"
    kept = page.read_text("utf-8")
    page.write_text(kept.replace("| holds |", "| undecided |"), encoding="utf-8")
    assert main(["lab", "redraw", str(tmp_path / "kept")]) == 0
    assert "something else" not in capsys.readouterr().out
    assert page.read_text("utf-8") == kept, "the page follows from what lies beside the table"
    told = tmp_path / "kept" / "tables" / "acks.json"
    told.write_text(told.read_text("utf-8").replace('"holds"', '"undecided"'), encoding="utf-8")
    page.write_text(kept.replace("| holds |", "| undecided |"), encoding="utf-8")
    assert main(["lab", "redraw", str(tmp_path / "kept")]) == 0
    assert "something else than the page: acks." in capsys.readouterr().out
    assert main(["lab", "redraw", str(tmp_path / "kept"), "acks", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"drawn": ["acks"], "stale": ["acks"]}


def test_one_cell_can_be_seen(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "run", "convergence", "--quick", "--cell", "3"]) == 0
    assert json.loads(capsys.readouterr().out)["row"]["correct"] > 100


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["dance"], "cannot 'dance'"),
        (["run"], "needs a name"),
        (["run", "nonsense"], "There is no claim 'nonsense'"),
        (["all", "acks"], "takes no names"),
        (["keep", "runs/lab"], "and then where to keep it"),
        (["redraw"], "needs the folder"),
        (["redraw", "nowhere"], "has no README.md"),
        (["list", "--seeds", "1"], "at least 2"),
        (["run", "acks", "--cell", "999"], "--cell I"),
    ],
)
def test_what_cannot_work_is_refused(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", *words]) == 2
    assert said in capsys.readouterr().err
