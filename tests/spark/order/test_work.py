"""Which columns travel, and in which order rows are taken."""

from __future__ import annotations

import pyarrow as pa

from antecede.spark.order.columns import Columns
from antecede.spark.order.work import AS_READ, Work, arranged, times, work_of
from tests.spark.order.tables import as_batch
from tests.spark.order.twin import Line


def test_what_the_user_has_does_not_travel_twice() -> None:
    texts = pa.list_(pa.string())
    schema: dict[str, pa.DataType | None] = {
        "id": pa.string(), "n": pa.int64(), "p": texts, "q": pa.list_(pa.int64()), "g": pa.string(),
        "at": pa.timestamp("us", "UTC"), "due": pa.int64(), "day": pa.date32(), "s": pa.string(), "words": pa.string(),
    }  # fmt: skip
    plain = Columns(id="id", parents="p", group="g", arrived="at", deadline="due")
    assert work_of(plain, schema) == Work("c4", "c0", None, "c2", None, "c5", "c6", "c6", "c0")
    assert work_of(plain, schema).extra() == []
    assert work_of(plain, schema, projected=True).extra() == ["_needs"]
    other = Columns(id="n", parents="q", time="day", wait_us=3, sender="s", seq="n", remember_us=9)
    assert work_of(other, schema) == Work(
        None, "_name", "_other", "_needs", None, "_at", "_late", "_due", "c1", "_fault"
    )
    assert work_of(other, schema).sorted_by() == ["_at", "c1", "_late", "_due"]
    lasting = Columns(id="id", parents="p", time="at", deadline="due", remember_us=9)
    assert work_of(lasting, schema)[6:8] == ("_late", "c6")
    worded = work_of(Columns(id="id", parents="words"), schema)
    assert (worded.name, worded.needs, worded.fault) == ("_name", "_needs", "_fault"), "its cells are read"


def test_times_of_every_kind() -> None:
    batch = pa.RecordBatch.from_pydict({"t": pa.array([5, None], pa.timestamp("us", "UTC")), "n": [7, 8]})
    assert times(batch, "t", 1) == [5, 1] and times(batch, "n", 1) == [7, 8] and times(batch, None, 3) == [3, 3]


def test_rows_are_put_in_the_order_of_arrival() -> None:
    rows = [as_batch([Line("b", at=2), Line("c", at=1)], "g"), as_batch([Line("a", at=2)], "f")]
    assert arranged(rows, AS_READ)["_name"].to_pylist() == ["a", "c", "b"]


def test_rows_with_one_name_and_time_go_by_the_rest() -> None:
    lines = [
        Line("a", ["z"], 1),
        Line("a", ["b", "c"], 1),
        Line("a", [], 1, late=5),
        Line("a", ["b"], 1),
        Line("0", [], 1),
    ]
    for order in (lines, lines[::-1]):
        found = arranged([as_batch(order, "g")], AS_READ)
        assert found["_needs"].to_pylist() == [[], [], ["b"], ["b", "c"], ["z"]]
