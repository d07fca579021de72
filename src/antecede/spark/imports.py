"""What other systems leave behind, in a form that `audit_table` and `causal_order` take.

Decided in this file: a ShiViz log becomes one row an event, with id `host:n`, the host as sender and its clock; spans
as OpenTelemetry has them become one row a span, after its parent and its links, placed by when they started.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from antecede.errors import InputError
from antecede.spark.auditing.keys import schema_of
from antecede.spark.auditing.logs import read_log

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["EVENT_ROLES", "events_of", "log_files", "read_shiviz", "spans"]

EVENTS_AT_ONCE = 10_000

EVENT_ROLES = {
    "id": "id", "clock": "clock", "sender": "sender", "position": "position", "run": "source", "problem": "problem",
}  # fmt: skip
"""The parts that the columns of a log play in an audit."""

EVENT = schema_of(
    source=pa.string(),
    id=pa.string(),
    sender=pa.string(),
    host=pa.string(),
    n=pa.int64(),
    clock=pa.map_(pa.string(), pa.int64()),
    text=pa.string(),
    position=pa.int64(),
    problem=pa.string(),
)


def read_shiviz(spark: SparkSession, *paths: str | Path) -> DataFrame:
    """The events of ShiViz logs, read inside the tasks, one task a log.

    Columns: source (the file), id (`host:n`), sender and host, n, clock (a map), text, position (the place in the log),
    problem (of lines that could not be read: these have no id). Audit them with

        audit_table(
            events, id="id", clock="clock", sender="sender", position="position", run="source", problem="problem"
        )
    """
    from pyspark.sql.pandas.types import from_arrow_schema

    from antecede.spark.ship import ship

    files = log_files(paths)
    ship(spark)
    return spark.range(0, len(files), 1, len(files)).mapInArrow(events_of(files), from_arrow_schema(EVENT))


def log_files(paths: Sequence[str | Path]) -> list[str]:
    files = [str(Path(path).absolute()) for path in paths]
    for file in files:
        if not Path(file).is_file():
            raise InputError(f"{file} is not a file: give ShiViz logs")
    if not files:
        raise InputError("no log is given: name at least one file")
    return files


def events_of(files: Sequence[str]) -> Any:
    def run(batches: Any) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                held: list[dict[str, Any]] = []
                with Path(files[number]).open(encoding="utf-8", errors="replace") as lines:
                    for event in read_log(lines):
                        id = None if event.host is None else f"{event.host}:{event.n}"
                        clock = None if event.clock is None else list(event.clock.items())
                        row = {**event._asdict(), "source": files[number], "id": id, "sender": event.host}
                        held.append({**row, "clock": clock})
                        if len(held) >= EVENTS_AT_ONCE:
                            yield pa.RecordBatch.from_pylist(held, schema=EVENT)
                            held = []
                if held:
                    yield pa.RecordBatch.from_pylist(held, schema=EVENT)

    return run


def spans(
    frame: DataFrame,
    *,
    id: str = "span_id",
    parent: str = "parent_span_id",
    start: str = "start_time",
    links: str | None = None,
    service: str | None = None,
    trace: str | None = None,
) -> DataFrame:
    """Spans as OpenTelemetry has them: what each came after, and where in time it began.

    Columns: run (the trace, a causal domain), id, parents, sender (the service), position (the start in microseconds,
    or as it is where it is a number). `links` is a list of ids, or of structs with `span_id` or `spanId`. An audit with

        audit_table(spans(frame), id="id", parents="parents", position="position", run="run")

    finds spans that began, by the clocks, before what caused them.
    """
    from pyspark.sql import functions as F

    kinds = {f.name: f.dataType for f in frame.schema.fields}
    given = [c for c in (id, parent, start, links, service, trace) if c is not None]
    absent = [c for c in given if c not in kinds]
    if absent:
        raise InputError(f"the table has no column {', '.join(absent)}; it has {', '.join(frame.columns)}")
    above = F.array(F.col(f"`{parent}`").cast("string"))
    if links is not None:
        above = F.concat(above, F.coalesce(linked(F.col(f"`{links}`"), kinds[links], links), F.array()))
    parents = F.array_distinct(F.filter(above, lambda one: one.isNotNull() & ~F.rlike(one, F.lit("^0*$"))))
    return frame.select(
        (F.lit("") if trace is None else F.col(f"`{trace}`").cast("string")).alias("run"),
        F.col(f"`{id}`").cast("string").alias("id"),
        parents.alias("parents"),
        (F.lit(None) if service is None else F.col(f"`{service}`")).cast("string").alias("sender"),
        begun(F.col(f"`{start}`"), kinds[start], start).alias("position"),
    )


def linked(column: Any, kind: Any, name: str) -> Any:
    from pyspark.sql import functions as F
    from pyspark.sql.types import ArrayType, StringType, StructType

    inner = kind.elementType if isinstance(kind, ArrayType) else None
    if isinstance(inner, StringType):
        return column
    if isinstance(inner, StructType):
        field = next((name for name in ("span_id", "spanId") if name in inner.names), None)
        if field is not None:
            return F.transform(column, lambda link: link[field].cast("string"))
    raise InputError(f"the links {name} are {kind.simpleString()}: give a list of ids, or of structs with span_id")


def begun(column: Any, kind: Any, name: str) -> Any:
    from pyspark.sql import functions as F
    from pyspark.sql.types import IntegralType, StringType, TimestampNTZType, TimestampType

    if isinstance(kind, TimestampType):
        return F.unix_micros(column)
    if isinstance(kind, TimestampNTZType):
        return F.unix_micros(column.cast("timestamp"))
    if isinstance(kind, IntegralType):
        return column.cast("bigint")
    if isinstance(kind, StringType):
        return F.expr(f"try_cast(`{name}` as bigint)")  # nanoseconds, as OTLP's JSON has them
    raise InputError(f"the start {name} is {kind.simpleString()}: give a timestamp or a whole number")
