"""What the rows of a trace tell before deliveries are looked at: publications, attendance, who took part.

Decided in this file: the form of these three between tasks (Arrow, ids as keys), and which rows cannot be used and why:
those are set aside with a reason, never dropped.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from antecede.core.message import COLLECTED
from antecede.core.topics import selected
from antecede.spark.auditing.attendance import CONTROL, Control
from antecede.spark.auditing.chunks import Coded, integers
from antecede.spark.auditing.history import PUBLICATION, Told
from antecede.spark.auditing.keys import keys_of, schema_of
from antecede.trace.record import KINDS, RETAINED, odd_reason

__all__ = [
    "CONTROLS",
    "HEARD",
    "LET_GO",
    "ROLES",
    "add_roles",
    "collected",
    "controls",
    "faults",
    "gather",
    "heard",
    "odd_reasons",
    "publications",
    "roles",
]

Ints = NDArray[Any]

CONTROLS = schema_of(
    process=pa.string(),
    step=pa.int64(),
    at_us=pa.int64(),
    time_us=pa.int64(),
    kind=pa.string(),
    groups=pa.list_(pa.string()),
    cut=pa.list_(pa.int64()),
    guard_us=pa.int64(),
    peer=pa.string(),
    reason=pa.string(),
    let_go=pa.list_(pa.string()),
    where=pa.string(),
)
ROLES = schema_of(process=pa.string(), role=pa.string())
HEARD = schema_of(process=pa.string(), step=pa.int64(), key=pa.int64())

LET_GO = COLLECTED + ":"
"""In what a cut says of messages that a broker let go of (`A@:17`); in no id."""

NAMES_A_MESSAGE = ("publish", "arrive", "deliver", "discard", "collect")


def keys(table: Any) -> Any:
    """The keys of the messages: of the column `key` where there is one."""
    if "key" in table.column_names:
        return table.column("key")
    return pa.array(keys_of(table.column("message")).view(np.int64))


def key_lists(column: Any) -> Any:
    """A column of lists of ids as lists of keys; lists of keys stay what they are."""
    if pa.types.is_list(column.type) and pa.types.is_int64(column.type.value_type):
        return column
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_null(array.type):
        return array.cast(pa.list_(pa.int64()))
    sizes = pc.list_value_length(array)
    offsets = np.concatenate([[0], np.cumsum(sizes.fill_null(0).to_numpy())]).astype(np.int32)
    members: Any = pa.array(keys_of(pc.list_flatten(array)).view(np.int64))
    mask = array.is_null() if array.null_count else None
    starts: Any = pa.array(offsets)
    return pa.ListArray.from_arrays(starts, members, mask=mask)


def time_us(table: Any) -> Any:
    """The simulator's clock where there is one, else the process's own."""
    return pc.coalesce(table.column("true_us").cast(pa.int64()), table.column("at_us").cast(pa.int64()))


def shaped(columns: dict[str, Any], schema: pa.Schema) -> pa.Table:
    arrays = [columns[f.name] if columns[f.name].type == f.type else columns[f.name].cast(f.type) for f in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def of_kinds(table: Any, kinds: Iterable[str]) -> Any:
    kind = Coded.of(table.column("kind"))
    rows = np.flatnonzero(kind.recoded(lambda word: word in kinds, False, bool))
    return table if len(rows) == len(table) else table.take(pa.array(rows))


def publications(table: Any) -> pa.Table:
    mine = of_kinds(table, ("publish",))
    mine = mine.filter(pc.is_valid(mine.column("message")))
    names = ("process", "step", "message", "groups", "deadline_us", "expires_us", "headers")
    columns = {name: mine.column(name) for name in names}
    columns["time_us"] = time_us(mine)
    columns["key"] = keys(mine)
    columns["after"] = key_lists(mine.column("after"))
    return shaped(columns, PUBLICATION)


def controls(table: Any) -> pa.Table:
    mine = of_kinds(table, CONTROL)
    names = ("process", "step", "at_us", "kind", "groups", "guard_us", "peer", "reason", "where")
    columns = {name: mine.column(name) for name in names}
    columns["time_us"] = time_us(mine)
    columns["cut"] = key_lists(mine.column("cut"))
    columns["let_go"] = let_go_of(mine)
    return shaped(columns, CONTROLS)


def let_go_of(table: Any) -> Any:
    """What cuts say of messages that brokers let go of: of the column `let_go` where there is one."""
    if "let_go" in table.column_names:
        return table.column("let_go")
    cuts = table.column("cut").to_pylist()
    found = [[name for name in cut or () if LET_GO in name] or None for cut in cuts]
    return pa.array(found, pa.list_(pa.string()))


def collected(table: Any) -> pa.Table:
    """What brokers let go of: cuts may say how many of it lie behind, and name no message."""
    mine = of_kinds(table, ("collect",))
    mine = mine.filter(pc.is_valid(mine.column("message")))
    return shaped({"process": mine.column("process"), "step": mine.column("step"), "key": keys(mine)}, HEARD)


def roles(table: Any) -> dict[str, str]:
    """Every process that has a row here, and its role there."""
    process, role = Coded.of(table.column("process")), Coded.of(table.column("role"))
    found: dict[str, str] = {}
    which = process.codes.astype(np.int64) * (len(role.words) + 1) + role.codes
    for place in np.unique(which[(process.codes >= 0) & (role.codes >= 0)]):
        name, word = (int(part) for part in divmod(place, len(role.words) + 1))
        add_roles(found, process.words[name], role.words[word])
    return found


def add_roles(roles: dict[str, str], name: str, told: str) -> None:
    """Who is said to have several roles has them all, with a `|` between."""
    known = roles.get(name, told).split("|")
    roles[name] = "|".join(dict.fromkeys([*known, *told.split("|")]))


def heard(table: Any) -> pa.Table:
    """Deliveries, which are causes where a publication names none."""
    mine = of_kinds(table, ("deliver",))
    copies = pc.fill_null(pc.equal(mine.column("reason"), pa.scalar(RETAINED)), False)
    mine = mine.filter(pc.and_(pc.is_valid(mine.column("message")), pc.invert(copies)))
    return shaped({"process": mine.column("process"), "step": mine.column("step"), "key": keys(mine)}, HEARD)


def faults(table: Any) -> list[tuple[str, int, str]]:
    """Rows that cannot be used: (process, step, reason)."""
    kind, process = Coded.of(table.column("kind")), Coded.of(table.column("process"))
    step = integers(table.column("step"), -1)
    named = np.asarray(pc.is_valid(table.column("message")).to_numpy())
    odd = kind.recoded(lambda word: word not in KINDS, True, bool)
    nameless = kind.recoded(lambda word: word in NAMES_A_MESSAGE, False, bool) & ~named
    reason = Coded.of(table.column("reason"))
    untold = odd_reasons(kind, reason)
    found = []
    for row in np.flatnonzero(odd | nameless | untold | (step < 0) | (process.codes < 0)):
        word = kind.words[kind.codes[row]] if kind.codes[row] >= 0 else None
        name = process.words[process.codes[row]] if process.codes[row] >= 0 else ""
        if process.codes[row] < 0 or step[row] < 0:
            why = "the row names no process or no step"
        elif odd[row]:
            why = f"there is no kind of row called {word!r}"
        elif nameless[row]:
            why = f"{word} names no message"
        else:
            why = f"{word} never has the reason {reason.words[reason.codes[row]]!r}"
        found.append((name, int(step[row]), why))
    return found


def odd_reasons(kind: Coded, reason: Coded) -> Ints:
    """Which rows have a reason that rows of their kind never have."""
    table = np.array([[odd_reason(k, r) for r in (*reason.words, None)] for k in (*kind.words, "")], bool)
    return np.asarray(table[kind.codes, reason.codes])


def gather(
    told: Iterable[pa.Table],
    rows: Iterable[pa.Table],
    seen: dict[str, str],
    deliveries: Iterable[pa.Table],
    let_go: Iterable[pa.Table] = (),
) -> Told:
    """All that was told of one run, from all tasks."""
    by_process: dict[str, list[Control]] = {}
    for table in rows:
        columns = table.to_pydict()
        for process, *values, where in zip(*(columns[name] for name in CONTROLS.names), strict=True):
            row = Control(*values)
            if where is not None:
                row = row._replace(groups=[selected(filter, where) for filter in row.groups or ()])
            by_process.setdefault(process, []).append(row)
    publications = list(told)
    listening = pa.concat_tables(list(deliveries)) if deliveries else None
    ears = None
    if listening is not None and listening.num_rows:
        process = Coded.of(listening.column("process"))
        key = listening.column("key").to_numpy().view(np.uint64)
        ears = (process.words, process.codes, listening.column("step").to_numpy(), key)
    table = pa.concat_tables(publications) if publications else PUBLICATION.empty_table()
    gone: dict[str, list[tuple[int, int]]] = {}
    for part in let_go:
        for process, step, key in zip(*(part.column(name).to_pylist() for name in HEARD.names), strict=True):
            gone.setdefault(process, []).append((step, key))
    in_order = {process: [key for _, key in sorted(found)] for process, found in gone.items()}
    return Told(table, by_process, seen, ears, in_order)
