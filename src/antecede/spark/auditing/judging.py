"""Inside Spark's tasks: from rows to verdicts.

    ship      rows            -> chunks by process                          (read again; the only shuffle of deliveries)
    judge     chunks          -> findings, questions, counts
    answer    questions       -> the findings that hold

Decided in this file: a task keeps what it was sent in a file of its own until it has all of it, so that memory is
needed for one process at a time; and processes that miss most messages are judged many at once.
"""

from __future__ import annotations

import json
import os
import tempfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from antecede.spark.auditing import cover
from antecede.spark.auditing.attendance import Attendance, Control
from antecede.spark.auditing.chunks import code_rows, pack, unpack
from antecede.spark.auditing.judge import (
    DELIVER,
    DISCARD,
    NO_TIME,
    OVERFLOW,
    PUBLISH,
    Events,
    Found,
    Judge,
    Question,
    places_of,
)
from antecede.spark.auditing.messages import Messages
from antecede.spark.auditing.pieces import SHIPPED, Batches, Results, Source, by_run, unknown_tail
from antecede.spark.auditing.tables import Shelf, domain_of

__all__ = ["Case", "Judged", "Maker", "answer", "chunks_of", "judge", "named_in", "ship", "shipped_note"]

TABLE_CELLS = 16 * 2**20
"""Messages x receivers taken together where many messages are missing: four tables of 64 MB."""

WAITING_ROWS = 4_000_000
"""Rows of receivers that wait to be taken together: about 120 MB."""


def ship(read: Source, scratch: str, parts: int) -> Callable[[Any], Batches]:
    def run(batches: Any) -> Batches:
        shelf = Shelf(scratch)
        for source, table in read(batches):
            if isinstance(table, str):
                yield shipped_note(domain_of(source, ""), {"reason": table})
                continue
            for domain, rows in by_run(source, table):
                if shelf.refused(domain) is not None:
                    yield shipped_note(domain, {"refused": rows.num_rows})
                    continue
                messages = shelf.get(domain)
                chunks, left_out = pack(code_rows(rows), messages.find)
                yield from chunks_of(domain, messages, chunks, left_out, parts)

    return run


def chunks_of(domain: str, messages: Messages, chunks: Any, left_out: dict[str, int], parts: int) -> Batches:
    part = parts_of(domain, messages, parts)
    places = pa.array([part(str(name)) for name in chunks.column(0).to_pylist()], pa.int32())
    domains = pa.array([domain] * chunks.num_rows, pa.string())
    yield pa.RecordBatch.from_arrays([places, domains, *chunks.columns], schema=SHIPPED)
    if any(left_out.values()):
        yield shipped_note(domain, left_out)


def parts_of(domain: str, messages: Messages, parts: int) -> Callable[[str], int]:
    """Processes are dealt out in turn, so that each task gets its share of them."""
    start = zlib.crc32(domain.encode())
    number = {name: place for place, name in enumerate(messages.processes)}
    return lambda process: (start + number.get(process, 0)) % parts


def shipped_note(domain: str, note: dict[str, Any]) -> pa.RecordBatch:
    row = {"part": 0, "domain": domain, "events": json.dumps(note).encode()}
    return pa.RecordBatch.from_pylist([row], schema=SHIPPED)


class Spool:
    """Chunks in a file, by domain and process."""

    def __init__(self) -> None:
        self.file = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as this, and has no name
        self.index: dict[tuple[str, str], list[dict[str, Any]]] = {}
        self.size = 0

    def take(self, batch: pa.RecordBatch) -> list[tuple[str, dict[str, Any]]]:
        """Keep its chunks; notes are returned."""
        notes = []
        events = batch.column(SHIPPED.get_field_index("events"))
        for row, fields in enumerate(batch.drop_columns(["events"]).to_pylist()):
            data = events[row].as_buffer()
            if fields["process"] is None:
                notes.append((fields["domain"], json.loads(data.to_pybytes())))
                continue
            fields["place"] = (self.size, data.size)
            self.file.write(data)
            self.size += data.size
            self.index.setdefault((fields["domain"], fields["process"]), []).append(fields)
        return notes

    def chunks(self) -> Iterator[tuple[str, str, list[dict[str, Any]]]]:
        """Those of one process after the other; their bytes can be read until the next is asked for."""
        self.file.flush()
        with self.file:
            handle = self.file.fileno()
            for (domain, process), chunks in sorted(self.index.items(), key=lambda entry: entry[0]):
                for chunk in chunks:
                    start, size = chunk["place"]
                    chunk["read"] = partial(os.pread, handle, size, start)
                yield domain, process, chunks


