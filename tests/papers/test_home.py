"""`home` (ours): the rules H1 to H15 that need no membership, and traps 2 and 3 (PROTOCOLS s3.6, s3.7, s4)."""

from __future__ import annotations

from typing import Any

import pytest

from antecede.core.frames import Published
from tests.papers.rig import Rig


def home(brokers: str = "H N", clients: str = "c@H d@N", recipe: str = "home", **settings: Any) -> Rig:
    """All brokers carry G1 and all clients want it; `c@H`: client c at home H."""
    return Rig(
        recipe,
        brokers=dict.fromkeys(brokers.split(), "G1"),
        subscribers={one.partition("@")[0]: ("G1", one.partition("@")[2]) for one in clients.split()},
        **settings,
    )


def causes(rig: Rig, *names: str, deadlines_ms: list[float]) -> list[str]:
    """Each publishes after it has delivered what the one before published. What is for c is still on its way."""
    ids = []
    for name, deadline_ms in zip(names, deadlines_ms, strict=True):
        ids.append(rig.publish(name, deadline_ms=deadline_ms))
        rig.spread(but=["c"])
    return ids


# -- moving ------------------------------------------------------------------------------------------------------------


def test_numbers_of_an_old_attachment_mean_nothing_at_the_new_home() -> None:  # rule H1
    rig = home(deadlines=False)
    one, two, three = (rig.publish("d") for _ in range(3))
    rig.deliver_to_brokers()
    rig.deliver("H", "c", one)
    rig.drop("H", "c", two)
    rig.move("c", "N")
    rig.deliver("c", "N", "attach")
    rig.deliver("N", "c")
    assert rig.delivered("c") == [one, two, three]  # N numbered them 1 and 2
    four = rig.publish("d")
    rig.deliver_to_brokers("publish")
    rig.deliver("H", "c", three)  # H's number 3
    assert rig.discarded("c") == [(three, "foreign")]
    assert [f.to for f in rig.flying("c", what="detach")] == ["H"]
    rig.deliver("N", "c", four)  # N's number 3
    assert rig.delivered("c") == [one, two, three, four]
    rig.deliver("c", "H", "detach")
    rig.deliver_to_brokers("data")
    five = rig.publish("d")
    rig.spread(but=["c"])
    assert not rig.flying("H", "c", five)
    rig.finish()


def test_a_new_home_does_not_send_what_the_client_has_passed() -> None:  # rule H2
    rig = home()
    x, y = rig.publish("d", deadline_ms=1_000), rig.publish("d", deadline_ms=100)
    rig.deliver("d", "N")
    rig.lose("N", "H", x)
    rig.lose("H", "N", "request")
    rig.deliver("N", "H", y)
    rig.advance(100)
    rig.deliver("H", "c", y)
    assert rig.delivered("c") == [y]
    rig.move("c", "N")
    rig.deliver("c", "N", "attach")
    assert x in rig.machine("N").store.by_id and rig.sent("N", "c", "items") == []
    report = rig.finish()
    assert rig.delivered("c") == [y]
    assert report.fates_by_role["subscriber"]["superseded"] == 1


def test_causes_travel_with_the_client_through_a_home_that_has_none_of_them() -> None:  # rule H3
    rig = Rig(
        "home",
        brokers={"H": "G1 G2", "N": "G1", "D": "G2"},
        subscribers={"c": ("G1", "H"), "e": ("G1 G2", "H"), "d": ("G2", "D")},
        deadlines=False,
    )
    z, y = rig.publish("e", "G2"), rig.publish("e", "G1")
    rig.deliver("e", "H")
    rig.drop("H", "D", z)
    rig.deliver("H", "c", y)
    rig.move("c", "N")
    w = rig.publish("c", "G2")
    rig.deliver("c", "N", "publish")  # a PUB may arrive before the ATTACH
    rig.deliver("N", "D", w)
    assert rig.held("D") == [w]
    assert rig.asks("D") == [("N", z)]  # whoever it came through first, then others of the group
    assert rig.delivered("N") == [] and (y, "superseded") not in rig.discarded("N")
    rig.deliver("H", "N", y)
    assert rig.delivered("N") == [y]  # relaying w has not put its causes behind N
    rig.finish()
    assert rig.delivered("D") == [z, w] == rig.delivered("d")
    assert ("H", z) in rig.asks("D")


