"""How far Spark is: tasks and rows of what runs, told while it runs; a session that cannot tell is no error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from antecede.spark import jobs
from antecede.spark.jobs import Far, far, following, page_of

if TYPE_CHECKING:
    import pytest
    from pyspark.sql import SparkSession


def test_tasks_and_rows_are_told_while_they_run(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "LOOK_S", 0.02)
    seen: list[Far] = []

    def slowly(batches: Any) -> Any:
        import time

        for batch in batches:
            time.sleep(0.4)
            yield batch

    with following(spark, seen.append):
        spark.range(0, 400, 1, 4).repartition(3).mapInArrow(slowly, "id bigint").count()
    running = [one for one in seen if one.known]
    assert running and all(0 <= one.done <= one.known for one in running)
    assert far(spark.sparkContext) == Far(0, 0, 0), "nothing runs now"
    assert max(one.rows for one in running) >= 100, "what the first tasks read from the shuffle"
    assert page_of(spark) == "", "the tests start Spark without its page"


def test_who_does_not_tell_is_left_alone() -> None:
    class Connect:
        pass

    other: Any = Connect()
    with following(other, lambda far: None):
        pass
    assert page_of(other) == ""
