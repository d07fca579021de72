"""Inside Spark's tasks, for tables of other systems: the steps of `building` and `judging`, with less to know.

    tell_table   rows    -> ids with their parents (or clocks), in pieces    build_table  pieces -> tables of messages
    name_absent  parents -> the names of those the table does not hold
    ship_table   rows    -> chunks by receiver                               judge_table  chunks -> findings, counts

Decided in this file: rows without an id, a position or a receiver are set aside; of the rows of one id in a batch one
is told; and parents that are in no row are asked for by name only when there are some.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from antecede.errors import InputError
from antecede.spark.auditing import cover
from antecede.spark.auditing.chunks import Coded, integers
from antecede.spark.auditing.judge import Found
from antecede.spark.auditing.judging import TABLE_CELLS, Spool, add_note, shipped_note
from antecede.spark.auditing.messages import Messages, build_messages
from antecede.spark.auditing.pieces import SHIPPED, Batches, Results, Source, by_run, grouped, opened, piece, pieces
from antecede.spark.auditing.places import Clocks, TableMessages, clock_edges, judge_places, table_messages
from antecede.spark.auditing.tables import Shelf

__all__ = ["build_table", "judge_table", "keep_names", "name_absent", "ship_table", "tell_table"]

Ints = NDArray[Any]


def tell_table(read: Source) -> Callable[[Any], Batches]:
    """Columns run, id, key, position, receiver, and either `parents` (keys) or `hosts`, `counts` and `sender`."""

    def run(batches: Any) -> Batches:
        for source, table in read(batches):
            found = []
            for domain, rows in by_run(source, table):
                good = np.ones(rows.num_rows, bool)
                for name in ("id", "position", "receiver"):
                    column = rows.column(name)
                    if column.null_count:
                        empty = np.asarray(column.is_null().to_numpy())
                        for row in np.flatnonzero(empty & good):
                            values = {n: rows.column(n)[int(row)].as_py() for n in ("id", "position", "receiver")}
                            note = json.dumps([values, f"the row has no {name}"]).encode()
                            found.append((domain, "fault", note))
                        good &= ~empty
                rows = rows if good.all() else rows.filter(pa.array(good))
                found.append((domain, "messages", piece(distinct(rows))))
            yield pieces(found)

    return run


def distinct(rows: Any) -> Any:
    """One row for each id and list of parents: most tables repeat them for every receiver."""
    key = integers(rows.column("key"), 0)
    if "parents" in rows.column_names:
        parents = rows.column("parents").combine_chunks()
        sizes = parents.value_lengths().fill_null(0).to_numpy().astype(np.int64)
        members = parents.flatten().to_numpy(zero_copy_only=False).view(np.uint64)
        ends = np.cumsum(sizes)
        running = np.concatenate([[np.uint64(0)], np.cumsum(members, dtype=np.uint64)])
        key = key.view(np.uint64) + (running[ends] - running[ends - sizes]) * np.uint64(3)
    _, first = np.unique(key, return_index=True)
    return rows.drop_columns(["receiver", "run"]).take(pa.array(np.sort(first)))


def build_table(scratch: str) -> Callable[[Batches], Batches]:
    def run(batches: Batches) -> Batches:
        shelf, results = Shelf(scratch), Results()
        for domain, whole in grouped(batches):
            for content in whole.get("fault", ()):
                values, reason = json.loads(content)
                results.add(
                    "quarantine", domain, process=values["receiver"], message=values["id"], step=values["position"],
                    text=reason,
                )  # fmt: skip
            table = pa.concat_tables([opened(p) for p in whole.get("messages", ())]).combine_chunks()
            try:
                told = by_clock(domain, table, results) if "hosts" in table.column_names else by_parents(table)
            except InputError as error:
                shelf.refuse(domain, str(error))
                results.add("quarantine", domain, text=str(error))
            else:
                for name, reason in told.aside:
                    results.add("quarantine", domain, message=name, text=f"{name} {reason}")
                messages = told.messages
                messages.extra = {"at": told.absent_at, "absent": told.absent, "keys": told.absent_keys}
                shelf.put(domain, messages)
                results.add("counts", domain, messages=messages.count)
                results.add("counts", domain, verdict="absent", rows=len(told.absent_keys))
            yield from results.batches()

    return run


def by_parents(table: Any) -> TableMessages:
    parents = table.column("parents").combine_chunks()
    sizes = parents.value_lengths().fill_null(0).to_numpy().astype(np.int64)
    at = np.concatenate([[0], np.cumsum(sizes)])
    members = parents.flatten().to_numpy(zero_copy_only=False).astype(np.int64).view(np.uint64)
    key = table.column("key").to_numpy().view(np.uint64)
    return table_messages(table.column("id").combine_chunks(), key, table.column("position").to_numpy(), at, members)


def by_clock(domain: str, table: Any, results: Results) -> TableMessages:
    key = table.column("key").to_numpy().view(np.uint64)
    _, rows = np.unique(key, return_index=True)
    table = table.take(pa.array(np.sort(rows)))
    key = table.column("key").to_numpy().view(np.uint64)
    hosts = table.column("hosts").combine_chunks()
    sizes = hosts.value_lengths().fill_null(0).to_numpy().astype(np.int64)
    event = np.repeat(np.arange(len(key)), sizes)
    coded = Coded.of(hosts.flatten())
    counts = table.column("counts").combine_chunks().flatten().to_numpy(zero_copy_only=False).astype(np.int64)
    some = counts > 0
    at = np.concatenate([[0], np.cumsum(np.bincount(event[some], minlength=len(key)))])
    number = {name: code for code, name in enumerate(coded.words)}
    sender = Coded.of(table.column("sender"))
    own = sender.recoded(lambda word: number.get(word, -2), -1, np.int64)
    names = table.column("id").combine_chunks()
    clocks = Clocks(at, coded.codes[some].astype(np.int64), counts[some], own)
    parent, child, missing = clock_edges(clocks, names)
    position = table.column("position").to_numpy()
    for one, host, count in missing:
        other = f"{coded.words[host]}:{count}"
        name = names[one].as_py()
        text = f"the clock of {name} counts step {count} of {coded.words[host]}, which is not in the table"
        results.add("absent", domain, verdict="absent", message=name, other=other, step=int(position[one]), text=text)
    about = {"clocks": True}
    messages = build_messages(key=key, names=names, time_us=position, parent=parent, child=child, about=about)
    none = np.zeros(0, np.int64)
    return TableMessages(messages, np.zeros(messages.count + 1, np.int64), none, np.zeros(0, np.uint64))


# --- names of what is not there --------------------------------------------------------------------------------------


def name_absent(read: Source, scratch: str) -> Callable[[Any], Batches]:
    """Columns run, name, key: of all parents; returns pieces with the names of those that have no row."""

    def run(batches: Any) -> Batches:
        shelf = Shelf(scratch)
        for source, table in read(batches):
            found = []
            for domain, rows in by_run(source, table):
                if shelf.refused(domain) is not None:
                    continue
                wanted = shelf.get(domain).extra["keys"]
                key = integers(rows.column("key"), 0).view(np.uint64)
                spot = np.minimum(np.searchsorted(wanted, key), max(0, len(wanted) - 1))
                hits = np.flatnonzero(wanted[spot] == key) if len(wanted) else np.zeros(0, np.int64)
                _, first = np.unique(key[hits], return_index=True)
                if len(first):
                    chosen = rows.select(["name", "key"]).take(pa.array(hits[first]))
                    found.append((domain, "names", piece(chosen)))
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
    """Columns run, receiver, position, key; without rows that were set aside."""

    def run(batches: Any) -> Batches:
        shelf = Shelf(scratch)
        for source, table in read(batches):
            for domain, rows in by_run(source, table):
                if shelf.refused(domain) is not None:
                    yield shipped_note(domain, {"refused": rows.num_rows})
                    continue
                yield from packed(domain, rows, shelf.get(domain), parts)

    return run


def packed(domain: str, rows: Any, messages: Messages, parts: int) -> Iterator[pa.RecordBatch]:
    receiver = Coded.of(rows.column("receiver"))
    message = messages.find(integers(rows.column("key"), 0).view(np.uint64)).astype(np.int32)
    position = integers(rows.column("position"), 0).astype(np.int64)
    narrow = receiver.codes.astype(np.int16) if len(receiver.words) < 2**15 else receiver.codes
    order = np.argsort(narrow, kind="stable")
    bounds = np.searchsorted(receiver.codes[order], np.arange(len(receiver.words) + 1))
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


def judge_table(scratch: str) -> Callable[[Batches], Batches]:
    def run(batches: Batches) -> Batches:
        spool, results = Spool(), Results()
        for batch in batches:
            for domain, note in spool.take(batch):
                add_note(domain, note, results)
        shelf = Shelf(scratch)
        waiting: list[Visit] = []
        for domain, receiver, chunks in spool.chunks():
            visit = Visit(domain, receiver, chunks, shelf)
            results.add("counts", domain, rows=len(visit.message), deliveries=len(visit.message), processes=1)
            if waiting and (waiting[0].domain != domain or len(waiting) * visit.messages.count > TABLE_CELLS):
                all_at_once(waiting, results)
                waiting = []
            covered = cover.quick(visit.messages.graph, visit.out)
            if covered is None:
                waiting.append(visit)
            else:
                visit.judge(covered, results)
            yield from results.batches(10_000)
        all_at_once(waiting, results)
        yield from results.batches()

    return run


class Visit:
    """One receiver of a table."""

    def __init__(self, domain: str, receiver: str, chunks: list[dict[str, Any]], shelf: Shelf) -> None:
        self.domain = domain
        self.receiver = receiver
        self.shelf = shelf
        self.messages = shelf.get(domain)
        extra = self.messages.extra
        self.table = TableMessages(self.messages, extra["at"], extra["absent"], extra["keys"])
        read = [(c["count"], c["read"]()) for c in chunks]
        message = np.concatenate([np.frombuffer(data, np.int32, count) for count, data in read])
        position = np.concatenate([np.frombuffer(data, np.int64, count, 4 * count) for count, data in read])
        # Where two stand at one position their numbers decide, and it is said that the table does not tell.
        order = np.lexsort((message, position))
        self.message, self.position = message[order], position[order]
        self.out = np.full(self.messages.count, cover.NEVER, np.int32)
        self.out[self.message[::-1]] = np.arange(len(order), dtype=np.int32)[::-1]

    def judge(self, covered: Ints, results: Results) -> None:
        ties = np.flatnonzero(self.position[1:] == self.position[:-1])
        if len(ties):
            position = int(self.position[ties[0]])
            text = f"receiver {self.receiver} has several deliveries at position {position}: number its deliveries"
            results.add("quarantine", self.domain, process=self.receiver, step=position, text=text)
        for found in judge_places(self.table, self.message, self.position, self.out, covered):
            message, other = self.messages.name(found.message), self._other(found)
            text = found.text.replace("{m}", message).replace("{o}", other or "")
            what = "missing" if found.verdict == "missing" else "finding"
            results.add(
                what, self.domain, verdict=found.verdict, process=self.receiver, message=message, other=other,
                step=found.step, text=text,
            )  # fmt: skip

    def _other(self, found: Found) -> str | None:
        if found.other < -1:
            return self.shelf.absent_name(self.domain, -2 - found.other)
        return self.messages.name(found.other) if found.other >= 0 else None


def all_at_once(visits: list[Visit], results: Results) -> None:
    if visits:
        covered = cover.blocks(visits[0].messages.graph, np.stack([visit.out for visit in visits], axis=1))
        for number, visit in enumerate(visits):
            visit.judge(np.ascontiguousarray(covered[:, number]), results)
