"""`antecede order`: tables, runs and logs, batch and stream; where every row went, sentences and exit codes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer
from typer.testing import CliRunner

import antecede
from antecede.cli.order import order
from antecede.errors import InputError
from antecede.sim.run import simulate
from antecede.trace.parquet import write_run

app = typer.Typer()
app.command()(order)


@pytest.fixture(scope="module", autouse=True)
def spark() -> Iterator[Any]:
    """The session that runs already, else one for these tests."""
    from antecede.spark.sessions import running, session

    there = running()
    yield there or session("local[2]", app="antecede tests", settings={"spark.driver.memory": "1g"})
    if there is None:
        session().stop()


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout


def table(ids: list[str], parents: list[list[str]], first: int = 0) -> pa.Table:
    kinds = pa.schema({"id": pa.string(), "parents": pa.list_(pa.string()), "at": pa.int64()})
    return pa.table({"id": ids, "parents": parents, "at": list(range(first, first + len(ids)))}, schema=kinds)


def places(folder: Path) -> dict[str, int | None]:
    from antecede.spark.sessions import session
    from antecede.spark.sink import read

    return {row.id: row.causal_pos for row in read(session(), folder).collect()}


NAMED = ("--id", "id", "--parents", "parents", "--arrived", "at")


def test_a_table_batch_then_the_rows_without_a_place_elsewhere(tmp_path: Path) -> None:
    pq.write_table(table(["c", "b", "a", "b"], [["b"], ["a"], [], ["a"]]), tmp_path / "in.parquet")
    code, shown = run(tmp_path / "in.parquet", *NAMED, "--out", tmp_path / "out")
    assert code == 0 and "4 rows in = 4 rows in" in shown
    code, told = run(tmp_path / "in.parquet", *NAMED, "--out", tmp_path / "good", "--late", tmp_path / "late", "--json")
    report = json.loads(told)
    assert code == 0 and report["fates"] == {"delivered": 3, "duplicate": 1} and report["reconciled"]
    assert places(tmp_path / "good") == {"a": 0, "b": 1, "c": 2} and places(tmp_path / "late") == {"b": None}
    with pytest.raises(InputError, match="not empty"):
        run(tmp_path / "in.parquet", *NAMED, "--out", tmp_path / "out")


def test_a_parent_that_is_nowhere_needs_a_word(tmp_path: Path) -> None:
    pq.write_table(table(["b"], [["a"]]), tmp_path / "in.parquet")
    with pytest.raises(InputError, match="a"):
        run(tmp_path / "in.parquet", *NAMED, "--out", tmp_path / "out")
    code, told = run(tmp_path / "in.parquet", *NAMED, "--unknown", "skip", "--out", tmp_path / "skipped", "--json")
    assert code == 0 and json.loads(told)["missing"] == 1


def test_a_stream_goes_on_where_it_was_and_tells_what_waits(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    pq.write_table(table(["c", "b"], [["b"], ["a"]]), folder / "1.parquet")
    arguments = (folder, *NAMED, "--unknown", "skip", "--stream", "--out", tmp_path / "out", "--json")
    code, told = run(*arguments, "--held", tmp_path / "held")
    assert code == 0 and json.loads(told)["held"] == 2 and places(tmp_path / "held") == {"b": 0, "c": 1}
    pq.write_table(table(["a"], [[]], 2), folder / "2.parquet")
    code, told = run(*arguments, "--late", tmp_path / "late")
    assert code == 0 and json.loads(told)["fates"] == {"delivered": 3} and json.loads(told)["held"] == 0
    assert places(tmp_path / "out") == {"a": 0, "b": 1, "c": 2} and places(tmp_path / "late") == {}


def test_a_run_needs_no_columns_named(tmp_path: Path) -> None:
    scenario = antecede.Scenario(recipe="solicit", brokers=3, subscribers=0, messages=20, loss=0.1, seed=3)
    made = simulate(scenario)
    write_run(tmp_path / "run", made.rows, made.body())
    code, told = run(tmp_path / "run", "--out", tmp_path / "out", "--json")
    report = json.loads(told)
    assert code == 0 and report["reconciled"] and report["fates"]["delivered"] > 20


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nowhere", "--out", "o"], "does not exist"),
        ([".", "--out", "o", "--held", "h"], "add --stream"),
    ],
)
def test_what_cannot_work_is_one_sentence(
    arguments: list[str], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=sentence):
        run(*arguments)
    with pytest.raises(InputError, match="holds no Parquet"):
        run(tmp_path, *NAMED, "--unknown", "skip", "--stream", "--out", tmp_path / "o")