@pytest.mark.parametrize("helped", [True, False])
def test_publishing_again_after_a_crash_closes_no_cycle(helped: bool) -> None:  # rule H4
    rig = home("H B N", "c@H d@B n@N", deadlines=False)
    m = rig.publish("c")
    rig.deliver("c", "H")
    rig.drop("H", "N", m)
    rig.deliver("H", "B", m)
    rig.crash("H")
    rig.deliver("B", "d", m)
    r = rig.publish("d")
    rig.deliver("d", "B")
    rig.tell(without="H")
    rig.deliver("B", "N", r)
    assert rig.held("N") == [r]
    end = rig.lose("c", "N", "publish") if helped else rig.lose("B", "N", m)
    rig.move("c", "N")
    rig.spread()
    if helped:  # c has delivered an effect of m before it publishes m again: its causes must not have grown
        assert rig.delivered("N") == [m, r] and rig.delivered("c") == [r]
        end()
        rig.advance(rig.settings.retry_us / 1000)
        assert rig.flying("c", "N", m)
    rig.finish()
    for name in ("B", "N", "n"):
        assert rig.delivered(name) == [m, r]
    assert rig.delivered("c") == [r]
    assert not rig.machine("c").outbox.unacked


def test_a_client_without_a_home_gives_nothing_up() -> None:  # s3.6: numbers end with their attachment
    rig = home(deadlines=False, grace_us=500_000)
    one, two = rig.publish("d"), rig.publish("d")
    rig.deliver_to_brokers()
    rig.drop("H", "c", one)
    rig.deliver("H", "c", two)
    rig.crash("H")
    rig.tell(without="H")
    rig.advance(5_000)
    assert rig.delivered("c") == [] and rig.held("c") == [two]
    rig.move("c", "N")
    rig.finish()
    assert rig.delivered("c") == [one, two]


# -- publishing --------------------------------------------------------------------------------------------------------


def test_a_publication_is_acknowledged_when_another_broker_has_it() -> None:  # rule H5
    rig = home("H B N", "c@H d@B n@N", deadlines=False, round_us=50_000)
    stop = rig.lose("H", "B", "data")
    rig.lose(to="N")
    m = rig.publish("c")
    for _ in range(30):
        rig.advance(10)
        rig.lose("H", "B", "request")
        rig.deliver_to_brokers("publish")
        rig.flights = [f for f in rig.flights if f.frame.kind != "digest"]
    assert rig.delivered("H") == [m] and rig.sent("H", "c", "published") == []
    stop()
    while not rig.sent("H", "c", "published"):
        assert rig.now_us < 5_000_000
        rig.advance(10)
        rig.settle()
    assert rig.delivered("B") == [m] and rig.delivered("N") == []
    rig.crash("H")
    rig.tell(without="H")
    rig.losing.clear()
    rig.move("c", "N")
    rig.finish()
    assert rig.delivered("N") == [m] == rig.delivered("n") == rig.delivered("d")


def test_what_is_not_acknowledged_is_published_again_at_the_new_home_at_once() -> None:  # s3.6: ATTACH, then `unacked`
    rig = home("H N B", "c@H d@N")
    m = rig.publish("c", deadline_ms=500)
    rig.drop("c", "H", m)
    rig.advance(1)
    rig.move("c", "N")
    assert [f.frame.kind for f in rig.flying("c", "N")] == ["attach", "publish"]
    rig.finish()
    assert rig.delivered("d") == [m]


def test_a_known_publication_is_not_sent_on_again() -> None:  # s3.6: drop a known id (but acknowledge again)
    rig = home("H N", "c@H d@N", deadlines=False)
    m = rig.publish("c")
    rig.duplicate("c", "H", m)
    rig.deliver("c", "H", m)
    assert len(rig.sent("H", "N", m)) == 1 and rig.discarded("H") == [(m, "duplicate")]
    assert len(rig.sent("H", "c", "received")) == 2
    rig.finish()
    assert rig.delivered("d") == [m]


def test_a_publication_its_home_did_not_get_is_sent_again_after_a_round_trip() -> None:  # s3.6: or deadlines pass
    rig = home(retry_us=40_000)
    m = rig.publish("c", deadline_ms=500)
    rig.drop("c", "H", m)
    rig.advance(39)
    assert rig.flying("c", "H", m) == []
    rig.advance(1)
    rig.deliver("c", "H", m)
    rig.deliver("H", "c", "received")
    rig.advance(250)  # it is not safe yet, but it has come: until then nothing is repeated
    assert len(rig.sent("c", "H", m)) == 2
    rig.finish()
    assert rig.delivered("d") == [m]


