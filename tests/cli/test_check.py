"""`antecede check`: sentences, tables, JSON and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from antecede.cli.check import check
from antecede.errors import InputError
from antecede.trace.parquet import write_run
from tests.trace.tables import rows

app = typer.Typer()
app.command()(check)

CLEAN = """
p 0 join G1
q 0 join G1
p 10 publish p:1 G1 due=100
p 11 publish p:2 G1 due=100
q 20 arrive p:1 from=p
q 20 deliver p:1
q 21 arrive p:2 from=p
q 21 deliver p:2
p 200 end quiet
q 200 end quiet
"""
END = "q 200 end quiet"
AGAIN = CLEAN.replace(END, f"q 30 deliver p:1\n{END}")


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(arguments))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


def test_a_clean_run(tmp_path: Path) -> None:
    write_run(tmp_path, rows(CLEAN))
    code, shown = run(str(tmp_path))
    assert code == 0
    assert "clean: 0 findings in 10 rows of 2 processes, 2 messages, 2 pairs" in shown
    for name in ("inversion", "undelivered", "delivered", "superseded", "lost"):
        assert name in shown


def test_a_violation_is_a_sentence_with_its_place(tmp_path: Path) -> None:
    write_run(tmp_path, rows(AGAIN))
    code, shown = run(str(tmp_path))
    assert code == 1
    assert shown.startswith("duplicate: q, step 5: delivered p:1 a second time\n")
    assert "NOT clean: 1 finding in" in shown


def test_findings_of_a_recipe_that_is_not_known_ask_for_its_plugin(tmp_path: Path) -> None:
    for recipe, asks in (("plausible-4", True), ("graph+gossip", False)):
        write_run(tmp_path / recipe, rows(AGAIN), scenario={"recipe": recipe})
        code, shown = run(str(tmp_path / recipe))
        assert code == 1
        assert (f"Recipe '{recipe}' is not known here" in shown) == asks
    write_run(tmp_path / "clean", rows(CLEAN), scenario={"recipe": "plausible-4"})
    assert "not known" not in run(str(tmp_path / "clean"))[1]


def test_publishers_without_records_are_named_with_a_cure(tmp_path: Path) -> None:
    write_run(tmp_path, [row for row in rows(CLEAN) if row.process == "q"])
    code, shown = run(str(tmp_path))
    assert code == 1 and "q, step 1: p:1 arrived, but nobody published it" in shown
    assert "p took part and has no records here: clients write them with --records DIR" in shown
    assert json.loads(run(str(tmp_path), "--json")[1])["unrecorded"] == ["p"]
    write_run(tmp_path, rows(CLEAN.replace("p 11 publish p:2 G1 due=100\n", "")))
    code, shown = run(str(tmp_path))
    assert code == 1 and "p:2 arrived, but nobody published it" in shown and "no records here" not in shown


def test_json_says_all(tmp_path: Path) -> None:
    write_run(tmp_path, rows(CLEAN.replace(END, "q 30 deliver p:1\n" * 30 + END)))
    code, shown = run(str(tmp_path), "--json")
    report = json.loads(shown)
    assert code == 1 and report["clean"] is False and len(report["findings"]) == 30
    assert report["counts"]["duplicate"] == 30 and report["fates"]["delivered"] == report["pairs"] == 2
    code, shown = run(str(tmp_path))
    assert "... and 10 more" in shown


def test_an_unknown_tail_is_not_clean(tmp_path: Path) -> None:
    write_run(tmp_path, rows(CLEAN.replace("q 200 end quiet", "")))
    code, shown = run(str(tmp_path))
    assert code == 2 and "Not clean: the records of q stop without an end: what it did later is unknown." in shown
    assert "expected; say so with:\n  --crashed q\n" in shown and "NOT clean: 0 findings" in shown
    code, _ = run(str(tmp_path), "--crashed", "p", "--json")
    assert code == 2
    code, shown = run(str(tmp_path), "--crashed", "q")
    assert code == 0 and "Pending, as --crashed says: the records of q stop without an end" in shown
    assert "not all could be judged: 0 findings" in shown and "say so with" not in shown
    code, shown = run(str(tmp_path), "--crashed", "q", "--json")
    assert code == 0 and json.loads(shown)["clean"] is False
    write_run(tmp_path, rows(CLEAN.replace(END, "q 30 deliver p:1\n" + END).replace("q 200 end quiet", "")))
    assert run(str(tmp_path), "--crashed", "q")[0] == 1


def test_what_the_recipe_does_not_promise_is_not_looked_for(tmp_path: Path) -> None:
    write_run(tmp_path, rows(CLEAN.replace("q 21 deliver", "q 22 deliver")), scenario={"recipe": "home-plain"})
    code, shown = run(str(tmp_path))
    assert code == 0 and "not judged" in shown


def test_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        run(str(tmp_path / "nothing"))
    with pytest.raises(InputError, match="--id too"):
        run(str(tmp_path), "--parents", "x")


def test_a_table_of_another_system(tmp_path: Path) -> None:
    table = tmp_path / "log.csv"
    table.write_text("node,n,msg,refs\nr,0,b,a\nr,1,a,\n")
    code, shown = run(str(table), "--id", "msg", "--parents", "refs", "--receiver", "node", "--position", "n")
    assert code == 1
    assert "inversion: r, step 1: delivered a after b, although a -> b" in shown
    code, shown = run(str(table), "--id", "msg", "--parents", "refs", "--position", "n", "--json")
    assert code == 1 and json.loads(shown)["counts"] == {"inversion": 1, "duplicate": 0, "missing": 0}


def test_what_is_beside_a_cycle_in_a_table_is_judged(tmp_path: Path) -> None:
    table = tmp_path / "log.csv"
    table.write_text("n,msg,refs\n0,x,y\n1,y,x\n2,b,a\n3,a,\n")
    code, shown = run(str(table), "--id", "msg", "--parents", "refs", "--position", "n")
    assert code == 1 and "delivered a after b" in shown and "set aside: x is among its own causes" in shown
    table.write_text("n,msg,refs\n0,x,y\n1,y,x\n2,a,\n3,b,a\n")
    code, shown = run(str(table), "--id", "msg", "--parents", "refs", "--position", "n")
    assert code == 2 and "2 set aside (2 rows not judged)" in shown
    assert "in the order of the file" not in shown
    table.write_text("n,msg,refs\n0,b,a\n1,a,\n")
    code, shown = run(str(table), "--id", "msg", "--parents", "refs")
    assert code == 1 and "in the order of the file: does the newest stand first" in shown
    with pytest.raises(InputError, match=r"log\.csv is a table: name its columns"):
        run(str(table))
    with pytest.raises(InputError, match="--crashed is of traces"):
        run(str(table), "--id", "msg", "--parents", "refs", "--crashed", "A")
    with pytest.raises(InputError, match="--as judges a trace"):
        run(str(table), "--id", "msg", "--parents", "refs", "--as", "causal")
    with pytest.raises(InputError, match="the table has no column nope"):
        run(str(table), "--id", "nope", "--parents", "refs")


def test_names_are_shown_as_they_are(tmp_path: Path) -> None:
    named = [row._replace(process="[/x]" if row.process == "q" else row.process) for row in rows(CLEAN)]
    write_run(tmp_path, named[:-1])
    code, shown = run(str(tmp_path))
    assert code == 2 and "the records of [/x] stop without an end" in shown


def test_one_run_in_several_directories_is_judged_together(tmp_path: Path) -> None:
    mine, theirs = [], []
    for row in rows(CLEAN):
        (mine if row.process == "p" else theirs).append(row)
    write_run(tmp_path / "one", mine)
    write_run(tmp_path / "two", theirs)
    code, shown = run(str(tmp_path / "one"), str(tmp_path / "two"))
    assert code == 0 and f"{len(rows(CLEAN))} rows of 2 processes" in shown


GOSSIP = """
p 0 join G1
q 0 join G1
r 0 join G1
p 10 publish p~:1 G1 after=-
q 20 arrive p~:1 from=p
q 20 deliver p~:1
q 21 publish q~:1 G1 after=-
p 25 arrive q~:1 from=q
p 25 deliver q~:1
r 30 arrive q~:1 from=q
r 30 deliver q~:1
r 40 arrive p~:1 from=p
r 40 deliver p~:1
p 200 end quiet
q 200 end quiet
r 200 end quiet
"""


def test_what_asked_for_no_order_can_be_judged_by_one(tmp_path: Path) -> None:
    write_run(tmp_path, rows(GOSSIP), scenario={"recipe": "pbcast"})
    assert run(str(tmp_path))[0] == 0
    code, shown = run(str(tmp_path), "--as", "causal")
    assert code == 1 and "delivered p~:1 after q~:1, although p~:1 -> q~:1" in shown
    assert run(str(tmp_path), "--as", "fifo")[0] == 0
    with pytest.raises(InputError, match="no order 'total' to judge by: choose causal or fifo"):
        run(str(tmp_path), "--as", "total")


def test_clean_says_what_was_not_looked_for(tmp_path: Path) -> None:
    write_run(tmp_path, rows(CLEAN), scenario={"recipe": "colour-eager"})
    assert "clean (not judged: gap, idle, stuck, undelivered): 0 findings" in run(str(tmp_path))[1]
