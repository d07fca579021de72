"""A recipe is a row: what it builds, and what it refuses in one sentence."""

from __future__ import annotations

import pytest

from antecede.core.deadline.eager import EagerInbox
from antecede.core.home.broker import HomeBroker
from antecede.core.home.client import Client
from antecede.core.message import Publication
from antecede.core.order.delta import DeltaWriter
from antecede.core.order.graph import GraphWriter
from antecede.core.order.matrix import MatrixWriter
from antecede.core.order.numbered import IndexReader
from antecede.core.order.rounds import RoundsWriter
from antecede.core.order.vector import VectorWriter
from antecede.core.order.writer import NoWriter
from antecede.core.recipes import RECIPES, Recipe, build, recipe_named, register
from antecede.core.roles.broker import Broker
from antecede.core.roles.member import Member
from antecede.core.roles.round_broker import RoundBroker
from antecede.core.roles.round_subscriber import RoundSubscriber
from antecede.core.roles.subscriber import Subscriber
from antecede.core.spread.ack import Acks
from antecede.core.spread.flat import Flat
from antecede.core.spread.gossip import Gossip
from antecede.core.spread.lazy import Lazy
from antecede.core.spread.lpbcast import Lpbcast
from antecede.core.spread.piggyback import Piggyback
from antecede.core.spread.pull import Pull
from antecede.errors import InputError
from tests.core.kit import machine


@pytest.mark.parametrize(
    ("recipe", "role", "kind", "writer"),
    [
        ("solicit", "member", Member, VectorWriter),
        ("dcco", "member", Member, VectorWriter),
        ("dcco-vector", "member", Member, VectorWriter),
        ("delta", "member", Member, DeltaWriter),
        ("piggyback", "member", Member, VectorWriter),
        ("fifo", "member", Member, VectorWriter),
        ("ackcast", "member", Member, VectorWriter),
        ("psync", "broker", Broker, GraphWriter),
        ("psync", "subscriber", Subscriber, GraphWriter),
        ("graph", "broker", Broker, GraphWriter),
        ("graph", "subscriber", Subscriber, None),
        ("cbcast", "broker", Broker, VectorWriter),
        ("cbcast", "subscriber", Subscriber, None),
        ("pull", "broker", Broker, VectorWriter),
        ("pull", "subscriber", Subscriber, None),
        ("rounds", "broker", RoundBroker, RoundsWriter),
        ("rounds", "subscriber", RoundSubscriber, None),
        ("colour", "broker", RoundBroker, MatrixWriter),
        ("colour", "subscriber", RoundSubscriber, None),
        ("home", "broker", HomeBroker, VectorWriter),
        ("home", "subscriber", Client, None),
    ],
)
def test_what_a_role_is_built_from(recipe: str, role: str, kind: type, writer: type | None) -> None:
    built = machine(recipe, "A", role, "G1", colours=5)
    assert type(built) is kind
    assert type(built.writer) is (writer or NoWriter) and built.reads_only == (writer is None)
    assert built.reader.dense == RECIPES[recipe].flat
    assert isinstance(built.reader, IndexReader) == (kind is Client)


def test_a_broker_leaves_time_for_the_last_hop() -> None:
    """H15, trap 3."""
    for recipe in ("graph", "pull", "rounds", "colour", "colour-eager"):
        for role, guard_us in (("broker", 13), ("subscriber", 3)):
            assert machine(recipe, "A", role, "G1", guard_us=3, hop_us=10, colours=5).inbox.guard_us == guard_us
    assert machine("home", "A", "broker", "G1", guard_us=3, hop_us=10).inbox.guard_us == 13
    assert machine("solicit", "A", "member", "G1", guard_us=3, hop_us=10).inbox.guard_us == 3
    assert machine("home", "S", "subscriber", guard_us=3, hop_us=10).inbox.guard_us == 3


def test_what_a_recipe_leaves_out() -> None:
    bare = machine("dcco", "A", "member", "G1")
    assert not bare.asks and not bare.rounds.enabled and not RECIPES["dcco"].recovers
    whole = machine("solicit", "A", "member", "G1")
    assert whole.asks and whole.rounds.enabled and RECIPES["solicit"].recovers
    assert machine("home-plain", "A", "broker", "G1").plain and not machine("home", "A", "broker", "G1").plain


@pytest.mark.parametrize(
    ("recipe", "spread"),
    [("solicit", Flat), ("fifo", Flat), ("piggyback", Piggyback), ("ackcast", Acks), ("pbcast", Lpbcast)],
)
def test_how_members_spread(recipe: str, spread: type) -> None:
    assert type(machine(recipe, "A", "member", "G1").spread) is spread


def test_what_orders_there_are() -> None:
    assert RECIPES["solicit"].orders == ("causal", "fifo", "none") and RECIPES["fifo"].orders == ("fifo", "none")
    assert RECIPES["home-plain"].orders == RECIPES["rounds"].orders == ("causal", "fifo")
    one = machine("lpbcast-once", "A", "member", "G1")
    with pytest.raises(InputError, match="There is no order 'causal' here: publish in none"):
        one.publish(Publication(("G1",), b"", order="causal"), 0)
    assert [name for name, recipe in RECIPES.items() if recipe.chance and recipe.recovers] == []


def test_psync_leaves_the_graph_to_its_subscribers() -> None:
    assert machine("psync", "A", "broker", "G1").writer.whole and not machine("graph", "A", "broker", "G1").writer.whole


def test_graph_is_told_of_deadlines_and_clocks() -> None:
    writer = machine("graph", "A", "broker", "G1", deadlines=False, clock_bound_us=7).writer
    assert not writer.deadlines and writer.slack_us == 14


