"""Without Spark: tables, logs and runs judged in this process, as the oracle and the slow twin judge them."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from antecede.errors import InputError
from antecede.spark import audit_here
from antecede.spark.audit_here import logs_here, runs_here, table_here, table_is_small, traces_are_small
from antecede.spark.auditing.outcome import AUDITED
from antecede.trace.check import check
from antecede.trace.parquet import write_run
from tests.spark.auditing.places_twin import Place, judge_places, told
from tests.spark.auditing.rig import with_faults
from tests.spark.auditing.test_judging import simulated
from tests.spark.traces import let_go_rows

NAMED = {"id": "msg", "parents": "refs", "clock": None, "receiver": "node", "position": "n"}


@pytest.mark.parametrize("form", ["parquet", "csv", "jsonl"])
def test_a_table_of_any_kind(tmp_path: Path, form: str) -> None:
    dice = random.Random(form)
    places = []
    for receiver in "rs":
        names = [f"0{n}" for n in range(12)]
        dice.shuffle(names)
        for n, name in enumerate(names):
            above = tuple(f"0{p}" for p in range(int(name)) if dice.random() < 0.2)
            places.append(Place(receiver, n // 2, name, above))
    lists = {place.id: place.parents for place in places}
    places = [Place(p.receiver, p.position, p.id, lists[p.id]) for p in places]
    file = tmp_path / f"t.{form}"
    rows = [{"node": p.receiver, "n": p.position, "msg": p.id, "refs": list(p.parents)} for p in places]
    if form == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), file)
    elif form == "jsonl":
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        lines = [f"{p.receiver},{p.position},{p.id},{';'.join(p.parents)}" for p in places]
        file.write_text("\n".join(["node,n,msg,refs", *lines]))
    result, want = table_here([file], NAMED), judge_places(places)
    assert sorted(told(result.findings.to_pylist()), key=str) == sorted(want.findings, key=str)
    assert sorted(told(result.missing.to_pylist()), key=str) == sorted(want.missing, key=str)
    assert want.findings and result.summary["ties"] == want.ties == 24
    assert result.summary["rows"] == 24 and result.summary["quarantined"] == 0


def test_lines_that_are_no_rows_are_set_aside_and_counted(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_bytes(b"msg,refs\nb,a\na,,,\n\xff,\nc,\n")
    result = table_here([file], dict(NAMED, receiver=None, position=None))
    assert result.summary["rows"] == 4 and result.summary["rows_refused"] == result.summary["quarantined"] == 2
    assert all(str(file) in row["text"] for row in result.quarantine.to_pylist()) and not result.clean


def test_a_file_without_rows_or_of_no_kind(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("msg,refs\n")
    result = table_here([tmp_path / "t.csv"], dict(NAMED, receiver=None, position=None))
    assert result.clean and result.summary["rows"] == 0
    (tmp_path / "t.txt").write_text("msg,refs\n")
    with pytest.raises(InputError, match=r"t\.txt"):
        table_here([tmp_path / "t.txt"], NAMED)


def test_logs(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    log.write_text('two\nb {"a": 1, "b": 1}\none\na {"a": 1}\nodd\nc {"a": 1}\n', "utf-8")
    result = logs_here(log)
    assert [(r["message"], r["other"]) for r in result.findings.to_pylist()] == [("a:1", "b:1")]
    assert [r["text"] for r in result.quarantine.to_pylist()] == ["the clock has no step of its own host c"]


def test_runs_are_judged_as_the_oracle_judges_them(tmp_path: Path) -> None:
    for recipe in ("home", "graph", "cbcast"):
        rows, skew_ms = simulated(6606, recipe, 2)
        write_run(tmp_path / recipe, with_faults(rows, random.Random(recipe)), {"recipe": recipe, "skew_ms": skew_ms})
    result = runs_here(tmp_path)
    want = {
        (run.name, f.verdict, f.process, f.message, f.other, f.step)
        for run in tmp_path.iterdir()
        for f in check(run).findings
        if f.verdict in AUDITED
    }
    columns = ("verdict", "process", "message", "other", "step")
    found = {(Path(r["source"]).name, *(r[name] for name in columns)) for r in result.findings.to_pylist()}
    assert found == want and want and sum(result.counts.values()) == len(want)


def test_what_is_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.csv").write_text("msg,refs\na,\n")
    (tmp_path / "parted" / "day=1").mkdir(parents=True)
    pq.write_table(pa.table({"msg": ["a"]}), tmp_path / "parted" / "day=1" / "x.parquet")
    write_run(tmp_path / "run", simulated(1, "home", 1)[0])
    assert table_is_small([tmp_path / "t.csv"]) and not table_is_small([tmp_path / "parted"])
    assert traces_are_small([tmp_path / "run"])
    monkeypatch.setattr(audit_here, "LOCAL_BYTES", 5)
    assert not table_is_small([tmp_path / "t.csv"]) and not traces_are_small([tmp_path / "run"])


def test_spark_is_not_even_imported(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("msg,refs\nb,a\na,\n")
    code = (
        "import sys; from antecede.spark.audit_here import table_here; "
        f"r = table_here([{str(tmp_path / 't.csv')!r}], {{'id': 'msg', 'parents': 'refs', 'clock': None}}); "
        "assert r.counts['inversion'] == 1; assert not [m for m in sys.modules if m.startswith('pyspark')]"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.parametrize(("cut", "gaps"), [(("A@:1",), 0), (("A@:0",), 1), ((), 1), (("B@:1",), 1)])
@pytest.mark.parametrize("declared", [True, False])
def test_a_cut_may_count_what_a_broker_let_go_of(
    tmp_path: Path, cut: tuple[str, ...], gaps: int, declared: bool
) -> None:
    write_run(tmp_path / "r", let_go_rows(cut, declared=declared))
    result = runs_here(tmp_path / "r")
    assert result.counts["gap"] == gaps == sum(f.verdict == "gap" for f in check(tmp_path / "r").findings)
    assert sum(result.counts.values()) == gaps
