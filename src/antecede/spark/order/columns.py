"""How a user's table is read: which columns mean what, what is refused at once, and the columns a domain needs.

Decided in this file: names are text (an id of another type is cast), `sender:seq` names a row too where both are given,
times are microseconds or timestamps on one scale, and a row without a name is `invalid`. Everything is plain Spark SQL,
so nothing is computed before the query runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from antecede.errors import InputError
from antecede.spark.order.behind import NEVER, Rules

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType, StructType

__all__ = ["ADDED", "WORKING", "Columns", "check", "col", "read", "sequence"]

ADDED = ("causal_pos", "fate", "released_by", "missing", "revealed")
WORKING = ("_group", "_name", "_other", "_needs", "_foreign", "_at", "_late", "_due", "_tie")
"""What a domain needs of each row, besides the user's columns."""

FOREIGN = "foreign:"
"""In `missing`: a parent in another group."""

MOST_HELD = 1_000_000


@dataclass(frozen=True)
class Columns:
    """What the user said: names of columns, and what to do with parents that do not come."""

    id: str | None = None
    parents: str | None = None
    sender: str | None = None
    seq: str | None = None
    clock: str | None = None
    group: str | None = None
    deadline: str | None = None
    time: str | None = None
    arrived: str | None = None
    wait_us: int | None = None
    unknown: str | None = None
    foreign: str | None = None
    group_of: Callable[[Column], Column] | str | None = None
    first_seq: int = 1
    max_held: int = MOST_HELD
    remember_us: int | None = None

    @property
    def numbered(self) -> bool:
        return self.clock is not None or self.seq is not None

    @property
    def bounded(self) -> bool:
        return self.wait_us is not None or self.deadline is not None

    def rules(self, *, streaming: bool) -> Rules:
        return Rules(self.numbered, self.max_held if streaming else None, self.remember_us)


NAMES = ("id", "parents", "sender", "seq", "clock", "group", "deadline", "time", "arrived")


def refuse(columns: Columns) -> None:
    """What cannot work whatever the table."""
    c = columns
    for field in fields(c):
        value = getattr(c, field.name)
        if field.name in NAMES and value is not None and not isinstance(value, str):
            raise InputError(f"{field.name} is {value!r}; it must be the name of a column")
    if c.parents is None and c.clock is None and c.seq is None:
        raise InputError("nothing says what comes after what: name parents, or sender and seq, or clock and sender")
    if (c.seq is not None or c.clock is not None) and c.sender is None:
        raise InputError("numbers and vector clocks belong to senders: name the column of the sender with sender=")
    if c.seq is not None and c.clock is not None:
        raise InputError("a vector clock holds the sender's own number: name clock or seq, not both")
    if c.id is None and not c.numbered:
        raise InputError("name the column of the id with id= (only sender and seq, or a clock, make up for it)")
    if c.unknown not in (None, "skip"):
        raise InputError(
            f"unknown is {c.unknown!r}; it may be 'skip': what never comes is noted in `missing` and skipped"
        )
    if c.foreign not in (None, "project", "none"):
        raise InputError(f"foreign is {c.foreign!r}; it may be 'project' (some parents are in other groups) or 'none'")
    if c.foreign == "project" and c.group is None:
        raise InputError("parents can be in other groups only where there are groups: name their column with group=")
    for name in ("wait_us", "remember_us", "max_held"):
        value = getattr(c, name)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
            raise InputError(f"{name} is {value!r}; it must be a whole number, not below 0")
    clock = c.arrived or c.time
    if clock is None and (c.bounded or c.remember_us is not None):
        raise InputError("waiting needs a clock: name the column that says when a row came with arrived= (or time=)")
    if c.remember_us is not None and c.wait_us is not None and c.remember_us <= c.wait_us:
        raise InputError(f"remember_us is {c.remember_us}; it must be longer than wait_us, {c.wait_us}")
    if c.group_of is not None and c.group is None:
        raise InputError("group_of says in which group a parent is: name the column of the row's own group with group=")


