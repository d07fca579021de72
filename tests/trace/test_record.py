"""The schema is one table; steps are counted; the digest depends on what happened and on nothing else."""

from __future__ import annotations

import subprocess
import sys

import pytest

from antecede.trace.record import COLUMNS, Digest, Recorder, Row, arrow_schema, digest


def sample(run: str = "r") -> Recorder:
    recorder = Recorder(run)
    recorder.row("p", "member", 0, "publish", "p:1", ("G1",), deadline_us=90, after=("q:1",), true_us=1)
    recorder.row("q", "member", 3, "arrive", "p:1", peer="p", bytes=40, control_bytes=7)
    recorder.row("q", "member", 3, "deliver", "p:1", reason="causes")
    recorder.row("p", "member", 9, "end", reason="quiet")
    return recorder


def test_row_and_schema_name_the_same_columns() -> None:
    names = [c.name for c in COLUMNS]
    assert list(Row._fields) == names
    assert arrow_schema().names == names
    assert [f.nullable for f in arrow_schema()] == [c.nullable for c in COLUMNS]


def test_steps_are_contiguous_from_zero_per_process() -> None:
    rows = [Row._make(r) for r in sample().rows]
    assert [(r.process, r.step) for r in rows] == [("p", 0), ("q", 0), ("q", 1), ("p", 1)]


def test_arrivals_of_one_frame_are_as_many_steps() -> None:
    one_by_one, at_once = Recorder("r"), Recorder("r")
    for recorder in (one_by_one, at_once):
        recorder.row("p", "member", 4, "publish", "p:1")
    for message, size, control in (("q:1", 12, 3), ("q:2", 11, 2)):
        one_by_one.row("p", "member", 5, "arrive", message, peer="q", bytes=size, control_bytes=control)
    at_once.arrivals("p", "member", 5, "q", ["q:1", "q:2"], [12, 11], [3, 2])
    for recorder in (one_by_one, at_once):
        recorder.row("p", "member", 6, "deliver", "q:1", reason="causes")
    assert at_once.rows == one_by_one.rows


def test_rows_are_handed_on_in_batches() -> None:
    taken: list[int] = []
    recorder = Recorder("r", lambda rows: taken.append(len(rows)), batch=3, digest=True)
    for n in range(7):
        recorder.row("p", "member", n, "collect", f"p:{n}")
    assert taken == [3, 3]
    recorder.flush()
    assert taken == [3, 3, 1] and recorder.count == 7


def test_digest_does_not_depend_on_interleaving_batches_or_the_runs_name() -> None:
    rows = sample().rows
    by_process = sorted(rows, key=lambda r: (r[1], r[3]))
    assert digest(rows) == digest(by_process) == digest(sample("other").rows) == sample().hexdigest()
    running = Digest()
    for row in rows:
        running.update([row])
    assert running.hexdigest() == digest(rows)
    assert digest([list(r) for r in rows]) == digest(rows)


@pytest.mark.parametrize("place", range(1, len(COLUMNS)))
def test_digest_depends_on_every_column_but_the_run(place: int) -> None:
    rows = sample().rows
    changed = list(rows[0])
    changed[place] = "other" if isinstance(changed[place], str | type(None)) else 77
    assert digest([tuple(changed), *rows[1:]]) != digest(rows)


def test_digest_is_known_and_free_of_the_hash_seed() -> None:
    code = (
        "from antecede.trace.record import Recorder; r = Recorder('r');"
        "r.row('p\\u00e9', 'member', 0, 'publish', 'p:1', ('G1', 'G2')); print(r.hexdigest())"
    )
    seen = set()
    for seed in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
        )
        seen.add(done.stdout.strip())
    assert seen == {"65231f027fb9570c15e1fd506c23820a812601c4858de342538225760f6cd0a4"}


def test_a_digest_that_was_not_asked_for_is_an_error() -> None:
    recorder = Recorder("r", lambda rows: None)
    with pytest.raises(ValueError, match="digest=True"):
        recorder.hexdigest()
