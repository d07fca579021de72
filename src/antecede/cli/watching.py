"""The line of the commands that work on Spark: what is being done, tasks and rows so far, time left; for a person only.

Decided in this file: the time left is told from the tasks of what Spark does now, and not before some of them are done;
and where a person is watching, Spark's own page is there too, and its address is said once.

    with watched_spark("antecede audit", master, doing="judging") as spark: ...
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from antecede.cli.progress import CLEAR, EVERY_S, Progress

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from antecede.spark.jobs import Far

__all__ = ["Line", "quiet_py4j", "ui_settings", "watched", "watched_spark"]


class Line(Progress):
    """What is being done; how far it is, in tasks and rows of Spark or in the words of whoever knows."""

    def __init__(self, doing: str, stream: TextIO | None = None) -> None:
        super().__init__(doing, stream=stream)
        self.rows, self.words = 0, ""

    def doing(self, what: str) -> None:
        """Something else is done from now on."""
        self.rows, self.words = 0, ""
        self.stage(what, 0, None)

    def far(self, far: Far) -> None:
        """So far is Spark with it. Other tasks than before say nothing of the time that these take."""
        if far.known != self.total or far.done < self.done:
            self.began, self.before = time.perf_counter(), far.done
        self.rows, self.words, self.total = far.rows, far.text, far.known or None
        self.at(far.done)

    def say(self, what: str, words: str) -> None:
        """This is being done, and so far it is, in the words of whoever knows."""
        self.what, self.words, self.rows, self.total = what, words, 0, None
        self.at(self.done)

    def note(self, text: str) -> None:
        """A sentence that stays."""
        if self.watched:
            print(f"{CLEAR}{text}", file=self.stream, flush=True)

    def line(self, stage: str, seconds: float) -> str:
        parts = [self.words] if self.words else []
        if self.total is not None:
            parts.append(f"{self.done:,} of {self.total:,} tasks")
        if self.rows:
            parts.append(f"{self.rows:,} rows")
        mine = self.done - self.before
        if self.total is not None and mine > 0 and self.done < self.total:
            parts.append(f"about {span(seconds / mine * (self.total - self.done))} left")
        return f"{self.what}: {', '.join(parts or [span(seconds)])}"


def span(seconds: float) -> str:
    """A time for people: 4 s, 3 min, 2 h."""
    if seconds < 100:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 6000 else f"{round(seconds / 3600)} h"


@contextmanager
def watched(doing: str) -> Iterator[Line]:
    """A line on standard error that goes on while this process waits, and is gone at the end."""
    line, over = Line(doing), threading.Event()

    def tick() -> None:
        while not over.wait(max(EVERY_S, 0.5)):
            line.at(line.done)

    ticker = threading.Thread(target=tick, daemon=True)
    with line:
        if line.watched:
            ticker.start()
        try:
            yield line
        finally:
            over.set()
            if line.watched:
                ticker.join()


@contextmanager
def quiet_py4j() -> Iterator[None]:
    """The bridge to Java logs a traceback of each call that fails or is interrupted, and raises it too."""
    root = logging.getLogger()
    root.addFilter(not_py4j)
    try:
        yield
    finally:
        root.removeFilter(not_py4j)


def not_py4j(record: logging.LogRecord) -> bool:
    return "py4j" not in Path(record.pathname).parts


def ui_settings(master: str | None) -> dict[str, Any]:
    """Spark's own page for a person who is watching: it costs a second, and a Connect server has its own."""
    remote = (master or "").startswith("sc://") or (master is None and "SPARK_REMOTE" in os.environ)
    return {"spark.ui.enabled": True} if sys.stderr.isatty() and not remote else {}


@contextmanager
def watched_spark(
    app: str, master: str | None = None, doing: str = "working", *, small: bool = False
) -> Iterator[SparkSession]:
    """A session, and a line that says how far it is when a person is watching. `small`: so is the input. Who uses the
    format `antecede` in it calls `register` first."""
    from antecede.spark.adopting import register
    from antecede.spark.jobs import following, page_of
    from antecede.spark.sessions import opened

    with quiet_py4j(), watched("starting Spark") as line:
        spark = register(opened(master, app, ui_settings(master), small), formats=False)
        if page_of(spark):
            line.note(f"Spark shows its work at {page_of(spark)}")
        line.doing(doing)
        with following(spark, line.far if line.watched else None):
            yield spark
