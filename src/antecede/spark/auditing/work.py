"""The one way from rows to verdicts, for traces and for tables, on any engine.

    build    what rows tell          -> tables of messages on the shelf    (shuffled by domain)
    ship     rows                    -> chunks by process                  (shuffled by part)
    judge    chunks                  -> findings, questions, counts
    answer   questions               -> the findings that hold

Decided in this file: the order of these steps and what goes into the outcome. What is judged (`Subject`) knows its
rows and its verdicts; an `Engine` knows how functions from batches to batches are carried out: on Spark, or here.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from antecede.spark.auditing import building, judging, outcome, table_tasks
from antecede.spark.auditing.attendance import CONTROL
from antecede.spark.auditing.judging import Maker
from antecede.spark.auditing.outcome import FINDING, QUARANTINED, TAIL, Audit, Totals
from antecede.spark.auditing.pieces import PIECE, RESULT, SHIPPED, Source
from antecede.spark.auditing.visit import Visit

__all__ = ["SUMS", "Engine", "Subject", "Table", "Traces", "audited", "made", "scratch_of", "sums_of"]

SUMS = ("rows", "deliveries", "messages", "processes")
"""Columns of results that are sums."""

Step = Callable[[Any], Any]


class Engine(Protocol):
    """Frames are whatever the engine has: a DataFrame, a list of batches."""

    parts: int
    """In how many parts processes are judged."""

    def numbers(self, count: int) -> Any:
        """A frame of the numbers below `count`, for tasks that read by themselves."""
        ...

    def mapped(self, frame: Any, function: Step, schema: pa.Schema) -> Any:
        """The function, from an iterator of batches to one, over every part of the frame."""
        ...

    def by_domain(self, pieces: Any) -> Any:
        """All pieces of a domain in one place, one domain after the other."""
        ...

    def by_part(self, chunks: Any) -> Any: ...

    def kept(self, frame: Any) -> Any:
        """Computed once, however often it is used."""
        ...

    def both(self, one: Any, other: Any) -> Any: ...

    def counted(self, results: Any) -> Totals:
        """Rows by what they are, and the sums they carry."""
        ...

    def of_readable(self, results: Any) -> Any:
        """Of a source of which a part could not be read only that, and how much it held."""
        ...

    def best(self, answers: Any) -> Any:
        """Of several answers for one message the first by turn, as findings."""
        ...

    def only(self, results: Any, what: str) -> Any:
        """The rows of this kind."""
        ...

    def told(self, results: Any, columns: tuple[str, ...], *what: str) -> Any:
        """The rows of these kinds, as a table for the caller."""
        ...


class Subject(Protocol):
    make: Maker
    """What is judged."""
    tables: bool
    """Whether it is a table of another system."""

    def built(self, engine: Engine, scratch: str) -> tuple[Any, Totals]:
        """The tables of messages, on the shelf; returns what building them had to say."""
        ...

    def shipped(self, engine: Engine, scratch: str) -> Any: ...

    def again(self, totals: Totals) -> bool:
        """Whether it must be done again, and will be done differently."""
        ...


def audited(engine: Engine, subject: Subject, scratch: str) -> Audit:
    """Everything that there is to say."""
    built, totals = subject.built(engine, scratch)
    chunks = subject.shipped(engine, scratch)
    judged = engine.kept(engine.mapped(engine.by_part(chunks), judging.judge(scratch, subject.make), RESULT))
    totals += engine.counted(judged)
    if subject.again(totals):
        return audited(engine, subject, made(scratch))
    everything = engine.both(built, judged)
    if totals["quarantine", "unreadable"]:
        everything = engine.of_readable(everything)
        totals = engine.counted(everything)
    if any(what == "question" for what, _ in totals):
        asked = engine.mapped(engine.only(everything, "question"), judging.answer(scratch), RESULT)
        answered = engine.kept(engine.best(asked))
        totals += engine.counted(answered)
        everything = engine.both(everything, answered)
    return Audit(
        findings=engine.told(everything, FINDING, "finding"),
        in_doubt=engine.told(everything, FINDING, "doubt"),
        tails=engine.told(everything, TAIL, "tail"),
        quarantine=engine.told(everything, QUARANTINED, "quarantine"),
        missing=engine.told(everything, FINDING, "missing", "absent") if subject.tables else None,
        summary=outcome.table_summary(totals) if subject.tables else outcome.summary(totals),
    )


def made(scratch: str | Path | None) -> str:
    """A directory of this audit's own; removed when the program ends."""
    if scratch is not None:
        Path(scratch).mkdir(parents=True, exist_ok=True)
    directory = tempfile.mkdtemp(prefix="antecede-audit-", dir=scratch)
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return directory


