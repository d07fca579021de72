"""How far Spark is: tasks and rows of what runs now, for whoever shows it.

Decided in this file: rows are those that the running stages have read, from files or from a shuffle, as Spark's own
page counts them; they are looked up in the store behind that page, which is there whether the page is or not. A Spark
Connect server does not tell.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Far", "far", "following", "page_of"]

LOOK_S = 0.3
"""How often it is looked. A look costs a few milliseconds of Java."""


class Far(NamedTuple):
    """Tasks done and known of the stages that run now, and the rows they have read."""

    done: int = 0
    known: int = 0
    rows: int = 0
    text: str = ""
    """How far it is in other words, where tasks are not what counts: a stream has no end."""
    page: str = ""
    """Where Spark shows its work, if it does."""


def page_of(spark: SparkSession) -> str:
    """The address of Spark's own page; empty where there is none."""
    return str(getattr(getattr(spark, "_sc", None), "uiWebUrl", None) or "")


def far(context: Any) -> Far:
    """What runs now in `context`."""
    stages = context._jsc.sc().statusStore().activeStages()
    done = known = rows = 0
    for place in range(stages.size()):
        stage = stages.apply(place)
        done += stage.numCompleteTasks()
        known += stage.numTasks()
        rows += max(stage.inputRecords(), stage.shuffleReadRecords())
    return Far(done, known, rows)


@contextmanager
def following(spark: SparkSession, told: Callable[[Far], None] | None) -> Iterator[None]:
    """Call `told` every now and then, where Spark lets us look."""
    context = getattr(spark, "_sc", None)
    if told is None or context is None:
        yield
        return
    over = threading.Event()

    def look() -> None:
        while not over.wait(LOOK_S):
            with suppress(Exception):  # a session that ends while we look is no matter of ours
                told(far(context))

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
