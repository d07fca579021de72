"""`antecede show`: a page or a diagram, where it is, and what the command refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from antecede.cli.show import show
from antecede.errors import InputError
from antecede.trace.parquet import write_run
from tests.report.show.stories import ANSWERED, UNORDERED
from tests.trace.tables import rows

app = typer.Typer()
app.command()(show)


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, list(map(str, arguments)))
    if result.exception is not None:
        raise result.exception
    return result.output


def test_the_page_is_written_beside_the_records(tmp_path: Path) -> None:
    write_run(tmp_path, rows(ANSWERED), {"recipe": "solicit", "seed": 4})
    said = run(tmp_path)
    page = tmp_path / "show.html"
    assert "3 messages, 3 processes: " in said and f"open in a browser: {page.as_uri()}" in said
    assert "recipe solicit" in page.read_text("utf-8")


def test_a_diagram_alone_and_what_is_in_it(tmp_path: Path) -> None:
    write_run(tmp_path, rows(ANSWERED))
    told = json.loads(run(tmp_path, "--out", tmp_path / "q.svg", "--message", "q:1", "--json"))
    assert told == {
        "page": str(tmp_path / "q.svg"), "clean": True, "findings": 0, "steps": 8, "lanes": ["p", "q", "r"],
    }  # fmt: skip
    assert (tmp_path / "q.svg").read_text("utf-8").startswith("<svg")
    told = json.loads(run(tmp_path, "--from", "0.04", "--to", "0.05", "--process", "r", "--json"))
    assert told["lanes"] == ["r"] and told["steps"] == 2


def test_what_nobody_ordered_is_judged_as_if_it_had_been(tmp_path: Path) -> None:
    write_run(tmp_path, rows(UNORDERED))
    assert "4 messages" not in run(tmp_path) and "clean" in run(tmp_path)
    assert "NOT clean" in run(tmp_path, "--as", "causal")


def test_a_file_of_records_gets_a_page_of_its_name(tmp_path: Path) -> None:
    write_run(tmp_path, rows(ANSWERED))
    run(tmp_path / "records.parquet")
    assert (tmp_path / "records.html").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--out", "x.png"), "x.png is neither a page"),
        (("--message", "q:1", "--from", "3"), "--message shows one message from beginning to end"),
        (("--message", "q:9"), "Nobody published 'q:9'"),
        (("--from", "99999999"), "Nothing happens in this stretch: the run begins at 0 ms and ends at 0.2 ms"),
        (("--from", "0.04", "--to", "0.03", "--process", "r"), "Nothing happens at r in this stretch"),
        (("--process", "z"), "No process of this run is called 'z'"),
        (("--as", "total"), "there is no order 'total'"),
    ],
)
def test_what_cannot_be_shown_is_said(arguments: tuple[str, ...], sentence: str, tmp_path: Path) -> None:
    write_run(tmp_path, rows(ANSWERED))
    with pytest.raises(InputError, match=sentence):
        run(tmp_path, *arguments)
