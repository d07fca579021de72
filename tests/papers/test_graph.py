"""`graph` (001 s2.3): the figures, the sentences of the description, and the traps of two tiers (s3.3, s3.7)."""

from __future__ import annotations

from typing import Any

import pytest

from antecede.core.frames import Data
from tests.papers.rig import Flight, Rig

BROKERS = {"A": "G1 G2", "B": "G1 G2", "C": "G1", "D": "G2"}
SUBSCRIBERS = {"S1": ("G1", "C"), "S2": ("G1 G2", "A"), "S3": ("G1 G2", "B"), "S4": ("G2", "D")}
BOTH = "G1 G2"


def graph(**settings: Any) -> Rig:
    """001 Fig 4: G1 = {A, B, C}, G2 = {A, B, D}; Fig 6: S1 at C, S2 at A, S3 at B, S4 at D."""
    return Rig("graph", brokers=BROKERS, subscribers=SUBSCRIBERS, **{"deadlines": False, **settings})


def line(**settings: Any) -> Rig:
    """Four brokers of one group, so that a chain of four messages has four senders; S listens at D."""
    brokers = dict.fromkeys("ABCD", "G1")
    return Rig("graph", brokers=brokers, subscribers={"S": ("G1", "D")}, **settings)


def stamp_of(flight: Flight, message: str) -> Any:
    assert isinstance(flight.frame, Data)
    return next(e.stamp for e in flight.frame.envelopes if e.message.id == message)


def named(flight: Flight, message: str) -> list[str]:
    """The predecessors that travel to a subscriber."""
    return sorted({f"{stream.partition('@')[0]}:{n}" for stream, n in stamp_of(flight, message).needs})


def predecessors(rig: Rig, sender: str, to: str, message: str) -> list[str]:
    """... by the paper's names."""
    return [rig.named(one) for one in named(rig.flying(sender, to, message)[0], rig.id_of(message))]


def nodes(flight: Flight, message: str) -> dict[str, list[str]]:
    """The context graph that travels to a broker: message -> immediate predecessors."""
    return {f"{s}:{n}": sorted(f"{a}:{b}" for a, b in preds) for s, n, _, preds, _ in stamp_of(flight, message).extra}


TO = {"A": BOTH, "B": BOTH, "C": "G1", "D": "G2"}
ROWS_OF_FIGURE_4 = (("A1",), ("A2", "B1"), ("A3", "C1", "D1"), ("C2",))
"""Which the paper writes with their groups: G1G2-A1, G1-C1."""


def rows_one_to_three(rig: Rig) -> None:
    """001 Fig 4 rows (1) to (4), among brokers; every copy for a subscriber is still on its way."""
    for row in ROWS_OF_FIGURE_4:
        for name in row:
            rig.publish(name[0], TO[name[0]], called=name)
        for name in row:
            rig.deliver_to_brokers(name)


# -- T4: 001 Figs 4-6 --------------------------------------------------------------------------------------------------


def test_immediate_predecessors_are_those_of_figure_5() -> None:  # 001 Fig 5, rows (1) to (4)
    rig = graph()
    rows_one_to_three(rig)
    expected = {
        "A1": [], "A2": ["A1"], "B1": ["A1"], "A3": ["A2", "B1"], "C1": ["A2", "B1"], "C2": ["A3", "C1"],
    }  # fmt: skip
    for message, before in expected.items():
        assert predecessors(rig, "C", "S1", message) == before
    assert predecessors(rig, "D", "S4", "D1") == ["A2", "B1"]
    rig.finish()


def test_s1_at_c_lost_b1_and_requests_it_on_c1() -> None:  # 001 Fig 6: "On receiving G1-C1, S1 requests G1G2-B1"
    rig = graph()
    rows_one_to_three(rig)
    rig.drop("C", "S1", "B1")
    rig.deliver("C", "S1", "A1")
    rig.deliver("C", "S1", "A2")
    assert rig.delivered("S1") == ["A1", "A2"] and rig.asks("S1") == []
    rig.deliver("C", "S1", "C1")
    assert rig.held("S1") == ["C1"] and rig.asks("S1") == [("C", "B1")]
    rig.deliver("S1", "C", "request")
    rig.deliver("C", "S1", "B1")
    assert rig.delivered("S1") == ["A1", "A2", "B1", "C1"]
    rig.finish()
    assert rig.asks("S1") == [("C", "B1")]
    assert "D1" not in rig.delivered("S1")  # the paper writes G1-D1, but D is not in G1


