"""kill -9 at the moments that hurt: nothing is lost, nothing comes twice, and what is left behind harms nobody."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from antecede.spark import sink
from tests.spark.killing import Place, held, kill_at
from tests.spark.traces import write_parquet
from tests.spark.victim import MAX_ROWS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KEY = ["run", "process", "step"]


@pytest.mark.slow
@pytest.mark.timeout(900)  # three more starts of Spark
def test_three_kills_in_one_life(spark: SparkSession, tmp_path: Path) -> None:
    """All of them hit the same batch, which is run again each time."""
    place = Place(tmp_path)
    write_parquet(place.runs / "a", 500)
    write_parquet(place.runs / "b", 500)
    operator = "tests.spark.killing:plain"
    wanted = {(run, "p", step) for run in "ab" for step in range(500)}

    first = kill_at(place, operator, "file", 0)
    assert (first.point, first.batches, first.noted) == ("file", 0, 0) and first.orphans > 0
    second = kill_at(place, operator, "data", 0)
    assert (second.point, second.batches, second.noted) == ("data", 0, 0) and second.orphans > first.orphans
    third = kill_at(place, operator, "manifest", 0)
    assert (third.point, third.batches, third.noted) == ("manifest", 1, 0)
    seen = held(place, KEY)
    assert set(seen) <= wanted and max(seen.values()) == 1 and len(seen) == MAX_ROWS

    frame = spark.readStream.format("antecede").option("max_rows", MAX_ROWS).load(str(place.runs))
    writer = frame.writeStream.format("antecede").option("checkpointLocation", str(place.checkpoint))
    writer.trigger(availableNow=True).start(str(place.table)).awaitTermination()
    rows = held(place, KEY)
    assert set(rows) == wanted and max(rows.values()) == 1
    assert list(sink.table_rows(place.table).values()) == [400, 400, 200]
    assert sink.read(spark, place.table).count() == len(wanted)
    assert len(sink.clean(place.table, idle=True)) > second.orphans and held(place, KEY) == rows
