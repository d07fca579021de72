"""A process keeps its place through restarts."""

from __future__ import annotations

from random import Random

from antecede.core.machine import Peer
from antecede.core.membership.detector import Probing
from antecede.core.membership.wrapper import Managed
from antecede.sim.process import NEVER, Process
from tests.sim.echo import Echo


def test_a_restarted_process_has_the_same_base() -> None:
    process = Process("A.2", "broker", Echo("A.2", "broker", ("G1",), None), ("G1",), 0)
    assert process.base == "A" and process.wake_us == NEVER and process.step == 0 and process.alive


def test_one_that_moves_by_itself_says_where_it_is() -> None:
    echo = Echo("S1", "subscriber", (), None)
    told = Process("S1", "subscriber", echo, ("G1",), 0)
    told.at = ("A",)
    assert told.at == ("A",) and told.admits is None
    machine = Managed(echo, Peer("S1", "subscriber", ()), Probing(), Random(1))
    process = Process("S1", "subscriber", machine, ("G1",), 0)
    machine.at = ("B",)
    assert process.at == ("B",) and process.admits is not None and not process.admits("B")
