"""The steps of an audit for tables of other systems: what `building` and `judging` do for traces, with less to know.

    tell_table   rows    -> ids with their parents (or clocks), in pieces    build_table  pieces -> tables of messages
    name_absent  rows    -> the names of parents that are in no row          keep_names   pieces -> beside those tables
    ship_table   rows    -> chunks by receiver                               (judged as `visit` says)

Decided in this file: what goes by which step; and that parents which are in no row are asked for by name only when
there are some.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from antecede.errors import InputError
from antecede.spark.auditing.chunks import Coded, integers
from antecede.spark.auditing.judging import shipped_note
from antecede.spark.auditing.keys import keys_of
from antecede.spark.auditing.messages import Messages, build_messages
from antecede.spark.auditing.pieces import SHIPPED, Batches, Results, Source, by_run, grouped, opened, piece, pieces
from antecede.spark.auditing.places import Clocks, TableMessages, clock_edges, table_messages
from antecede.spark.auditing.table_rows import distinct, keyed, marks, plain, sizes_of, sound
from antecede.spark.auditing.tables import Shelf

__all__ = ["build_table", "keep_names", "name_absent", "ship_table", "tell_table"]


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
