"""A recorded history is replayed in an order that respects it, and refused when it is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from antecede.core.message import Message
from antecede.errors import InputError
from antecede.sim.driver import Driver
from antecede.sim.process import Process
from antecede.sim.replay import order_history, read_history
from antecede.sim.run import Run, simulate
from antecede.sim.scenario import Scenario
from tests.sim.echo import FLAT, HOME, TWO_TIERS, Facts, build

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
HISTORY = [("u:1", []), ("v:1", ["u:1"]), ("w:1", ["u:1"]), ("u:2", ["v:1", "w:1"]), ("x:1", []), ("v:2", ["u:2"])]


def write(path: Path, history: list[tuple[str, list[str]]], **more: Any) -> Path:
    ids = [message for message, _ in history]
    columns: dict[str, Any] = {
        "message": ids,
        "sender": [message.rpartition(":")[0] for message in ids],
        "seq": [int(message.rpartition(":")[2]) for message in ids],
        "sent_at_us": pa.array([None] * len(ids), pa.int64()),
        "parents": pa.array([parents for _, parents in history], pa.list_(pa.string())),
    }
    columns.update(more)
    pq.write_table(pa.table({k: v for k, v in columns.items() if v is not None}), path)
    return path


def replay(path: Path, facts: Facts, **knobs: Any) -> Run:
    return simulate(Scenario(recipe=facts.name, workload=str(path), rate=1000, **knobs), build=build, facts=facts)


@pytest.mark.parametrize("facts", [TWO_TIERS, FLAT, HOME])
def test_a_message_follows_its_recorded_parents(tmp_path: Path, facts: Facts) -> None:
    path = write(tmp_path / "history.parquet", HISTORY)
    run = replay(path, facts, groups="G1=A,B,C,D", seed=1)
    rows = [row for row in run.rows if row[5] == "publish"]
    assert len(rows) == 6 and run.quiet and run.notes == {}
    seen: set[tuple[str, str]] = set()
    for row in run.rows:
        if row[5] in ("publish", "deliver"):
            assert row[5] == "deliver" or all((row[1], cause) in seen for cause in row[10])
            seen.add((row[1], row[6]))
    assert sorted(len(row[10]) for row in rows) == [0, 0, 1, 1, 1, 2]


def test_a_parent_that_cannot_come_is_given_up_and_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "history.parquet", HISTORY)
    everything_lost = replay(path, FLAT, loss=1.0)
    assert everything_lost.notes == {"causes given up": 5}
    too_late = replay(path, FLAT, delay_ms=(50, 50), deadline_ms=(10, 10))
    assert too_late.notes == {"causes given up": 5}
    other_group = replay(path, TWO_TIERS, brokers=4, groups="G1=A,B;G2=C,D")
    assert other_group.quiet and other_group.notes["causes given up"] > 0


def test_pings_do_not_keep_a_replay_from_going_on(tmp_path: Path) -> None:
    """Who finds the view by itself is never idle: the workload is asked as soon as there is nothing else."""
    path = write(tmp_path / "history.parquet", HISTORY)
    run = replay(path, TWO_TIERS, brokers=4, groups="G1=A,B;G2=C,D", membership="swim")
    assert run.quiet and run.notes["causes given up"] > 0
    assert sum(row[5] == "publish" for row in run.rows) == 6


def test_a_replay_waits_for_who_sleeps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    publish = Driver.publish

    def awake(driver: Driver, process: Process, topics: Any, now_us: int, *more: Any) -> Message:
        assert now_us >= process.off_until_us
        return publish(driver, process, topics, now_us, *more)

    monkeypatch.setattr(Driver, "publish", awake)
    history = [(f"{sender}:{n}", []) for n in range(1, 40) for sender in "uvwx"]
    run = replay(write(tmp_path / "history.parquet", history), FLAT, perturb="all:0.5", nap_ms=15)
    assert sum(row[5] == "publish" for row in run.rows) == len(history) and run.quiet


def test_the_first_messages_only(tmp_path: Path) -> None:
    assert len(read_history(write(tmp_path / "h.parquet", HISTORY), 3)) == 3


def test_rows_in_any_order_are_put_in_order() -> None:
    ids = ["c:1", "a:1", "b:1"]
    history = order_history(ids, ["c", "a", "b"], [["a:1", "b:1"], [], ["a:1"]], None, "here")
    assert [r.id for r in history] == ["a:1", "b:1", "c:1"] and history[2].parents == (0, 1)


@pytest.mark.parametrize(
    ("history", "more", "says"),
    [
        ([("a:1", ["b:1"]), ("b:1", ["a:1"])], {}, "is cyclic: message a:1"),
        ([("a:1", ["a:1"])], {}, "is cyclic"),
        ([("a:1", ["z:9"])], {}, "names the unknown parent z:9"),
        ([("a:1", []), ("a:1", [])], {}, "twice"),
        ([("a:1", [])], {"parents": None}, "lacks the column parents"),
        ([("a:1", [])], {"sender": pa.array([None], pa.string())}, "no message id or no sender"),
    ],
)
def test_what_is_no_history_is_refused(tmp_path: Path, history: Any, more: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        read_history(write(tmp_path / "bad.parquet", history, **more))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        read_history(tmp_path / "none.parquet")
    whole = write(tmp_path / "whole.parquet", HISTORY).read_bytes()
    torn = tmp_path / "torn.parquet"
    torn.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match="truncated or something else"):
        read_history(torn)


@pytest.mark.skipif(not SHARED.exists(), reason="the real histories lie beside the project, not in it")
def test_a_real_history() -> None:
    run = replay(SHARED / "irc_replies.parquet", HOME, loss=0.05, deadline_ms=(100, 200), messages=500)
    assert sum(row[5] == "publish" for row in run.rows) == 500 and run.quiet
