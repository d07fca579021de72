"""The stateful operator with Spark's tester: timers are armed for what is due, and only then."""

from __future__ import annotations

from typing import Any

from pyspark.sql.streaming.tws_tester import TwsTester

from antecede.spark.order.arrow import table_bytes, table_of
from antecede.spark.order.columns import Columns
from antecede.spark.order.stream import OrderProcessor, arranged
from tests.spark.order.tables import as_batch
from tests.spark.order.twin import Line

COLUMNS = Columns(id="id", parents="p", arrived="at", deadline="due")
ORDER = ["_group", "_at", "_name", "_late", "_due", "_tie"]


class Handle:
    """What of Spark's handle the operator uses: one value, and timers."""

    def __init__(self) -> None:
        self.value: Any = None
        self.timers: list[int] = []

    def getValueState(self, name: str, schema: str) -> Handle:
        return self

    def exists(self) -> bool:
        return self.value is not None

    def get(self) -> Any:
        return self.value

    def update(self, value: Any) -> None:
        self.value = value

    def registerTimer(self, at_ms: int) -> None:
        assert at_ms not in self.timers
        self.timers.append(at_ms)

    def deleteTimer(self, at_ms: int) -> None:
        self.timers.remove(at_ms)


class Watermark:
    def __init__(self, at_ms: int) -> None:
        self.at_ms = at_ms

    def getCurrentWatermarkInMs(self) -> int:
        return self.at_ms


def frame(*lines: Line) -> Any:
    import pandas as pd

    return pd.DataFrame({"chunk": [table_bytes(as_batch(list(lines), "g"))]})


def told(frames: Any) -> list[tuple[int, str, str | None]]:
    rows = [row for one in frames if len(one) for chunk in one["chunk"] for row in table_of(chunk).to_pylist()]
    return [(row["number"], row["fate"], row["released_by"]) for row in rows]


def test_timers_follow_what_is_due() -> None:
    handle = Handle()
    operator = OrderProcessor(COLUMNS, ORDER)
    operator.init(handle)
    waits = Line("b", ["a"], 1000, 7000, 7000)
    sooner = Line("c", ["z"], 2000, 5500, 5500)
    assert told(operator.handleInputRows((1,), iter([frame(waits)]), Watermark(0))) == []
    assert handle.timers == [8]
    assert told(operator.handleInputRows((1,), iter([frame(sooner)]), Watermark(0))) == []
    assert handle.timers == [6]
    handle.timers.remove(6)  # Spark deletes a timer that has fired, after the handler
    assert told(operator.handleExpiredTimer((1,), Watermark(6), None)) == [(0, "delivered", "deadline")]
    assert handle.timers == [8]
    assert told(operator.handleInputRows((1,), iter([frame(Line("a", [], 6000))]), Watermark(6))) == [
        (0, "delivered", "causes"),
        (0, "delivered", "causes"),
    ]
    assert handle.timers == [] and handle.value[1:] == (None, None)
    operator.close()


def test_rows_of_a_batch_are_put_in_the_order_of_arrival() -> None:
    rows = [as_batch([Line("b", at=2), Line("c", at=1)], "g"), as_batch([Line("a", at=2)], "f")]
    assert arranged(rows, ORDER)["_name"].to_pylist() == ["a", "c", "b"]


def test_the_operator_runs_in_sparks_own_tester() -> None:
    tester = TwsTester(OrderProcessor(Columns(id="id", parents="p", unknown="skip"), ORDER))
    assert told([tester.testInPandas(1, frame(Line("b", ["a"])))]) == []
    assert told([tester.testInPandas(1, frame(Line("a")))]) == [(0, "delivered", "causes"), (0, "delivered", "causes")]
