"""A stream's bucket without Spark: micro-batches in any order inside, saved and read between them, against the twin."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

from antecede.errors import RemoteProtocolError
from antecede.spark.order.behind import NEVER, Rules
from antecede.spark.order.bucket import Bucket, Warm
from antecede.spark.order.rows import feed
from antecede.spark.order.stream import by_key, into_chunks, out_of_chunks
from antecede.spark.order.work import AS_READ, arranged
from antecede.wire import freeze
from tests.spark.order.tables import as_batch, history, in_sequence
from tests.spark.order.test_batch import told
from tests.spark.order.twin import Line, Outcome, Twin

STATE = Path(__file__).parent / "state-v1"


def stream(batches: list[pa.RecordBatch], dice: Random, warm: Warm) -> list[pa.RecordBatch]:
    """Each batch shuffled and split as a shuffle might, through a bucket that lives as bytes in between, or warm."""
    rules, saved, waiting, out = Rules(), None, None, []
    for batch in batches:
        bucket = Bucket(rules) if saved is None else warm.take(rules, saved, waiting)
        rows = batch.take(pa.array(dice.sample(range(batch.num_rows), batch.num_rows)))
        half = dice.randint(0, rows.num_rows)
        feed(
            arranged([part for part in (rows.slice(0, half), rows.slice(half)) if part.num_rows], AS_READ),
            AS_READ,
            bucket.rows,
            bucket.domain,
        )
        out += list(bucket.rows.emit(keep=True))
        saved, waiting = bucket.frozen()
        warm.leave(bucket, saved, waiting)
        if dice.random() < 0.5:  # a timer, at a time that respects what is still to come
            bucket = warm.take(rules, saved, waiting)
            bucket.expire(max(batch["_at"].to_pylist()))
            out += list(bucket.rows.emit(keep=True))
            saved, waiting = bucket.frozen()
            warm.leave(bucket, saved, waiting)
    bucket = Bucket(None, saved, waiting)
    bucket.finish()
    return out + list(bucket.rows.emit())


def cut(groups: list[list[Line]], dice: Random) -> list[pa.RecordBatch]:
    """Micro-batches in the order of arrival over all groups."""
    numbered = [(line.at, n, line) for n, lines in enumerate(groups) for line in lines]
    times = sorted({at for at, _, _ in numbered})
    edges = sorted(dice.sample(times, min(len(times), dice.randint(0, 4))))
    batches, start = [], -(2**63)
    for edge in [*edges, 2**62]:
        parts = []
        for n, lines in enumerate(groups):
            first = sum(len(before) for before in groups[:n])
            mine = [(first + i, line) for i, line in enumerate(lines) if start < line.at <= edge]
            if mine:
                batch = as_batch([line for _, line in mine], f"g{n}")
                parts.append(batch.set_column(0, "number", pa.array([number for number, _ in mine])))
        if parts:
            batches.append(pa.Table.from_batches(parts).combine_chunks().to_batches()[0])
        start = edge
    return batches


@pytest.mark.parametrize("most", [0, 1000])
def test_a_stream_is_the_batch_is_the_twin_however_it_is_cut(most: int) -> None:
    for seed in range(300):
        dice = Random(seed)
        groups = [
            in_sequence(history(77_000 + 10 * seed + n, cyclic=n == 1, timed=seed % 3 > 0))
            for n in range(dice.randint(1, 3))
        ]
        expected, rows = {}, []
        for n, lines in enumerate(groups):
            expected |= {len(rows) + i: outcome for i, outcome in Twin(lines).run().items()}
            rows += [(n, line) for line in lines]
        batches = cut(groups, dice)
        if batches:
            assert by_row(told(stream(batches, dice, Warm(most))), rows) == by_row(expected, rows), seed


def by_row(found: dict[int, Outcome], rows: list[tuple[int, Line]]) -> list[str]:
    """Rows that are equal in all that the operator reads may stand in for each other."""
    return sorted(f"{rows[number]} {outcome}" for number, outcome in found.items())


def test_chunks_go_to_their_keys_and_come_back() -> None:
    rows = pa.RecordBatch.from_pydict(
        {"number": list(range(100)), "_key": pa.array([n % 7 for n in range(100)], pa.int32())}
    )
    chunks = list(into_chunks(iter([rows.slice(0, 40), rows.slice(40)])))
    assert [key for chunk in chunks for key in chunk["_key"].to_pylist()] == list(range(7))
    back = [batch["number"].to_pylist() for batch in out_of_chunks(iter(chunks))]
    assert sorted(n for part in back for n in part) == list(range(100))
    assert all(n % 7 == key for key, part in enumerate(back) for n in part)
    assert by_key(rows.slice(0, 1)).num_rows == 1 and list(into_chunks(iter([]))) == []


def test_domains_that_are_not_touched_stay_as_they_are() -> None:
    bucket = Bucket(Rules())
    feed(as_batch([Line("a", ["b"], 1, due=9)], "x"), AS_READ, bucket.rows, bucket.domain)
    feed(as_batch([Line("c")], "y"), AS_READ, bucket.rows, bucket.domain)
    list(bucket.rows.emit(keep=True))
    saved, waiting = bucket.frozen()
    again = Bucket(Rules(), saved, waiting)
    assert again.next_due() == 9 and not again._open
    feed(as_batch([Line("d")], "y"), AS_READ, again.rows, again.domain)
    assert set(again._open) == {"y"}
    again.expire(10)
    (out,) = again.rows.emit(keep=True)
    assert out["released_by"].to_pylist() == ["wait", "causes"] and again.next_due() == NEVER


def test_quiet_groups_forget_too() -> None:
    bucket = Bucket(Rules(remember_us=160))
    feed(as_batch([Line(f"m{n}", at=n) for n in range(100)], "quiet"), AS_READ, bucket.rows, bucket.domain)
    list(bucket.rows.emit(keep=True))
    again = Bucket(Rules(remember_us=160), *bucket.frozen())
    again.expire(10_000)
    assert len(again.domain("quiet").past) == 0


def test_state_of_version_1_is_still_read() -> None:
    saved, waiting = (STATE / "saved.bin").read_bytes(), (STATE / "waiting.bin").read_bytes()
    bucket = Bucket(None, saved, waiting)
    assert {group: (domain.pos, domain.waiting) for group, domain in bucket.domains()} == {"x": (2, 2), None: (1, 0)}
    lines = [Line("c", ["a"], 30), Line("e:5", [], 31), Line("a", [], 31)]
    feed(as_batch(lines, "x", 100), AS_READ, bucket.rows, bucket.domain)
    bucket.finish()
    found = {n: (o.fate, o.pos, o.by, o.missing) for n, o in told(list(bucket.rows.emit())).items()}
    assert found == {
        3: ("delivered", 2, "deadline", ("lost",)),
        4: ("delivered", 4, "skip", ("gone",)),
        100: ("delivered", 3, "causes", ()),
        101: ("superseded", None, None, ()),
        102: ("duplicate", None, None, ()),
    }


def test_state_of_another_version_is_refused() -> None:
    with pytest.raises(RemoteProtocolError, match="version 2; this is version 1"):
        Bucket(Rules(), freeze([2, []]))
    with pytest.raises(RemoteProtocolError):
        Bucket(Rules(), b"something else entirely")


def write_fixture() -> None:
    """How the fixture was made: python -c 'from tests.spark.order.test_bucket import *; write_fixture()'."""
    bucket = Bucket(Rules(numbered=True, max_held=1000))
    lines = [Line("a", [], 1), Line("f", ["e:6"], 2, late=5, due=5), Line("b", ["lost"], 10, late=20, due=20)]
    feed(as_batch(lines, "x", 1), AS_READ, bucket.rows, bucket.domain)
    feed(as_batch([Line("d", ["gone", "a"], 11)], "x", 4), AS_READ, bucket.rows, bucket.domain)
    feed(as_batch([Line("solo", [], 3)], None, 9), AS_READ, bucket.rows, bucket.domain)
    list(bucket.rows.emit(keep=True))
    saved, waiting = bucket.frozen()
    assert waiting is not None
    STATE.mkdir(exist_ok=True)
    (STATE / "saved.bin").write_bytes(saved)
    (STATE / "waiting.bin").write_bytes(waiting)


def test_a_warm_bucket_is_for_the_same_bytes_and_rules_once_and_there_are_few() -> None:
    def left(warm: Warm, names: list[str]) -> tuple[Bucket, bytes]:
        bucket = Bucket(Rules())
        bucket.domain(None).take(range(len(names)), names, [None] * 9, [None] * 9, [1] * 9, [NEVER] * 9, [NEVER] * 9)
        bucket.rows.collect(bucket.domain(None))
        list(bucket.rows.emit(keep=True))
        saved, waiting = bucket.frozen()
        warm.leave(bucket, saved, waiting)
        return bucket, saved

    warm = Warm(4)
    one, its = left(warm, ["a", "b"])
    other, others = left(warm, ["c", "d"])
    assert warm.take(Rules(), its, None) is one and warm.take(Rules(), its, None) is not one
    assert warm.take(Rules(max_held=7), others, None) is not other
    one, its = left(warm, ["a", "b"])
    left(warm, ["e", "f", "g"])
    assert warm.take(Rules(), its, None) is not one, "the oldest made room"
    many, its = left(warm, ["a", "b", "c", "d", "e"])
    assert warm.take(Rules(), its, None) is not many, "it is too large"