def test_s2_at_a_lost_a1_and_requests_it_on_a2() -> None:  # 001 Fig 6: "On receiving G1G2-A2, S2 requests G1G2-A1"
    rig = graph()
    rows_one_to_three(rig)
    rig.drop("A", "S2", "A1")
    rig.deliver("A", "S2", "A2")
    assert rig.held("S2") == ["A2"] and rig.asks("S2") == [("A", "A1")]
    rig.finish()
    assert rig.delivered("S2")[:1] == ["A1"] and len(rig.delivered("S2")) == 7
    assert rig.asks("S2") == [("A", "A1")]


def test_s3_at_b_lost_a2_and_b1_and_requests_both_on_c1() -> None:  # 001 Fig 6: "On receiving G1-C1, S3 requests ..."
    rig = graph()
    rows_one_to_three(rig)
    rig.drop("B", "S3", "A2")
    rig.drop("B", "S3", "B1")
    rig.deliver("B", "S3", "A1")
    rig.deliver("B", "S3", "C1")
    assert rig.held("S3") == ["C1"] and sorted(rig.asks("S3")) == [("B", "A2"), ("B", "B1")]
    assert len(rig.flying("S3", "B", "request")) == 1
    rig.finish()
    assert sorted(rig.delivered("S3")[1:3]) == ["A2", "B1"] and len(rig.delivered("S3")) == 7
    assert len(rig.asks("S3")) == 2


def test_s4_at_d_lost_a1_and_requests_it_on_b1() -> None:  # 001 Fig 6: "On receiving G1G2-B1, S4 requests G1G2-A1"
    rig = graph()
    rows_one_to_three(rig)
    rig.drop("D", "S4", "A1")
    rig.deliver("D", "S4", "B1")
    assert rig.held("S4") == ["B1"] and rig.asks("S4") == [("D", "A1")]
    rig.finish()
    assert rig.delivered("S4")[0] == "A1" and sorted(rig.delivered("S4")) == ["A1", "A2", "A3", "B1", "D1"]
    assert rig.asks("S4") == [("D", "A1")]  # and never C's messages, which are not addressed to it


# -- T5: the cross-group chain -----------------------------------------------------------------------------------------


def chain(rig: Rig) -> None:
    """A1(G1, G2) -> D1(G2) -> B1(G1, G2); what is for C and for subscribers is on its way."""
    for sender, topics in (("A", BOTH), ("D", "G2"), ("B", BOTH)):
        message = rig.publish(sender, topics)
        for to in ("A", "B", "D"):
            if rig.flying(sender, to, message):
                rig.deliver(sender, to, message)


def test_the_projection_walks_through_foreign_messages() -> None:  # s3.3: A1(G1,G2) -> D1(G2) -> B1(G1,G2)
    rig = graph()
    chain(rig)
    rig.deliver("A", "C", "A:1")
    rig.deliver("B", "C", "B:1")
    assert rig.delivered("C") == ["A:1", "B:1"]  # it never waits for D1, which is not addressed to it
    assert named(rig.flying("C", "S1", "B:1")[0], "B:1") == ["A:1"]
    rig.drop("C", "S1", "A:1")
    rig.deliver("C", "S1", "B:1")
    assert rig.held("S1") == ["B:1"] and rig.asks("S1") == [("C", "A:1")]
    rig.finish()
    assert rig.delivered("S1") == ["A:1", "B:1"]
    assert rig.asks("C") == []


def test_a_broker_sees_through_foreign_messages_too() -> None:  # s3.3: skipping foreign ids delivers B1 without A1
    rig = graph()
    chain(rig)
    rig.drop("A", "C", "A:1")
    rig.deliver("B", "C", "B:1")
    assert rig.held("C") == ["B:1"] and rig.asks("C") == [("B", "A:1")]
    rig.finish()
    assert rig.delivered("C") == ["A:1", "B:1"]


# -- the sentences of 001 s2.3.1 ---------------------------------------------------------------------------------------


def test_a_first_message_carries_nothing() -> None:  # "because there is no preceding message, there is no ... graph"
    rig = graph()
    rig.publish("A", BOTH)
    assert nodes(rig.flying("A", "B")[0], "A:1") == {"A:1": []}
    assert named(rig.flying("A", "S2")[0], "A:1") == []
    rig.finish()


def test_what_is_sent_follows_the_leaves_and_becomes_the_leaf() -> (
    None
):  # "attaches ... in its context graph as the leaf"
    rig = graph()
    rows_one_to_three(rig)
    assert nodes(rig.sent("A", "B", "A:3")[0], "A:3")["A:3"] == ["A:2", "B:1"]
    last = nodes(rig.sent("C", "A", "C:2")[0], "C:2")
    assert last["C:2"] == ["A:3", "C:1"]
    following = rig.publish("C", "G1")
    assert nodes(rig.sent("C", "A", following)[0], following)[following] == ["C:2"]
    rig.finish()


