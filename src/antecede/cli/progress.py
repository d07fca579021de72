"""The line that says how far a command is, while a person is watching: what it does, rows so far, time left.

Decided in this file: nothing is shown unless standard error is a terminal, nor in the first two seconds of a command;
the time left is what the tasks that are done took for each, and is not guessed before some are; and where Spark works
for a person, the address of its own page is said once.

    with watched_spark("antecede audit", master, doing="judging") as spark: ...
    with watched("reading") as line: line.far(done, known, rows)
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Line", "ui_settings", "watched", "watched_spark"]

QUIET_S = 2.0
"""A command that takes no longer says nothing."""


class Line:
    """What is being done, since when, and how far it is; `show` puts a text on the screen, None: nobody watches."""

    def __init__(
        self,
        doing: str,
        show: Callable[[str], None] | None = None,
        note: Callable[[str], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._show, self._note, self._clock = show, note, clock
        self._begun = clock()
        self.doing(doing)

    def doing(self, what: str) -> None:
        """Something else is done from now on."""
        self._what, self._since = what, self._clock()
        self._say("")

    def far(self, done: int, known: int, rows: int = 0, of: str = "tasks") -> None:
        """So many of the tasks (or whatever is counted) that are known are done, and so many rows were read."""
        parts = [f"{done:,} of {known:,} {of}"] if known else []
        parts += [f"{rows:,} rows"] if rows else []
        took = self._clock() - self._since
        if 0 < done < known:
            parts.append(f"about {span(took / done * (known - done))} left")
        self._say(", ".join(parts))

    def text(self, text: str) -> None:
        """How far it is, in the words of whoever knows."""
        self._say(text)

    def note(self, text: str) -> None:
        """A sentence that stays."""
        if self._note is not None:
            self._note(text)

    def _say(self, how_far: str) -> None:
        if self._show is not None and self._clock() - self._begun >= QUIET_S:
            self._show(f"{self._what}: {how_far}" if how_far else f"{self._what} ...")


def span(seconds: float) -> str:
    """A time for people: 4 s, 3 min, 2 h."""
    if seconds < 100:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 6000 else f"{round(seconds / 3600)} h"


@contextmanager
def watched(doing: str) -> Iterator[Line]:
    """A line on standard error, gone at the end; nothing where no person is watching."""
    if not sys.stderr.isatty():
        yield Line(doing)
        return
    from rich.console import Console

    console = Console(stderr=True)
    status = console.status("")

    def show(text: str) -> None:
        status.update(text)
        status.start()

    def note(text: str) -> None:
        console.print(text, highlight=False, markup=False, soft_wrap=True)

    try:
        yield Line(doing, show, note)
    finally:
        status.stop()


def ui_settings(master: str | None) -> dict[str, Any]:
    """Spark's own page for a person who is watching: it costs a second, and a Connect server has its own."""
    remote = (master or "").startswith("sc://") or (master is None and "SPARK_REMOTE" in os.environ)
    return {"spark.ui.enabled": True} if sys.stderr.isatty() and not remote else {}


@contextmanager
def watched_spark(app: str, master: str | None = None, doing: str = "working") -> Iterator[SparkSession]:
    """A session, and a line that says how far it is when a person is watching."""
    from antecede.spark.jobs import following, page_of
    from antecede.spark.session import session

    with watched("starting Spark") as line:
        spark = session(master, app=app, settings=ui_settings(master))
        if page_of(spark):
            line.note(f"Spark shows its work at {page_of(spark)}")
        line.doing(doing)
        with following(spark, lambda far: line.far(far.done, far.known, far.rows)):
            yield spark
