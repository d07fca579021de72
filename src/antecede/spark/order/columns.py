"""Which columns of a user's table mean what, what is refused at once, and which columns are added.

Decided in this file, for both engines: which settings go together, and in one sentence why others do not. How cells are
read is decided in `spark/tables`; `sql` and `local` make of them the columns a domain needs, by the same rules: names
are text, `sender:seq` names a row too where both are given, and a row of which something cannot be read is `invalid`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from antecede.errors import InputError
from antecede.spark.order.behind import Rules
from antecede.spark.tables.cells import FITTING, PLAIN, fits
from antecede.spark.tables.kinds import shown_type
from antecede.spark.tables.naming import as_named, hint

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column

__all__ = ["ADDED", "WORKING", "Columns", "check"]

ADDED = ("causal_pos", "fate", "released_by", "missing", "revealed", "why")
WORKING = ("_group", "_name", "_other", "_needs", "_foreign", "_at", "_late", "_due", "_fault")
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

    @property
    def read(self) -> dict[str, str]:
        """Role -> column, of those whose cells are read."""
        named = {role: getattr(self, role) for role in NAMES if role in PLAIN}
        return {role: name for role, name in named.items() if name is not None and (role != "sender" or self.numbered)}

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
        raise InputError(
            "nothing says what comes after what: name parents, or sender and seq, or clock and sender, the columns "
            "that say it (--parents, --sender, --seq, --clock)"
        )
    if (c.seq is not None or c.clock is not None) and c.sender is None:
        raise InputError(
            "numbers and vector clocks belong to senders: name the column of the sender, sender= or --sender"
        )
    if c.seq is not None and c.clock is not None:
        raise InputError("a vector clock holds the sender's own number: name clock or seq, not both")
    if c.id is None and not c.numbered:
        raise InputError("name the column of the id with id=, --id (only sender and seq, or a clock, make up for it)")
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
        raise InputError(
            "waiting needs a clock: name the column of arrivals (arrived=, --arrived) or of times (time=, --time)"
        )
    if c.remember_us is not None and c.wait_us is not None and c.remember_us <= c.wait_us:
        raise InputError(f"remember_us is {c.remember_us}; it must be longer than wait_us, {c.wait_us}")
    if c.group_of is not None and c.group is None:
        raise InputError("group_of says in which group a parent is: name the column of the row's own group with group=")


def check(columns: Columns, names: list[str], kinds: Mapping[str, pa.DataType | None]) -> None:
    """Refuse, in one sentence, a table that cannot be read this way. `names` and `kinds`: its columns."""
    refuse(columns)
    for role in NAMES:
        column = getattr(columns, role)
        if column is None:
            continue
        if column not in kinds:
            raise InputError(
                f"there is no column {column} for {role}{hint(column, names)}; the table has {as_named(names)}"
            )
        if not fits(role, kinds[column]):
            raise InputError(f"column {column} is {shown_type(kinds[column])}; for {role} it must be {FITTING[role]}")
    taken = [name for name in (*ADDED, *WORKING, "_parents") if name in kinds]
    if taken:
        raise InputError(f"the table already has a column {taken[0]}, which causal_order adds: rename or drop it")
    if len(set(names)) != len(names):
        raise InputError("two columns of the table have the same name: rename one")
