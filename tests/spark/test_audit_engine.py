"""Spark as an engine: what it counts and keeps apart is what the engine without Spark does with the same rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from antecede.spark.audit_engine import OnSpark, slots
from antecede.spark.auditing.local import Local
from antecede.spark.auditing.pieces import RESULT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS: list[dict[str, Any]] = [
    {"what": "finding", "verdict": "gap", "source": "a", "message": "m"},
    {"what": "finding", "verdict": "gap", "source": "b", "message": "m"},
    {"what": "quarantine", "verdict": "unreadable", "source": "b", "text": "torn"},
    {"what": "counts", "source": "a", "rows": 3, "deliveries": 2},
    {"what": "counts", "verdict": "refused", "source": "b", "rows": 4},
    {"what": "question", "verdict": "gap", "source": "a", "process": "p", "message": "n", "turn": 2, "text": "second"},
    {"what": "question", "verdict": "gap", "source": "a", "process": "p", "message": "n", "turn": 1, "text": "first"},
]


def test_how_many_tasks_run_at_once(spark: SparkSession) -> None:
    assert slots(spark) == 2 and OnSpark(spark).parts == 8


def test_both_engines_do_the_same(spark: SparkSession) -> None:
    there, here = OnSpark(spark), Local()
    batch = pa.RecordBatch.from_pylist(ROWS, schema=RESULT)
    results: Any = spark.createDataFrame(pa.Table.from_batches([batch]))
    assert there.counted(results) == here.counted([batch])

    def told(rows: Any) -> list[tuple[Any, ...]]:
        columns = ("source", "message", "text")
        if isinstance(rows, list):
            rows = pa.Table.from_batches(rows, schema=RESULT)
        found = rows.to_pylist() if isinstance(rows, pa.Table) else [row.asDict() for row in rows.collect()]
        return sorted((tuple(row[name] for name in columns) for row in found), key=str)

    assert told(there.of_readable(results)) == told(here.of_readable([batch]))
    best = there.best(there.only(results, "question"))
    assert told(best) == told(here.best(here.only([batch], "question"))) == [("a", "n", "first")]
    columns = ("source", "message", "text")
    assert told(there.told(results, columns, "finding")) == told(here.told([batch], columns, "finding"))
    assert [row[0] for row in there.numbers(3).collect()] == [b.column(0)[0].as_py() for b in here.numbers(3)]
