"""Rows of a trace that are in a DataFrame.

Decided in this file: that a DataFrame which is only files is read as files; else what of the rows is asked for in which
pass, and in what form it leaves Java: of the few rows that tell something all columns, of the many that follow six
whole numbers each.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, IntegralType, StringType

from antecede.errors import InputError
from antecede.spark.auditing.attendance import CONTROL
from antecede.spark.auditing.chunks import EVENT_KINDS, REASON_CODES
from antecede.spark.auditing.numbers import KIND_BITS, REASON_BITS, ship_numbers, tables_of
from antecede.spark.auditing.outcome import Totals
from antecede.spark.auditing.pieces import Source
from antecede.spark.auditing.scan import ROWS_AT_ONCE, TELLING
from antecede.spark.auditing.telling import LET_GO
from antecede.spark.auditing.work import Engine, Traces
from antecede.spark.ship import is_connect
from antecede.trace.record import COLUMNS, LATER, REASONS, RETAINED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Frame", "checked", "plain_files", "read_frames", "trace_files_of"]


def checked(frame: DataFrame) -> DataFrame:
    """The frame with exactly the columns of a trace; what may be null may be missing."""
    fields = {f.name: f.dataType for f in frame.schema.fields}
    missing = [c.name for c in COLUMNS if c.name not in fields and (not c.nullable or c.name == "message")]
    if missing:
        raise InputError(
            f"this is no trace: column{'s' * (len(missing) > 1)} {', '.join(missing)} missing, it has "
            f"{', '.join(fields)} (for a table of your own use audit_table and name its columns)"
        )
    columns = []
    for column in COLUMNS:
        wanted = {"string": "string", "list<string>": "array<string>"}.get(column.type, "bigint")
        if column.name not in fields:
            columns.append(F.lit(None).cast(wanted).alias(column.name))
            continue
        kind = fields[column.name]
        good = {
            "string": isinstance(kind, StringType),
            "bigint": isinstance(kind, IntegralType),
            "array<string>": isinstance(kind, ArrayType) and isinstance(kind.elementType, StringType),
        }[wanted]
        if not good and kind.simpleString() != "void":
            raise InputError(f"this is no trace: column {column.name} is {kind.simpleString()}, not {wanted}")
        columns.append(F.col(column.name).cast(wanted).alias(column.name))
    return frame.select(*columns)


def plain_files(frame: DataFrame) -> list[Path] | None:
    """The files behind a DataFrame that is nothing but local Parquet files; None: it is more, or other.

    Java would read their rows only to hand them to Python one column at a time, which takes three times as long.
    """
    if is_connect(frame.sparkSession):
        return None
    plan: Any = frame
    plan = plan._jdf.queryExecution().analyzed()
    if class_of(plan) != "LogicalRelation" or class_of(plan.relation()) != "HadoopFsRelation":
        return None
    level = frame.storageLevel
    if class_of(plan.relation().fileFormat()) != "ParquetFileFormat" or level.useMemory or level.useDisk:
        return None
    if not plan.relation().partitionSchema().isEmpty():
        return None
    files = [urlsplit(name) for name in frame.inputFiles()]
    return [Path(unquote(file.path)) for file in files] if all(file.scheme == "file" for file in files) else None


def trace_files_of(frame: DataFrame) -> list[Path] | None:
    """The same, where they hold a trace."""
    return plain_files(frame) if {c.name for c in COLUMNS} - set(LATER) <= set(frame.columns) else None


def class_of(thing: Any) -> str:
    return str(thing.getClass().getSimpleName())


class Frame(Traces):
    """Ids become keys and words numbers before rows leave Java: numbers cross to Python at a third of the cost."""

    ship = staticmethod(ship_numbers)

    def __init__(self, frame: DataFrame, settings: dict[str, Any]) -> None:
        super().__init__(settings)
        self.frame = frame
        self.everybody = False
        """Ask of every row whose it is, not only of those that tell something: for tables where some only listened."""

    def again(self, totals: Totals) -> bool:
        strangers, self.everybody = not self.everybody and totals["stranger", "rows"] > 0, True
        return strangers

    def telling(self, engine: Engine, kinds: tuple[str, ...]) -> tuple[DataFrame, Source]:
        def keys(name: str) -> Any:
            return F.transform(F.col(name), lambda one: F.xxhash64(one)).alias(name)

        few = F.col("kind").isin(*kinds) | self._fault()
        names = [c for c in TELLING if c not in ("after", "cut")]
        let_go = F.filter(F.col("cut"), lambda one: one.contains(LET_GO)).alias("let_go")
        rows = self.frame.where(few).select(*names, keys("after"), keys("cut"), let_go, key().alias("key"))
        if self.everybody:
            present = self.frame.where("process is not null").select("run", "process", "role").distinct()
            present = present.withColumns({"kind": F.lit("ask"), "step": F.lit(0), "at_us": F.lit(0)})
            rows = rows.unionByName(present, allowMissingColumns=True)
        return rows, read_frames

    def _fault(self) -> Any:
        named = F.col("kind").isin(*EVENT_KINDS, "collect") & F.col("message").isNull()
        known = F.col("kind").isin(*EVENT_KINDS, *CONTROL, "collect", "ask", "answer")
        odd = F.col("reason").isNotNull()
        for kind, reasons in REASONS.items():
            odd &= ~((F.col("kind") == kind) & F.col("reason").isin(*reasons))
        return named | ~known | odd | self._nowhere()

    def _nowhere(self) -> Any:
        return F.col("process").isNull() | F.col("step").isNull() | F.col("kind").isNull() | F.col("run").isNull()

    def shipping(self, engine: Engine) -> tuple[DataFrame, Source]:
        kind, reason = F.lit(0), F.lit(0)
        for number, name in enumerate(EVENT_KINDS):
            kind = F.when(F.col("kind") == name, number + 1).otherwise(kind)
        kind = F.when((F.col("kind") == "deliver") & (F.col("reason") == RETAINED), 0).otherwise(kind)  # no delivery
        for name, number in REASON_CODES.items():
            reason = F.when(F.col("reason") == name, number).otherwise(reason)
        reason = F.when(F.col("kind").isin("discard", "deliver"), reason).otherwise(0)
        what = F.shiftleft(F.shiftleft("step", REASON_BITS) + reason, KIND_BITS) + kind
        # Only subscribers heed from whom a copy came; whoever discards may say in whose queue it was.
        heeded = (F.col("role") == "subscriber") & (F.col("kind") == "arrive")
        told = (heeded | (F.col("kind") == "discard")) & F.col("peer").isNotNull()
        rows = self.frame.where(~self._nowhere()).select(
            F.xxhash64("run", "process").alias("who"), what.alias("what"), "at_us", "true_us",
            key().alias("message"), F.when(told, F.xxhash64("peer")).otherwise(0).alias("peer"),
        )  # fmt: skip
        return rows, read_frames


def key() -> Any:
    return F.when(F.col("message").isNull(), F.lit(0)).otherwise(F.xxhash64("message"))


def read_frames(batches: Any) -> Iterator[tuple[str, Any]]:
    return tables_of(batches, ROWS_AT_ONCE)