def test_between_brokers_the_graph_travels_with_all_ancestors() -> None:  # "sends the message including the graph"
    rig = graph()
    rows_one_to_three(rig)
    assert nodes(rig.sent("C", "A", "C:1")[0], "C:1") == {
        "A:1": [], "A:2": ["A:1"], "B:1": ["A:1"], "C:1": ["A:2", "B:1"],
    }  # fmt: skip
    rig.finish()


def test_to_a_subscriber_only_immediate_predecessors_travel() -> (
    None
):  # "instead of all ancestors of the context graph"
    rig = graph()
    rows_one_to_three(rig)
    stamp = stamp_of(rig.flying("C", "S1", "C:2")[0], "C:2")
    assert sorted(n for n, _ in stamp.needs) == ["A@G1", "C@G1"] and not stamp.covers and stamp.extra is None
    rig.finish()


def test_a_broker_verifies_that_all_ancestors_have_been_received() -> (
    None
):  # "A verifies that all ancestor messages ..."
    rig = graph()
    rig.publish("A", BOTH)
    rig.deliver("A", "B", "A:1")
    rig.publish("B", BOTH)
    rig.deliver("B", "D", "B:1")
    assert rig.held("D") == ["B:1"] and rig.asks("D") == [("B", "A:1")]
    rig.deliver("A", "D", "A:1")
    assert rig.delivered("D") == ["A:1", "B:1"]
    rig.finish()


def test_different_participants_may_see_a_different_valid_ordering() -> None:  # "all valid causal orderings"
    rig = graph()
    rig.deliver_to_brokers(rig.publish("A", BOTH))
    rig.publish("A", BOTH)
    rig.publish("B", BOTH)
    rig.deliver("A", "C", "A:2")
    rig.deliver("B", "C", "B:1")
    rig.deliver("B", "D", "B:1")
    rig.deliver("A", "D", "A:2")
    assert rig.delivered("C") == ["A:1", "A:2", "B:1"]
    assert rig.delivered("D") == ["A:1", "B:1", "A:2"]
    rig.finish()


def test_at_most_one_predecessor_per_broker_travels_to_a_subscriber() -> None:  # s3.3: the paper's claim on size
    rig = graph()
    for _ in range(6):
        for sender in "AB":
            rig.publish(sender, BOTH)
        rig.deliver_to_brokers()
    last = rig.publish("C", "G1")
    assert named(rig.flying("C", "S1", last)[0], last) == ["A:6", "B:6"]
    assert len(nodes(rig.flying("C", "A", last)[0], last)) == 13  # unstable ancestors, between brokers
    rig.finish()


# -- traps of two tiers with deadlines ---------------------------------------------------------------------------------


def test_a_held_message_is_seen_to_precede_another_through_a_missing_one() -> None:  # s3.7, trap 1
    rig = line()
    y, a, x = "A:1", "B:1", "C:1"
    for sender, deadline_ms in (("A", 500), ("B", 500), ("C", 500)):
        rig.deliver_to_brokers(rig.publish(sender, deadline_ms=deadline_ms))
    b = rig.publish("D", deadline_ms=100)
    rig.lose("S", "D", "request")
    delayed = rig.flying("D", "S", y)[0]
    rig.drop("D", "S", x)
    rig.deliver("D", "S", a)
    rig.deliver("D", "S", b)
    assert rig.held("S") == [a, b]
    rig.advance(100)
    assert rig.delivered("S") == [a, b]  # releasing b alone would leave a to follow y, after b: an inversion
    assert delayed in rig.flights
    rig.deliver("D", "S", y)
    assert rig.delivered("S") == [a, b] and rig.discarded("S") == [(y, "superseded")]
    rig.finish()


