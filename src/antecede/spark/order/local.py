"""Causal order in this process, over Arrow: the same cells, the same sequence, the same domains, without Spark.

Decided in this file: how the columns a domain needs come from cells, as `sql` says it for Spark; a test holds the two
against each other. The whole table is in memory, so this is for tables of a size that `cli/order` states.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from antecede.errors import InputError
from antecede.spark.order.arrow import compute
from antecede.spark.order.batch import order_batches
from antecede.spark.order.behind import NEVER
from antecede.spark.order.columns import ADDED, WORKING, Columns, check
from antecede.spark.order.project import projected
from antecede.spark.order.work import Work, arranged
from antecede.spark.tables.cells import PARENTS, TEXT, read_cells
from antecede.spark.tables.making import array

__all__ = ["ORDERED", "order_local", "working"]

ORDERED = (
    ("causal_pos", pa.int64()),
    ("fate", TEXT),
    ("released_by", TEXT),
    ("missing", PARENTS),
    ("revealed", pa.int32()),
    ("why", TEXT),
)
"""The columns that are added, and their types."""


def order_local(table: pa.Table, columns: Columns) -> pa.Table:
    """The table with the columns that `causal_order` adds, rows in the sequence of arrival, group by group."""
    names: list[str] = list(table.column_names)
    check(columns, names, dict(zip(names, table.schema.types, strict=True)))
    if columns.group_of is not None:
        raise InputError("group_of is a matter of Spark's columns: order with Spark, or leave it out")
    plain = [f"c{place}" for place in range(len(names))]
    rows = working(table.rename_columns(plain), columns, dict(zip(names, plain, strict=True)))
    c = columns
    by_number = c.id is not None and pa.types.is_integer(table.schema.field(c.id).type)
    work = Work(
        group=None if c.group is None else "_group",
        name="_name",
        other="_other" if c.numbered and c.id is not None else None,
        needs="_needs",
        foreign=None,
        at="_at" if c.arrived or c.time else None,
        late="_late",
        due="_due",
        tie=plain[names.index(str(c.id))] if by_number else "_name",
        fault="_fault",
    )
    schema = pa.schema([*zip(plain, table.schema.types, strict=True), *ORDERED])
    done = list(order_batches(columns, work)(iter([arranged(rows.to_batches(), work)]))) if rows.num_rows else []
    return pa.Table.from_batches([batch.cast(schema) for batch in done], schema).rename_columns([*names, *ADDED])


def working(table: pa.Table, columns: Columns, places: dict[str, str]) -> pa.Table:
    """The table and beside it the WORKING columns. `places`: a column's name -> what it is called here."""
    c = columns
    size = table.num_rows
    table = table.combine_chunks()
    cells, wrong = read_cells({role: table[places[name]] for role, name in c.read.items()})
    name, other = named(c, cells)
    name = compute.if_else(wrong.is_null(), name, pa.nulls(size, TEXT))
    needs = needed(c, cells)
    group = pa.nulls(size, TEXT) if c.group is None else keyed(table[places[c.group]])
    if c.group is not None and c.foreign != "none":
        needs = moved(group, name, other, needs)
    made = (group, name, other, needs, pa.nulls(size, PARENTS), *times(c, cells, size), wrong)
    for called, column in zip(WORKING, made, strict=True):
        table = table.append_column(called, column)
    return table


def keyed(column: Any) -> Any:
    """Groups as texts; which text does not matter, only which rows share it."""
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_string(column.type) or pa.types.is_integer(column.type):
        return column.cast(TEXT)
    return column.dictionary_encode().indices.cast(TEXT)


def named(c: Columns, cells: dict[str, Any]) -> tuple[Any, Any]:
    size = len(next(iter(cells.values())))
    nothing = pa.nulls(size, TEXT)
    if not c.numbered:
        return cells["id"], nothing
    senders = cells["sender"].to_pylist()
    if c.seq is not None:
        numbers = cells["seq"].to_pylist()
    else:
        numbers = [dict(clock or ()).get(sender) for clock, sender in zip(clocks(cells), senders, strict=True)]
    pairs = zip(senders, numbers, strict=True)
    numbered = [None if sender is None or n is None else f"{sender}:{n}" for sender, n in pairs]
    if c.id is None:
        return array(numbered, TEXT), nothing
    others = [
        n if name is not None and n != name else None for n, name in zip(numbered, cells["id"].to_pylist(), strict=True)
    ]
    return cells["id"], array(others, TEXT)


def clocks(cells: dict[str, Any]) -> list[list[tuple[str, int]] | None]:
    found: list[list[tuple[str, int]] | None] = cells["clock"].to_pylist()
    return found


def needed(c: Columns, cells: dict[str, Any]) -> Any:
    """All names that come before a row in its group."""
    if not c.numbered:
        return cells["parents"]
    senders = cells["sender"].to_pylist()
    needs: list[list[str]] = cells["parents"].to_pylist() if c.parents is not None else [[] for _ in senders]
    if c.seq is not None:
        for place, (sender, n) in enumerate(zip(senders, cells["seq"].to_pylist(), strict=True)):
            if sender is not None and n is not None and n > c.first_seq:
                needs[place].append(f"{sender}:{n - 1}")
    if c.clock is not None:
        for place, (sender, clock) in enumerate(zip(senders, clocks(cells), strict=True)):
            reach = ((name, count - (name == sender)) for name, count in clock or ())
            needs[place].extend(f"{name}:{count}" for name, count in reach if count >= c.first_seq)
    return array(needs, PARENTS)


def times(c: Columns, cells: dict[str, Any], size: int) -> tuple[Any, Any, Any]:
    """When a row came, until when it is in time, until when it may wait. A time that is null does not bind."""

    def of(role: str) -> list[int | None]:
        found: list[int | None] = cells[role].to_pylist()
        return found

    def after(starts: list[int | None], span_us: int) -> list[int]:
        return [NEVER if start is None else min(NEVER, start + span_us) for start in starts]

    clock = "arrived" if c.arrived is not None else "time" if c.time is not None else None
    at = [None] * size if clock is None else of(clock)
    late = [NEVER] * size if c.deadline is None else [NEVER if one is None else one for one in of("deadline")]
    due = late
    if c.wait_us is not None and clock is not None:
        due = list(map(min, due, after(of("time" if c.time is not None else "arrived"), c.wait_us)))
    if c.remember_us is not None and c.time is not None:
        late = list(map(min, late, after(of("time"), c.remember_us)))
    return array(at, pa.int64()), array(late, pa.int64()), array(due, pa.int64())


def moved(group: Any, name: Any, other: Any, needs: Any) -> Any:
    """Parents in other groups replaced by their nearest ancestors in the row's own."""
    batch = pa.RecordBatch.from_arrays([group, name, other, needs], ["_group", "_name", "_other", "_needs"])
    instead = {(row["_to_group"], row["_to_name"]): row["_to_needs"] for row in changed(batch)}
    if not instead:
        return needs
    rows = zip(group.to_pylist(), name.to_pylist(), needs.to_pylist(), strict=True)
    return array([instead.get((where, who), mine) for where, who, mine in rows], PARENTS)


def changed(batch: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    for part in projected(iter([batch])):
        yield from part.to_pylist()
