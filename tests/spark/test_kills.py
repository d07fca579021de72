"""kill -9 at the moments that hurt: nothing is lost, nothing comes twice, and what is left behind harms nobody."""

from __future__ import annotations

from pathlib import Path

import pytest

from antecede.spark import sink
from tests.spark.killing import Place, finish, held, kill_at
from tests.spark.traces import write_parquet

KEY = ["run", "process", "step"]


@pytest.mark.slow
@pytest.mark.timeout(900)  # four starts of Spark
def test_three_kills_in_one_life(tmp_path: Path) -> None:
    place = Place(tmp_path)
    write_parquet(place.runs / "a", 1500)
    write_parquet(place.runs / "b", 1500)
    operator = "tests.spark.killing:without_duplicates"
    wanted = {(run, "p", step) for run in "ab" for step in range(1500)}

    first = kill_at(place, operator, "file", 1)
    assert (first.point, first.batches, first.noted) == ("file", 1, 1) and first.orphans > 0
    second = kill_at(place, operator, "data", 1)  # the batch that was cut off is run again, the next one is hit
    assert (second.point, second.batches, second.noted) == ("data", 2, 2) and second.orphans > first.orphans
    third = kill_at(place, operator, "manifest", 0)
    assert (third.point, third.batches, third.noted) == ("manifest", 3, 2)
    seen = held(place, KEY)
    assert set(seen) <= wanted and max(seen.values()) == 1

    finish(place, operator)
    rows = held(place, KEY)
    assert set(rows) == wanted and max(rows.values()) == 1
    assert sum(sink.table_rows(place.table).values()) == len(wanted)
    assert len(sink.clean(place.table, idle=True)) >= second.orphans and held(place, KEY) == rows
