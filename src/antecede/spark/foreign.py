"""The audit of tables that other systems left: ids with parents or vector clocks, who delivered them, in which order.

Decided in this file: which columns are needed and of what types, how texts, lists, maps and JSON become one form before
rows leave Java, and that the verdicts are those of `trace/foreign.py`.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, FractionalType, IntegralType, MapType, StringType, StructType

from antecede.errors import InputError
from antecede.spark.audit import FINDING, PARTS_PER_CORE, Audit, counted, dealt, made, mapped
from antecede.spark.audit_rows import read_frames, slots
from antecede.spark.auditing import table_tasks
from antecede.spark.auditing.pieces import PIECE, RESULT, SHIPPED
from antecede.spark.faults import plain_faults
from antecede.spark.ship import ship

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["audit_table"]

JUDGED = ("inversion", "duplicate")


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
    scratch: str | Path | None = None,
) -> Audit:
    """Judge a table of deliveries; the arguments name its columns.

    `parents` may be a list, the same as JSON, or text with commas, semicolons or spaces between the ids; `clock` a map,
    a struct, or JSON like `{"p": 3}`, and `sender` then says which host each row is of (else it is found from the
    clocks). Without `receiver` all rows are one receiver's, without `position` they stand in the order in which Spark
    reads them. `run` separates causal domains. Parents that never came are in `missing`; they are no violation.
    """
    if (parents is None) == (clock is None):
        raise InputError("name the column of the parents or of the vector clock, one of the two")
    named = {"id": id, "parents": parents, "clock": clock, "receiver": receiver, "position": position}
    named |= {"sender": sender, "run": run}
    absent = [c for c in named.values() if c is not None and c not in frame.columns]
    if absent:
        raise InputError(f"the table has no column {', '.join(absent)}; it has {', '.join(frame.columns)}")
    rows = shaped(frame, named)
    ship(frame.sparkSession)
    with plain_faults():
        return judged(rows, clock is not None, made(scratch))


def shaped(frame: DataFrame, named: dict[str, str | None]) -> DataFrame:
    """run, receiver, position, id, key; parents as texts, or sender, hosts and counts."""
    kinds = {f.name: f.dataType for f in frame.schema.fields}

    def column(what: str, other: Any) -> Any:
        name = named[what]
        return other if name is None else F.col(f"`{name}`")

    place = named["position"]
    if place is not None and not isinstance(kinds[place], IntegralType):
        raise InputError(f"the position {place} is {kinds[place].simpleString()}, not a whole number")
    for what in ("id", "receiver", "sender", "run"):
        name = named[what]
        if name is not None and isinstance(kinds[name], ArrayType | MapType | StructType):
            raise InputError(f"the {what} {name} is {kinds[name].simpleString()}, not one value a row")
    columns = {
        "run": column("run", F.lit("")).cast("string"),
        "receiver": column("receiver", F.lit("all")).cast("string"),
        "position": column("position", F.monotonically_increasing_id()).cast("bigint"),
        "id": text_of(column("id", None), kinds[str(named["id"])]),
    }
    if named["parents"] is not None:
        columns["parents"] = parents_of(F.col(f"`{named['parents']}`"), kinds[named["parents"]])
    else:
        assert named["clock"] is not None
        clock = clock_of(F.col(f"`{named['clock']}`"), kinds[named["clock"]], named["clock"])
        columns |= {"hosts": F.map_keys(clock), "counts": F.map_values(clock)}
        columns["sender"] = column("sender", F.lit(None)).cast("string")
    rows = frame.select(*(value.alias(name) for name, value in columns.items()))
    return rows.withColumn("key", F.xxhash64("id"))


def text_of(column: Any, kind: Any) -> Any:
    """An id as text; where whole numbers have become floats, as the numbers they were."""
    if isinstance(kind, FractionalType):
        return F.when(column == F.floor(column), column.cast("bigint").cast("string")).otherwise(column.cast("string"))
    return column.cast("string")


def parents_of(column: Any, kind: Any) -> Any:
    """A list of texts, without nulls."""
    if isinstance(kind, ArrayType):
        listed = F.filter(column.cast("array<string>"), lambda one: one.isNotNull())
    elif isinstance(kind, StringType):
        split = F.filter(F.split(column, r"[\s,;]+"), lambda one: one != "")
        as_json = F.when(F.ltrim(column).startswith("["), F.from_json(column, "array<string>"))
        listed = F.filter(F.coalesce(as_json, split), lambda one: one.isNotNull())
    elif isinstance(kind, MapType | StructType):
        raise InputError(f"parents of type {kind.simpleString()} cannot be read: give a list of ids, or text")
    else:
        listed = F.filter(F.array(text_of(column, kind)), lambda one: one.isNotNull())
    return F.coalesce(listed, F.array().cast("array<string>"))


def clock_of(column: Any, kind: Any, name: str) -> Any:
    wanted = "map<string,bigint>"
    if isinstance(kind, StringType):
        clock = F.from_json(column, wanted)
    elif isinstance(kind, StructType):
        clock = F.from_json(F.to_json(column), wanted)
    elif isinstance(kind, MapType):
        clock = column.cast(wanted)
    else:
        raise InputError(f'the clock {name} is {kind.simpleString()}: give a map, a struct, or JSON like {{"p": 3}}')
    return F.map_filter(clock, lambda _, count: count.isNotNull() & (count > 0))


def judged(rows: DataFrame, clocks: bool, scratch: str) -> Audit:
    parts = PARTS_PER_CORE * slots(rows.sparkSession)
    told = ["run", "receiver", "position", "id", "key", *(["hosts", "counts", "sender"] if clocks else [])]
    lists = [] if clocks else [F.transform("parents", lambda one: F.xxhash64(one)).alias("parents")]
    pieces = mapped(rows.select(*told, *lists), table_tasks.tell_table(read_frames), PIECE)
    built = by_domain(pieces, table_tasks.build_table(scratch)).persist()
    totals = counted(built)
    if totals.get(("absent", "rows"), 0):
        names = rows.select("run", F.explode("parents").alias("name")).withColumn("key", F.xxhash64("name"))
        found = mapped(names, table_tasks.name_absent(read_frames, scratch), PIECE)
        by_domain(found, table_tasks.keep_names(scratch)).count()
    good = rows.where("id is not null and position is not null and receiver is not null")
    chunks = good.select("run", "receiver", "position", "key")
    shipped = mapped(chunks, table_tasks.ship_table(read_frames, scratch, parts), SHIPPED)
    results = mapped(dealt(shipped, parts), table_tasks.judge_table(scratch), RESULT).persist()
    totals += counted(results)
    everything = built.unionByName(results)
    return Audit(
        findings=everything.where("what = 'finding'").select(*FINDING),
        in_doubt=everything.where("false").select(*FINDING),
        tails=everything.where("false").select("source", "run", "process", "text"),
        quarantine=everything.where("what = 'quarantine'").select(
            "source", "run", "process", "step", "message", "text"
        ),
        missing=everything.where("what in ('missing', 'absent')").select(*FINDING),
        summary=table_summary(totals),
    )


def by_domain(pieces: DataFrame, function: Any) -> DataFrame:
    return mapped(pieces.repartition("domain").sortWithinPartitions("domain"), function, RESULT)


def table_summary(totals: Counter[tuple[str, str]]) -> dict[str, Any]:
    refused = totals["refused", "rows"]
    return {
        "rows": totals["counts", "rows"] + refused,
        "rows_refused": refused,
        "deliveries": totals["counts", "deliveries"],
        "receivers": totals["counts", "processes"],
        "messages": totals["counts", "messages"],
        "counts": {verdict: totals["finding", verdict] for verdict in JUDGED},
        "missing": totals["missing", "missing"],
        "absent": totals["absent", "absent"],
        "in_doubt": 0,
        "unknown_tails": 0,
        "quarantined": sum(count for (what, _), count in totals.items() if what == "quarantine"),
    }
