"""The steps for tables, run without Spark, say what their slow twin says; what cannot be used is set aside."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.spark.auditing.graphs import random_parents
from tests.spark.auditing.places_twin import Place, Verdicts, judge_places, told
from tests.spark.auditing.rig import Result, table_audited
from tests.spark.auditing.test_places import random_clocks


def same(report: Verdicts, result: Result) -> None:
    assert sorted(told(result.get("finding", [])), key=str) == sorted(report.findings, key=str)
    assert sorted(told(result.get("missing", [])), key=str) == sorted(report.missing, key=str)
    assert {row["message"] for row in result.get("quarantine", [])} == report.aside
    counts = result["counts"]
    judged, refused, ties = (
        sum(r["rows"] or 0 for r in counts if r["verdict"] == v) for v in (None, "refused", "ties")
    )
    assert judged + refused == report.rows and ties == report.ties
    assert sum(r["deliveries"] or 0 for r in counts) == judged
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
            row["clock"] = list(p.clock)
        rows.append(row)
    kinds = {"parents": pa.list_(pa.string()), "clock": pa.map_(pa.string(), pa.int64())}
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
    for _ in range(dice.choice([0, 0, 1, 2])):  # somebody names a later one, or itself
        names[dice.randrange(count)] += (f"m{dice.randrange(count)}",)
    step = dice.choice([1, 1, 3])  # deliveries at one position
    places = []
    for receiver in range(dice.randint(1, 4)):
        mine = [n for n in range(count) if dice.random() < 0.8]
        mine.sort(key=lambda n: n + dice.random() * dice.choice([0, 6]))
        mine += [dice.choice(mine)] if mine and dice.random() < 0.3 else []
        places += [Place(f"r{receiver}", 10 * (at // step), f"m{n}", names[n]) for at, n in enumerate(mine)]
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
    assert reasons(result) == ["id is null", "position is null"]
    assert [(r["message"], r["other"]) for r in result["missing"]] == [("b", "a")]


def test_only_what_is_on_a_cycle_or_after_one_is_set_aside(tmp_path: Path) -> None:
    result = table_audited(
        rows(
            ("", "r", 1, "a", ["b"]), ("", "r", 2, "b", ["a"]), ("", "r", 3, "c", ["b", "y"]), ("", "r", 4, "d", ["c"]),
            ("", "r", 5, "y", ["x"]), ("", "r", 6, "x", []), ("", "s", 1, "s", ["s"]), ("", "s", 2, "x", []),
        ),
        tmp_path,
    )  # fmt: skip
    assert reasons(result) == [
        "a is among its own causes", "b is among its own causes",
        "c comes after b, which is among its own causes", "d comes after b, which is among its own causes",
        "s is among its own causes",
    ]  # fmt: skip
    assert [(r["verdict"], r["message"], r["other"]) for r in result["finding"]] == [("inversion", "x", "y")]
    assert "missing" not in result
    assert sum(r["rows"] or 0 for r in result["counts"] if r["verdict"] is None) == 3
    assert sum(r["rows"] or 0 for r in result["counts"] if r["verdict"] == "refused") == 5


def test_clock_entries_of_steps_that_are_not_there(tmp_path: Path) -> None:
    schema = pa.schema(
        [("position", pa.int64()), ("id", pa.string()), ("clock", pa.map_(pa.string(), pa.int64())),
         ("sender", pa.string())]
    )  # fmt: skip
    values = [(0, "a:1", [("a", 1)], "a"), (1, "b:1", [("a", 3), ("b", 1)], "b")]
    table = pa.Table.from_pylist([dict(zip(schema.names, v, strict=True)) for v in values], schema=schema)
    result = table_audited([table], tmp_path)
    assert [r["text"] for r in result["absent"]] == ["the clock of b:1 counts step 3 of a, which is not in the table"]


def test_cells_that_cannot_be_read_are_set_aside_with_the_reason(tmp_path: Path) -> None:
    table = pa.table({"id": ["a", "b", "c"], "clock": ['{"p": 1}', "p=1", '{"p": 2}'], "position": ["0", "1", "x"]})
    result = table_audited([table], tmp_path)
    assert reasons(result) == ["clock is not a vector clock: p=1", "position is neither a whole number nor a time: x"]
    table = pa.table({"id": ["b", "a", "c"], "parents": ['["a"]', "", '["a"'], "position": [0, 1, 2]})
    result = table_audited([table], tmp_path / "other")
    assert reasons(result) == ['parents cannot be read: ["a"']
    assert [(r["verdict"], r["message"], r["other"]) for r in result["finding"]] == [("inversion", "a", "b")]


def test_a_problem_known_before_is_the_reason(tmp_path: Path) -> None:
    table = pa.table({"id": ["a", None], "parents": [[], []], "position": [0, 1], "problem": [None, "line 2 is torn"]})
    assert reasons(table_audited([table], tmp_path)) == ["line 2 is torn"]


def test_one_id_with_different_parents_or_clocks_is_in_doubt(tmp_path: Path) -> None:
    result = table_audited(rows(("", "r", 1, "b", ["a"]), ("", "s", 1, "b", []), ("", "s", 2, "a", [])), tmp_path)
    assert [r["text"] for r in result["doubt"]] == [
        "b comes with different parents in different rows: all of them are taken"
    ]
    assert [(r["process"], r["message"], r["other"]) for r in result["finding"]] == [("s", "a", "b")]
    places = [Place("x", 0, "a", clock=(("p", 1),)), Place("y", 1, "a", clock=(("p", 9),))]
    result = table_audited(tables_of(places, random.Random(1)), tmp_path / "clocks")
    assert [r["text"] for r in result["doubt"]] == [
        "a comes with different clocks in different rows: that at the first position is taken"
    ]
