"""The audit of traces on Spark: every inversion, gap, overdue, duplicate and stuck message, as `trace/check.py` has it.

Decided in this file: what the caller may give. How the work is done is in `auditing/work`: the messages of one run are
put in a causal order by one task, which writes them as columns that all tasks map into memory (`scratch`); deliveries
are shuffled once, by process, as packed chunks; each process is then judged by itself, and what another process must
confirm is a question that its own steps answer.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from antecede.errors import InputError
from antecede.spark.audit_engine import OnSpark
from antecede.spark.audit_rows import Frame, checked, trace_files_of
from antecede.spark.auditing.files import SETTINGS, Files
from antecede.spark.auditing.outcome import AUDITED, Audit
from antecede.spark.auditing.scan import run_directories, shared, splits_of
from antecede.spark.auditing.work import Subject, audited, made
from antecede.spark.faults import plain_faults
from antecede.spark.sessions import session
from antecede.trace.report import VERDICTS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["AUDITED", "Audit", "audit", "records"]


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
    with plain_faults():
        engine = OnSpark(frame.sparkSession)
        files = trace_files_of(frame)
        if files is not None:
            rows: Subject = Files(shared([("", file) for file in files], engine.parts), settings)
        else:
            rows = Frame(checked(frame), settings)
        return audited(engine, rows, made(scratch))


def records(
    spark: SparkSession,
    *paths: str | Path,
    settings: dict[str, Any] | None = None,
    scratch: str | Path | None = None,
) -> Audit:
    """Judge run directories, directories of run directories, or records files, read inside the tasks."""
    directories = run_directories(paths)
    with plain_faults():
        engine = OnSpark(spark)
        rows = Files(splits_of(directories, engine.parts), {**SETTINGS, **(settings or {})})
        return audited(engine, rows, made(scratch))