def lost_at_its_home(**settings: Any) -> tuple[Rig, str]:
    """A home that acknowledges at once, and dies before any other broker has the message."""
    rig = home("H B N", "c@H d@B n@N", **settings)
    m = rig.publish("c", deadline_ms=1_000 if settings.get("deadlines", True) else None)
    rig.deliver("c", "H")
    rig.inject("H", "c", Published((m,)))
    rig.deliver("H", "c", "published")
    rig.drop("H", "B", m)
    rig.drop("H", "N", m)
    rig.crash("H")
    rig.tell(without="H")
    rig.move("c", "N")
    rig.settle()
    return rig, m


def test_after_a_lost_message_the_next_one_waits_to_its_deadline() -> None:  # rule H5, acknowledged without a copy
    rig, m = lost_at_its_home(hop_us=20_000)
    after = rig.publish("c", deadline_ms=200)
    rig.deliver_to_brokers()
    report = rig.finish()
    for name in ("B", "N", "d", "n"):
        assert rig.delivered(name) == [after]
    assert rig.delivered_at_ms("N", after) == 180
    assert report.fates["superseded"] + report.fates["lost"] == 4 and m not in rig.delivered("d")


def test_after_a_lost_message_without_deadlines_the_next_one_waits_for_grace() -> None:  # rule H5, likewise
    rig, m = lost_at_its_home(deadlines=False, grace_us=700_000)
    after = rig.publish("c")
    rig.deliver_to_brokers()
    rig.finish()
    for name in ("B", "N"):
        assert rig.discarded(name) == [(m, "gone")] and rig.delivered(name) == [after]
        assert 700 <= rig.delivered_at_ms(name, after) < 1_500  # nothing waits without a bound
    assert rig.delivered("d") == [after] == rig.delivered("n")


# -- the numbered stream -----------------------------------------------------------------------------------------------


def five_six_seven(recipe: str) -> tuple[Rig, list[str]]:
    """Items 5, 6, 7 of c are concurrent; 5 is lost, 7 expires soon."""
    rig = home(clients="c@H a@N b@N d@N", recipe=recipe)
    for _ in range(4):
        rig.publish("a", deadline_ms=2_000)
    rig.settle()
    rig.advance(20)
    rig.settle()
    ids = [rig.publish("a", deadline_ms=2_000), rig.publish("b", deadline_ms=2_000), rig.publish("d", deadline_ms=100)]
    rig.deliver_to_brokers()
    rig.drop("H", "c", ids[0])
    rig.deliver("H", "c", ids[1])
    rig.deliver("H", "c", ids[2])
    return rig, ids


def test_concurrent_items_pass_each_other() -> None:  # rule H6
    rig, (five, six, seven) = five_six_seven("home")
    assert rig.delivered("c")[4:] == [six, seven]
    rig.deliver("c", "H", "want")
    rig.deliver("H", "c", five)
    assert rig.delivered("c")[4:] == [six, seven, five]
    rig.finish()


def test_a_bare_index_holds_what_is_concurrent_and_loses_it_at_a_deadline() -> None:  # rule H6, plain mode
    rig, (five, six, seven) = five_six_seven("home-plain")
    assert rig.delivered("c")[4:] == [] and rig.held("c") == [six, seven]
    rig.advance(99)
    assert rig.delivered("c")[4:] == []
    rig.advance(1)
    assert rig.delivered("c")[4:] == [six, seven] and rig.reason("c", six) == "deadline"
    rig.deliver("c", "H", "want")
    rig.deliver("H", "c", five)
    assert rig.delivered("c")[4:] == [six, seven] and rig.discarded("c")[0] == (five, "superseded")
    report = rig.report()
    # Safe, but the oracle sees the loss: an index that is passed over is not a successor.
    assert {f.verdict for f in report.findings} == {"stuck", "false"}
    assert [(f.process, f.message) for f in report.findings if f.verdict == "stuck"] == [("c", five)]


