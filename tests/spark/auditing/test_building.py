"""From rows to tables: what cannot be judged is set aside with the reason, and nothing is lost on the way."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa

from antecede.spark.auditing import building
from antecede.spark.auditing.pieces import PIECE
from antecede.trace.record import arrow_schema
from tests.spark.auditing.rig import audited, cut_up
from tests.spark.auditing.test_judging import reasons
from tests.trace.tables import rows


def test_a_run_that_contradicts_itself_is_refused_with_its_rows_counted(tmp_path: Path) -> None:
    run = rows("p 0 publish p:1 G1 after=q:1\nq 0 publish q:1 G1 after=p:1\nr 5 deliver p:1")
    result = audited(cut_up(run, random.Random(1)), tmp_path)
    assert reasons(result) in (
        ["the records contradict themselves: p:1 is among its own causes"],
        ["the records contradict themselves: q:1 is among its own causes"],
    )
    assert sum(r["rows"] for r in result["counts"]) == 3 and not result["finding"]


def test_a_message_published_twice_is_set_aside(tmp_path: Path) -> None:
    run = rows("p 0 publish p:1 G1\nq 5 publish p:1 G1\np 9 end quiet\nq 9 end quiet")
    assert reasons(audited(cut_up(run, random.Random(1)), tmp_path)) == ["p:1 is published again (first by p)"]


def test_rows_that_name_no_message_and_kinds_nobody_knows(tmp_path: Path) -> None:
    run = rows("p 0 join G1\np 1 publish p:1 G1\np 2 ask p:1\np 9 end quiet")
    run[1] = run[1]._replace(message=None)
    run[2] = run[2]._replace(kind="dance")
    found = reasons(audited(cut_up(run, random.Random(1)), tmp_path))
    assert sorted(found) == ["publish names no message", "there is no kind of row called 'dance'"]


def test_a_source_that_cannot_be_read_is_a_reason(tmp_path: Path) -> None:
    told = building.tell(lambda _: iter([("here", "the file is damaged")]), str(tmp_path), False)([])
    [row] = [row for batch in told for row in batch.to_pylist()]
    built = building.build(str(tmp_path), {})(iter([pa.RecordBatch.from_pylist([row], schema=PIECE)]))
    [reason] = [row for batch in built for row in batch.to_pylist()]
    assert (reason["what"], reason["verdict"], reason["source"], reason["text"]) == (
        "quarantine", "unreadable", "here", "the file is damaged",
    )  # fmt: skip


def test_an_empty_table_of_rows_says_nothing(tmp_path: Path) -> None:
    assert audited([arrow_schema().empty_table()], tmp_path) == {"finding": []}
