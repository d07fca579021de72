"""A process keeps its place through restarts."""

from __future__ import annotations

from antecede.sim.process import NEVER, Process
from tests.sim.echo import Echo


def test_a_restarted_process_has_the_same_base() -> None:
    process = Process("A.2", "broker", Echo("A.2", "broker", ("G1",), None), ("G1",), 0)
    assert process.base == "A" and process.wake_us == NEVER and process.step == 0 and process.alive
