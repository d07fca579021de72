"""What a stream tells of itself adds up in every batch: what came in is out or held, whatever keys and timers do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from antecede.spark.metrics import FATES, Tallied, Totals, asking, stream_metrics

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOMS, BATCHES, ROWS = 20, 3, 60


def write_stream(folder: Path) -> None:
    """Chains of messages in rooms, of which some never come; each file later than the one before."""
    dice = Random(3)
    chains: dict[str, int] = {}
    folder.mkdir()
    for number in range(BATCHES):
        rows = []
        for place in range(ROWS):
            room = f"r{dice.randrange(ROOMS)}"
            length = chains[room] = chains.get(room, 0) + 1
            if dice.random() < 0.8:
                parents = [f"{room}/{length - 1}"] if length > 1 else []
                rows.append((f"{room}/{length}", parents, room, (number * ROWS + place) * 1_000_000))
        columns = [list(column) for column in zip(*rows, strict=True)]
        kinds = [pa.string(), pa.list_(pa.string()), pa.string(), pa.int64()]
        arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
        pq.write_table(pa.table(arrays, ["id", "parents", "room", "at"]), folder / f"{number}.parquet")


@pytest.mark.parametrize("bound", [{"wait_us": 70_000_000}, {"unknown": "skip"}], ids=["timers", "no timers"])
def test_rows_in_are_out_or_held_in_every_batch(spark: SparkSession, tmp_path: Path, bound: dict[str, Any]) -> None:
    from antecede.spark.order import causal_order
    from antecede.spark.sink import read

    write_stream(tmp_path / "in")
    schema = spark.read.parquet(str(tmp_path / "in")).schema
    rows = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(tmp_path / "in"))
    ordered = rows.transform(causal_order(id="id", parents="parents", group="room", arrived="at", **bound))
    writer = ordered.writeStream.format("antecede").option("checkpointLocation", str(tmp_path / "checkpoint"))
    query = writer.trigger(availableNow=True).start(str(tmp_path / "out"))
    query.awaitTermination()

    totals, inside, waited = Totals(), 0, []
    for progress in query.recentProgress:
        told = stream_metrics(progress)
        counts = {name: value or 0 for name, value in told.items()}
        inside += counts["rows_in"] - sum(counts[fate] for fate in FATES)
        if progress["numInputRows"]:
            assert told["held"] == inside, progress["batchId"]
            assert (told["oldest_held_us"] is None) == (inside == 0)
            waited.append(told["oldest_held_us"] or 0)
        else:
            assert told["held"] is None, "only those whose time had come could tell"
        totals.add(progress)
        totals.add(progress)  # again changes nothing
    table = read(spark, tmp_path / "out")
    came = spark.read.parquet(str(tmp_path / "in")).count()
    assert inside == came - table.count() > 0, "something is still held"
    if "wait_us" in bound:
        assert max(waited) <= 70_000_000 + ROWS * 1_000_000, "nothing waits longer than it may, and one batch"
    else:
        assert waited == sorted(waited) and waited[-1] > 2 * ROWS * 1_000_000
    text = totals.text()
    assert text.startswith(f"{came:,} rows in, ") and f" {inside:,} held" in text and totals.held == inside
    assert ("the oldest for" in text) == (told["oldest_held_us"] is not None)


def test_of_two_streams_in_a_query_all_together_and_of_none_nothing() -> None:
    one = {"rows_in": 3, "delivered": 1, "held": 2, "oldest_held_us": 5}
    two = {"rows_in": 4, "delivered": 4, "held": 0, "oldest_held_us": None}
    progress = {"batchId": 0, "observedMetrics": {"causal_order": one, "causal_order 2": two, "yours": {"x": 1}}}
    assert stream_metrics(progress) == {"rows_in": 7, "delivered": 5, "held": 2, "oldest_held_us": 5}
    assert stream_metrics(None) == stream_metrics({"observedMetrics": {}}) == {} and Totals().text() == ""


class Value:
    value: Any = None

    def getValueState(self, name: str, schema: str) -> Value:
        return self

    def get(self) -> Any:
        return self.value

    def update(self, value: Any) -> None:
        self.value = value


class Clock:
    def getCurrentWatermarkInMs(self) -> int:
        return 100


def test_a_key_whose_timer_falls_due_in_this_batch_tells_once() -> None:
    class Inner:
        left: Any = ([], 100)

        def init(self, handle: Any) -> None: ...

        def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:
            return iter(())

    import pandas as pd

    from antecede.spark.order.arrow import table_bytes

    tallied = Tallied(Inner(), None, timed=True)
    tallied.init(Value())
    rows = pd.DataFrame({"chunk": [table_bytes(pa.record_batch({"x": [1, 2]}))]})
    nothing = pd.DataFrame({"chunk": [None]})
    (told,) = tallied.handleInputRows((0,), iter([rows]), Clock())
    assert told["tally"][0] == [2, *[0] * len(FATES), None, None, None]
    assert list(tallied.handleInputRows((0,), iter([nothing]), Clock())) == []
    tallied.saved.update(None)  # nothing ever arrived
    (told,) = tallied.handleInputRows((0,), iter([nothing]), Clock())
    assert told["tally"][0] == [0, *[0] * len(FATES), 0, None, None]
    tallied.saved.update((7, None, None, 101))
    (told,) = tallied.handleInputRows((0,), iter([nothing]), Clock())
    assert told["tally"][0] == [0, *[0] * len(FATES), 7, None, None]


def test_only_tasks_of_spark_ask() -> None:
    assert list(asking(iter, 4)(iter([]))) == []