class Judged(Protocol):
    """One process or receiver, ready to be judged."""

    domain: str
    messages: Messages
    matters: bool
    """Whether there is anything to judge."""
    out: Any
    """Message -> the place at which it was out there."""
    rows: int

    def quick(self, results: Results) -> bool:
        """Judge it by itself, if that is quick; else it waits for others of its domain."""
        ...

    def judge(self, covered: Any, results: Results) -> None: ...


Maker = Callable[[str, str, list[dict[str, Any]], Shelf, Results], Judged]
"""From domain, process and its chunks."""


def judge(scratch: str, make: Maker) -> Callable[[Batches], Batches]:
    """`make` says what is judged: a process of a trace, or a receiver of a table."""

    def run(batches: Batches) -> Batches:
        spool, results = Spool(), Results()
        for batch in batches:
            for domain, note in spool.take(batch):
                add_note(domain, note, results)
        shelf = Shelf(scratch)
        waiting: list[Judged] = []
        for domain, process, chunks in spool.chunks():
            case = make(domain, process, chunks, shelf, results)
            if waiting and full(waiting, case):
                together(waiting, results)
                waiting = []
            if case.matters and not case.quick(results):
                waiting.append(case)
            yield from results.batches(10_000)
        together(waiting, results)
        yield from results.batches()

    return run


def add_note(domain: str, note: dict[str, Any], results: Results) -> None:
    if "reason" in note:
        results.add("quarantine", domain, verdict="unreadable", text=note["reason"])
    elif "refused" in note:
        results.add("counts", domain, verdict="refused", rows=note["refused"])
    else:
        for verdict, rows in note.items():
            if rows:
                results.add("counts", domain, verdict=verdict, rows=rows)


class Case:
    """One process, ready to be judged."""

    def __init__(self, domain: str, process: str, chunks: list[dict[str, Any]], shelf: Shelf, results: Results) -> None:
        self.domain = domain
        self.process = process
        self.messages = shelf.get(domain)
        about = self.messages.about
        self.events: Events
        self.events, wrong = unpack(chunks)
        self.rows = rows = sum(chunk["rows"] for chunk in chunks)
        deliveries = int((self.events.kind == DELIVER).sum())
        results.add("counts", domain, rows=rows, deliveries=deliveries)
        self.mine = attendance(about, process)
        if wrong is None and self.mine.lasts and self.mine.lasts[0] < rows - 1:
            wrong = f"rows after step {self.mine.lasts[0]}, which is its last by what it says"
        self.matters = False
        self.out: Any = None
        if wrong is not None:
            results.add("quarantine", domain, process=process, text=f"process {process} has {wrong}")
            return
        if self.mine.tail_unknown:
            results.add("tail", domain, process=process, text=unknown_tail(process))
        # Who delivered nothing and is owed nothing did nothing wrong.
        self.matters = deliveries > 0 or bool(self.mine.memberships)
        self.out = places_of(self.events, self.messages.count)
        if about["asked"]:
            events = self.events
            shed = (events.kind == DISCARD) & (events.reason == OVERFLOW) & (events.peer >= 0)
            if shed.any():
                shelf.leave_shed(domain, process, events.message[shed], events.peer[shed], events.peers)
            which = (events.kind == DELIVER) | (events.kind == PUBLISH)
            which &= self.out[events.message] == events.step
            time_us = np.where(events.true_us == NO_TIME, events.at_us, events.true_us)[which]
            shelf.leave_out(domain, process, events.message[which], events.step[which], time_us)

    def quick(self, results: Results) -> bool:
        covered = cover.quick(self.messages.graph, self.out)
        if covered is None:
            return False
        self.judge(covered, results)
        return True

    def judge(self, covered: Any, results: Results) -> None:
        about = self.messages.about
        verdicts = Judge(
            self.events, self.mine, self.messages, self.out, covered,
            skew_us=about["skew_us"], quiet=about["quiet"], cache=self.messages.cache,
        ).judge()  # fmt: skip
        for found in verdicts.found:
            if found.verdict not in about["exempt"]:
                results.add("doubt" if found.doubt else "finding", self.domain, **self.named(found))
        for question in verdicts.questions:
            if question.found.verdict not in about["exempt"]:
                results.add("question", self.domain, **self.named(question.found), **asked(question))

    def named(self, found: Found) -> dict[str, Any]:
        message = self.messages.name(found.message)
        other = self.messages.name(found.other) if found.other >= 0 else None
        return {
            "verdict": found.verdict, "process": self.process, "message": message, "other": other,
            "step": found.step, "text": named_in(found.text, message, other),
        }  # fmt: skip


