"""The state read back: what waits, and what would become of it. With Spark's state reader in test_operator."""

from __future__ import annotations

import pyarrow as pa

from antecede.spark.order.behind import Rules
from antecede.spark.order.bucket import Bucket
from antecede.spark.order.rows import feed
from antecede.spark.order.saved import describe, finish
from tests.spark.order.tables import as_batch
from tests.spark.order.twin import Line


def state() -> pa.RecordBatch:
    bucket = Bucket(Rules())
    feed(as_batch([Line("a", [], 5), Line("b", ["x"], 6, due=9)], "g", 1), bucket.rows, bucket.domain)
    feed(as_batch([Line("z", [], 7)], None, 3), bucket.rows, bucket.domain)
    list(bucket.rows.emit(keep=True))
    saved, waiting = bucket.frozen()
    return pa.RecordBatch.from_pydict({"saved": [saved], "waiting": [waiting]})


def test_one_line_for_each_group() -> None:
    (told,) = describe(iter([state()]))
    assert told.to_pylist() == [
        {"group": "g", "positions": 1, "clock_us": 6, "waiting": 1, "next_due_us": 9, "remembered": 1},
        {"group": None, "positions": 1, "clock_us": 7, "waiting": 0, "next_due_us": None, "remembered": 1},
    ]


def test_what_waits_comes_out_as_if_the_input_had_ended() -> None:
    (rows,) = finish(iter([state()]))
    assert rows["number"].to_pylist() == [2] and rows["released_by"].to_pylist() == ["wait"]
    assert rows["causal_pos"].to_pylist() == [1] and rows["missing"].to_pylist() == [["x"]]
