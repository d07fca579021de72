"""Offsets: whatever grows or appears between two looks, every row comes once, and no batch is larger than allowed."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antecede.errors import InputError
from antecede.spark.bad import bad_files
from antecede.spark.manifest import DataFile, Manifest, commit
from antecede.spark.stretches import read_stretch
from antecede.spark.tail import LEAST_SHARE, TableTail, TraceTail, shares
from antecede.trace import ipc
from tests.spark.traces import rows, steps, write_parquet, write_stream


@given(st.dictionaries(st.text("abc", max_size=3), st.integers(0, 5000), max_size=8), st.integers(1, 9000))
def test_shares_take_all_they_may_and_no_more(waiting: dict[str, int], most: int) -> None:
    taken = shares(waiting, most)
    assert sum(taken.values()) == min(most, sum(waiting.values()))
    assert all(0 < rows <= waiting[key] for key, rows in taken.items())
    assert shares(waiting, None) == {key: rows for key, rows in waiting.items() if rows}


def test_a_busy_file_does_not_hold_up_the_others() -> None:
    assert shares({"busy": 10**6, "x": 3000, "y": 10}, 9000) == {"busy": 5990, "x": 3000, "y": 10}
    assert shares({"busy": 10**6, "x": 10**6}, LEAST_SHARE // 2) == {"busy": LEAST_SHARE // 2}


def take(tail: TraceTail, start: dict[str, Any], most: int | None) -> tuple[dict[str, Any], list[tuple[str, int]]]:
    """One batch: through JSON, as in a checkpoint, and read from the offsets alone."""
    end = json.loads(json.dumps(tail.end(start, most)))
    got = []
    for stretch in TraceTail(tail.root, None).between(start, end, 100):
        for batch in read_stretch(stretch, None, None):
            got += [(batch.column("run")[i].as_py(), step) for i, step in enumerate(steps([batch]))]
    return end, got


@pytest.mark.parametrize("seed", range(5))
def test_every_row_comes_once_however_it_grows(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    growing = {f"s{n}": write_stream(tmp_path / f"s{n}" / "n.arrow") for n in range(3)}
    written = dict.fromkeys(growing, 0)
    tail, offset, got = TraceTail(tmp_path, None), {"files": {}}, []  # type: ignore[var-annotated]
    for turn in range(30):
        for name, appender in growing.items():
            if dice.random() < 0.5:
                count = dice.randrange(1, 60)
                appender.append(rows(name, count, written[name]))
                written[name] += count
        if dice.random() < 0.2:
            write_parquet(tmp_path / f"p{turn}", 150)
            written[f"p{turn}"] = 150
        if dice.random() < 0.2:
            tail = TraceTail(tmp_path, None)  # a restart
        most = dice.choice([None, 1, 7, 100])
        before, (offset, batch) = offset, take(tail, offset, most)
        assert most is None or len(batch) <= most
        assert (offset == before) is (not batch)
        got += batch
    offset, batch = take(tail, offset, None)
    assert sorted(got + batch) == sorted((name, step) for name, count in written.items() for step in range(count))
    assert take(tail, offset, None) == (offset, [])


def test_a_goal_is_not_passed(tmp_path: Path) -> None:
    appender = write_stream(tmp_path / "n.arrow", 10)
    tail = TraceTail(tmp_path, None)
    goal = tail.end(tail.begin(), None)
    appender.append(rows("x", 10, 10))
    write_parquet(tmp_path / "new", 10)
    first = tail.end(tail.begin(), 6, goal)
    assert first["files"]["n"]["rows"] == 6
    assert tail.end(first, None, goal)["files"] == goal["files"] and tail.end(goal, None, goal) == goal


def test_a_rotated_stream_goes_on_in_its_parquet(tmp_path: Path) -> None:
    write_stream(tmp_path / "records-1.arrow", 60, 60).close()
    tail = TraceTail(tmp_path, None)
    offset, got = take(tail, tail.begin(), 70)
    (tmp_path / "records-1.arrow").unlink()
    write_parquet(tmp_path, 120).rename(tmp_path / "records-1.parquet")
    offset, more = take(tail, offset, None)
    assert [step for _, step in got + more] == list(range(120)) and offset["files"] == {"records-1": {"rows": 120}}


def test_bad_files_fail_or_are_noted_until_they_are_whole(tmp_path: Path) -> None:
    good = write_parquet(tmp_path / "runs" / "good", 50)
    bad = tmp_path / "runs" / "bad" / "records.parquet"
    bad.parent.mkdir()
    bad.write_bytes(good.read_bytes()[:-100])
    with pytest.raises(InputError, match=r"bad/records\.parquet is a truncated Parquet file"):
        TraceTail(tmp_path / "runs", None).end({"files": {}}, None)
    tail = TraceTail(tmp_path / "runs", str(tmp_path / "q"))
    first = tail.end(tail.begin(), None)
    assert first == {"files": {"good/records": {"rows": 50}}}
    assert [(b.file, b.first, b.rows) for b in bad_files(tmp_path / "q")] == [(str(bad), 0, None)]
    bad.write_bytes(good.read_bytes())
    assert tail.end(first, None)["files"]["bad/records"] == {"rows": 50} and bad_files(tmp_path / "q") == []


def test_a_stream_with_junk_in_it_is_read_up_to_the_junk(tmp_path: Path) -> None:
    path = tmp_path / "runs" / "n.arrow"
    write_stream(path, 10, 10, 10)
    junk = list(ipc.pieces(path))[3].at
    data = path.read_bytes()
    path.write_bytes(data[:junk] + b"junk" + data[junk + 4 :])
    with pytest.raises(InputError, match=rf"n\.arrow is a damaged Arrow stream: no message begins at byte {junk}"):
        TraceTail(tmp_path / "runs", None).end({"files": {}}, None)
    tail = TraceTail(tmp_path / "runs", str(tmp_path / "q"))
    end = tail.end(tail.begin(), None)
    got = [s for stretch in tail.between(tail.begin(), end, 100) for s in steps(read_stretch(stretch, None, None))]
    assert got == list(range(20)) and tail.end(end, None) == end
    assert [(b.first, b.rows) for b in bad_files(tmp_path / "q")] == [(20, None)]


def test_files_that_vanish_or_shrink_are_said(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "a", 50)
    tail = TraceTail(tmp_path, None)
    end = tail.end(tail.begin(), None)
    path.rename(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="a/records is gone, with 50 rows that were not read"):
        list(tail.between(tail.begin(), end, 100))
    assert list(tail.between(end, end, 100)) == []
    write_parquet(tmp_path / "a", 20)
    with pytest.raises(InputError, match="has become shorter"):
        TraceTail(tmp_path, None).end(end, None)


def manifest(number: int, rows: int) -> Manifest:
    return Manifest(number, "q", {"type": "struct", "fields": []}, (), (DataFile(f"f{number}", rows, 1),))


def test_a_table_is_followed_by_whole_batches(tmp_path: Path) -> None:
    for number, count in enumerate((10, 20, 5, 1)):
        commit(tmp_path, manifest(number, count))
    tail = TableTail(tmp_path)
    assert [tail.end({"next": n}, most)["next"] for n, most in ((0, None), (0, 5), (0, 30), (1, 25), (4, 9))] == [
        4, 1, 2, 3, 4,
    ]  # fmt: skip
    assert tail.end({"next": 0}, None, {"next": 2}) == {"next": 2}
    commit(tmp_path, manifest(4, 7), overwrite=True)
    assert tail.end({"next": 0}, None) == {"next": 5}
    with pytest.raises(InputError, match="was overwritten while it was read"):
        tail.end({"next": 2}, None)
