"""The rules name what exists, and what they leave out makes no difference."""

from __future__ import annotations

import importlib
import pkgutil
from random import Random
from typing import Any

import pytest

import antecede.core
from antecede.core.deadline.inbox import Held, Inbox
from antecede.core.home.outbox import Unacked
from antecede.core.interest import Interest, Remembered
from antecede.core.machine import Peer, Settings
from antecede.core.message import NO_STAMP, Envelope, Message, Publication
from antecede.core.order.channel import Channel
from antecede.core.recipes import build
from antecede.core.state.freeze import freeze, likeness, thaw
from antecede.core.state.likeness import ALIKE, CACHES, admit, at_home, name_of, plan_of
from antecede.errors import InputError


def classes() -> dict[str, type]:
    found: dict[str, type] = {}
    for info in pkgutil.walk_packages(antecede.core.__path__, "antecede.core."):
        for name, value in vars(importlib.import_module(info.name)).items():
            if isinstance(value, type) and value.__module__ == info.name:
                found[name] = value
    return found


def machine_of(recipe: str, role: str) -> Any:
    machine: Any = build(
        recipe,
        "repaired",
        name="A",
        role=role,
        groups=("G1",),
        settings=Settings(deadlines=False, colours=4),
        dice=Random(1),
    )
    machine.view({name: Peer(name, role, ("G1",)) for name in "AB"}, 0)
    machine.start(0)
    return machine


def test_every_rule_names_an_attribute_that_exists() -> None:
    known = classes()
    broker = machine_of("graph", "broker")
    broker.wants.want(("B@G1", 1), "B", None, 5, patience_us=10)
    envelope = Envelope(Message("A", 1, ("G1",)), NO_STAMP)
    parts = [
        Unacked(envelope, 1),
        machine_of("home", "subscriber").outbox,
        machine_of("home", "subscriber").upper,
        *broker.wants.wants.values(),
        broker,
        broker.inbox,
        broker.wants,
        broker.store,
        broker.rounds,
        broker.stability,
        broker.writer,
        broker.interest,
        broker.content,
        machine_of("rounds", "broker"),
        machine_of("home", "broker"),
        Channel(plain=False),
    ]
    for owner, name in [*ALIKE, *((owner, name) for owner, names in CACHES.items() for name in names)]:
        kind = known[owner]
        held = [part for part in parts if isinstance(part, kind)]
        there = name in getattr(kind, "__dataclass_fields__", {}) or any(hasattr(part, name) for part in held)
        assert there, f"{owner}.{name}"


def test_ticks_break_ties_and_nothing_else() -> None:
    one, two = machine_of("solicit", "member"), machine_of("solicit", "member")
    two.wants._tick = 40
    for machine in (one, two):
        machine.wants.want(("B", 1), "B", None, 5, patience_us=10)
    assert freeze(one) != freeze(two)
    assert likeness(one, None) == likeness(two, None)


def test_a_peer_in_step_with_an_old_version_is_not_in_step() -> None:
    one, two = machine_of("solicit", "member"), machine_of("solicit", "member")
    for machine in (one, two):
        machine.publish(Publication(("G1",)), 0)
        machine.publish(Publication(("G1",)), 0)
    two.rounds._in_step["B"] = 1
    assert likeness(one, None) == likeness(two, None)
    two.rounds._in_step["B"] = 2
    assert likeness(one, None) != likeness(two, None)


def test_caches_are_not_saved_and_slots_are() -> None:
    assert plan_of(Envelope).slots == ("message", "stamp")
    assert plan_of(Held).slots == ("envelope", "gone") and plan_of(Inbox).slots == ()


def test_answers_that_can_be_worked_out_again_are_forgotten() -> None:
    one, two = machine_of("graph", "broker"), machine_of("graph", "broker")
    assert one.interest.wants(("G1",)) and not one.interest.wants(("G2",)) and len(one.interest._streams) == 0
    one.interest.concerns("B@G2")
    assert freeze(one) == freeze(two)
    assert plan_of(Remembered).slots == ("about_topics", "work_out")
    again = thaw(freeze(one), one.dice)
    assert isinstance(again.interest, Interest) and again.interest.wants(("G1",)) and not again.interest.wants(("G2",))


def test_other_mappings_of_the_core_are_refused_until_there_is_a_rule() -> None:
    kind = type("Strange", (dict,), {"__module__": "antecede.core.deadline.inbox"})
    with pytest.raises(InputError, match="has no rule"):
        plan_of(kind)


def test_how_often_makes_no_difference_after_many_times() -> None:
    one, two, three = (machine_of("solicit", "member") for _ in range(3))
    for machine, tries in ((one, 20), (two, 440), (three, 21)):
        machine.wants.want(("B", 1), "B", None, 5, patience_us=10)
        machine.wants.wants["B", 1].tries = tries
    assert likeness(one, None) == likeness(two, None) != likeness(three, None)


def test_only_what_is_of_the_core_has_a_name() -> None:
    assert name_of(Inbox) == "antecede.core.deadline.inbox:Inbox"
    with pytest.raises(InputError, match=r"Random is not defined at the top of a module of antecede\.core or of your"):
        name_of(Random)
    with pytest.raises(InputError, match="<lambda> is not defined at the top of a module"):
        name_of(lambda: None)


def test_only_modules_of_the_core_and_guests_are_at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("antecede.core.state.likeness._guests", set())
    assert at_home("antecede.core.deadline.inbox") and not at_home("os") and not at_home(__name__)
    with pytest.raises(InputError, match="cannot be saved"):
        name_of(machine_of)
    admit(__name__)
    assert at_home(__name__) and not at_home(f"{__name__}.inner") and name_of(machine_of).endswith(":machine_of")
