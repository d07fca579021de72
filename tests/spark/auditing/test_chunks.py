"""Chunks: what is packed comes out again, sorted, whatever the batches were; and odd steps are noticed."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest

from antecede.spark.auditing.chunks import code_rows, pack, unpack
from antecede.spark.auditing.judge import NO_TIME
from antecede.spark.auditing.keys import keys_of
from antecede.spark.auditing.telling import heard
from antecede.trace.record import Row
from tests.spark.auditing.rig import cut_up
from tests.spark.auditing.test_judging import simulated

KINDS = ("publish", "arrive", "deliver", "discard")


@pytest.mark.parametrize("times", ["simulated", "live", "mixed", "far apart"])
def test_what_goes_in_comes_out(times: str) -> None:
    dice = random.Random(times)
    rows, _ = simulated(11, "home", 3)
    if times == "live":
        rows = [r._replace(true_us=None) for r in rows]
    if times == "mixed":
        rows = [r._replace(true_us=None) if dice.random() < 0.5 else r for r in rows]
    if times == "far apart":
        rows = [r._replace(at_us=r.at_us * 10**9, true_us=r.step) for r in rows]
    ids = sorted({r.message for r in rows if r.message is not None})
    number = {int(key): place for place, key in enumerate(keys_of(ids).tolist())}

    def find(keys: np.ndarray) -> np.ndarray:
        return np.array([number.get(int(k), -1) for k in keys], np.int32)

    held: dict[str, list[dict]] = {}
    for part in cut_up(rows, dice):
        chunks, left_out = pack(code_rows(part), find)
        assert left_out == {"nameless": 0, "unknown": 0}
        for chunk in chunks.to_pylist():
            held.setdefault(chunk["process"], []).append(chunk)
    for process, chunks in held.items():
        dice.shuffle(chunks)
        events, wrong = unpack(chunks)
        assert wrong is None
        mine = [r for r in rows if r.process == process]
        assert events.last_at_us == mine[-1].at_us
        told = [r for r in mine if r.kind in KINDS]
        assert events.step.tolist() == [r.step for r in told]
        assert events.at_us.tolist() == [r.at_us for r in told]
        assert events.true_us.tolist() == [int(NO_TIME) if r.true_us is None else r.true_us for r in told]
        assert [KINDS[k] for k in events.kind] == [r.kind for r in told]
        assert [ids[m] for m in events.message] == [r.message for r in told]
        assert [None if p < 0 else events.peers[p] for p in events.peer] == [r.peer for r in told]


def chunk(**values: int) -> dict:
    return {"count": 0, "rows": 1, "last_step": 0, "last_at_us": 0, "step_sum": 0, "peers": [], **values}


def test_steps_that_are_missing_or_come_twice() -> None:
    assert unpack([chunk(rows=3, last_step=2, step_sum=3)])[1] is None
    for odd in (chunk(rows=2, last_step=2, step_sum=3), chunk(rows=3, last_step=2, step_sum=4)):
        assert "steps must run from 0 on" in str(unpack([odd])[1])
    twice = str(unpack([chunk(rows=4, last_step=1, step_sum=2)])[1])
    assert "two processes of this name ran at once" in twice


def test_rows_of_nobodys_messages_are_counted() -> None:
    rows = [Row("r", "p", "member", n, 0, "deliver", message) for n, message in enumerate(["a", None, "b"])]
    [part] = cut_up(rows, random.Random(0), cuts=0)
    chunks, left_out = pack(code_rows(part), lambda keys: np.where(keys == keys_of(["a"])[0], 0, -1).astype(np.int32))
    assert left_out == {"nameless": 1, "unknown": 1}
    assert chunks.to_pylist()[0]["count"] == 1 and chunks.to_pylist()[0]["rows"] == 3


def test_a_retained_copy_is_no_delivery() -> None:
    reasons = ["causes", "retained", None]
    columns = {
        "process": ["q"] * 3, "step": [0, 1, 2], "at_us": [5, 6, 7], "true_us": [None] * 3,
        "kind": ["deliver", "deliver", "publish"], "reason": reasons, "message": ["p:1", "p:1", "q:1"],
        "peer": [None] * 3,
    }  # fmt: skip
    kinds = {"step": pa.int64(), "at_us": pa.int64(), "true_us": pa.int64()}
    table = pa.table({name: pa.array(values, kinds.get(name, pa.string())) for name, values in columns.items()})
    assert list(code_rows(table).kind) == [2, -1, 0]
    assert heard(table).column("step").to_pylist() == [0]
