"""Each effect becomes its rows, steps are contiguous, and a sink gets everything once."""

from __future__ import annotations

from typing import Any

from antecede.core.effects import Answer, Ask, Collect, Discard, Join, Leave, Move
from antecede.core.frames import Data
from antecede.sim.process import Process
from antecede.sim.records import Records
from antecede.trace.record import Row, digest
from tests.sim.echo import Echo


def process() -> Process:
    return Process("A.1", "broker", Echo("A.1", "broker", ("G1",), None), ("G1",), offset_us=-5)


def test_which_effect_becomes_which_row() -> None:
    records, who = Records("run", None, digest=False), process()
    for effect in (
        Discard("p:1", "late"), Ask("B", ("p:1", "p:2")), Ask("B", ()), Answer("B", ("p:3",)),
        Join(("G1",), "B", ("p:1",), 7), Leave(("G1",), "B"), Move("C", ("p:2",)), Collect("p:1"),
    ):  # fmt: skip
        records.effect(who, effect, 100)
    rows = [Row._make(row) for row in records.rows]
    assert [(r.kind, r.message, r.peer) for r in rows] == [
        ("discard", "p:1", None), ("ask", "p:1", "B"), ("ask", "p:2", "B"), ("ask", None, "B"), ("answer", "p:3", "B"),
        ("join", None, "B"), ("leave", None, "B"), ("move", None, "C"), ("collect", "p:1", None),
    ]  # fmt: skip
    assert [r.step for r in rows] == list(range(9)) and {(r.at_us, r.true_us) for r in rows} == {(95, 100)}
    assert rows[0].reason == "late" and rows[5].cut == ("p:1",) and rows[5].guard_us == 7 and rows[6].groups == ("G1",)
    assert {(r.run, r.process, r.role) for r in rows} == {("run", "A.1", "broker")}


def test_a_frame_is_shared_out_among_its_messages() -> None:
    records, frame = Records("run", None, digest=False), Data(())
    frame.size, frame.control = 100, 7
    records.arrived(process(), "B", frame, ("p:1", "p:2", "p:3"), 100)
    assert [(row[6], row[16], row[17]) for row in records.rows] == [("p:1", 34, 3), ("p:2", 33, 2), ("p:3", 33, 2)]


def test_a_sink_gets_everything_once() -> None:
    got: list[tuple[Any, ...]] = []
    records, who = Records("run", got.extend, digest=True), process()
    for number in range(5):
        records.note(who, "collect", number, message=f"p:{number}")
        records.flush(at_least=2)
    records.flush()
    assert [row[3] for row in got] == [0, 1, 2, 3, 4] and records.rows == []
    assert records.running is not None and records.running.hexdigest() == digest(got)
