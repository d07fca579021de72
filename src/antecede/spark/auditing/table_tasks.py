"""The steps of an audit for tables of other systems: what `building` and `judging` do for traces, with less to know.

    tell_table   rows    -> ids with their parents (or clocks), in pieces    build_table  pieces -> tables of messages
    name_absent  rows    -> the names of parents that are in no row          keep_names   pieces -> beside those tables
    ship_table   rows    -> chunks by receiver                               Visit        one receiver, to be judged

Rows come as they are, columns named by their roles (`tables.cells`: run, receiver, position, id, parents or clock, and
sender; `problem` says why a row is none). Decided in this file: a row that cannot be read is set aside with the reason;
of the rows of one id in a batch one is told; and parents that are in no row are asked for by name only when there are
some.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray

from antecede.errors import InputError
from antecede.spark.auditing import cover
from antecede.spark.auditing.chunks import Coded, integers
from antecede.spark.auditing.judge import Found
from antecede.spark.auditing.judging import named_in, shipped_note
from antecede.spark.auditing.keys import keys_of
from antecede.spark.auditing.messages import Messages, build_messages
from antecede.spark.auditing.part import part_for
from antecede.spark.auditing.pieces import SHIPPED, Batches, Results, Source, by_run, grouped, opened, piece, pieces
from antecede.spark.auditing.places import Clocks, TableMessages, clock_edges, judge_places, table_messages
from antecede.spark.auditing.tables import Shelf
from antecede.spark.tables.cells import FITTING, fits, read_cells
from antecede.spark.tables.kinds import shown_type

__all__ = [
    "Visit",
    "build_table",
    "keep_names",
    "name_absent",
    "roles_of",
    "ship_table",
    "sound",
    "tell_table",
    "texts_of",
]

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
        raise InputError(f"the table has no column {', '.join(absent)}; it has {', '.join(names)}")
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


def tell_table(read: Source) -> Callable[[Any], Batches]:
    def run(batches: Any) -> Batches:
        for source, table in read(batches):
            rows, bad, why = sound(table)
            bad = bad.append_column("why", why)
            found = [
                (domain, "fault", fault_of(row)) for domain, some in by_run(source, bad) for row in some.to_pylist()
            ]
            for domain, some in by_run(source, keyed(rows)):
                found.append((domain, "messages", piece(distinct(plain(some)))))
            yield pieces(found)

    return run


def fault_of(row: dict[str, Any]) -> bytes:
    return json.dumps([row["receiver"], row["position"], row["id"], row["why"]]).encode()


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


def build_table(scratch: str) -> Callable[[Batches], Batches]:
    def run(batches: Batches) -> Batches:
        shelf, results = Shelf(scratch), Results()
        for domain, whole in grouped(batches):
            faults = whole.get("fault", ())
            for receiver, position, name, reason in map(json.loads, faults):
                results.add("quarantine", domain, process=receiver, message=name, step=position, text=reason)
            results.add("counts", domain, verdict="refused", rows=len(faults))
            if "messages" in whole:
                table = pa.concat_tables([opened(p) for p in whole["messages"]]).combine_chunks()
                build_one(domain, table, shelf, results)
            yield from results.batches()

    return run


def build_one(domain: str, table: Any, shelf: Shelf, results: Results) -> None:
    try:
        told = by_clock(domain, table, results) if "hosts" in table.column_names else by_parents(table)
    except InputError as error:
        shelf.refuse(domain, str(error))
        results.add("quarantine", domain, text=str(error))
        return
    for name, reason in told.aside:
        results.add("quarantine", domain, message=name, text=reason)
    for name, reason in told.doubts:
        results.add("doubt", domain, verdict="several", message=name, text=f"{name} {reason}")
    messages = told.messages
    messages.extra = {"at": told.absent_at, "absent": told.absent, "keys": told.absent_keys}
    shelf.put(domain, messages)
    results.add("counts", domain, messages=messages.count + len(told.aside))
    results.add("counts", domain, verdict="absent", rows=len(told.absent_keys))


def by_parents(table: Any) -> TableMessages:
    parents = table.column("parents").combine_chunks()
    at = np.concatenate([[0], np.cumsum(sizes_of(parents))])
    members = parents.flatten().to_numpy(zero_copy_only=False).astype(np.int64).view(np.uint64)
    key = table.column("key").to_numpy().view(np.uint64)
    return table_messages(table.column("id").combine_chunks(), key, table.column("position").to_numpy(), at, members)


def by_clock(domain: str, table: Any, results: Results) -> TableMessages:
    key = table.column("key").to_numpy().view(np.uint64)
    mark = marks(table)
    order = np.lexsort((mark, table.column("position").to_numpy(), key))
    first = np.ones(len(order), bool)
    first[1:] = key[order[1:]] != key[order[:-1]]
    other = order[1:][~first[1:] & (mark[order[1:]] != mark[order[:-1]])]
    reason = "comes with different clocks in different rows: that at the first position is taken"
    doubts = [(name, reason) for name in sorted({table.column("id")[int(row)].as_py() for row in other})]
    table = table.take(pa.array(order[first]))
    key = table.column("key").to_numpy().view(np.uint64)
    hosts = table.column("hosts").combine_chunks()
    at = np.concatenate([[0], np.cumsum(sizes_of(hosts))])
    coded = Coded.of(hosts.flatten())
    counts = table.column("counts").combine_chunks().flatten().to_numpy(zero_copy_only=False).astype(np.int64)
    number = {name: code for code, name in enumerate(coded.words)}
    own = Coded.of(table.column("sender")).recoded(lambda word: number.get(word, -2), -1, np.int64)
    names = table.column("id").combine_chunks()
    parent, child, missing = clock_edges(Clocks(at, coded.codes.astype(np.int64), counts, own), names)
    position = table.column("position").to_numpy()
    for one, host, count in missing:
        step = f"{coded.words[host]}:{count}"
        name = names[one].as_py()
        text = f"the clock of {name} counts step {count} of {coded.words[host]}, which is not in the table"
        results.add("absent", domain, verdict="absent", message=name, other=step, step=int(position[one]), text=text)
    about = {"clocks": True}
    messages = build_messages(key=key, names=names, time_us=position, parent=parent, child=child, about=about)
    none = np.zeros(0, np.int64)
    at = np.zeros(messages.count + 1, np.int64)
    return TableMessages(messages, at, none, np.zeros(0, np.uint64), doubts=doubts)


# --- names of what is not there --------------------------------------------------------------------------------------


def name_absent(read: Source, scratch: str) -> Callable[[Any], Batches]:
    """Pieces with the names of parents that have no row."""

    def run(batches: Any) -> Batches:
        shelf = Shelf(scratch)
        for source, table in read(batches):
            found = []
            for domain, rows in by_run(source, sound(table)[0]):
                if shelf.refused(domain) is not None:
                    continue
                wanted = shelf.get(domain).extra["keys"]
                if not len(wanted):
                    continue
                names = rows.column("parents").combine_chunks().flatten()
                key = keys_of(names)
                spot = np.minimum(np.searchsorted(wanted, key), len(wanted) - 1)
                hits = np.flatnonzero(wanted[spot] == key)
                _, first = np.unique(key[hits], return_index=True)
                if len(first):
                    chosen = hits[first]
                    some = {"name": names.take(pa.array(chosen)), "key": key[chosen].view(np.int64)}
                    found.append((domain, "names", piece(pa.table(some))))
            yield pieces(found)

    return run


def keep_names(scratch: str) -> Callable[[Batches], Batches]:
    def run(batches: Batches) -> Batches:
        shelf, results = Shelf(scratch), Results()
        for domain, whole in grouped(batches):
            names: dict[int, str] = {}
            for content in whole["names"]:
                table = opened(content)
                columns: list[Any] = [table.column(name).to_pylist() for name in ("key", "name")]
                names.update(zip(*columns, strict=True))
            keys = shelf.get(domain).extra["keys"].view(np.int64).tolist()
            shelf.leave_names(domain, [names.get(key, f"#{key}") for key in keys])
            results.add("counts", domain)
            yield from results.batches()

    return run


# --- deliveries ------------------------------------------------------------------------------------------------------


def ship_table(read: Source, scratch: str, parts: int) -> Callable[[Any], Batches]:
    """Of the rows that can be read."""

    def run(batches: Any) -> Batches:
        shelf = Shelf(scratch)
        for source, table in read(batches):
            for domain, rows in by_run(source, keyed(sound(table)[0])):
                if shelf.refused(domain) is not None:
                    yield shipped_note(domain, {"refused": rows.num_rows})
                    continue
                yield from packed(domain, rows, shelf.get(domain), parts)

    return run


def packed(domain: str, rows: Any, messages: Messages, parts: int) -> Iterator[pa.RecordBatch]:
    """Chunks; rows of messages that were set aside are only counted."""
    receiver = Coded.of(rows.column("receiver"))
    message = messages.find(integers(rows.column("key"), 0).view(np.uint64)).astype(np.int32)
    position = integers(rows.column("position"), 0).astype(np.int64)
    codes = receiver.codes
    aside = message < 0
    if aside.any():
        yield shipped_note(domain, {"refused": int(aside.sum())})
        message, position, codes = message[~aside], position[~aside], codes[~aside]
    order = np.argsort(codes.astype(np.int16) if len(receiver.words) < 2**15 else codes, kind="stable")
    bounds = np.searchsorted(codes[order], np.arange(len(receiver.words) + 1))
    chunks = []
    for number, name in enumerate(receiver.words):
        mine = order[bounds[number] : bounds[number + 1]]
        if len(mine):
            data = message[mine].tobytes() + position[mine].tobytes()
            part = zlib.crc32(f"{domain}\n{name}".encode()) % parts
            chunks.append(
                {"part": part, "domain": domain, "process": name, "count": len(mine), "rows": len(mine), "events": data}
            )
    if chunks:
        yield pa.RecordBatch.from_pylist(chunks, schema=SHIPPED)


class Visit:
    """One receiver of a table."""

    matters = True

    def __init__(
        self, domain: str, receiver: str, chunks: list[dict[str, Any]], shelf: Shelf, results: Results
    ) -> None:
        self.domain = domain
        self.receiver = receiver
        self.shelf = shelf
        self.messages = shelf.get(domain)
        extra = self.messages.extra
        self.table = TableMessages(self.messages, extra["at"], extra["absent"], extra["keys"])
        read = [(c["count"], c["read"]()) for c in chunks]
        message = np.concatenate([np.frombuffer(data, np.int32, count) for count, data in read])
        position = np.concatenate([np.frombuffer(data, np.int64, count, 4 * count) for count, data in read])
        order, ties = in_order(message, position, self.messages)
        whole, self.position = message[order], position[order]
        self.rows = len(order)
        self.part = part_for(self.messages, whole)
        self.message = self.part.inside(whole)
        self.out = np.full(self.part.graph.count, cover.NEVER, np.int32)
        self.out[self.message[::-1]] = np.arange(len(order), dtype=np.int32)[::-1]
        results.add("counts", domain, rows=self.rows, deliveries=self.rows, processes=1)
        if len(ties):
            at = int(self.position[ties[0]])
            text = (
                f"receiver {receiver} has {len(ties)} deliveries at the position of another, the first at {at}: "
                "they have no order among themselves"
            )
            results.add("doubt", domain, verdict="tie", process=receiver, step=at, text=text)
            results.add("counts", domain, verdict="ties", rows=len(ties))

    def quick(self, results: Results) -> bool:
        covered = cover.quick(self.part.graph, self.out)
        if covered is None and self.part.numbers is None:
            return False
        if covered is None:
            covered = cover.blocks(self.part.graph, self.out[:, None])[:, 0]
        self.judge(covered, results)
        return True

    def judge(self, covered: Ints, results: Results) -> None:
        for found in judge_places(self.table, self.part, self.message, self.position, self.out, covered):
            message, other = self.messages.name(found.message), self._other(found)
            what = "missing" if found.verdict == "missing" else "finding"
            results.add(
                what, self.domain, verdict=found.verdict, process=self.receiver, message=message, other=other,
                step=found.step, text=named_in(found.text, message, other),
            )  # fmt: skip

    def _other(self, found: Found) -> str | None:
        if found.other < -1:
            return self.shelf.absent_name(self.domain, -2 - found.other)
        return self.messages.name(found.other) if found.other >= 0 else None


def in_order(message: Ints, position: Ints, messages: Messages) -> tuple[Ints, Ints]:
    """Places by position, at one position by name, so that every engine says the same; and which share a position."""
    order = np.argsort(position, kind="stable")
    placed = position[order]
    same = placed[1:] == placed[:-1]
    if not same.any():
        return order, np.zeros(0, np.int64)
    ties = np.flatnonzero(np.concatenate([[False], same]) | np.concatenate([same, [False]]))
    names = messages.names.take(pa.array(messages.named[message[order[ties]]]))
    coded = Coded.of(names)
    rank = np.argsort(np.argsort(np.array(coded.words, object)))[coded.codes]
    order[ties] = order[ties][np.lexsort((rank, placed[ties]))]
    return order, ties