def test_a_bare_index_is_exact_without_deadlines() -> None:  # s3.6, plain mode
    rig = home(clients="c@H a@N b@N", recipe="home-plain", deadlines=False)
    one, two = rig.publish("a"), rig.publish("b")
    rig.deliver_to_brokers()
    rig.drop("H", "c", one)
    rig.deliver("H", "c", two)
    assert rig.held("c") == [two]
    rig.deliver("c", "H", "want")
    rig.deliver("H", "c", one)
    assert rig.delivered("c") == [one, two]
    rig.finish()


@pytest.mark.parametrize("comes", [True, False])
def test_an_expired_item_still_carries_order(comes: bool) -> None:  # rule H7
    rig = home(clients="c@H a@N b@N d@N")
    x1, x2, j = causes(rig, "a", "b", "d", deadlines_ms=[400, 30, 300])
    rig.advance(31)
    rig.lose("c", "H", "want")
    rig.deliver("H", "c", x2)
    rig.deliver("H", "c", j)
    assert rig.discarded("c") == [(x2, "late")] and rig.held("c") == [j]
    if comes:
        rig.deliver("H", "c", x1)
        assert rig.delivered("c") == [x1, j]
    else:
        rig.advance(300 - 31)
        assert rig.delivered("c") == [j]
        rig.deliver("H", "c", x1)
        assert rig.delivered("c") == [j] and (x1, "superseded") in rig.discarded("c")
    rig.finish()


def test_an_expired_message_still_carries_order_at_a_broker() -> None:  # rule H7, between brokers
    rig = home("H N M", clients="c@H a@N b@N d@N")
    rig.lose("H", what="request")
    x1 = rig.publish("a", deadline_ms=400)
    rig.spread(but=["c", "H"])
    x2 = rig.publish("b", deadline_ms=30)
    rig.spread(but=["c", "H"])
    j = rig.publish("d", deadline_ms=300)
    rig.spread(but=["c", "H"])
    rig.advance(31)
    rig.deliver("N", "H", x2)
    rig.deliver("N", "H", j)
    assert rig.discarded("H") == [(x2, "late")] and rig.held("H") == [j]
    rig.deliver("N", "H", x1)
    assert rig.delivered("H") == [x1, j]
    rig.finish()


def test_at_a_deadline_only_missing_causes_become_past() -> None:  # rule H7b
    rig = home(clients="c@H a@N b@N o@N")
    one = rig.publish("o", deadline_ms=900, after=[])
    two = rig.publish("a", deadline_ms=900, after=[])
    three = rig.publish("b", deadline_ms=900, after=[])
    four = rig.publish("b", deadline_ms=100, after=[three])
    five = rig.publish("o", deadline_ms=900, after=[one])
    six = rig.publish("a", deadline_ms=900, after=[two])
    rig.deliver_to_brokers()
    assert [f.ids for f in rig.flying("H", "c")] == [(one,), (two,), (three,), (four,), (five,), (six,)]
    for item in (one, four, five, six):
        rig.deliver("H", "c", item)
    assert rig.delivered("c") == [one, five] and rig.held("c") == [four, six]
    rig.advance(100)
    assert rig.delivered("c") == [one, five, four]
    rig.deliver("H", "c", three)
    assert rig.discarded("c") == [(three, "superseded")] and rig.held("c") == [six]
    rig.deliver("H", "c", two)
    assert rig.delivered("c") == [one, five, four, two, six]
    rig.finish()


def test_an_index_invents_no_causes() -> None:  # s3.7, trap 2
    rig = home(clients="c@H a@N b@N")
    first = rig.publish("a", deadline_ms=900, after=[])
    effect = rig.publish("a", deadline_ms=900, after=[first])
    urgent = rig.publish("b", deadline_ms=60, after=[])
    rig.deliver_to_brokers()
    rig.drop("H", "c", first)
    rig.deliver("H", "c", effect)
    rig.deliver("H", "c", urgent)
    assert rig.delivered("c") == [urgent] and rig.held("c") == [effect]
    rig.advance(61)
    assert rig.held("c") == [effect]  # it is neither forced out with the urgent one nor dropped
    rig.finish()
    assert rig.delivered("c") == [urgent, first, effect]


# -- restarts, relays, several groups ----------------------------------------------------------------------------------


