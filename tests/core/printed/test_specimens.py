"""Each reading is the machine it says it is, and nothing of it is in the repaired one."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from antecede.core.machine import Settings
from antecede.core.order.rounds import ColoursReader
from antecede.core.printed.colour import CyclicColours, IntegerColours, PrintedMatrixWriter
from antecede.core.printed.graph import PrintedGraphWriter
from antecede.core.printed.pull import PrintedPullReader
from antecede.core.printed.rounds import RuleOneInbox, RuleOneReader, WholeVectorWriter
from antecede.core.printed.solicit import PrintedMember
from antecede.core.printed.waiting import WaitingList
from antecede.core.recipes import RECIPES, build
from antecede.core.roles.round_broker import RoundBroker
from tests.core.kit import machine


def printed(recipe: str, reading: str, role: str, **knobs: Any) -> Any:
    settings = Settings(colours=5, **knobs)
    return build(recipe, reading, name="A", role=role, groups=("G1",), settings=settings, dice=Random(1))


def test_solicit() -> None:
    for reading, below in (("printed", "every entry"), ("charitable", "vector")):
        made = printed("solicit", reading, "member")
        assert type(made) is PrintedMember and made.below == below


@pytest.mark.parametrize(
    ("reading", "greater"), [("printed-a", "any"), ("printed-b", "dominates"), ("printed-c", "others")]
)
def test_pull(reading: str, greater: str) -> None:
    for role in ("broker", "subscriber"):
        made = printed("pull", reading, role)
        assert type(made.inbox) is WaitingList and type(made.reader) is PrintedPullReader
        assert made.reader.greater == greater


@pytest.mark.parametrize(
    ("reading", "foreign", "looks"), [("printed-a", "wait", True), ("printed-b", "leave out", False)]
)
def test_graph(reading: str, foreign: str, looks: bool) -> None:
    broker = printed("graph", reading, "broker")
    assert type(broker.writer) is PrintedGraphWriter and broker.writer.foreign == foreign
    subscriber = printed("graph", reading, "subscriber")
    subscriber.subscribe(("G1",), ("B",), 0)
    assert subscriber.reader._concerns("A@G2") == broker.reader._concerns("A@G2") == looks


def test_rounds_and_colour() -> None:
    assert type(printed("rounds", "printed", "broker")) is RoundBroker
    made = printed("rounds", "printed", "subscriber")
    assert type(made.reader) is RuleOneReader and type(made.inbox) is RuleOneInbox
    assert type(printed("colour", "printed", "broker").writer) is PrintedMatrixWriter
    assert type(printed("colour", "printed", "subscriber").inbox) is IntegerColours
    assert type(printed("colour", "charitable", "subscriber").inbox) is CyclicColours
    assert type(printed("rounds", "described", "broker").writer) is WholeVectorWriter
    described = printed("rounds", "described", "subscriber")
    assert type(described.reader) is ColoursReader and type(described.inbox) is RuleOneInbox


def test_a_broker_still_leaves_time_for_the_last_hop() -> None:
    assert printed("pull", "printed-a", "broker", guard_us=3, hop_us=10).inbox.guard_us == 13
    assert printed("pull", "printed-a", "subscriber", guard_us=3, hop_us=10).inbox.guard_us == 3


def test_repaired_machines_hold_nothing_printed() -> None:
    for recipe in RECIPES.values():
        for role in ("member",) if recipe.flat else ("broker", "subscriber"):
            made = machine(recipe.name, "A", role, "G1", colours=5)
            parts = (made, made.inbox, made.reader, made.writer)
            assert not any("printed" in type(part).__module__ for part in parts)
