"""The steps of the audit one after the other, without Spark: the same functions that its tasks run, in this process."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa

from antecede.spark.auditing import building, judging, table_tasks
from antecede.spark.auditing.keys import keys_of
from antecede.spark.auditing.pieces import PIECE, RESULT, SHIPPED
from antecede.trace.parquet import to_batch
from antecede.trace.record import Row, arrow_schema

__all__ = ["Result", "audited", "cut_up", "renumbered", "table_audited", "with_faults"]

Result = dict[str, list[dict[str, Any]]]
"""Rows by what they are: finding, doubt, tail, quarantine, counts, missing, absent."""

PARTS = 3
SETTINGS: dict[str, Any] = {"skew_us": None, "recipe": None, "exempt": []}


def cut_up(rows: Sequence[Row], dice: random.Random, cuts: int = 3) -> list[pa.Table]:
    """The rows as a trace, in pieces as tasks get them."""
    borders = sorted({0, len(rows), *(dice.randrange(len(rows) + 1) for _ in range(cuts))})
    schema = arrow_schema()
    return [pa.Table.from_batches([to_batch(rows[a:b], schema)]) for a, b in pairwise(borders)]


def by_domain(pieces: Iterable[pa.RecordBatch]) -> list[pa.RecordBatch]:
    table = pa.Table.from_batches(list(pieces), schema=PIECE)
    return table.sort_by("domain").to_batches(max_chunksize=2)


def by_part(chunks: Iterable[pa.RecordBatch], dice: random.Random) -> Iterator[list[pa.RecordBatch]]:
    """As a shuffle would: each part's chunks in any order."""
    table = pa.Table.from_batches(list(chunks), schema=SHIPPED)
    for part in range(PARTS):
        rows = [n for n, p in enumerate(table.column("part").to_pylist()) if p == part]
        dice.shuffle(rows)
        yield table.take(pa.array(rows, pa.int64())).to_batches(max_chunksize=2)


def sorted_out(batches: Iterable[pa.RecordBatch]) -> Result:
    result: Result = {}
    for batch in batches:
        for row in batch.to_pylist():
            result.setdefault(row["what"], []).append(row)
    return result


def audited(tables: Sequence[pa.Table], scratch: Path, dice: random.Random | None = None, **settings: Any) -> Result:
    """Everything the audit says of these pieces of a trace."""
    dice = dice or random.Random(0)
    chosen = {**SETTINGS, **settings}

    def read(batches: Any) -> Iterator[tuple[str, Any]]:
        return (("", table) for table in batches)

    results: list[pa.RecordBatch] = []
    for deliveries in (False, True):
        told = [b for t in tables for b in building.tell(read, str(scratch), deliveries)([t])]
        results += building.build(str(scratch), chosen)(iter(by_domain(told)))
    chunks = [b for t in tables for b in judging.ship(read, str(scratch), PARTS)([t])]
    for part in by_part(chunks, dice):
        results += judging.judge(str(scratch))(iter(part))
    found = sorted_out(results)
    asked = pa.RecordBatch.from_pylist(found.pop("question", []), schema=RESULT)
    best: dict[Any, dict[str, Any]] = {}
    for row in sorted_out(judging.answer(str(scratch))(iter([asked]))).get("question", []):
        key = (row["domain"], row["verdict"], row["process"], row["message"], row["other"])
        if key not in best or row["turn"] < best[key]["turn"]:
            best[key] = row
    found.setdefault("finding", []).extend(best.values())
    return found


def table_audited(tables: Sequence[pa.Table], scratch: Path, dice: random.Random | None = None) -> Result:
    """Everything the audit says of a table with run, receiver, position, id, and parents or hosts, counts, sender."""
    dice = dice or random.Random(0)

    def read(batches: Any) -> Iterator[tuple[str, Any]]:
        return (("", table) for table in batches)

    keyed, parents, places = [], [], []
    for table in tables:
        table = table.append_column("key", pa.array(keys_of(table.column("id")).view("i8")))
        if "parents" in table.column_names:
            lists = table.column("parents").combine_chunks()
            members = pa.array(keys_of(lists.flatten()).view("i8"))
            keys = pa.ListArray.from_arrays(lists.offsets, members)
            run = pa.array(
                [r for r, p in zip(table.column("run").to_pylist(), lists.to_pylist(), strict=True) for _ in p],
                pa.string(),
            )
            parents.append(pa.table({"run": run, "name": lists.flatten(), "key": members}))
            table = table.drop_columns(["parents"]).append_column("parents", keys)
        keyed.append(table)
        good = pa.compute.and_(table.column("id").is_valid(), table.column("position").is_valid())
        places.append(table.filter(good).select(["run", "receiver", "position", "key"]))
    told = [b for t in keyed for b in table_tasks.tell_table(read)([t])]
    results = list(table_tasks.build_table(str(scratch))(iter(by_domain(told))))
    named = [b for t in parents for b in table_tasks.name_absent(read, str(scratch))([t])]
    list(table_tasks.keep_names(str(scratch))(iter(by_domain(named))))
    chunks = [b for t in places for b in table_tasks.ship_table(read, str(scratch), PARTS)([t])]
    for part in by_part(chunks, dice):
        results += table_tasks.judge_table(str(scratch))(iter(part))
    return sorted_out(results)


# --- faults ----------------------------------------------------------------------------------------------------------


def renumbered(rows: Iterable[Row]) -> list[Row]:
    """Steps made contiguous again."""
    steps: dict[str, int] = {}
    out = []
    for row in rows:
        out.append(row._replace(step=steps.setdefault(row.process, 0)))
        steps[row.process] += 1
    return out


def with_faults(run: Sequence[Row], dice: random.Random) -> list[Row]:
    """The run with a few deliveries left out, doubled, put off, brought forward, made late, or made discards."""
    rows = list(run)
    for _ in range(dice.randrange(6)):
        places = [place for place, row in enumerate(rows) if row.kind == "deliver"]
        if not places:
            break
        at = dice.choice(places)
        row = rows[at]
        mine = [
            n for n, other in enumerate(rows) if other.process == row.process and other.kind not in ("end", "crash")
        ]
        what = dice.choice(["leave out", "double", "put off", "bring forward", "late", "discard", "no clock"])
        if what == "leave out":
            del rows[at]
        elif what == "double":
            rows.insert(dice.choice([place for place in mine if place >= at]) + 1, row)
        elif what == "put off":
            to = dice.choice([place for place in mine if place > at] or [at])
            rows.insert(to, rows.pop(at))
        elif what == "bring forward":
            to = dice.choice([place for place in mine if mine[0] < place < at] or [at])
            rows.insert(to, rows.pop(at))
        elif what == "late":
            later = None if row.true_us is None else row.true_us + 10**6
            rows[at] = row._replace(at_us=row.at_us + 10**6, true_us=later)
        elif what == "discard":
            reasons = ["late", "superseded", "foreign", "overflow", "duplicate", "gone", "expired"]
            rows[at] = row._replace(kind="discard", reason=dice.choice(reasons))
        else:
            rows = [other._replace(true_us=None) for other in rows]
    return renumbered(rows)
