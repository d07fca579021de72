"""The audit of tables that other systems left: ids with parents or vector clocks, who delivered them, in which order.

Decided in this file: which columns are needed and of what types, and that cells leave Java as they are, to be read
inside the tasks as everywhere (`tables.cells`); what is judged and how is in `auditing/places` and `auditing/work`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from antecede.spark.audit_engine import OnSpark
from antecede.spark.audit_rows import plain_files, read_frames
from antecede.spark.auditing.files import read_tables
from antecede.spark.auditing.outcome import Audit
from antecede.spark.auditing.scan import shared
from antecede.spark.auditing.table_rows import roles_of, texts_of
from antecede.spark.auditing.work import Table, audited, made
from antecede.spark.faults import plain_faults
from antecede.spark.tables.files import files_of
from antecede.spark.tables.frames import read_files
from antecede.spark.tables.kinds import arrow_type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["audit_files", "audit_table"]


def audit_table(
    frame: DataFrame,
    *,
    id: str,
    parents: str | None = None,
    clock: str | None = None,
    receiver: str | None = None,
    position: str | None = None,
    sender: str | None = None,
    run: str | None = None,
    problem: str | None = None,
    scratch: str | Path | None = None,
) -> Audit:
    """Judge a table of deliveries; the arguments name its columns.

    `parents` may be a list, the same as JSON, or text with commas, semicolons or spaces between the ids; `clock` a map,
    a struct, or JSON like `{"p": 3}`, and `sender` then says which host each row is of (else it is found from the
    clocks). Without `receiver` all rows are one receiver's, without `position` they stand in the order in which Spark
    reads them. `run` separates causal domains. `problem` is a column of reasons: a row that has one is set aside. So
    is every row that cannot be read, and every message that is among its own causes or comes after such. Parents that
    never came are in `missing`; they are no violation. Deliveries at one position have no order among themselves.
    """
    named = {"id": id, "parents": parents, "clock": clock, "receiver": receiver, "position": position}
    named |= {"sender": sender, "run": run, "problem": problem}
    rows = chosen(frame, named)
    with plain_faults():
        engine = OnSpark(frame.sparkSession)
        files = plain_files(frame) if position is not None else None
        if files is None:
            return audited(engine, Table(rows, read_frames), made(scratch))
        splits = shared([("", file) for file in files], engine.parts)
        read = read_tables(splits, {role: name for role, name in named.items() if name is not None})
        return audited(engine, Table(engine.numbers(len(splits)), read), made(scratch))


def audit_files(
    spark: SparkSession,
    paths: Sequence[str | Path],
    named: Mapping[str, str | None],
    *,
    encoding: str | None = None,
    scratch: str | Path | None = None,
) -> Audit:
    """The same of Parquet, CSV or JSON-lines files; `named` are roles with their columns. Lines that are no rows are
    set aside with where, why and what they hold."""
    from antecede.spark.tables.careful import careful

    with careful(spark):
        frames = read_files(spark, files_of(paths), texts_of(named), encoding)
        if frames.aside is None:
            wanted: dict[str, Any] = {role: name for role, name in named.items() if name is not None}
            return audit_table(frames.rows, scratch=scratch, **wanted)
        odd = frames.aside.select(F.concat_ws(": ", "file", "reason", "row").alias("problem"))
        rows = chosen(frames.rows, named).unionByName(odd, allowMissingColumns=True)
        return audited(OnSpark(spark), Table(rows, read_frames), made(scratch))


def chosen(frame: DataFrame, named: Mapping[str, str | None]) -> DataFrame:
    """The columns that play a part, named by it; where no position is told, the order in which Spark reads."""
    kinds = [(field.name, arrow_type(field.dataType.jsonValue())) for field in frame.schema.fields]
    columns = roles_of(kinds, named)
    numbered = frame.toDF(*(f"_{place}" for place in range(len(kinds))))
    parts = [F.col(f"_{place}").alias(role) for role, place in columns.items()]
    if "position" not in columns:
        parts.append(F.monotonically_increasing_id().alias("position"))
    return numbered.select(*parts)
