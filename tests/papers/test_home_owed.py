"""`home` (ours): what is owed to a client that changes its filters, and what is kept for one that was away.

Rules H8, H10 and H13, and trap 4 (PROTOCOLS s3.6 GROW and Stability, s3.7, s4).
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.papers.rig import Rig


def two_groups(**settings: Any) -> Rig:
    """c and e want G1 and are at H; d and f want both groups and are at N."""
    return Rig(
        "home",
        brokers={"H": "G1 G2", "N": "G1 G2"},
        subscribers={"c": ("G1", "H"), "e": ("G1", "H"), "d": ("G1 G2", "N"), "f": ("G1 G2", "N")},
        deadlines=False,
        **settings,
    )


def x_before_y_beside_u(rig: Rig) -> tuple[str, str, str]:
    """x(G2) -> y(G1), and u(G2) that follows neither; all at the brokers, nothing at c yet."""
    u, x = rig.publish("f", "G2"), rig.publish("d", "G2")
    y = rig.publish("d", "G1")
    rig.spread(but=["c"])
    return x, y, u


# -- filters that grow and shrink --------------------------------------------------------------------------------------


def test_growing_replays_what_nothing_in_the_past_has_passed() -> None:  # rule H8
    rig = two_groups()
    _, y, u = x_before_y_beside_u(rig)
    rig.settle()
    rig.subscribe("c", "G1 G2", "H")
    assert [f.frame.kind for f in rig.flying("c")] == ["grow"], "no new attachment"
    rig.settle()
    assert rig.delivered("c") == [y, u]
    w = rig.publish("d", "G2")
    rig.finish()
    assert rig.delivered("c") == [y, u, w]
    joins = [(row.groups, row.cut) for row in rig.rows("c", "join")]
    assert joins == [(("G1",), ()), (("G2",), ("d:2",))], "x and y lie behind the cut, u does not"


def test_growing_does_not_replay_what_precedes_a_message_under_way() -> None:  # rule H8: "already in `log`"
    rig = two_groups()
    x, y, u = x_before_y_beside_u(rig)
    rig.subscribe("c", "G1 G2", "H")
    rig.deliver("c", "H", "grow")
    rig.finish()
    assert rig.delivered("c") == [y, u] and x not in rig.delivered("c")


def test_a_message_numbered_before_it_grew_is_not_owed() -> None:  # rule H8
    rig = two_groups()
    x_before_y_beside_u(rig)
    rig.subscribe("c", "G1 G2", "H")
    rig.settle()
    pairs = rig.finish().fates_by_role["subscriber"]
    assert pairs["delivered"] == sum(pairs.values()), "x at c is no pair at all"


def test_an_acknowledgement_that_overtakes_its_growth_makes_it_ask_again() -> None:  # rule H8: F must be the newest
    rig = two_groups()
    _, y, u = x_before_y_beside_u(rig)
    rig.subscribe("c", "G1 G2", "H")
    rig.deliver("H", "c", y)
    rig.advance(rig.settings.retry_us / 2000)
    rig.deliver("c", "H", "ack")
    rig.deliver("c", "H", "grow")
    assert rig.sent("H", "c", "grown") == [], "what it says of its past is older than what it has acknowledged"
    rig.finish()
    assert rig.delivered("c") == [y, u] and len(rig.sent("c", "H", "grow")) == 2


@pytest.mark.parametrize("what", ["grow", "grown"])
def test_a_change_is_asked_for_until_it_is_confirmed(what: str) -> None:  # s3.6 GROW
    rig = two_groups()
    _, y, u = x_before_y_beside_u(rig)
    rig.settle()
    rig.subscribe("c", "G1 G2", "H")
    if what == "grow":
        rig.drop("c", "H", "grow")
    else:
        stop = rig.lose("H", "c", "grown")
        rig.deliver("c", "H", "grow")
        stop()
    w = rig.publish("d", "G2")
    rig.finish()
    assert rig.delivered("c") == [y, u, w] and len(rig.rows("c", "join")) == 2


def test_a_repeated_change_changes_nothing() -> None:  # s3.6 GROW
    rig = two_groups()
    _, y, u = x_before_y_beside_u(rig)
    rig.settle()
    rig.subscribe("c", "G1 G2", "H")
    rig.duplicate("c", "H", "grow")
    rig.settle()
    assert rig.delivered("c") == [y, u] and rig.machine("H").logs["c"].top == 2
    rig.finish()
    assert len(rig.rows("c", "join")) == 2


def test_nothing_of_a_new_group_comes_out_before_it_is_known_where_it_begins() -> None:  # s3.6: holds from GROWN
    rig = two_groups()
    _, y, u = x_before_y_beside_u(rig)
    rig.settle()
    rig.subscribe("c", "G1 G2", "H")
    rig.deliver("c", "H", "grow")
    rig.drop("H", "c", "grown")
    w = rig.publish("e", "G2")
    rig.spread(but=["c"])
    rig.deliver("H", "c", w)
    kinds = [(row.kind, row.message) for row in rig.rows("c", "join", "deliver")]
    assert kinds[-2:] == [("join", None), ("deliver", w)], "what is sent until it is acknowledged says so itself"
    rig.finish()
    assert set(rig.delivered("c")) == {y, u, w}


def test_what_is_left_is_not_owed_and_not_delivered_from_then_on() -> (
    None
):  # s3.6; DESIGN s3: membership is in the trace
    rig = two_groups()
    rig.subscribe("c", "G1 G2", "H")
    rig.settle()
    one, two, three = rig.publish("d", "G2"), rig.publish("d", "G2"), rig.publish("d", "G1")
    rig.spread(but=["c"])
    rig.drop("H", "c", one)
    rig.deliver("H", "c", two)
    assert rig.held("c") == [two]
    rig.subscribe("c", "G1", "H")
    assert rig.discarded("c") == [(two, "foreign")] and [r.groups for r in rig.rows("c", "leave")] == [("G2",)]
    rig.deliver("H", "c", three)
    rig.settle()
    later = rig.publish("d", "G2")
    rig.settle()
    assert not rig.sent("H", "c", later)
    rig.finish()
    assert rig.delivered("c") == [three]


def test_growing_again_brings_what_was_left_meanwhile() -> None:  # s3.6 GROW: minus F, not minus what it once was sent
    rig = two_groups()
    rig.subscribe("c", "G1 G2", "H")
    rig.settle()
    one = rig.publish("d", "G2")
    rig.spread(but=["c"])
    rig.subscribe("c", "G1", "H")
    rig.settle()
    assert rig.discarded("c") == [(one, "foreign")] and rig.delivered("c") == []
    rig.subscribe("c", "G1 G2", "H")
    rig.finish()
    assert rig.delivered("c") == [one]


def test_filters_that_share_something_lose_nothing_of_it() -> None:  # s3.6 GROW: what it keeps is not touched
    """From everything to G2 alone and back, with a message of G2 on its way each time."""
    rig = two_groups()
    rig.subscribe("c", "#", "H")
    rig.settle()
    one, two = rig.publish("d", "G2"), rig.publish("d", "G1")
    rig.spread(but=["c"])
    rig.subscribe("c", "G2", "H")
    three = rig.publish("d", "G2")
    rig.settle()
    assert rig.delivered("c") == [one, three] and rig.discarded("c") == [(two, "foreign")]
    four, five = rig.publish("d", "G2"), rig.publish("d", "G1")
    rig.spread(but=["c"])
    rig.subscribe("c", "#", "H")
    rig.finish()
    assert rig.delivered("c") == [one, three, four, five]


def test_a_client_that_grows_and_moves_begins_its_new_groups_at_the_new_home() -> None:  # s3.6: GROW, then ATTACH
    rig = two_groups()
    _, y, u = x_before_y_beside_u(rig)
    rig.settle()
    rig.subscribe("c", "G1 G2", "H")
    rig.move("c", "N")
    rig.deliver("c", "N", "attach")
    rig.finish()
    assert rig.delivered("c") == [y, u]
    joins = [(row.groups, row.peer) for row in rig.rows("c", "join")]
    assert joins == [(("G1",), "H"), (("G2",), "N")]


@pytest.mark.parametrize("known", [True, False])
def test_a_home_that_dies_over_a_growth_is_replaced(known: bool) -> None:  # s3.6: crash between GROW and GROWN
    rig = two_groups()
    _, y, u = x_before_y_beside_u(rig)
    rig.settle()
    rig.subscribe("c", "G1 G2", "H")
    if known:
        rig.deliver("c", "H", "grow")
    rig.crash("H")
    rig.tell(without="H")
    rig.flights = [f for f in rig.flights if f.sender != "H"]
    rig.move("c", "N")
    rig.move("e", "N")
    rig.finish()
    assert rig.delivered("c") == [y, u]


def test_a_client_that_dies_over_a_growth_leaves_nothing_behind() -> None:  # s3.6
    rig = two_groups()
    x_before_y_beside_u(rig)
    rig.subscribe("c", "G1 G2", "H")
    rig.deliver("c", "H", "grow")
    rig.crash("c")
    rig.tell(without="c")
    rig.restart("c", "c.1", at="H")
    rig.finish()
    assert "c" not in rig.machine("H").logs and rig.machine("H").logs["c.1"].interest.filters == ("G1",)


# -- what is kept, and for whom ----------------------------------------------------------------------------------------


def busy(
    rig: Rig, ms: int, publisher: str = "d", but: tuple[str, ...] = ("c",), after: tuple[str, ...] | None = None
) -> list[str]:
    """Let time pass with something to compare: a publication now and then, and frames that take no time."""
    sent = []
    for at_ms in range(0, ms, 10):
        if at_ms % 100 == 0:
            sent.append(rig.publish(publisher, after=after))
        rig.advance(10)
        rig.spread(but=but)
    return sent


def three_brokers(grace_ms: int) -> Rig:
    return Rig(
        "home",
        brokers=dict.fromkeys("HNK", "G1"),
        subscribers={"c": ("G1", "H"), "d": ("G1", "N"), "k": ("G1", "K")},
        deadlines=False, round_us=50_000, grace_us=grace_ms * 1000,
    )  # fmt: skip


def test_what_a_client_has_not_acknowledged_stays_everywhere_and_for_grace_after_its_home_died() -> None:  # rule H13
    rig = three_brokers(grace_ms=1_000)
    nine = rig.publish("d")
    rest = busy(rig, 3_000)
    assert all(nine in rig.machine(name).store.by_id for name in "HNK"), "stable among brokers is not stable (trap 4)"
    rig.crash("H")
    rig.tell(without="H")
    rig.flights.clear()
    rest += busy(rig, 900)
    assert all(nine in rig.machine(name).store.by_id for name in "NK"), "others collect only after grace"
    rig.move("c", "N")
    rig.settle()
    rest += busy(rig, 4_000, but=())
    assert all(nine not in rig.machine(name).store.by_id for name in "NK")
    rig.finish()
    assert rig.delivered("c") == [nine, *rest]


def test_without_grace_it_is_gone_and_said_so() -> None:  # rule H13: grace 0
    rig = Rig(
        "home",
        brokers=dict.fromkeys("HN", "G1"),
        subscribers={"c": ("G1", "H"), "d": ("G1", "N"), "k": ("G1", "N")},
        deadlines=False, round_us=50_000, grace_us=0,
    )  # fmt: skip
    nine = rig.publish("k")
    busy(rig, 300, after=())
    assert nine in rig.machine("N").store.by_id
    rig.crash("H")
    rig.tell(without="H")
    rig.flights.clear()
    busy(rig, 500, after=())
    assert nine not in rig.machine("N").store.by_id
    rig.move("c", "N")
    rig.settle()
    lost = [message for message, reason in rig.discarded("c") if reason == "gone"]
    frontier, began = rig.machine("c").frontier()
    assert nine in lost and {**frontier, **began}["k@G1"] == 1, "what it tells its next home advances"
    rig.restart("H", "H.1")
    rig.settle()
    assert nine in rig.machine("H.1").store.gone and rig.delivered("H.1")[:1] != [nine]
    rig.move("c", "H.1")
    rig.settle()
    assert [message for message, reason in rig.discarded("c") if reason == "gone"] == lost, "said once"
    report = rig.finish()
    assert report.fates_by_role["subscriber"]["lost"] == len(lost)


def test_what_is_let_go_of_is_remembered_by_nobody() -> None:  # s3.6 Stability: memory is bounded
    rig = three_brokers(grace_ms=200)
    rig.publish("k")
    busy(rig, 6_000, but=())
    for name in "HNK":
        assert len(rig.machine(name).store) < 20
        assert not rig.machine(name).logs["k" if name == "K" else "c" if name == "H" else "d"].entries
        assert "k@G1" not in rig.machine(name).confirming._elsewhere
    rig.finish()
    assert len(rig.delivered("c")) == 61


@pytest.mark.parametrize("let_go", [False, True])
def test_a_broker_that_restarts_empty_delivers_nothing_before_its_snapshot(let_go: bool) -> None:  # rule H10
    rig = three_brokers(grace_ms=100)
    old = busy(rig, 1_000 if let_go else 0, but=())
    assert (old[:1] != [] and old[0] not in rig.machine("K").store.by_id) == let_go
    one = rig.publish("d")
    rig.spread(but=["c"])
    rig.deliver("H", "c", one)
    two = rig.publish("d")
    rig.spread(but=["c"])
    rig.crash("H")
    rig.flights.clear()
    end = rig.lose(what="snapshot")
    rig.tell(without="H")
    rig.restart("H", "H.1")
    three = rig.publish("d")
    rig.spread(but=["c"])
    assert rig.delivered("H.1") == [], "it does not know yet where it begins"
    end()
    rig.move("c", "H.1")
    rig.finish()
    assert rig.delivered("H.1")[-3:] == [one, two, three]
    assert rig.delivered("c")[-3:] == [one, two, three], "what the donor kept and its past does not cover"
