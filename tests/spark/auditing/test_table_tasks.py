"""The steps for tables, run without Spark, say what `trace/foreign.py` says; what cannot be used is set aside."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antecede.trace.foreign import ForeignReport, Place, judge_places
from tests.spark.auditing.graphs import random_parents
from tests.spark.auditing.rig import Result, table_audited
from tests.spark.auditing.test_places import random_clocks


def same(report: ForeignReport, result: Result) -> None:
    def short(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
        return sorted((r["verdict"], r["process"], r["message"], r["other"] or "", r["step"]) for r in rows)

    def told(findings: list[Any]) -> list[tuple[Any, ...]]:
        return sorted((f.verdict, f.process, f.message, f.other or "", f.step) for f in findings)

    assert short(result.get("finding", [])) == told(report.findings)
    assert short(result.get("missing", [])) == told(report.missing)
    counts = result["counts"]
    assert sum(r["deliveries"] or 0 for r in counts) == report.rows
    assert sum(r["processes"] or 0 for r in counts) == report.receivers
    assert sum(r["messages"] or 0 for r in counts if r["verdict"] is None) == report.messages


def tables_of(places: list[Place], dice: random.Random) -> list[pa.Table]:
    dice.shuffle(places)
    rows: list[dict[str, Any]] = []
    for p in places:
        row: dict[str, Any] = {"run": "", "receiver": p.receiver, "position": p.position, "id": p.id}
        if p.clock is None:
            row["parents"] = list(p.parents)
        else:
            row |= {"hosts": [h for h, _ in p.clock], "counts": [n for _, n in p.clock], "sender": None}
        rows.append(row)
    kinds = {"parents": pa.list_(pa.string()), "hosts": pa.list_(pa.string()), "counts": pa.list_(pa.int64())}
    names = {"run": pa.string(), "receiver": pa.string(), "position": pa.int64(), "id": pa.string()}
    names |= {n: kinds.get(n, pa.string()) for n in rows[0] if n not in names}
    half = len(rows) // 2
    schema = pa.schema(list(names.items()))
    return [pa.Table.from_pylist(part, schema=schema) for part in (rows[:half], rows[half:])]


@settings(max_examples=40)
@given(st.integers(0, 10**9), st.integers(2, 40))
def test_random_tables_with_parents(tmp_path_factory: pytest.TempPathFactory, seed: int, count: int) -> None:
    dice = random.Random(seed)
    parents = random_parents(dice, count)
    names = {n: tuple(f"m{p}" for p in row) for n, row in enumerate(parents)}
    places = []
    for receiver in range(dice.randint(1, 4)):
        mine = [n for n in range(count) if dice.random() < 0.8]
        mine.sort(key=lambda n: n + dice.random() * dice.choice([0, 6]))
        mine += [dice.choice(mine)] if mine and dice.random() < 0.3 else []
        places += [Place(f"r{receiver}", 10 * at, f"m{n}", names[n]) for at, n in enumerate(mine)]
    if not places:
        return
    want = judge_places(places)
    same(want, table_audited(tables_of(places, dice), tmp_path_factory.mktemp("scratch"), dice))


@pytest.mark.parametrize("seed", range(8))
def test_random_tables_with_clocks(seed: int, tmp_path: Path) -> None:
    dice = random.Random(seed)
    clocks, _ = random_clocks(dice, 30)
    places = []
    for receiver in ("x", "y"):
        mine = [n for n in range(30) if dice.random() < 0.8]
        mine.sort(key=lambda n: n + dice.random() * 8)
        places += [Place(receiver, at, f"e{n}", (), tuple(clocks[n].items())) for at, n in enumerate(mine)]
    want = judge_places(places)
    same(want, table_audited(tables_of(places, dice), tmp_path, dice))


def rows(*values: tuple[Any, ...]) -> list[pa.Table]:
    schema = pa.schema(
        [("run", pa.string()), ("receiver", pa.string()), ("position", pa.int64()), ("id", pa.string()),
         ("parents", pa.list_(pa.string()))]
    )  # fmt: skip
    names = schema.names
    return [pa.Table.from_pylist([dict(zip(names, v, strict=True)) for v in values], schema=schema)]


def reasons(result: Result) -> list[str]:
    return sorted(row["text"] for row in result.get("quarantine", []))


def test_rows_without_an_id_or_a_position_are_set_aside(tmp_path: Path) -> None:
    result = table_audited(rows(("", "r", 1, None, []), ("", "r", None, "a", []), ("", "r", 2, "b", ["a"])), tmp_path)
    assert reasons(result) == ["the row has no id", "the row has no position"]
    assert [(r["message"], r["other"]) for r in result["missing"]] == [("b", "a")]


def test_a_history_that_is_cyclic_is_refused_and_another_is_judged(tmp_path: Path) -> None:
    result = table_audited(
        rows(("x", "r", 1, "a", ["b"]), ("x", "r", 2, "b", ["a"]), ("y", "r", 1, "b", ["a"]), ("y", "r", 2, "a", [])),
        tmp_path,
    )
    [reason] = reasons(result)
    assert "is among its own causes" in reason
    assert [(r["run"], r["verdict"], r["message"], r["other"]) for r in result["finding"]] == [
        ("y", "inversion", "a", "b")
    ]
    assert sum(r["rows"] or 0 for r in result["counts"] if r["verdict"] in (None, "refused")) == 4


def test_clock_entries_of_steps_that_are_not_there(tmp_path: Path) -> None:
    schema = pa.schema(
        [("run", pa.string()), ("receiver", pa.string()), ("position", pa.int64()), ("id", pa.string()),
         ("hosts", pa.list_(pa.string())), ("counts", pa.list_(pa.int64())), ("sender", pa.string())]
    )  # fmt: skip
    values = [
        ("", "all", 0, "a:1", ["a"], [1], "a"),
        ("", "all", 1, "b:1", ["a", "b"], [3, 1], "b"),
    ]
    table = pa.Table.from_pylist([dict(zip(schema.names, v, strict=True)) for v in values], schema=schema)
    result = table_audited([table], tmp_path)
    assert [r["text"] for r in result["absent"]] == ["the clock of b:1 counts step 3 of a, which is not in the table"]


def test_several_deliveries_at_one_position_are_set_aside(tmp_path: Path) -> None:
    result = table_audited(tables_of([Place("r", 0, "b", ("a",)), Place("r", 0, "a")], random.Random(1)), tmp_path)
    [row] = result["quarantine"]
    assert row["text"] == "receiver r has several deliveries at position 0: number its deliveries"