def check(columns: Columns, schema: StructType) -> None:
    """Refuse, in one sentence, a table that cannot be read this way."""
    refuse(columns)
    types = {field.name: field.dataType for field in schema.fields}
    for name in NAMES:
        column = getattr(columns, name)
        if column is None:
            continue
        if column not in types:
            raise InputError(f"there is no column {column} for {name}; the table has {', '.join(types)}")
        if not fits(name, types[column]):
            raise InputError(
                f"column {column} is {types[column].simpleString()}; for {name} it must be {FITTING[name]}"
            )
    taken = [name for name in (*ADDED, *WORKING, "_parents") if name in types]
    if taken:
        raise InputError(f"the table already has a column {taken[0]}, which causal_order adds: rename or drop it")
    if len(types) != len(schema.fields):
        raise InputError("two columns of the table have the same name: rename one")


A_TIME = "a timestamp or whole microseconds"
FITTING = {
    "id": "text or a whole number",
    "parents": "an array of ids, or text with commas, semicolons or spaces between ids",
    "sender": "text or a whole number",
    "seq": "a whole number",
    "clock": 'a map of text to whole numbers, or its JSON text like {"p": 3}',
    "group": "text, a number, a boolean or a date",
    "deadline": A_TIME,
    "time": A_TIME,
    "arrived": A_TIME,
}


def fits(name: str, kind: DataType) -> bool:
    from pyspark.sql import types as t

    if name in ("id", "sender"):
        return isinstance(kind, t.StringType | t.IntegralType)
    if name == "parents":
        inner = kind.elementType if isinstance(kind, t.ArrayType) else kind
        return isinstance(inner, t.StringType) or (
            isinstance(inner, t.IntegralType | t.NullType) and isinstance(kind, t.ArrayType)
        )
    if name == "seq":
        return isinstance(kind, t.IntegralType)
    if name == "clock":
        return isinstance(kind, t.StringType) or (
            isinstance(kind, t.MapType)
            and isinstance(kind.keyType, t.StringType | t.IntegralType)
            and isinstance(kind.valueType, t.IntegralType)
        )
    if name == "group":
        return isinstance(kind, t.AtomicType) and not isinstance(kind, t.BinaryType)
    return isinstance(kind, t.TimestampType | t.TimestampNTZType | t.DateType | t.IntegralType)


# -- the working columns ---------------------------------------------------------------------------------------------


def read(df: DataFrame, columns: Columns, *, project: bool = False) -> DataFrame:
    """The user's columns as c0, c1, ... (Arrow functions of Spark refuse names with dots), then the WORKING columns.

    `project`: parents in other groups are dealt with later.
    """
    from pyspark.sql import functions as f

    c = columns
    types = {field.name: field.dataType for field in df.schema.fields}
    at, late, due = times(c, types)
    name, other = names(c, types)
    local, foreign = parents_of(c, project)
    needs = needed(c, types, local)
    group = f.lit(None).cast("string") if c.group is None else col(c.group).cast("string")
    working = (group, name, other, needs, foreign, at, late, due, f.xxhash64(needs))
    if c.parents is not None:
        df = df.select("*", parent_list(c.parents, types[c.parents]).alias("_parents"))
    own = [col(one).alias(f"c{place}") for place, one in enumerate(types)]
    return df.select(*own, *(column.alias(named) for column, named in zip(working, WORKING, strict=True)))


def sequence(columns: Columns, schema: StructType) -> list[str]:
    """The order of arrival: time, then id, then all else that matters, so that nothing is left to chance.

    `schema`: that of the user's table.
    """
    from pyspark.sql import types as t

    name = "_name"
    for place, field in enumerate(schema.fields):
        if field.name == columns.id and isinstance(field.dataType, t.IntegralType):
            name = f"c{place}"  # numbers go by their value, not by their digits
    return ["_group", "_at", name, "_late", "_due", "_tie"]


def col(name: str) -> Column:
    """A column by its exact name: dots are part of it."""
    from pyspark.sql import functions as f

    return f.col("`" + name.replace("`", "``") + "`")


def as_us(name: str, kind: DataType) -> Column:
    from pyspark.sql import functions as f
    from pyspark.sql import types as t

    if isinstance(kind, t.IntegralType):
        return col(name).cast("bigint")
    return f.unix_micros(col(name).cast("timestamp"))


