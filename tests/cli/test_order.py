"""`antecede order`: tables, runs and logs, batch and stream; where every row went, sentences and exit codes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
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
from antecede.spark.manifest import committed
from antecede.trace.parquet import write_run
from tests.spark.hostile import CASES, Case, fates

app = typer.Typer()
app.command()(order)


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout


def table(ids: list[str], parents: list[list[str]], first: int = 0) -> pa.Table:
    kinds = pa.schema({"id": pa.string(), "parents": pa.list_(pa.string()), "at": pa.int64()})
    return pa.table({"id": ids, "parents": parents, "at": list(range(first, first + len(ids)))}, schema=kinds)


def rows_of(folder: Path) -> list[dict[str, Any]]:
    """What a table holds, by its manifest."""
    names = [folder / file.path for manifest in committed(folder) for file in manifest.files]
    return [row for name in names for row in pq.read_table(name).to_pylist()]


def places(folder: Path) -> dict[str, int | None]:
    return {row["id"]: row["causal_pos"] for row in rows_of(folder)}


NAMED = ("--id", "id", "--parents", "parents", "--arrived", "at")


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_a_table_batch_then_the_rows_without_a_place_elsewhere(spark: Any, tmp_path: Path, engine: str) -> None:
    pq.write_table(table(["c", "b", "a", "b"], [["b"], ["a"], [], ["a"]]), tmp_path / "in.parquet")
    told = (tmp_path / "in.parquet", *NAMED, "--engine", engine)
    code, shown = run(*told, "--out", tmp_path / "out")
    assert code == 0 and "4 rows in = 4 rows in" in shown
    code, shown = run(*told, "--out", tmp_path / "good", "--late", tmp_path / "late", "--json")
    report = json.loads(shown)
    assert code == 0 and report["fates"] == {"delivered": 3, "duplicate": 1} and report["reconciled"]
    assert report["engine"] == engine
    assert places(tmp_path / "good") == {"a": 0, "b": 1, "c": 2} and places(tmp_path / "late") == {"b": None}
    with pytest.raises(InputError, match="not empty"):
        run(tmp_path / "in.parquet", *NAMED, "--out", tmp_path / "out")


def test_rows_without_a_place_are_named_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("event.id,reply to\na,b\nb,a\n,a\nc,\nc,\nd,x\n")
    columns = ("--id", "event.id", "--parents", "reply to", "--unknown", "skip")
    code, shown = run(tmp_path / "in.csv", *columns, "--out", tmp_path / "out")
    assert code == 2
    assert "cycle: a: it is among its own ancestors" in shown and "duplicate: c: its id came before" in shown
    assert "invalid: a row without an id: id is null" in shown and "(column missing): 1 (x)\n" in shown
    assert "not stand in this order" in shown and "No --arrived: rows that do not come after each other" in shown


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_the_command_that_is_shown_prints_the_places_in_order(spark: Any, tmp_path: Path, engine: str) -> None:
    (tmp_path / "in.csv").write_text("my $id,reply to,room,at\nb,a,1,1\na,,1,2\nc,,2,3\n")
    columns = ("--id", "my $id", "--parents", "reply to", "--group", "room", "--arrived", "at", "--engine", engine)
    code, shown = run(tmp_path / "in.csv", *columns, "--out", tmp_path / "out")
    command = shown.splitlines()[-1].strip()
    assert code == 0 and "No --arrived" not in shown and command.startswith('python -c "')
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    printed = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=environment, check=True)
    rows = [line.split()[1:] for line in printed.stdout.splitlines()]
    assert rows[1:] == [["1", "0", "a", "delivered"], ["1", "1", "b", "delivered"], ["2", "0", "c", "delivered"]]


def test_some_parents_that_were_not_there_are_named(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("id,parents\na,v;w\nb,x;y;z\nc,v\n")
    columns = ("--id", "id", "--parents", "parents", "--unknown", "skip")
    assert "(column missing): 6 (v, w, x, ...)" in run(tmp_path / "in.csv", *columns, "--out", tmp_path / "out")[1]


def test_a_sentence_has_the_options_of_the_command(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("id,parents,room\na,b,1\nragged\n")
    told = (tmp_path / "in.csv", "--id", "id", "--parents", "parents", "--out", tmp_path / "out")
    with pytest.raises(InputError, match=r"group 1: say --unknown skip to go on .* with --wait-us or --deadline\. 1 l"):
        run(*told, "--group", "room")
    with pytest.raises(InputError, match=r"^--unknown is maybe; it may be skip: what never comes .* skipped$"):
        run(*told, "--unknown", "maybe")
    with pytest.raises(InputError, match=r"^there is no column rooms for group .* the table has id, parents, room$"):
        run(*told, "--group", "rooms")
    with pytest.raises(InputError, match=r"the column of arrivals \(--arrived\) or of times \(--time\)$"):
        run(*told, "--wait-us", 5)
    with pytest.raises(InputError, match=r"^name the column of the id with --id \("):
        run(tmp_path / "in.csv", "--parents", "parents", "--out", tmp_path / "out")


def test_a_table_inside_another_is_refused(tmp_path: Path) -> None:
    pq.write_table(table(["a"], [[]]), tmp_path / "in.parquet")
    assert run(tmp_path / "in.parquet", *NAMED, "--out", tmp_path / "out")[0] == 0
    for option in (
        ("--out", tmp_path / "out" / "x"),
        ("--out", tmp_path / "y", "--late", tmp_path / "out" / "z" / "x"),
    ):
        with pytest.raises(InputError, match=r"is inside the table .*out, with which it would be read"):
            run(tmp_path / "in.parquet", *NAMED, *option)
    assert not (tmp_path / "out" / "x").exists() and not (tmp_path / "y").exists()


def test_a_parent_that_is_nowhere_needs_a_word(tmp_path: Path) -> None:
    pq.write_table(table(["b"], [["a"]]), tmp_path / "in.parquet")
    with pytest.raises(InputError, match="--unknown skip"):
        run(tmp_path / "in.parquet", *NAMED, "--out", tmp_path / "out")
    code, told = run(tmp_path / "in.parquet", *NAMED, "--unknown", "skip", "--out", tmp_path / "skipped", "--json")
    assert code == 0 and json.loads(told)["missing"] == 1


@pytest.mark.parametrize(
    ("factor", "unit"), [(1, "seconds"), (10**3, "milliseconds"), (10**6, None), (10**9, "nanoseconds")]
)
def test_times_in_another_unit_are_pointed_out(tmp_path: Path, factor: int, unit: str | None) -> None:
    at = 1_700_000_000
    (tmp_path / "in.csv").write_text(f"id,parents,at\na,,{at * factor}\nb,a,{(at + 9) * factor}\n")
    told = (tmp_path / "in.csv", "--id", "id", "--parents", "parents", "--time", "at")
    code, shown = run(*told, "--wait-us", "5000000", "--out", tmp_path / "out")
    said = f"The numbers of column at look like {unit} since 1970, and were taken for microseconds"
    assert code == 0 and ("look like" in shown) == (unit is not None) and (unit is None or said in shown)
    assert "look like" not in run(*told, "--out", tmp_path / "unbounded")[1]


def test_a_parent_in_a_line_that_cannot_be_read_is_not_said_to_be_nowhere(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_bytes(b"id,parents,who\n1,,M\xfcller\n2,1,Ann\n")
    told = (tmp_path / "in.csv", "--id", "id", "--parents", "parents")
    with pytest.raises(InputError, match=r"2 comes after 1, .*\. 1 line could not be read, the first in .*M\\xfcller"):
        run(*told, "--out", tmp_path / "out")
    assert run(*told, "--encoding", "latin-1", "--out", tmp_path / "out")[0] == 0


def test_a_stream_goes_on_where_it_was_and_tells_what_waits(spark: Any, tmp_path: Path) -> None:
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


def test_a_stream_of_csv_sets_damaged_rows_aside_and_goes_on(spark: Any, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "1.csv").write_text("id,parents,at\nc,b,0\nragged\nb,a,1\n")
    told = (folder, *NAMED, "--unknown", "skip", "--stream", "--out", tmp_path / "out", "--json")
    code, shown = run(*told)
    assert code == 2 and (json.loads(shown)["held"], json.loads(shown)["quarantined"]) == (2, 1)
    (folder / "2.csv").write_text('id,parents,at\na,,2\n"open\n')
    code, shown = run(*told)
    report = json.loads(shown)
    assert code == 2 and report["reconciled"] and (report["rows_in"], report["quarantined"]) == (5, 2)
    assert places(tmp_path / "out") == {"a": 0, "b": 1, "c": 2}
    assert sorted(row["row"] for row in rows_of(tmp_path / "out.quarantine")) == ['"open', "ragged"]


def test_a_run_needs_no_columns_named(spark: Any, tmp_path: Path) -> None:
    scenario = antecede.Scenario(recipe="solicit", brokers=3, subscribers=0, messages=20, loss=0.1, seed=3)
    made = simulate(scenario)
    write_run(tmp_path / "run", made.rows, made.body())
    code, told = run(tmp_path / "run", "--out", tmp_path / "out", "--json")
    report = json.loads(told)
    assert code == 0 and report["reconciled"] and report["fates"]["delivered"] > 20


def arguments(case: Case, folder: Path, out: Path) -> list[object]:
    told: list[object] = [folder, "--out", out, "--unknown", "skip", "--json"]
    for role, column in case.columns.items():
        told += [f"--{role}", column]
    return told if case.encoding is None else [*told, "--encoding", case.encoding]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_row_of_a_hostile_table_has_its_fate_or_its_reason(case: Case, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    case.write(tmp_path / "in")
    told = arguments(case, tmp_path / "in", tmp_path / "out")
    if case.refused is not None:
        with pytest.raises(InputError, match=re.escape(case.refused)):
            run(*told)
        assert not (tmp_path / "out").exists()
        return
    code, shown = run(*told)
    report = json.loads(shown)
    assert (code, report["engine"], report["reconciled"]) == (case.exit_code, "local", True)
    assert (report["rows_in"], report["quarantined"]) == (case.rows_in, case.aside)
    assert report["fates"] == fates(case.rows)
    for row in rows_of(tmp_path / "out"):
        assert (row["why"] is not None) == (row["fate"] in ("invalid", "cycle"))
    if case.aside:
        assert all(row["file"] and row["reason"] and row["row"] for row in rows_of(tmp_path / "out.quarantine"))


def test_damaged_rows_go_to_the_quarantine_as_they_were_written(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_bytes(b'id,parents\nb,a\na\n"c,\nd\xff,\na,\n')
    code, shown = run(tmp_path / "in.csv", "--id", "id", "--parents", "parents", "--out", tmp_path / "out")
    assert code == 2 and "5 rows in = 2 rows in" in shown and "+ 3 in" in shown
    found = {row["row"]: row["reason"] for row in rows_of(tmp_path / "out.quarantine")}
    assert set(found) == {"a", '"c,', "d\\xff,"} and "1 cell where" in found["a"] and "quote" in found['"c,']


def test_hostile_tables_through_spark(spark: Any, tmp_path: Path) -> None:
    """Those in which Spark's own readers and names would have gone wrong; all of them pass through the local engine."""
    for number, name in enumerate(THROUGH_SPARK):
        case = next(case for case in CASES if case.name == name)
        folder = tmp_path / str(number)
        folder.mkdir()
        case.write(folder)
        told = [*arguments(case, folder, tmp_path / f"out {number}"), "--engine", "spark"]
        if case.refused is not None:
            with pytest.raises(InputError, match=re.escape(case.refused)):
                run(*told)
            continue
        code, shown = run(*told)
        report = json.loads(shown)
        assert (code, report["engine"], report["reconciled"]) == (case.exit_code, "spark", True), name
        assert (report["rows_in"], report["quarantined"]) == (case.rows_in, case.aside), name
        assert report["fates"] == fates(case.rows), name


THROUGH_SPARK = (
    "id and ID",
    "dotted and spaced names in csv",
    "circles and bad rows in csv",
    "clocks that are none",
    "a torn file among good ones",
    "types that differ",
    "times that are none",
)
"""All 82 take minutes."""


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nowhere", "--out", "o"], "does not exist"),
        ([".", "--out", "o", "--held", "h"], "add --stream"),
        ([".", "--out", "o", "--engine", "java"], "may be auto, local or spark"),
        ([".", "--out", "o", *NAMED], "holds no Parquet"),
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
    (tmp_path / "in.csv").write_text("id,parents\n")
    told = (tmp_path / "in.csv", "--id", "id", "--parents", "parents", "--out", tmp_path / "o", "--engine", "local")
    for more, word in ((("--master", "local[1]"), "--master"), (("--stream",), "one file")):
        with pytest.raises(InputError, match=word):
            run(*told, *more)
    with pytest.raises(InputError, match="no encoding klingon"):
        run(*told, "--encoding", "klingon")
