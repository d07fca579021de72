"""A machine that was saved and thawed behaves as the original would."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

import pytest

from antecede import wire
from antecede.core.machine import Peer, Settings
from antecede.core.message import Envelope, Message, Publication, Stamp
from antecede.core.order.past import UNKNOWN
from antecede.core.recipes import RECIPES, build
from antecede.core.state.freeze import EPOCH_US, freeze, likeness, thaw
from antecede.errors import InputError, RemoteProtocolError
from antecede.sim import faults, run
from antecede.sim.draw import draw
from antecede.sim.driver import Driver
from antecede.sim.scenario import Scenario


def member(now_us: int = 0, **settings: Any) -> Any:
    machine: Any = build(
        "solicit", "repaired", name="A", role="member", groups=("G1",), settings=Settings(**settings), dice=Random(1)
    )
    machine.view({name: Peer(name, "member", ("G1",)) for name in "ABC"}, now_us)
    machine.start(now_us)
    return machine


def again(machine: Any) -> Any:
    return thaw(wire.thaw(wire.freeze(freeze(machine))), machine.dice)


# -- the whole behaviour -------------------------------------------------------------------------------------------


def leave_all(driver: Driver, now_us: int) -> None:
    """The same moments, so that a run is not longer with them than without."""


def thaw_all(driver: Driver, now_us: int) -> None:
    for process in driver.all:
        if process.alive:
            saved = wire.freeze(freeze(process.machine))
            machine = thaw(wire.thaw(saved), process.machine.dice)  # type: ignore[attr-defined]
            assert wire.freeze(freeze(machine)) == saved
            process.machine, process.receive, process.next_wake = machine, machine.receive, machine.next_wake


def digest_with(what: Any, scenario: Scenario, moments_us: list[int], monkeypatch: pytest.MonkeyPatch) -> str:
    begin = faults.Faults.begin

    def begin_and_plan(self: faults.Faults) -> None:
        begin(self)
        for moment_us in moments_us:
            self.driver.at(moment_us, partial(what, self.driver))

    with monkeypatch.context() as patched:
        patched.setattr(faults.Faults, "begin", begin_and_plan)
        return run.simulate(scenario).digest()


@pytest.mark.parametrize("index", range(5))
@pytest.mark.parametrize("recipe", RECIPES)
def test_thawed_machines_go_on_as_if_nothing_had_happened(
    recipe: str, index: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = replace(draw(404, recipe, index), messages=30)
    dice = Random(f"{recipe}/{index}")
    span_us = int(scenario.count / scenario.rate * 1_000_000) + 500_000
    moments_us = sorted(scenario.first_us + int(dice.random() * span_us) for _ in range(3))
    left, thawed = (digest_with(what, scenario, moments_us, monkeypatch) for what in (leave_all, thaw_all))
    assert thawed == left


# -- what is saved -------------------------------------------------------------------------------------------------


def test_what_was_shared_is_shared_again() -> None:
    machine = again(member())
    assert machine.out is machine.store.out is machine.inbox.out
    assert machine.inbox.marks is machine.reader.held
    assert machine.inbox.on_deliver == machine.delivered
    message, _ = machine.publish(Publication(("G1",), b"x"), 5)
    machine = again(machine)
    assert machine.store.by_id[message.id] is machine.store.index["A"][1]


def test_a_sentinel_is_itself_again() -> None:
    machine = member()
    machine.reader.skips["B"] = {3: UNKNOWN}
    assert again(machine).reader.skips["B"][3] is UNKNOWN


def test_dice_are_handed_in_and_not_saved() -> None:
    machine, dice = member(), Random(2)
    assert thaw(freeze(machine), dice).dice is dice
    assert freeze(machine) == freeze(thaw(freeze(machine), dice))


def test_a_deep_graph_is_no_recursion() -> None:
    machine: Any = build(
        "graph", "repaired", name="A", role="broker", groups=("G1",), settings=Settings(deadlines=False), dice=Random(1)
    )
    machine.view({"A": Peer("A", "broker", ("G1",))}, 0)
    machine.start(0)
    for n in range(3000):
        machine.publish(Publication(("G1",)), n)
    assert len(again(machine).writer.graph) == 3000


def test_foreign_things_are_refused_in_one_sentence() -> None:
    machine = member()
    machine.extra = Random(3)
    with pytest.raises(InputError, match="cannot be saved: random:Random"):
        freeze(machine)
    machine.extra = lambda: None
    with pytest.raises(InputError, match="cannot be saved"):
        freeze(machine)


@pytest.mark.parametrize(
    "plain",
    [
        None,
        [[], [], 0],
        [["os:system"], [], 0],
        [["antecede.core.deadline.inbox:nothing"], [["o", 0, {}]], 0],
        [["antecede.errors:InputError"], [["o", 0, {}]], 0],
        [[], [["l", ["f", "builtins:eval"]]], 0],
        [[], [["l", ["c", "antecede.core.state.freeze:sys"]]], 0],
        [[], [["l", ["x"]]], 0],
        [[], [["?"]], 0],
        [[], [["l", ["r", 7]]], 0],
    ],
)
def test_what_is_no_saved_machine_is_refused(plain: Any) -> None:
    with pytest.raises(RemoteProtocolError):
        thaw(plain, Random(1))


# -- likeness ------------------------------------------------------------------------------------------------------


def test_times_relative_to_now_make_situations_alike() -> None:
    early, later = EPOCH_US, EPOCH_US + 77_777
    one, two = member(early, deadlines=False), member(later, deadlines=False)
    stamp = Stamp((("B", 2),), (("B", 1),), {"B": 1}, 1)
    for machine, now_us in ((one, early), (two, later)):
        envelope = Envelope(Message("B", 2, ("G1",)), stamp)
        machine.take((envelope,), "B", now_us)
        assert machine.next_wake() == now_us + machine.settings.patience_us
    assert freeze(one) != freeze(two)
    assert likeness(one, None) != likeness(two, None)
    assert wire.freeze(likeness(one, early)) == wire.freeze(likeness(two, later))
    assert wire.freeze(likeness(one, early)) != wire.freeze(likeness(one, later))


def test_when_a_message_came_makes_no_difference_but_that_it_came_does() -> None:
    one, two, three = member(), member(), member()
    one.inbox.seen["B:1"], two.inbox.seen["B:1"] = 5, 9
    assert freeze(one) != freeze(two)
    assert likeness(one, None) == likeness(two, None) != likeness(three, None)
