"""Rows of a table of another system, before anything is said of them: which can be read, and in what form they travel.

Columns are named by their roles (`tables.cells`: run, receiver, position, id, parents or clock, and sender; `problem`
says why a row is none). Decided in this file: which columns are needed and of what types; a row that cannot be read is
set aside with the reason; ids and parents travel as keys, and of rows that say the same of one id one is told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray

from antecede.errors import InputError
from antecede.spark.auditing.chunks import integers
from antecede.spark.auditing.keys import keys_of
from antecede.spark.tables.cells import FITTING, fits, read_cells
from antecede.spark.tables.kinds import shown_type
from antecede.spark.tables.naming import as_named, hint

__all__ = ["distinct", "keyed", "marks", "plain", "roles_of", "sizes_of", "sound", "texts_of"]

Ints = NDArray[Any]

pc: Any = pa.compute

ENTRIES: Any = pa.list_(pa.struct([pa.field("key", pa.string()), pa.field("value", pa.int64())]))
"""A clock, as a list."""

EVERYBODY = "all"
"""The receiver of a table that names none."""


def roles_of(columns: Sequence[tuple[str, pa.DataType | None]], named: Mapping[str, str | None]) -> dict[str, int]:
    """Role -> place of its column, for the roles that are named; InputError where a column is not there, or no such."""
    if (named.get("parents") is None) == (named.get("clock") is None):
        raise InputError("name the column of the parents or of the vector clock, one of the two")
    names = [name for name, _ in columns]
    wanted = {role: name for role, name in named.items() if name is not None}
    absent = [name for name in wanted.values() if name not in names]
    if absent:
        raise InputError(
            f"the table has no column {as_named(absent)}{hint(absent[0], names)}; it has {as_named(names)}"
        )
    twice = [name for name in wanted.values() if names.count(name) > 1]
    if twice:
        raise InputError(f"the table has more than one column {twice[0]}: rename all but one")
    for role, name in wanted.items():
        kind = columns[names.index(name)][1]
        if not fits("id" if role == "problem" else role, kind):
            raise InputError(f"the {role} {name} is {shown_type(kind)}: give {FITTING.get(role, 'text')}")
    return {role: names.index(name) for role, name in wanted.items()}


def texts_of(named: Mapping[str, str | None]) -> set[str | None]:
    """Columns that are text in CSV and JSON, whatever is in them."""
    return {name for role, name in named.items() if role != "position"}


def sound(table: Any) -> tuple[Any, Any, Any]:
    """The rows that can be read, as plain columns; those that cannot; and for each of these why."""
    columns = {name: table.column(name) for name in table.column_names if name != "problem"}
    read, wrong = read_cells(columns)
    for name, word in (("run", ""), ("receiver", EVERYBODY)):
        if name not in read:
            read[name] = pa.repeat(word, table.num_rows)
    if "problem" in table.column_names:
        wrong = pc.coalesce(table.column("problem").combine_chunks().cast(pa.string()), wrong)
    rows = pa.table(read)
    if wrong.null_count == len(wrong):
        return rows, rows.slice(0, 0), wrong.slice(0, 0)
    good = wrong.is_null()
    return rows.filter(good), rows.filter(pc.invert(good)), wrong.drop_null()


def keyed(rows: Any) -> Any:
    return rows.append_column("key", pa.array(keys_of(rows.column("id")).view(np.int64)))


def plain(rows: Any) -> Any:
    """id, key, position; parents as keys, or hosts, counts and sender."""
    kept = rows.select(["id", "key", "position"])
    if "parents" in rows.column_names:
        lists = rows.column("parents").combine_chunks()
        return kept.append_column("parents", listed(lists, keys_of(lists.flatten()).view(np.int64)))
    clocks = rows.column("clock").combine_chunks().cast(ENTRIES)
    entries = clocks.flatten()
    sender = rows.column("sender") if "sender" in rows.column_names else pa.nulls(rows.num_rows, pa.string())
    kept = kept.append_column("hosts", listed(clocks, entries.field("key")))
    kept = kept.append_column("counts", listed(clocks, entries.field("value")))
    return kept.append_column("sender", sender)


def listed(lists: Any, members: Any) -> Any:
    """These members, in lists of the same sizes."""
    at: Any = pa.array(np.concatenate([[0], np.cumsum(sizes_of(lists))]).astype(np.int32))
    values: Any = pa.array(members) if isinstance(members, np.ndarray) else members
    return pa.ListArray.from_arrays(at, values)


def sizes_of(lists: Any) -> Ints:
    return np.asarray(lists.value_lengths().fill_null(0).to_numpy()).astype(np.int64)


def distinct(rows: Any) -> Any:
    """One row for each id and list of parents, or clock, at its first position: most repeat for every receiver."""
    key = integers(rows.column("key"), 0).view(np.uint64) + marks(rows) * np.uint64(3)
    if pc.count_distinct(pa.array(key)).as_py() == len(key):
        return rows  # to count them costs a tenth of what it costs to sort them
    order = np.lexsort((integers(rows.column("position"), 0), key))
    first = np.ones(len(key), bool)
    first[1:] = key[order[1:]] != key[order[:-1]]
    return rows.take(pa.array(np.sort(order[first])))


def marks(rows: Any) -> Ints:
    """A number for each row that is the same for the same parents, or the same clock, in any order."""
    if "parents" in rows.column_names:
        lists = rows.column("parents").combine_chunks()
        members = lists.flatten().to_numpy(zero_copy_only=False).view(np.uint64)
    else:
        lists = rows.column("hosts").combine_chunks()
        counts = rows.column("counts").combine_chunks().flatten().to_numpy(zero_copy_only=False).view(np.uint64)
        members = keys_of(lists.flatten()) * (counts * np.uint64(2) + np.uint64(1))
    sizes = sizes_of(lists)
    ends = np.cumsum(sizes)
    running = np.concatenate([[np.uint64(0)], np.cumsum(members, dtype=np.uint64)])
    return np.asarray(running[ends] - running[ends - sizes])