def named_in(text: str, message: str, other: str | None) -> str:
    return text.replace("{m}", message).replace("{o}", other or "")


def asked(question: Question) -> dict[str, Any]:
    return {name: getattr(question, name) for name in ("turn", "peer", "first", "then", "after_us")}


def attendance(about: dict[str, Any], process: str) -> Attendance:
    rows = sorted((Control(*row) for row in about["controls"].get(process, ())), key=lambda row: row.step)
    return Attendance.of(about["roles"].get(process, "member"), rows)


def full(waiting: list[Judged], case: Judged) -> bool:
    """Whether those who wait must be judged before this one joins them."""
    rows = sum(one.rows for one in waiting)
    cells = (len(waiting) + 1) * case.messages.count
    return waiting[0].domain != case.domain or cells > TABLE_CELLS or rows > WAITING_ROWS


def together(cases: list[Judged], results: Results) -> None:
    """Many processes at once, where so much is missing that the quick way is none."""
    if not cases:
        return
    covered = cover.blocks(cases[0].messages.graph, np.stack([case.out for case in cases], axis=1))
    for number, case in enumerate(cases):
        case.judge(np.ascontiguousarray(covered[:, number]), results)


# --- the questions ---------------------------------------------------------------------------------------------------


def answer(scratch: str) -> Callable[[Batches], Batches]:
    """Of the questions, those whose condition holds."""

    def run(batches: Batches) -> Batches:
        shelf = Shelf(scratch)
        outs: dict[tuple[str, str], Any] = {}
        for batch in batches:
            names = ("domain", "process", "peer", "first", "then", "after_us")
            columns = [batch.column(name).to_pylist() for name in names]
            holds = []
            for domain, process, peer, first, then, after_us in zip(*columns, strict=True):
                if peer is None:
                    holds.append(True)
                    continue
                if (domain, peer) not in outs:
                    if len(outs) > 64:
                        outs.clear()
                    outs[domain, peer] = shelf.out(domain, peer), shelf.shed(domain, peer)
                out, shed = outs[domain, peer]
                told = then >= 0 and (process, first) in shed  # it had no more room for it, and says so itself
                holds.append(not told and true_at(out, first, then, after_us))
            yield batch.filter(pa.array(holds, pa.bool_()))

    return run


def true_at(out: Any, first: int, then: int, after_us: int) -> bool:
    if out is None:
        return then >= 0  # nobody answers for the order it came in; and nobody had it out
    spot = entry(out, first)
    if spot is None:
        return False
    if then < 0:
        return bool(out["time_us"][spot] > after_us)
    later = entry(out, then)
    return later is None or bool(out["step"][spot] < out["step"][later])


def entry(out: Any, message: int) -> int | None:
    spot = int(np.searchsorted(out["message"], message))
    return spot if spot < len(out) and out["message"][spot] == message else None
