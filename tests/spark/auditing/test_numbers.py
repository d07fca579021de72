"""Rows as numbers say what rows as texts say; strangers are counted."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from antecede.spark.auditing import building, judging
from antecede.spark.auditing.chunks import EVENT_KINDS, REASON_CODES, unpack
from antecede.spark.auditing.files import SETTINGS
from antecede.spark.auditing.keys import spark_key
from antecede.spark.auditing.numbers import KIND_BITS, REASON_BITS, ship_numbers, tables_of
from antecede.spark.auditing.pieces import SHIPPED
from antecede.trace.record import Row
from tests.spark.auditing.rig import Shuffled, cut_up
from tests.spark.auditing.test_judging import simulated


def numbers(rows: list[Row]) -> pa.Table:
    def key(*texts: str) -> int:
        return int(np.uint64(spark_key(*texts)).view(np.int64))

    def what(row: Row) -> int:
        kind = EVENT_KINDS.index(row.kind) + 1 if row.kind in EVENT_KINDS else 0
        reason = REASON_CODES.get(row.reason or "", 0) if row.kind == "discard" else 0
        return ((row.step << REASON_BITS) + reason << KIND_BITS) + kind

    columns: dict[str, Any] = {
        "who": [key(r.run, r.process) for r in rows],
        "what": [what(r) for r in rows],
        "at_us": [r.at_us for r in rows],
        "true_us": [r.true_us for r in rows],
        "message": [0 if r.message is None else key(r.message) for r in rows],
        "peer": [key(r.peer) if r.peer and r.kind == "arrive" else 0 for r in rows],
    }
    return pa.table({name: pa.array(values, pa.int64()) for name, values in columns.items()})


def told(rows: list[Row], scratch: Path, keyed: bool) -> None:
    [table] = cut_up(rows, random.Random(0), cuts=0)
    if keyed:
        keys = [0 if r.message is None else int(np.uint64(spark_key(r.message)).view(np.int64)) for r in rows]
        table = table.append_column("key", pa.array(keys, pa.int64()))
        for name in ("after", "cut"):
            lists = [None if v is None else [int(np.uint64(spark_key(x)).view(np.int64)) for x in v]
                     for v in table.column(name).to_pylist()]  # fmt: skip
            table = table.drop_columns([name]).append_column(name, pa.array(lists, pa.list_(pa.int64())))
    for deliveries in (False, True):
        pieces = building.tell(lambda _: iter([("", table)]), str(scratch), deliveries)([])
        list(building.build(str(scratch), SETTINGS)(iter(Shuffled().by_domain(pieces))))


def events(batches: list[pa.RecordBatch]) -> dict[str, Any]:
    held: dict[str, list[dict[str, Any]]] = {}
    for batch in batches:
        assert batch.schema == SHIPPED
        for chunk in batch.to_pylist():
            if chunk["process"] is not None:
                held.setdefault(chunk["process"], []).append(chunk)
    return {process: unpack(chunks)[0] for process, chunks in held.items()}


@pytest.mark.parametrize("recipe", ["home", "graph"])
def test_the_same_events_come_out(recipe: str, tmp_path: Path) -> None:
    rows, _ = simulated(12, recipe, 2)
    for name, keyed in (("texts", False), ("keys", True)):
        (tmp_path / name).mkdir()
        told(rows, tmp_path / name, keyed)
    [table] = cut_up(rows, random.Random(0), cuts=0)
    one = events(list(judging.ship(lambda _: iter([("", table)]), str(tmp_path / "texts"), 3)([])))
    two = events(list(ship_numbers(lambda _: iter([("", numbers(rows))]), str(tmp_path / "keys"), 3)([])))
    assert set(one) == set(two) and len(one) > 3
    for process, mine in one.items():
        theirs = two[process]
        for column in ("step", "at_us", "true_us", "kind"):
            assert (getattr(mine, column) == getattr(theirs, column)).all()
        arrivals = np.flatnonzero(mine.kind == 1)
        assert [mine.peers[mine.peer[n]] for n in arrivals] == [theirs.peers[theirs.peer[n]] for n in arrivals]


def test_strangers_are_counted(tmp_path: Path) -> None:
    rows = [Row("r", "p", "member", 0, 0, "publish", "p:1", after=()), Row("r", "q", "member", 0, 5, "deliver", "p:1")]
    told(rows[:1], tmp_path, True)
    notes = [row for batch in ship_numbers(lambda _: iter([("", numbers(rows))]), str(tmp_path), 3)([])
             for row in batch.to_pylist() if row["process"] is None]  # fmt: skip
    assert [note["events"] for note in notes] == [b'{"stranger": 1}']


def test_small_batches_are_joined() -> None:
    batches = [pa.record_batch({"n": [n]}) for n in range(5)]
    assert [t.column("n").to_pylist() for _, t in tables_of(iter(batches), 2)] == [[0, 1], [2, 3], [4]]
