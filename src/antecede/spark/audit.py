"""The audit: every inversion, gap, overdue, duplicate and stuck message of traces of any size, as `trace/check` does.

Decided in this file: what the caller sees, and how the work is laid out on Spark. The messages of one run are put in a
causal order by one task, which writes them as columns that all tasks map into memory (`scratch`); deliveries are
shuffled once, by process, as packed chunks; each process is then judged by itself, and what another process must
confirm is a question that its own steps answer. Only counts come to the driver.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from antecede.errors import InputError
from antecede.spark.audit_rows import Files, Frame, checked, plain_files, slots
from antecede.spark.auditing import building, judging
from antecede.spark.auditing.pieces import PIECE, RESULT, SHIPPED
from antecede.spark.auditing.scan import run_directories, shared, splits_of
from antecede.spark.faults import plain_faults
from antecede.spark.session import session
from antecede.spark.ship import ship
from antecede.trace.report import VERDICTS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["AUDITED", "Audit", "audit", "records"]

AUDITED = ("inversion", "gap", "overdue", "duplicate", "stuck")
"""Of the oracle's verdicts, those that are looked for here; the others are `antecede check`'s."""

FINDING = ("verdict", "source", "run", "process", "message", "other", "step", "text")

PARTS_PER_CORE = 4
"""Tasks that judge, for each core: more of them even out processes of different size, each costs some 50 ms."""


@dataclass
class Audit:
    """What was found. The tables are Spark's and may be of any size; `summary` is counted already."""

    findings: DataFrame
    """verdict, source, run, process, message, other, step, text: every violation."""
    in_doubt: DataFrame
    """The same columns: what the skew of the clocks leaves open. Counted, never a violation."""
    tails: DataFrame
    """source, run, process, text: processes whose records stop without an end."""
    quarantine: DataFrame
    """source, run, process, step, message, text: what could not be judged, and why."""
    missing: DataFrame | None = None
    """Of tables only, the columns of findings: parents that never came, steps that clocks count and no row tells."""
    summary: dict[str, Any] = field(default_factory=dict)
    """Counts: of findings by verdict, and of all rows, so that they can be reconciled."""

    @property
    def counts(self) -> dict[str, int]:
        """Findings per verdict; every verdict is named, also those with none."""
        counts: dict[str, int] = self.summary["counts"]
        return counts

    @property
    def clean(self) -> bool:
        """Nothing was found, everything was judged, and every process told its whole story."""
        return not (sum(self.counts.values()) or self.summary["quarantined"] or self.summary["unknown_tails"])

    def to_json(self, limit: int = 10_000) -> dict[str, Any]:
        """As `antecede check --json`, with at most `limit` rows of each table (`left_out` counts the others)."""
        tables = {
            "in_doubt": (self.in_doubt, self.summary["in_doubt"]),
            "unknown_tails": (self.tails, self.summary["unknown_tails"]),
            "quarantine": (self.quarantine, self.summary["quarantined"]),
            "findings": (self.findings, sum(self.counts.values())),
        }
        counts = dict(self.counts)
        if self.missing is not None:
            counts["missing"] = self.summary["missing"] + self.summary["absent"]
            tables["missing"] = (self.missing, counts["missing"])
        rows = {
            name: [r.asDict() for r in table.limit(limit).collect()] if count else []
            for name, (table, count) in tables.items()
        }
        left_out = {name: max(0, count - limit) for name, (_, count) in tables.items() if count > limit}
        return {"clean": self.clean, **self.summary, "counts": counts, **rows, "left_out": left_out}


def audit(
    source: DataFrame | str | Path | Sequence[str | Path],
    *,
    spark: SparkSession | None = None,
    skew_us: int | None = None,
    recipe: str | None = None,
    exempt: Collection[str] = (),
    scratch: str | Path | None = None,
) -> Audit:
    """Judge traces: a DataFrame with the columns of a trace, or paths of run directories and records files.

    `skew_us` and `recipe` say what `scenario.json` says beside a run (and win over it); `exempt` are verdicts not to
    look for. `scratch` is a directory for the tables of messages, about 80 bytes a message, that every Spark worker
    can reach; on one machine nothing need be said.
    """
    wrong = {*exempt} - set(VERDICTS)
    if wrong or "inversion" in exempt:
        named = ", ".join(sorted(wrong or {"inversion"}))
        raise InputError(f"cannot exempt from {named}: choose among {', '.join(VERDICTS[1:])}")
    settings = {"skew_us": skew_us, "recipe": recipe, "exempt": sorted(exempt)}
    if isinstance(source, str | Path):
        return records(spark or session(), source, settings=settings, scratch=scratch)
    if isinstance(source, list | tuple):
        return records(spark or session(), *source, settings=settings, scratch=scratch)
    frame: Any = source
    rows: Files | Frame
    files = plain_files(frame)
    if files is not None:
        parts = shared([("", file) for file in files], PARTS_PER_CORE * slots(frame.sparkSession))
        rows = Files(frame.sparkSession, parts)
    else:
        rows = Frame(checked(frame))
    return _Work(frame.sparkSession, rows, settings, scratch).done()


def records(
    spark: SparkSession,
    *paths: str | Path,
    settings: dict[str, Any] | None = None,
    scratch: str | Path | None = None,
) -> Audit:
    """Judge run directories, directories of run directories, or records files, read inside the tasks."""
    directories = run_directories(paths)
    chosen = {"skew_us": None, "recipe": None, "exempt": [], **(settings or {})}
    return _Work(spark, Files(spark, splits_of(directories, PARTS_PER_CORE * slots(spark))), chosen, scratch).done()