def sums_of(rows: Any) -> Totals:
    """From rows of (what, verdict, count, rows, deliveries, messages, processes)."""
    totals: Totals = Counter()
    for what, verdict, count, *sums in rows:
        if what == "counts":
            for name, total in zip(SUMS, sums, strict=True):
                totals[verdict or "counts", name] += total or 0
        else:
            totals[what, verdict or ""] += count
    return totals


@contextmanager
def scratch_of(scratch: str | Path | None) -> Iterator[str]:
    """The same, removed at the end of the block."""
    with tempfile.TemporaryDirectory(prefix="antecede-audit-", dir=scratch) as directory:
        yield directory


# --- what is judged --------------------------------------------------------------------------------------------------


class Traces(ABC):
    """Records of runs; `telling` and `shipping` give frames of their rows, and how a task reads these."""

    make: Maker = staticmethod(judging.Case)
    tables = False
    ship: Callable[[Source, str, int], Step] = staticmethod(judging.ship)

    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings = settings

    @abstractmethod
    def telling(self, engine: Engine, kinds: tuple[str, ...]) -> tuple[Any, Source]: ...

    @abstractmethod
    def shipping(self, engine: Engine) -> tuple[Any, Source]: ...

    def built(self, engine: Engine, scratch: str) -> tuple[Any, Totals]:
        built = self._build(engine, scratch, False)
        totals = engine.counted(built)
        if totals.pop(("again", ""), 0):
            second = self._build(engine, scratch, True)
            totals += engine.counted(second)
            built = engine.both(built, second)
        return built, totals

    def _build(self, engine: Engine, scratch: str, deliveries: bool) -> Any:
        frame, read = self.telling(engine, ("publish", *CONTROL, *(("deliver", "collect") if deliveries else ())))
        pieces = engine.mapped(frame, building.tell(read, scratch, deliveries), PIECE)
        return engine.kept(engine.mapped(engine.by_domain(pieces), building.build(scratch, self.settings), RESULT))

    def shipped(self, engine: Engine, scratch: str) -> Any:
        frame, read = self.shipping(engine)
        return engine.mapped(frame, self.ship(read, scratch, engine.parts), SHIPPED)

    def again(self, totals: Totals) -> bool:
        return False


class Table:
    """Deliveries that another system left: rows with columns named by their roles (`table_rows`)."""

    make: Maker = staticmethod(Visit)
    tables = True

    def __init__(self, frame: Any, read: Source) -> None:
        self.frame = frame
        self.read = read

    def built(self, engine: Engine, scratch: str) -> tuple[Any, Totals]:
        pieces = engine.mapped(self.frame, table_tasks.tell_table(self.read), PIECE)
        built = engine.kept(engine.mapped(engine.by_domain(pieces), table_tasks.build_table(scratch), RESULT))
        totals = engine.counted(built)
        if totals["absent", "rows"]:
            found = engine.mapped(self.frame, table_tasks.name_absent(self.read, scratch), PIECE)
            kept = engine.kept(engine.mapped(engine.by_domain(found), table_tasks.keep_names(scratch), RESULT))
            engine.counted(kept)  # now
        return built, totals

    def shipped(self, engine: Engine, scratch: str) -> Any:
        return engine.mapped(self.frame, table_tasks.ship_table(self.read, scratch, engine.parts), SHIPPED)

    def again(self, totals: Totals) -> bool:
        return False