def times(c: Columns, types: dict[str, Any]) -> tuple[Column, Column, Column]:
    """When it came, until when it is in time, until when it may wait. A time that is null does not bind."""
    from pyspark.sql import functions as f

    never = f.lit(NEVER)

    def after(start: Column, span_us: int) -> Column:
        return f.coalesce(f.try_add(start, f.lit(span_us)), never)

    clock = c.arrived or c.time
    at = f.lit(-(2**63) + 1) if clock is None else f.coalesce(as_us(clock, types[clock]), f.lit(-(2**63) + 1))
    late = never if c.deadline is None else f.coalesce(as_us(c.deadline, types[c.deadline]), never)
    start = c.time or c.arrived
    due = late
    if c.wait_us is not None and start is not None:
        due = f.least(due, after(as_us(start, types[start]), c.wait_us))
    if c.remember_us is not None and c.time is not None:
        late = f.least(late, after(as_us(c.time, types[c.time]), c.remember_us))
    return at, late, due


def clock_map(c: Columns, types: dict[str, Any]) -> Column:
    from pyspark.sql import functions as f
    from pyspark.sql import types as t

    assert c.clock is not None
    if isinstance(types[c.clock], t.StringType):
        return f.from_json(col(c.clock), "map<string,bigint>")
    return col(c.clock).cast("map<string,bigint>")


def names(c: Columns, types: dict[str, Any]) -> tuple[Column, Column]:
    from pyspark.sql import functions as f

    nothing = f.lit(None).cast("string")
    numbered = nothing
    if c.numbered:
        assert c.sender is not None
        sender = col(c.sender).cast("string")
        number = clock_map(c, types)[sender] if c.seq is None else col(c.seq)
        numbered = f.when(sender.isNotNull() & number.isNotNull(), f.concat(sender, f.lit(":"), number.cast("string")))
    if c.id is None:
        return numbered, nothing
    name = col(c.id).cast("string")
    return name, f.when(numbered != name, numbered) if c.numbered else nothing


def parent_list(name: str, kind: Any) -> Column:
    from pyspark.sql import functions as f
    from pyspark.sql import types as t

    if isinstance(kind, t.StringType):
        return f.filter(f.split(col(name), r"[\s,;]+"), lambda one: one != "")
    return col(name) if isinstance(kind.elementType, t.StringType) else col(name).cast("array<string>")


def parents_of(c: Columns, project: bool) -> tuple[Column | None, Column]:
    """The parents to wait for, and those in other groups. To project, the latter stay among the former."""
    from pyspark.sql import functions as f

    nowhere = f.lit(None).cast("array<string>")
    if c.parents is None:
        return None, nowhere
    if c.group_of is None or project:
        return f.col("_parents"), nowhere
    assert c.group is not None
    home = col(c.group).cast("string")
    if isinstance(c.group_of, str):
        at_home = f.expr(f"transform(_parents, parent -> cast(({c.group_of}) as string))")
        pairs = f.zip_with("_parents", at_home, lambda one, where: f.struct(one.alias("one"), where.alias("where")))
        local = f.transform(f.filter(pairs, lambda pair: pair["where"].eqNullSafe(home)), lambda pair: pair["one"])
        abroad = f.transform(f.filter(pairs, lambda pair: ~pair["where"].eqNullSafe(home)), lambda pair: pair["one"])
        return local, abroad
    where_is = c.group_of
    local = f.filter("_parents", lambda one: where_is(one).cast("string").eqNullSafe(home))
    return local, f.filter("_parents", lambda one: ~where_is(one).cast("string").eqNullSafe(home))


def needed(c: Columns, types: dict[str, Any], local: Column | None) -> Column:
    """All names that come before the row in its group."""
    from pyspark.sql import functions as f

    parts = [] if local is None else [local]
    if c.seq is not None:
        assert c.sender is not None
        previous = f.concat(col(c.sender).cast("string"), f.lit(":"), (col(c.seq) - 1).cast("string"))
        parts.append(f.when((col(c.seq) > c.first_seq) & previous.isNotNull(), f.array(previous)))
    if c.clock is not None:
        assert c.sender is not None
        own = col(c.sender).cast("string")
        reach = f.transform(
            f.map_entries(clock_map(c, types)),
            lambda e: f.struct(
                e["key"].alias("s"), f.when(e["key"] == own, e["value"] - 1).otherwise(e["value"]).alias("n")
            ),
        )
        reach = f.filter(reach, lambda e: e["n"] >= c.first_seq)
        parts.append(f.transform(reach, lambda e: f.concat(e["s"], f.lit(":"), e["n"].cast("string"))))
    if len(parts) == 1:
        return parts[0]
    return f.concat(*(f.coalesce(part, f.array().cast("array<string>")) for part in parts))