# --- the work --------------------------------------------------------------------------------------------------------


class _Work:
    def __init__(
        self, spark: SparkSession, rows: Files | Frame, settings: dict[str, Any], scratch: str | Path | None
    ) -> None:
        self.spark = spark
        self.rows = rows
        self.settings = settings
        self.scratch = made(scratch)
        ship(spark)

    def done(self) -> Audit:
        with plain_faults():
            return self._done()

    def _done(self) -> Audit:
        built, totals = self._built()
        frame, read = self.rows.shipping()
        parts = PARTS_PER_CORE * slots(self.spark)
        chunks = mapped(frame, self.rows.ship(read, self.scratch, parts), SHIPPED)
        judged = mapped(dealt(chunks, parts), judging.judge(self.scratch), RESULT).persist()
        totals += counted(judged)
        if totals["stranger", "rows"] and not self.rows.everybody:
            self.rows.everybody = True
            return _Work(self.spark, self.rows, self.settings, self.scratch).done()
        everything = built.unionByName(judged)
        if totals["quarantine", "unreadable"]:
            everything = without(everything, "quarantine", "unreadable")
            totals = counted(everything)
        findings = everything.where("what = 'finding'").select(*FINDING)
        if any(what == "question" for what, _ in totals):
            answered = self._answered(everything).persist()
            for row in answered.groupBy("verdict").count().collect():
                totals["finding", row["verdict"]] += row["count"]
            findings = findings.unionByName(answered)
        return Audit(
            findings=findings,
            in_doubt=everything.where("what = 'doubt'").select(*FINDING),
            tails=everything.where("what = 'tail'").select("source", "run", "process", "text"),
            quarantine=everything.where("what = 'quarantine'").select(
                "source", "run", "process", "step", "message", "text"
            ),
            summary=summary(totals),
        )

    def _answered(self, everything: DataFrame) -> DataFrame:
        questions = mapped(everything.where("what = 'question'"), judging.answer(self.scratch), RESULT)
        return (
            questions.groupBy("source", "run", "verdict", "process", "message", "other")
            .agg(F.min_by(F.struct("step", "text"), "turn").alias("best"))
            .select("*", "best.step", "best.text")
            .select(*FINDING)
        )

    def _built(self) -> tuple[DataFrame, Counter[tuple[str, str]]]:
        """The tables of messages, on the shelf; returns what building them had to say."""
        built = self._build(False)
        totals = counted(built)
        if totals.pop(("again", ""), 0):
            second = self._build(True)
            totals += counted(second)
            built = built.unionByName(second)
        return built, totals

    def _build(self, deliveries: bool) -> DataFrame:
        frame, read = self.rows.telling(deliveries)
        pieces = mapped(frame, building.tell(read, self.scratch, deliveries), PIECE)
        sorted_pieces = pieces.repartition("domain").sortWithinPartitions("domain")
        return mapped(sorted_pieces, building.build(self.scratch, self.settings), RESULT).persist()


def mapped(frame: DataFrame, function: Callable[[Any], Any], schema: pa.Schema) -> DataFrame:
    return frame.mapInArrow(function, from_arrow_schema(schema))


def dealt(chunks: DataFrame, parts: int) -> DataFrame:
    """One task for each part; before Spark 4.1 parts may share one."""
    by_id = getattr(chunks, "repartitionById", None)
    dealt: DataFrame = by_id(parts, F.col("part")) if by_id is not None else chunks.repartition(parts, "part")
    return dealt


def made(scratch: str | Path | None) -> str:
    """A directory of this audit's own; removed when the program ends."""
    if scratch is not None:
        Path(scratch).mkdir(parents=True, exist_ok=True)
    directory = tempfile.mkdtemp(prefix="antecede-audit-", dir=scratch)
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return directory


def without(everything: DataFrame, what: str, verdict: str) -> DataFrame:
    """Nothing is said of a source of which a part could not be read, but that it could not, and how much it held."""
    bad = everything.where((F.col("what") == what) & (F.col("verdict") == verdict)).select("source").distinct()
    bad = F.broadcast(bad)
    kept = everything.join(bad, "source", "left_anti")
    reasons = everything.where("what in ('quarantine', 'counts')").join(bad, "source", "left_semi")
    return kept.unionByName(reasons).select(*RESULT.names)


def counted(results: DataFrame) -> Counter[tuple[str, str]]:
    """Rows by what they are, and the sums they carry."""
    names = ("rows", "deliveries", "messages", "processes")
    sums = [F.sum(name).alias(name) for name in names]
    totals: Counter[tuple[str, str]] = Counter()
    for row in results.groupBy("what", "verdict").agg(F.count("*").alias("count"), *sums).collect():
        if row["what"] == "counts":
            for name in names:
                totals[row["verdict"] or "counts", name] += row[name] or 0
        else:
            totals[row["what"], row["verdict"] or ""] += row["count"]
    return totals


def summary(totals: Counter[tuple[str, str]]) -> dict[str, Any]:
    def all_of(what: str) -> int:
        return sum(count for (which, _), count in totals.items() if which == what)

    refused = totals["refused", "rows"]
    return {
        "rows": totals["counts", "rows"] + refused,
        "rows_refused": refused,
        "rows_of_unknown_messages": totals["unknown", "rows"],
        "deliveries": totals["counts", "deliveries"],
        "processes": totals["counts", "processes"],
        "messages": totals["counts", "messages"],
        "counts": {verdict: totals["finding", verdict] for verdict in AUDITED},
        "in_doubt": all_of("doubt"),
        "unknown_tails": all_of("tail"),
        "quarantined": all_of("quarantine"),
    }