def test_a_client_that_lost_its_memory_is_heard_under_a_new_incarnation() -> None:  # rule H9
    rig = home(deadlines=False)
    first = rig.publish("c")
    rig.settle()
    rig.crash("c")
    rig.tell(without="c")
    rig.restart("c", "c.1", at="H")
    rig.settle()
    again = rig.publish("c.1")
    assert (first, again) == ("c:1", "c.1:1")
    rig.finish()
    assert rig.delivered("d") == [first, again]


def test_a_client_that_lost_its_memory_is_swallowed_under_the_old_name() -> None:  # rule H9: why it needs a new one
    rig = home(deadlines=False)
    first = rig.publish("c")
    rig.settle()
    rig.spawn("c", "subscriber", ("G1",))
    rig.machine("c").view(rig.view, rig.now_us)
    rig.subscribe("c", "G1", "H")
    rig.settle()
    assert rig.publish("c") == first
    rig.settle()
    assert rig.delivered("d") == [first]  # the second one is not told from the first; no oracle: two share one id


def test_a_home_in_none_of_the_groups_relays_and_is_asked() -> None:  # rule H11
    rig = Rig(
        "home",
        brokers={"N": "G1", "D": "G2"},
        subscribers={"c": ("G1", "N"), "d": ("G2", "D")},
        deadlines=False,
        round_us=50_000,
    )
    m = rig.publish("c", "G2")
    rig.deliver("c", "N")
    rig.drop("N", "D", m)
    rig.finish()
    assert rig.delivered("N") == [] and rig.delivered("D") == [m] == rig.delivered("d")
    assert rig.asks("D") == [("N", m)] and rig.answers("N") == [("D", m)]


def test_what_a_home_gave_up_for_one_group_others_still_get() -> None:  # rule H12
    rig = Rig(
        "home",
        brokers={"H": "G1 G2", "K": "G1", "E": "G1 G2"},
        subscribers={"e": ("G1 G2", "E"), "s": ("G1", "H"), "t": ("G1", "K")},
    )
    w, z = rig.publish("e", "G1", deadline_ms=900), rig.publish("e", "G2", deadline_ms=100)
    rig.deliver("e", "E")
    rig.lose("H", what="request")
    rig.deliver("E", "H", z)
    rig.advance(100)
    assert rig.delivered("H") == [z]
    rig.deliver("E", "H", w)
    rig.deliver("E", "K", w)
    assert rig.discarded("H") == [(w, "superseded")] and rig.delivered("K") == [w]
    report = rig.finish()
    assert rig.delivered("t") == [w] and rig.delivered("s") == []
    assert report.fates_by_role["subscriber"] | {"delivered": 1, "superseded": 1} == report.fates_by_role["subscriber"]


def test_publications_of_one_client_that_overtake_each_other_are_put_in_order() -> None:  # rule H14
    rig = home("H B", "c@H d@B", deadlines=False)
    rig.lose(what="request")
    first, second = rig.publish("c"), rig.publish("c")
    rig.deliver("c", "H", second)
    rig.deliver("H", "B", second)
    assert rig.held("H") == [second] == rig.held("B")
    rig.deliver("c", "H", first)
    rig.deliver("H", "B", first)
    assert rig.delivered("H") == [first, second] == rig.delivered("B")
    rig.finish()
    assert rig.delivered("d") == [first, second]


# -- the last hop ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("hop_ms", "in_time"), [(80, True), (80.001, False)])
def test_a_home_leaves_time_for_the_last_hop(hop_ms: float, in_time: bool) -> None:  # rule H15; s3.7, trap 3
    rig = home(hop_us=80_000)
    x, y = rig.publish("d", deadline_ms=1_000), rig.publish("d", deadline_ms=300)
    rig.deliver("d", "N")
    rig.drop("N", "H", x)
    rig.lose("H", "N", "request")
    rig.deliver("N", "H", y)
    rig.advance(219.999)
    assert rig.delivered("H") == []
    rig.advance(0.001)
    assert rig.delivered("H") == [y] and rig.reason("H", y) == "deadline"
    rig.advance(hop_ms)
    rig.deliver("H", "c", y)
    assert rig.delivered("c") == ([y] if in_time else [])
    rig.finish()


def test_a_brokers_guard_includes_the_hop_and_a_clients_does_not() -> None:  # s3.7, trap 3
    rig = home(hop_us=80_000, guard_us=5_000)
    assert [row.guard_us for row in rig.rows("H", "join")] == [85_000]
    assert [row.guard_us for row in rig.rows("c", "join")] == [5_000]
    rig.finish()