def test_unknown_names_are_refused() -> None:
    with pytest.raises(InputError, match="There is no recipe 'nope'; known are solicit"):
        recipe_named("nope")
    with pytest.raises(InputError, match="'solicit' has no reading 'sideways'"):
        build("solicit", "sideways", name="A", role="member", groups=(), settings=None, dice=None)  # type: ignore[arg-type]


def test_one_clock_serves_order_and_spread() -> None:
    built = machine("rounds", "A", "broker", "G1", colours=5, round_us=7_000)
    assert built.clock is built.writer.clock is built.spread.broker.clock
    assert (built.clock.colours, built.clock.round_us) == (5, 7_000) and type(built.spread) is Gossip
    below = machine("colour-eager", "S", "subscriber", colours=5)
    assert below.reader.eager and type(below.inbox) is EagerInbox
    assert not machine("colour", "S", "subscriber", colours=5).reader.eager


def test_an_order_can_have_another_way_to_spread() -> None:
    assert recipe_named("cbcast+gossip").spread == "gossip" and recipe_named("cbcast").spread == "multicast"
    assert type(machine("graph+lazy", "A", "broker", "G1").spread) is Lazy
    assert type(machine("pull", "A", "broker", "G1").spread) is Pull


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("graph+shouting", "no way to spread called 'shouting'; known are multicast, pull, gossip, lazy"),
        ("solicit+gossip", "'solicit' has its own way to spread"),
        ("home+pull", "'home' has its own way to spread"),
        ("nope+pull", "There is no recipe 'nope.pull'"),
    ],
)
def test_what_does_not_fit_is_refused(name: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        recipe_named(name)


def test_counting_by_rounds_needs_a_lifetime() -> None:
    with pytest.raises(InputError, match="Recipe rounds has lifetimes of 0 rounds"):
        machine("rounds", "A", "broker", "G1")


# -- recipes from outside ------------------------------------------------------------------------------------------


def test_a_recipe_of_ones_own_makes_its_machines_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def make(**given: object) -> Member:
        asked.append(given)
        made = machine("solicit", "A", "member", "G1")
        assert isinstance(made, Member)
        return made

    monkeypatch.setattr("antecede.core.recipes.RECIPES", dict(RECIPES))
    mine = Recipe("mine", "ours", "own", flat=True, make=make)
    register(mine)
    register(mine)  # once more is nothing new
    assert recipe_named("mine") is mine
    assert machine("mine", "A", "member", "G1").name == "A"
    assert asked[0]["name"] == "A" and asked[0]["groups"] == ("G1",)
    with pytest.raises(InputError, match="has its own way to spread"):
        recipe_named("mine+gossip")


def row_of(made: object = None, **row: object) -> Recipe:
    """A recipe `own`, whose `make` returns this."""
    return Recipe("own", "ours", "own", make=lambda **_: made, **row)  # type: ignore[arg-type,return-value]


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (Recipe("mine", "ours", "own"), "who makes its machines"),
        (Recipe("solicit", "ours", "own", make=lambda **_: None), "already"),  # type: ignore[arg-type,return-value]
        (Recipe("a+b", "ours", "own", make=lambda **_: None), "cannot be called"),  # type: ignore[arg-type,return-value]
        (row_of(deadlines="maybe"), "deadlines='maybe': write one of yes, same, optional, none, lifetime"),
        (row_of(orders=("total",)), "write a tuple of causal, fifo, none"),
        (row_of(orders="fifo"), "orders='fifo': write a tuple"),
        (row_of(orders=()), "write a tuple"),
    ],
)
def test_a_row_that_cannot_be_added_is_refused(row: Recipe, why: str) -> None:
    with pytest.raises(InputError, match=why):
        register(row)
    assert RECIPES.get(row.name) is not row


def own(monkeypatch: pytest.MonkeyPatch, made: object, **row: object) -> None:
    """Adds `row_of` these."""
    monkeypatch.setattr("antecede.core.recipes.RECIPES", dict(RECIPES))
    register(row_of(made, **row))


def test_what_a_recipe_of_ones_own_offers_reaches_its_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Although `make` says nothing of it: the recipe is what the simulator and the judge go by."""
    own(monkeypatch, machine("solicit", "A", "member", "G1"), flat=True, orders=("causal", "fifo"))
    strict = machine("own", "A", "member", "G1")
    strict.view({}, 0)
    strict.start(0)
    with pytest.raises(InputError, match="no order 'none' here: publish in causal or fifo"):
        strict.publish(Publication(("G1",), deadline_us=90, order="none"), 0)
    with pytest.raises(InputError, match="needs a deadline"):
        strict.publish(Publication(("G1",)), 0)
    assert strict.publish(Publication(("G1",), deadline_us=90), 0)[0].order == "causal"


def test_a_recipe_of_ones_own_may_leave_deadlines_open(monkeypatch: pytest.MonkeyPatch) -> None:
    own(monkeypatch, machine("solicit", "A", "member", "G1"), flat=True, deadlines="optional", orders=("fifo",))
    open_ended = machine("own", "A", "member", "G1")
    open_ended.view({}, 0)
    open_ended.start(0)
    assert open_ended.publish(Publication(("G1",)), 0)[0].order == "fifo"


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (None, "The make of recipe 'own' returned nothing: it must return a machine"),
        (7, "The make of recipe 'own' returned something of type int: it must return a machine"),
        (machine("solicit", "A", "member", "G1"), "a member where it was asked for a broker: .* says flat=True"),
        (machine("graph", "S", "subscriber"), r"a subscriber where it was asked for a broker\.$"),
    ],
)
def test_what_is_not_the_machine_asked_for_is_refused(made: object, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    own(monkeypatch, made)
    with pytest.raises(InputError, match=why):
        machine("own", "A", "broker", "G1")