def test_stable_among_brokers_is_not_stable_for_a_subscriber() -> None:  # s3.7, trap 4
    rig = Rig(
        "graph",
        brokers=dict.fromkeys("ABC", "G1"),
        subscribers={"S": ("G1", "A B")},
        deadlines=False,
        round_us=50_000,
        grace_us=100_000,
    )
    rig.lose("A", "S")
    rig.lose("B", "S")
    for _ in range(4):  # for each, rounds enough for brokers to agree, and grace after that
        rig.publish("C")
        for _ in range(100):
            rig.advance(10)
            rig.settle()
    assert all(len(rig.delivered(name)) == 4 for name in "AB") and rig.delivered("S") == []
    rig.losing.clear()
    rig.publish("C")
    assert "C:1" in nodes(rig.flying("C", "A", "C:5")[0], "C:5")  # it still travels: not everybody has it
    rig.deliver("C", "A", "C:5")
    rig.deliver("C", "B", "C:5")
    for broker in "AB":  # two brokers that both name its predecessor do not contradict each other
        assert named(rig.flying(broker, "S", "C:5")[0], "C:5") == ["C:4"]
    rig.deliver("B", "S", "C:5")
    assert rig.held("S") == ["C:5"]
    rig.finish()
    assert rig.delivered("S") == ["C:1", "C:2", "C:3", "C:4", "C:5"]


def test_what_everybody_has_travels_no_longer() -> None:  # s3.3: cut at the stable prefix
    rig = Rig(
        "graph", brokers=dict.fromkeys("ABC", "G1"), subscribers={"S": ("G1", "A")}, deadlines=False, round_us=50_000
    )
    rig.publish("C")
    rig.run_until_quiet()
    rig.publish("A")
    rig.run_until_quiet()
    rig.advance(2 * rig.settings.grace_us / 1000)  # for brokers that come back, it travels a while longer
    rig.publish("B")
    rig.run_until_quiet()
    rig.publish("C")
    assert "C:1" not in nodes(rig.flying("C", "A", "C:2")[0], "C:2")
    rig.finish()
    assert rig.delivered("S") == ["C:1", "A:1", "B:1", "C:2"]


@pytest.mark.parametrize("recipe", ["graph", "cbcast"])
def test_a_subscriber_without_a_broker_gives_nothing_up(recipe: str) -> None:  # s3.6: what every broker in view lacks
    rig = Rig(recipe, brokers={"A": "G1", "B": "G1"}, subscribers={"S": ("G1", "A")}, deadlines=False, grace_us=500_000)
    rig.publish("A")
    rig.publish("A")
    rig.deliver_to_brokers()
    rig.drop("A", "S", "A:1")
    rig.deliver("A", "S", "A:2")
    rig.crash("A")
    rig.tell(without="A")
    rig.advance(5_000)
    assert rig.delivered("S") == [] and rig.discarded("S") == []
    rig.finish()


# -- an expired message still carries order ----------------------------------------------------------------------------


def expired_between(rig: Rig) -> None:
    """x1 -> x2 -> j at all brokers; x2 is short-lived. S gets none of them yet."""
    rig.deliver_to_brokers(rig.publish("A", deadline_ms=400))
    rig.deliver_to_brokers(rig.publish("B", deadline_ms=30))
    rig.deliver_to_brokers(rig.publish("C", deadline_ms=300))


@pytest.mark.parametrize("comes", [True, False])
def test_an_expired_message_keeps_its_edges_at_a_subscriber(comes: bool) -> None:  # rule H7, for graph
    rig = line()
    expired_between(rig)
    x1, x2, j = "A:1", "B:1", "C:1"
    rig.advance(31)
    rig.lose("S", "D", "request")
    rig.deliver("D", "S", x2)
    rig.deliver("D", "S", j)
    assert rig.discarded("S") == [(x2, "late")]
    assert rig.held("S") == [j]  # x1 is missing still, and only x2's stamp says so
    if comes:
        rig.deliver("D", "S", x1)
        assert rig.delivered("S") == [x1, j]
    else:
        rig.advance(300 - 31)
        assert rig.delivered("S") == [j]
        rig.deliver("D", "S", x1)
        assert rig.delivered("S") == [j] and (x1, "superseded") in rig.discarded("S")
    rig.finish()


def test_a_collected_message_keeps_its_edges_at_a_broker() -> None:  # rule H7, for graph
    rig = line(round_us=20_000)
    rig.deliver_to_brokers(rig.publish("A", deadline_ms=400))
    rig.deliver_to_brokers(rig.publish("B", deadline_ms=30))
    x1, x2 = "A:1", "B:1"
    rig.lose("D", "S", x1)
    rig.lose("D", "S", x2)
    rig.lose(what="digest")
    rig.advance(100)
    assert ("D", x2) in [(r.process, r.message) for r in rig.rows("D", "collect")]
    rig.deliver_to_brokers(rig.publish("C", deadline_ms=200))
    rig.deliver("D", "S", "C:1")
    assert rig.held("S") == ["C:1"]
    rig.losing.clear()
    rig.finish()
    assert rig.delivered("S") == [x1, "C:1"]
    assert (x2, "expired") in rig.discarded("S")
