"""`antecede demo`: the whole table on small runs, and what it says when a run is not clean."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from antecede.cli import demo, main, weathers
from antecede.core.recipes import RECIPES
from antecede.errors import EnvironmentFault
from antecede.sim.opening import tell
from antecede.sim.run import Run
from antecede.spark.outcome import Report as PipelineReport
from antecede.spark.outcome import Stage
from antecede.trace.report import Finding, Report
from tests.cli.processes import running


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(weathers, "MESSAGES", 20)
    monkeypatch.chdir(tmp_path)


def test_every_recipe_is_run_in_every_weather_and_is_clean(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--all", "--seeds", "1", "--no-spark", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {(line["recipe"], line["weather"]) for line in told["lines"]} == {
        (r, w) for r in RECIPES for w in weathers.WEATHERS
    }
    for line in told["lines"]:
        assert sum(line["fates"].values()) == line["pairs"] > 0
        assert line["deadlines"] or RECIPES[line["recipe"]].deadlines != "yes"


def test_the_table_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--all", "--seeds", "2", "--recipe", "solicit"]) == 0
    shown = capsys.readouterr().out
    assert shown.splitlines()[1].split()[-1] == "clean" and "12 runs," in shown and "12 runs clean." in shown
    assert "dcco" not in shown


def test_one_line_per_recipe_in_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--seeds", "1", "--no-spark"]) == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines()[:-1])) <= 80, "the last line is an address"
    assert shown.startswith("\n".join(tell())), "the point comes first"
    heads, *table = shown[shown.index("recipe   ") :].splitlines()
    assert heads.split() == ["recipe", "kept", "ends", "by", "delivered", "order", "per", "pair", "ms"]
    lines = {line.split()[0]: line.split() for line in table[: len(RECIPES)]}
    assert set(lines) == set(RECIPES)
    assert lines["solicit"][1:3] == ["causal", "deadline"] and lines["solicit"][4] == "0"
    assert lines["pbcast"][1:3] == ["none", "never"] and int(lines["pbcast"][4].replace(",", "")) > 0
    assert "because the recipe does not promise them: colour: idle; colour-eager:" in " ".join(shown.split())
    assert [line.strip() for line in shown.splitlines()[-5 - len(demo.NEXT) : -5]] == list(demo.NEXT)
    assert shown.splitlines()[-4].strip() == demo.BROKER


@pytest.mark.parametrize("line", demo.NEXT)
def test_what_to_try_next_works(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = [shlex.split(text)[1:] for text in demo.NEXT]
    assert main(words[0]) == 0
    assert main(shlex.split(line)[1:]) == (1 if "check" in line else 0), "plain gossip is not in causal order"


def test_a_page_with_pictures_is_left_to_open(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--seeds", "1", "--no-spark"]) == 0
    last = capsys.readouterr().out.splitlines()[-2:]
    page = tmp_path / "runs" / "demo.html"
    assert last == ["The same with pictures, a page to open:", f"  {page.as_uri()}"]
    text = page.read_text("utf-8")
    assert text.count("<svg") == 3 and all(f"<td>{name}</td>" in text for name in RECIPES)
    (tmp_path / "file").touch()
    assert main(["demo", "--seeds", "1", "--no-spark", "--page", str(tmp_path / "file" / "demo.html")]) == 0
    assert "The page with pictures was not written: " in capsys.readouterr().out


def test_the_broker_to_try_next_tells_what_to_type_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTECEDE_LISTEN", "127.0.0.1:0")
    with running(*shlex.split(demo.BROKER)[1:]) as broker:
        assert broker.stdout is not None and " listens on " in broker.stdout.readline()
        assert "in another terminal:" in broker.stdout.readline()
        assert "  antecede sub 'room/#'" in broker.stdout.readline()


def test_a_run_that_is_not_clean_is_named_and_can_be_replayed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def accuse(run: Run) -> Report:
        finding = Finding("inversion", "S1", "A:1", "A:2", 7, "A:1 was delivered after A:2, which it caused.")
        wrong = run.scenario.seed == 1 and run.scenario.loss == 0.3
        return Report([finding] if wrong else [], pairs=1, messages=1)

    monkeypatch.setattr("antecede.trace.check.check", accuse)
    assert main(["demo", "--all", "--seeds", "2", "--recipe", "dcco"]) == 1
    shown = capsys.readouterr().out
    assert "1 inversion" in shown and "5 runs clean." in shown
    (replay,) = [line for line in shown.splitlines() if line.startswith("Not clean: ")]
    words = shlex.split(replay.removeprefix("Not clean: "))
    assert words[:4] == ["antecede", "simulate", "--recipe", "dcco"]
    for knob, value in [
        ("--seed", "1"),
        ("--loss", "0.3"),
        ("--deadline-ms", "200:400"),
        ("--partition", "A,B|C,D@400-900"),
    ]:
        assert words[words.index(knob) + 1] == value


REPORT = PipelineReport("out", 5, (Stage("quarantine", 0), Stage("ordered", 5, {"delivered": 5}), Stage("findings", 0)))


def test_it_ends_with_a_pipeline(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(demo, "in_the_storm", lambda recipes: iter(()))
    monkeypatch.setattr(demo, "demonstrate", lambda: REPORT)
    assert main(["demo"]) == 0
    assert "5 rows in = 5 rows out." in capsys.readouterr().out
    monkeypatch.setattr(demo, "demonstrate", lambda: replace(REPORT, rows_in=6))
    assert main(["demo", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["pipeline"]["reconciled"] is False


def test_without_spark_it_says_why(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> PipelineReport:
        raise EnvironmentFault("No Java 17 here: install one.")

    monkeypatch.setattr(demo, "in_the_storm", lambda recipes: iter(()))
    monkeypatch.setattr(demo, "demonstrate", fail)
    assert main(["demo"]) == 0
    assert "It was left out: No Java 17 here: install one." in capsys.readouterr().out


def test_an_unknown_recipe_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--recipe", "nonsense"]) == 2
    assert "nonsense" in capsys.readouterr().err
