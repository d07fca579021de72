"""`antecede audit`: sentences, tables, JSON and exit codes; the JSON is shaped like that of `antecede check`."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer
from typer.testing import CliRunner

from antecede.cli.audit import audit
from antecede.errors import InputError
from antecede.trace.check import check
from antecede.trace.parquet import write_run
from tests.cli.test_check import AGAIN, CLEAN, END
from tests.trace.tables import rows
from tests.trace.test_verdicts import LOST

app = typer.Typer()
app.command()(audit)


@pytest.fixture(params=["local", "spark"])
def engine(request: pytest.FixtureRequest) -> str:
    if request.param == "spark":
        request.getfixturevalue("spark")
    return str(request.param)


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(arguments))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


def test_a_clean_run_and_one_that_is_not(tmp_path: Path, engine: str) -> None:
    write_run(tmp_path / "one", rows(CLEAN))
    code, shown = run(str(tmp_path / "one"), "--engine", engine)
    assert code == 0
    assert "clean: 0 findings in 2 deliveries (10 rows) of 2 processes, 2 messages; 0 set aside" in shown
    write_run(tmp_path / "two", rows(AGAIN))
    code, shown = run(str(tmp_path), "--out", str(tmp_path / "found"), "--engine", engine)
    assert code == 1
    assert f"duplicate: {tmp_path / 'two'}: test: q, step 5: delivered p:1 a second time\n" in shown
    [finding] = pq.read_table(tmp_path / "found" / "findings").to_pylist()
    assert (finding["verdict"], finding["process"], finding["step"]) == ("duplicate", "q", 5)
    with pytest.raises(InputError, match="not empty"):
        run(str(tmp_path / "one"), "--out", str(tmp_path / "found"))


def test_who_was_killed_may_be_named(tmp_path: Path, engine: str) -> None:
    write_run(tmp_path, rows(CLEAN.replace(END, "")))
    code, shown = run(str(tmp_path), "--engine", engine)
    assert code == 2 and f"Not clean: {tmp_path}: the records of q stop without an end: what it did later" in shown
    assert "expected; say so with:\n  --crashed q\n" in shown and "NOT clean: 0 findings" in shown
    code, shown = run(str(tmp_path), "--engine", engine, "--crashed", "q", "--crashed", "p")
    assert code == 0 and f"Pending, as --crashed says: {tmp_path}: the records of q" in shown
    assert "not all could be judged: 0 findings" in shown and "say so with" not in shown


def test_a_gap_says_whose_deadline_it_means(tmp_path: Path) -> None:
    write_run(tmp_path, rows(LOST.replace("r 115 deliver q:1 deadline", "r 60 deliver q:1")))
    assert "(the logical deadline of q:1 less guard is 0.115 ms)" in check(tmp_path).findings[0].text
    shown = run(str(tmp_path))[1]
    assert "delivered q:1 at 0.06 ms without p:1, before the logical deadline of q:1, if it has any, less the" in shown


def test_json_is_shaped_like_that_of_check(tmp_path: Path) -> None:
    write_run(tmp_path, rows(CLEAN.replace(END, "q 30 deliver p:1\n" * 3 + END)))
    code, shown = run(str(tmp_path), "--json", "--limit", "2")
    told, twin = json.loads(shown), check(tmp_path).to_json()
    assert code == 1 and told["left_out"] == {"findings": 1} and len(told["findings"]) == 2
    for name in ("clean", "rows", "processes", "messages"):
        assert told[name] == twin[name]
    assert told["counts"]["duplicate"] == twin["counts"]["duplicate"] == 3
    assert set(twin["findings"][0]) <= set(told["findings"][0])


def test_what_could_not_be_judged_is_exit_2(tmp_path: Path) -> None:
    write_run(tmp_path, rows(CLEAN))
    file = tmp_path / "records.parquet"
    file.write_bytes(file.read_bytes()[:300])
    code, shown = run(str(tmp_path))
    assert code == 2 and "set aside:" in shown and "truncated Parquet file" in shown


def test_a_table_of_ones_own(tmp_path: Path, engine: str) -> None:
    (tmp_path / "log.csv").write_text("node,n,msg,refs\nr,1,b,a\nr,2,a,\nr,3,c,b;x\n", "utf-8")
    columns = ("--id", "msg", "--parents", "refs", "--receiver", "node", "--position", "n", "--engine", engine)
    code, shown = run(str(tmp_path / "log.csv"), *columns)
    assert code == 1 and "inversion: r, step 2: delivered a after b, although a -> b" in shown
    (tmp_path / "log.csv").write_text('node,n,msg,refs\nr,1,003,"[""002""]"\nr,2,002,\nr,3,2,\n', "utf-8")
    code, shown = run(str(tmp_path / "log.csv"), *columns)
    assert code == 1 and "delivered 002 after 003" in shown and "3 messages; 0 set aside" in shown
    table = pa.table({"node": ["r"], "n": [1], "msg": ["a"], "refs": [["x"]]})
    pq.write_table(table, tmp_path / "log.parquet")
    code, shown = run(str(tmp_path / "log.parquet"), *columns, "--json")
    told = json.loads(shown)
    assert code == 0 and told["counts"] == {"inversion": 0, "duplicate": 0, "missing": 1} and told["engine"] == engine


def test_what_is_set_aside_and_what_has_no_order_is_told(tmp_path: Path, engine: str) -> None:
    table = tmp_path / "log.csv"
    columns = ("--id", "msg", "--parents", "refs", "--position", "n", "--engine", engine)
    table.write_text("n,msg,refs\n0,x,y\n0,y,x\n1,b,a\n1,a,\n2,c,d\n3,d,\n4,e,,ragged\n")
    code, shown = run(str(table), *columns)
    assert code == 1 and "delivered d after c" in shown and "delivered a after b" not in shown
    assert "set aside: x is among its own causes" in shown and "4,e,,ragged" in shown
    assert "2 deliveries stand at the position of another: these have no order among themselves" in shown
    assert "1 finding in 4 deliveries (7 rows) of 1 receiver, 6 messages; 3 set aside (3 rows not judged)" in shown
    table.write_text("n,msg,refs\nsoon,b,a\n7,,\n1,a,\n")
    code, shown = run(str(table), *columns)
    assert (
        "set aside: b: position is neither a whole number nor a time: soon" in shown
        and "set aside: position 7: id is null" in shown
    )
    table.write_text('n,msg,refs\n1,"b\n",a\nragged\n\n3,,a\n')
    shown = run(str(table), "--id", "msg", "--parents", "refs", "--engine", engine)[1]
    assert "set aside: line 6: id is null" in shown and "1 cell where the header has 3 (line 4): ragged" in shown
    table.write_text("n,msg,refs\n1,b,a\n1,a,\n")
    code, shown = run(str(table), *columns)
    assert code == 0 and "clean: 0 findings" in shown and "2 deliveries stand at" in shown


def test_a_position_may_be_a_time(tmp_path: Path, engine: str) -> None:
    (tmp_path / "log.csv").write_text("at,msg,refs\n2024-05-01T12:00:01Z,a,\n2024-05-01T13:59:59+02:00,b,a\n")
    told = ("--id", "msg", "--parents", "refs", "--position", "at", "--engine", engine)
    code, shown = run(str(tmp_path / "log.csv"), *told)
    assert code == 1 and "delivered a after b, although a -> b" in shown
    when = pa.array([1_714_564_801_000_000, 1_714_564_799_000_000], pa.timestamp("us", "Europe/Berlin"))
    pq.write_table(pa.table({"at": when, "msg": ["a", "b"], "refs": ["", "a"]}), tmp_path / "log.parquet")
    code, again = run(str(tmp_path / "log.parquet"), *told)
    assert code == 1 and "delivered a after b, although a -> b" in again
    where = "inversion: all, 2024-05-01T12:00:01Z: delivered a after b"
    assert where in shown and where in again
    (tmp_path / "texts.jsonl").write_text('{"at": "2024-05-01T12:00:01Z", "msg": "a"}\n{"at": "2024-05-01"}\n')
    told = ("--id", "msg", "--parents", "msg", "--position", "at", "--engine", engine)
    assert "set aside: 2024-05-01T00:00:00Z: id is null" in run(str(tmp_path / "texts.jsonl"), *told)[1]


def test_some_of_what_is_missing_is_named(tmp_path: Path, engine: str) -> None:
    (tmp_path / "log.csv").write_text("msg,refs,who\na,v;w,r\nb,x;y,r\nc,a,s\n")
    told = (str(tmp_path / "log.csv"), "--id", "msg", "--parents", "refs", "--receiver", "who", "--engine", engine)
    code, shown = run(*told)
    named = [line for line in shown.splitlines() if line.startswith("missing: ")]
    assert code == 0 and len(named) == 3 and "... and 2 more missing (--json shows more, --out DIR writes all)" in shown
    assert named == [f"missing: r: delivered {one}" for one in (
        "a, but never its parent v", "a, but never its parent w", "b, but never its parent x"
    )]  # fmt: skip
    (tmp_path / "log.csv").write_text("msg,refs,who\na,,s\n,,r\n")
    assert "set aside: r: line 3: id is null" in run(*told)[1]
    (tmp_path / "log.csv").write_text("msg,refs,who\na,v,r\n")
    assert "missing: r: delivered a, but never its parent v\n" in run(*told)[1]


def test_doubts_that_are_not_shown_are_counted(tmp_path: Path) -> None:
    table = tmp_path / "log.csv"
    table.write_text("n,msg,refs\n" + "".join(f"{2 * n},m{n},\n{2 * n + 1},m{n},x\n" for n in range(30)))
    code, shown = run(str(table), "--id", "msg", "--parents", "refs", "--position", "n")
    assert code == 1 and shown.count("\nin doubt: m") == 20 and "... and 10 more in doubt (--json shows" in shown
    code, shown = run(str(table), "--id", "msg", "--parents", "refs", "--position", "n", "--out", str(tmp_path / "o"))
    assert f"... and 10 more in doubt ({tmp_path / 'o' / 'in_doubt'} holds all)" in shown


def test_small_input_needs_no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("antecede.spark.sessions.opened", None)
    (tmp_path / "log.csv").write_text("msg,refs\nb,a\na,\n", "utf-8")
    code, shown = run(str(tmp_path / "log.csv"), "--id", "msg", "--parents", "refs", "--json")
    assert code == 1 and json.loads(shown)["engine"] == "local"
    (tmp_path / "x.log").write_text('sent\na {"a": 1}\nheard\nb {"a": 1, "b": 1}\n', "utf-8")
    assert run(str(tmp_path / "x.log"))[0] == 0
    monkeypatch.setattr("antecede.spark.audit_here.LOCAL_BYTES", 3)
    with pytest.raises(TypeError):
        run(str(tmp_path / "x.log"))
    with pytest.raises(InputError, match="leave one of them out"):
        run(str(tmp_path / "x.log"), "--engine", "local", "--master", "local[2]")


def test_a_log(tmp_path: Path, engine: str) -> None:
    (tmp_path / "x.log").write_text('sent\na {"a": 1}\nheard\nb {"a": 1, "b": 1}\n', "utf-8")
    code, shown = run(str(tmp_path / "x.log"), "--engine", engine)
    assert code == 0 and "clean: 0 findings in 2 deliveries" in shown


def test_a_table_without_named_columns_and_a_sweep_get_a_cure(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("msg,refs\n1,\n")
    with pytest.raises(InputError, match=r"log\.csv is a table: name its columns, at least --id"):
        run(str(tmp_path / "log.csv"))
    (tmp_path / "sweep").mkdir()
    (tmp_path / "sweep" / "sweep.jsonl").touch()
    with pytest.raises(InputError, match=r"its verdicts are in sweep\.jsonl"):
        run(str(tmp_path / "sweep"))


def test_input_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--crashed is of traces"):
        run(str(tmp_path), "--id", "msg", "--parents", "refs", "--crashed", "A")
    (tmp_path / "a.log").touch()
    (tmp_path / "a.csv").touch()
    for arguments, sentence in (
        ((str(tmp_path / "nowhere"),), "does not exist"),
        ((str(tmp_path),), "holds no records"),
        ((str(tmp_path), "--parents", "x"), "name its ids with --id too"),
        ((str(tmp_path / "a.log"), str(tmp_path / "a.csv")), "audit them one after the other"),
        (
            (str(tmp_path / "a.log"), str(tmp_path / "a.csv"), "--id", "x", "--parents", "y"),
            "is no Parquet, CSV or JSON-lines file",
        ),
    ):
        with pytest.raises(InputError, match=sentence):
            run(*arguments)
