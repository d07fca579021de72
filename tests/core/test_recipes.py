"""A recipe is a row: what it builds, and what it refuses in one sentence."""

from __future__ import annotations

import pytest

from antecede.core.broker import Broker
from antecede.core.client import Client
from antecede.core.home_broker import HomeBroker
from antecede.core.member import Member
from antecede.core.order.graph import GraphWriter
from antecede.core.order.index import IndexReader
from antecede.core.order.vector import VectorWriter
from antecede.core.recipes import RECIPES, build, recipe_named
from antecede.core.subscriber import Subscriber
from antecede.errors import InputError
from tests.core.kit import machine


@pytest.mark.parametrize(
    ("recipe", "role", "kind", "writer"),
    [
        ("solicit", "member", Member, VectorWriter),
        ("dcco", "member", Member, VectorWriter),
        ("graph", "broker", Broker, GraphWriter),
        ("graph", "subscriber", Subscriber, None),
        ("cbcast", "broker", Broker, VectorWriter),
        ("cbcast", "subscriber", Subscriber, None),
        ("home", "broker", HomeBroker, VectorWriter),
        ("home", "subscriber", Client, None),
    ],
)
def test_what_a_role_is_built_from(recipe: str, role: str, kind: type, writer: type | None) -> None:
    built = machine(recipe, "A", role, "G1")
    assert type(built) is kind
    assert built.writer is None if writer is None else type(built.writer) is writer
    assert built.reader.dense == RECIPES[recipe].flat
    assert isinstance(built.reader, IndexReader) == (kind is Client)


def test_a_broker_leaves_time_for_the_last_hop() -> None:
    """H15, trap 3."""
    for recipe, role, guard_us in (("graph", "broker", 13), ("home", "broker", 13), ("graph", "subscriber", 3)):
        assert machine(recipe, "A", role, "G1", guard_us=3, hop_us=10).inbox.guard_us == guard_us
    assert machine("solicit", "A", "member", "G1", guard_us=3, hop_us=10).inbox.guard_us == 3
    assert machine("home", "S", "subscriber", guard_us=3, hop_us=10).inbox.guard_us == 3


def test_what_a_recipe_leaves_out() -> None:
    bare = machine("dcco", "A", "member", "G1")
    assert not bare.asks and not bare.rounds.enabled and not RECIPES["dcco"].recovers
    whole = machine("solicit", "A", "member", "G1")
    assert whole.asks and whole.rounds.enabled and RECIPES["solicit"].recovers
    assert machine("home-plain", "A", "broker", "G1").plain and not machine("home", "A", "broker", "G1").plain


def test_graph_is_told_of_deadlines_and_clocks() -> None:
    writer = machine("graph", "A", "broker", "G1", deadlines=False, clock_bound_us=7).writer
    assert not writer.deadlines and writer.slack_us == 14


def test_unknown_names_are_refused() -> None:
    with pytest.raises(InputError, match="There is no recipe 'nope'; known are solicit"):
        recipe_named("nope")
    with pytest.raises(InputError, match="'solicit' has no reading 'sideways'"):
        build("solicit", "sideways", name="A", role="member", groups=(), settings=None, dice=None)  # type: ignore[arg-type]
