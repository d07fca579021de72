"""The columns a domain needs, in Spark SQL: nothing is computed before the query runs.

Decided in this file: how `sender:n`, the needs of a row and its times come from cells. `local` says the same for tables
in this process, and a test holds the two against each other. Cells of plain types stay in Java.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from antecede.spark.order.behind import NEVER
from antecede.spark.order.columns import WORKING, Columns
from antecede.spark.tables.cells import REQUIRED
from antecede.spark.tables.frames import FAULT, READ, arrow_types, read_frame

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["Cell", "read"]


def read(df: DataFrame, columns: Columns, *, project: bool = False) -> DataFrame:
    """The user's columns as c0, c1, ... (Arrow functions of Spark refuse names with dots), then the WORKING columns.

    `project`: parents in other groups are dealt with later.
    """
    from pyspark.sql import functions as f

    c = columns
    names = df.columns
    frame = read_frame(df, c.read)
    more = frame.columns[len(names) :]
    table = frame.toDF(*(f"c{place}" for place in range(len(names))), *more)
    cell = Cell(c, names, arrow_types(df.schema), more)
    fault = faults(c, cell)
    name, other = named(c, cell)
    if c.parents is not None:
        table = table.withColumn("_parents", cell("parents"))
    local, foreign = parents_of(c, cell, project)
    needs = needed(c, cell, local)
    at, late, due = times(c, cell)
    group = f.lit(None).cast("string") if c.group is None else cell("group").cast("string")
    working = (group, f.when(fault.isNull(), name), other, needs, foreign, at, late, due, fault)
    own = [f.col(f"c{place}") for place in range(len(names))]
    return table.select(*own, *(column.alias(called) for column, called in zip(working, WORKING, strict=True)))


class Cell:
    """A role's column in its plain type."""

    def __init__(
        self, columns: Columns, names: list[str], kinds: dict[str, pa.DataType | None], read: list[str]
    ) -> None:
        self.columns = columns
        self.names = names
        self.kinds = kinds
        self.read = read

    def __call__(self, role: str) -> Column:
        from pyspark.sql import functions as f

        if READ + role in self.read:
            return f.col(READ + role)
        name = getattr(self.columns, role)
        kind = self.kinds[name]
        column = f.col(f"c{self.names.index(name)}")
        if role in ("id", "sender"):
            return column.cast("string")
        if role == "parents" and kind is not None:
            return column if kind.equals(pa.list_(pa.string())) else column.cast("array<string>")
        if role in ("deadline", "time", "arrived"):
            whole = kind is not None and pa.types.is_integer(kind)
            return column.cast("bigint") if whole else f.unix_micros(column.cast("timestamp"))
        return column


def faults(c: Columns, cell: Cell) -> Column:
    """Why a row is invalid, or null: a cell that must not be empty is, or one cannot be read."""
    from pyspark.sql import functions as f

    found = [f.col(FAULT)] if FAULT in cell.read else []
    for role in REQUIRED:
        if role in c.read and READ + role not in cell.read:
            empty = cell(role).isNull() if role == "seq" else (f.coalesce(cell(role), f.lit("")) == "")
            found.append(f.when(empty, f"{role} is null"))
    return f.coalesce(*found, f.lit(None).cast("string"))


def times(c: Columns, cell: Cell) -> tuple[Column, Column, Column]:
    """When it came, until when it is in time, until when it may wait. A time that is null does not bind."""
    from pyspark.sql import functions as f

    never = f.lit(NEVER)

    def after(start: Column, span_us: int) -> Column:
        return f.coalesce(f.try_add(start, f.lit(span_us)), never)

    clock = "arrived" if c.arrived is not None else "time" if c.time is not None else None
    at = f.lit(None).cast("bigint") if clock is None else cell(clock)
    late = never if c.deadline is None else f.coalesce(cell("deadline"), never)
    due = late
    if c.wait_us is not None and clock is not None:
        due = f.least(due, after(cell("time" if c.time is not None else "arrived"), c.wait_us))
    if c.remember_us is not None and c.time is not None:
        late = f.least(late, after(cell("time"), c.remember_us))
    return at, late, due


def named(c: Columns, cell: Cell) -> tuple[Column, Column]:
    from pyspark.sql import functions as f

    nothing = f.lit(None).cast("string")
    numbered = nothing
    if c.numbered:
        sender = cell("sender")
        number = f.col(READ + "clock")[sender] if c.seq is None else cell("seq")
        numbered = f.when(sender.isNotNull() & number.isNotNull(), f.concat(sender, f.lit(":"), number.cast("string")))
    if c.id is None:
        return numbered, nothing
    name = cell("id")
    return name, f.when(numbered != name, numbered) if c.numbered else nothing


def parents_of(c: Columns, cell: Cell, project: bool) -> tuple[Column | None, Column]:
    """The parents to wait for, and those in other groups. To project, the latter stay among the former."""
    from pyspark.sql import functions as f

    nowhere = f.lit(None).cast("array<string>")
    if c.parents is None:
        return None, nowhere
    if c.group_of is None or project:
        return f.col("_parents"), nowhere
    home = cell("group").cast("string")
    if isinstance(c.group_of, str):
        at_home = f.expr(f"transform(_parents, parent -> cast(({c.group_of}) as string))")
        pairs = f.zip_with("_parents", at_home, lambda one, where: f.struct(one.alias("one"), where.alias("where")))
        local = f.transform(f.filter(pairs, lambda pair: pair["where"].eqNullSafe(home)), lambda pair: pair["one"])
        abroad = f.transform(f.filter(pairs, lambda pair: ~pair["where"].eqNullSafe(home)), lambda pair: pair["one"])
        return local, abroad
    where_is = c.group_of
    local = f.filter("_parents", lambda one: where_is(one).cast("string").eqNullSafe(home))
    return local, f.filter("_parents", lambda one: ~where_is(one).cast("string").eqNullSafe(home))


def needed(c: Columns, cell: Cell, local: Column | None) -> Column:
    """All names that come before the row in its group."""
    from pyspark.sql import functions as f

    parts = [] if local is None else [local]
    if c.seq is not None:
        previous = f.concat(cell("sender"), f.lit(":"), (cell("seq") - 1).cast("string"))
        parts.append(f.when((cell("seq") > c.first_seq) & previous.isNotNull(), f.array(previous)))
    if c.clock is not None:
        own = cell("sender")
        reach = f.transform(
            f.map_entries(READ + "clock"),
            lambda e: f.struct(
                e["key"].alias("s"), f.when(e["key"] == own, e["value"] - 1).otherwise(e["value"]).alias("n")
            ),
        )
        reach = f.filter(reach, lambda e: e["n"] >= c.first_seq)
        parts.append(f.transform(reach, lambda e: f.concat(e["s"], f.lit(":"), e["n"].cast("string"))))
    if len(parts) == 1:
        return parts[0]
    return f.concat(*(f.coalesce(part, f.array().cast("array<string>")) for part in parts))
