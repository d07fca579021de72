"""The spool: chunks that appear whole, in order, and go when Spark is done with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from antecede.errors import EnvironmentFault, InputError
from antecede.spark.topics.spool import After, Spool, locked, read_chunk


def rows(*numbers: int) -> list[dict[str, Any]]:
    return [{"id": f"ann:{n}", "payload": b"%d" % n, "headers": [("k", "v")], "fate": "delivered"} for n in numbers]


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    made = Spool(tmp_path / "spool")
    made.name("meter")
    made.write([], 0, 0, b"start")
    made.write(rows(1, 2, 3), 0, 3, b"three")
    made.write(rows(4, 5), 3, 5, b"five")
    return made


def test_what_was_written_is_read_and_says_how_far_it_goes(spool: Spool) -> None:
    found = spool.between(0, 5)
    assert [(chunk.first, chunk.rows) for chunk in found] == [(0, 3), (3, 2)]
    read = [row for chunk in found for batch in read_chunk(str(chunk.path)) for row in batch.to_pylist()]
    assert [row["id"] for row in read] == [f"ann:{n}" for n in (1, 2, 3, 4, 5)] and read[0]["headers"] == [("k", "v")]
    assert spool.after() == After(5, 5, b"five") and spool.said(found[0]) == After(3, 3, b"three")


def test_a_name_stays_the_same(spool: Spool, tmp_path: Path) -> None:
    assert spool.name(None) == spool.name("meter") == "meter"
    with pytest.raises(InputError, match="belongs to the reader meter, not other"):
        spool.name("other")
    assert Spool(tmp_path / "b").name(None).startswith("spark-")


def test_what_is_done_goes_but_never_the_newest(spool: Spool) -> None:
    spool.trim(3)
    assert spool.between(3, 5) and [chunk.first for chunk in spool.chunks()] == [3]
    spool.trim(5)
    assert spool.after() == After(5, 5, b"five")
    with pytest.raises(EnvironmentFault, match="does not hold rows 0 to 5 any more"):
        spool.between(0, 5)


def test_a_chunk_that_was_not_finished_does_not_count(spool: Spool) -> None:
    (spool.root / ".000000000000005-9.arrow.tmp").write_bytes(b"half")
    assert spool.after() == After(5, 5, b"five")


def test_foreign_and_missing_files_are_one_sentence(spool: Spool) -> None:
    (spool.root / "000000000000009-1.arrow").write_bytes(b"no arrow")
    with pytest.raises(InputError, match="is no part of a spool"):
        spool.after()
    with pytest.raises(InputError, match="a folder that all workers see"):
        list(read_chunk(str(spool.root / "gone.arrow")))


def test_one_at_a_time(tmp_path: Path) -> None:
    first = locked(tmp_path / "x" / ".lock", "query", 0)
    with pytest.raises(InputError, match="is in use by another query: give each a folder of its own"):
        locked(tmp_path / "x" / ".lock", "query", 0.1)
    first.close()
    locked(tmp_path / "x" / ".lock", "query", 0).close()
