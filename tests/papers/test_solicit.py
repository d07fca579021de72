"""`solicit` (papers 000 and 002): every module of the papers' procedures, sentence by sentence, as repaired.

The papers' letters: DLVD_Q is the Store, RMSG_Q the Inbox, MVector the counters of delivered messages per sender.
"""

from __future__ import annotations

import pytest

from antecede.core.frames import Data, Request
from antecede.sim.run import simulate
from antecede.sim.scenario import Scenario
from antecede.trace.check import check
from tests.papers.rig import Rig


def three_messages(recipe: str = "solicit", *, deadline_ms: float = 200, **settings: object) -> tuple[Rig, list[str]]:
    """002 Figs 2-5: p sends m1; q, having it, m2; s, having both, m3. Of all this only m3 is on its way to r."""
    rig = Rig(recipe, members="p q r s", **settings)
    m1 = rig.publish("p", deadline_ms=deadline_ms, called="m1")
    rig.deliver("p", "q", m1)
    rig.deliver("p", "s", m1)
    rig.advance(5)
    m2 = rig.publish("q", deadline_ms=deadline_ms, called="m2")
    rig.deliver("q", "p", m2)
    rig.deliver("q", "s", m2)
    rig.advance(5)
    m3 = rig.publish("s", deadline_ms=deadline_ms, called="m3")
    rig.deliver("s", "p", m3)
    rig.deliver("s", "q", m3)
    rig.advance(5)
    return rig, [m1, m2, m3]


def without_m1_and_m2(**settings: object) -> tuple[Rig, list[str]]:
    """002 Fig 5 up to the solicitation: r has m3, lost m1 and m2, and asked s for them."""
    rig, ids = three_messages(**settings)
    rig.drop("p", "r", ids[0])
    rig.drop("q", "r", ids[1])
    rig.deliver("s", "r", ids[2])
    return rig, ids


# -- T1: 002 Figs 3-5, 000 Fig 2 ---------------------------------------------------------------------------------------


def test_r_solicits_s_and_delivers_all_three_before_the_deadline() -> None:  # 002 Figs 4-5, 000 Fig 2
    rig, (m1, m2, m3) = without_m1_and_m2()
    assert rig.held("r") == [m3] and rig.delivered("r") == []
    assert sorted(rig.asks("r")) == [("s", m1), ("s", m2)]
    rig.advance(10)
    rig.deliver("r", "s", "request")
    assert rig.answers("s") == [("r", m1), ("r", m2)]
    rig.advance(10)
    rig.deliver("s", "r", "data")
    assert rig.delivered("r") == [m1, m2, m3]
    assert rig.delivered_at_ms("r", m3) < 200
    assert rig.finish().fates["delivered"] == 9


def test_without_solicitation_r_delivers_only_m3_at_its_deadline() -> None:  # 002 Fig 3, the previous algorithms
    rig, (m1, m2, m3) = three_messages("dcco")
    rig.drop("p", "r", m1)
    rig.drop("q", "r", m2)
    rig.deliver("s", "r", m3)
    report = rig.finish()
    assert rig.delivered("r") == [m3]
    assert rig.delivered_at_ms("r", m3) == 210 and rig.reason("r", m3) == "deadline"
    assert rig.asks("r") == []
    assert report.fates["superseded"] == 2


def test_p3_asks_p2_for_m1_and_m2() -> None:  # 000 Fig 2: "it requests m3's sender, p2, give m3's predecessors"
    rig = Rig("solicit", members="p1 p2 p3 p4")
    for number, sender in enumerate(("p1", "p4", "p2"), 1):
        name = rig.publish(sender, deadline_ms=200, called=f"m{number}")
        rig.spread(name, but=() if number == 3 else ("p3",))
        if number < 3:
            rig.drop(to="p3", what=name)
        rig.advance(5)
    assert rig.held("p3") == ["m3"] and sorted(rig.asks("p3")) == [("p2", "m1"), ("p2", "m2")]
    rig.deliver("p3", "p2", "request")
    rig.deliver("p2", "p3", "data")
    assert rig.delivered("p3") == ["m1", "m2", "m3"]
    rig.finish()


# -- T2: 002 Fig 2 -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("recipe", ["solicit", "dcco"])
def test_delivery_is_delayed_until_both_predecessors_are_in(recipe: str) -> None:  # 002 Fig 2
    rig, (m1, m2, m3) = three_messages(recipe)
    rig.lose(what="request")
    rig.deliver("s", "r", m3)
    rig.advance(20)
    rig.deliver("q", "r", m2)
    assert rig.delivered("r") == []
    rig.advance(20)
    rig.deliver("p", "r", m1)
    assert rig.delivered("r") == [m1, m2, m3]
    assert [rig.reason("r", m) for m in (m1, m2, m3)] == ["causes"] * 3
    rig.finish()


# -- B-SEND ------------------------------------------------------------------------------------------------------------


def test_a_message_goes_to_all_the_other_members_and_to_nobody_else() -> None:  # B-SEND: broadcast
    rig = Rig("solicit", members="p q r s")
    m1 = rig.publish("p", deadline_ms=100)
    assert sorted(f.to for f in rig.sent("p")) == ["q", "r", "s"]
    assert all(f.ids == (m1,) and f.frame.kind == "data" for f in rig.sent("p"))
    rig.finish()


def test_two_messages_of_one_instant_keep_their_order() -> None:  # B-SEND: "current time value" ties; repaired: a count
    rig = Rig("solicit", members="p q")
    first, second = rig.publish("p", deadline_ms=100), rig.publish("p", deadline_ms=100)
    rig.deliver("p", "q", second)
    assert rig.delivered("q") == []
    rig.deliver("p", "q", first)
    assert rig.delivered("q") == [first, second]
    rig.finish()


def test_own_messages_are_kept_and_answer_solicitations() -> None:  # B-SEND, repaired: sent messages go into DLVD_Q
    rig = Rig("solicit", members="p q")
    first, second = rig.publish("p", deadline_ms=100), rig.publish("p", deadline_ms=100)
    rig.drop("p", "q", first)
    rig.deliver("p", "q", second)
    rig.deliver("q", "p", "request")
    assert rig.answers("p") == [("q", first)]
    rig.deliver("p", "q", "data")
    assert rig.delivered("q") == [first, second]
    rig.finish()


# -- B-RECV ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("late_us", "fate"), [(0, "delivered"), (1, "late")])
def test_a_message_is_discarded_after_its_deadline_and_not_before(late_us: int, fate: str) -> None:  # B-RECV, first if
    rig = Rig("solicit", members="p q")
    m1 = rig.publish("p", deadline_ms=100)
    rig.advance(100 + late_us / 1000)
    rig.deliver("p", "q", m1)
    assert rig.delivered("q") == ([m1] if fate == "delivered" else [])
    assert rig.discarded("q") == ([] if fate == "delivered" else [(m1, "late")])
    assert rig.finish().fates[fate] == 1


def test_the_guard_is_kept_on_arrival() -> None:  # s3.1: a guard on timers and on accept
    rig = Rig("solicit", members="p q r", guard_us=7_000)
    m1 = rig.publish("p", deadline_ms=100)
    rig.advance(93)
    rig.deliver("p", "q", m1)
    rig.advance(0.001)
    rig.deliver("p", "r", m1)
    assert rig.delivered("q") == [m1]
    assert rig.discarded("r") == [(m1, "late")]
    rig.finish()


def test_a_message_that_was_delivered_is_discarded_when_it_comes_again() -> None:  # B-RECV, first if: V_m[s] <= V[s]
    rig = Rig("solicit", members="p q")
    m1 = rig.publish("p", deadline_ms=100)
    rig.duplicate("p", "q", m1)
    rig.deliver("p", "q", m1)
    assert rig.delivered("q") == [m1]
    assert rig.discarded("q") == [(m1, "duplicate")]
    rig.finish()


def test_a_ready_message_is_delivered_at_once_and_is_then_a_cause() -> None:  # B-RECV, else if: deliver, take the max
    rig = Rig("solicit", members="p q r")
    m1 = rig.publish("p", deadline_ms=100)
    rig.deliver("p", "q", m1)
    assert rig.delivered("q") == [m1] and rig.reason("q", m1) == "causes"
    m2 = rig.publish("q", deadline_ms=100)
    rig.deliver("q", "r", m2)
    assert rig.held("r") == [m2]
    rig.deliver("p", "r", m1)
    assert rig.delivered("r") == [m1, m2]
    rig.finish()


def test_concurrent_messages_do_not_wait_for_each_other() -> None:  # B-RECV: only i in V_m is compared
    rig = Rig("solicit", members="p q r")
    rig.publish("p", deadline_ms=100)
    m2 = rig.publish("q", deadline_ms=100)
    rig.deliver("q", "r", m2)
    assert rig.delivered("r") == [m2]
    rig.finish()


def test_a_delivered_message_can_be_had_here() -> None:  # B-RECV: insert into DLVD_Q
    rig, (m1, m2, _) = without_m1_and_m2()
    rig.inject("r", "q", Request((("p", 0, 1),)))
    rig.deliver("r", "q", "request")
    assert rig.answers("q") == [("r", m1)]
    rig.drop("q", "r", "data")
    rig.finish()
    assert rig.delivered("r")[:2] == [m1, m2]


def test_a_message_that_is_not_ready_is_held_and_its_sender_is_asked() -> None:  # B-RECV, else
    rig, (_, _, m3) = without_m1_and_m2()
    assert rig.held("r") == [m3]
    [request] = rig.flying("r")
    assert request.to == "s" and isinstance(request.frame, Request)
    assert request.frame.ranges == (("p", 0, 1), ("q", 0, 1))
    rig.finish()


def test_a_gap_in_one_senders_own_stream_is_seen() -> None:  # repaired: time values cannot show it
    rig = Rig("solicit", members="p q")
    sent = [rig.publish("p", deadline_ms=100) for _ in range(4)]
    rig.deliver("p", "q", sent[0])
    rig.drop("p", "q", sent[1])
    rig.drop("p", "q", sent[2])
    rig.deliver("p", "q", sent[3])
    assert rig.held("q") == [sent[3]]
    assert rig.asks("q") == [("p", sent[1]), ("p", sent[2])]
    rig.finish()
    assert rig.delivered("q") == sent


def test_a_pending_duplicate_is_not_queued_twice() -> None:  # repaired: RMSG_Q is keyed by message id
    rig, (m1, m2, m3) = three_messages()
    rig.duplicate("s", "r", m3)
    rig.deliver("s", "r", m3)
    assert rig.held("r") == [m3]
    assert rig.discarded("r") == [(m3, "duplicate")]
    assert len(rig.sent("r", "s", "request")) == 1
    rig.finish()
    assert rig.delivered("r") == [m1, m2, m3]


# -- CHECK-MSGs --------------------------------------------------------------------------------------------------------


def test_what_has_become_ready_is_delivered_to_a_fixpoint() -> None:  # CHECK-MSGs, first if
    rig = Rig("solicit", members="p q")
    rig.lose(what="request")
    sent = [rig.publish("p", deadline_ms=100) for _ in range(5)]
    for message in (sent[4], sent[2], sent[3], sent[1]):
        rig.deliver("p", "q", message)
    assert rig.delivered("q") == []
    rig.deliver("p", "q", sent[0])
    assert rig.delivered("q") == sent
    rig.finish()


def test_at_a_deadline_what_precedes_it_goes_out_first_and_the_rest_stays() -> None:  # CHECK-MSGs, else if
    rig, (m1, m2, m3) = three_messages()
    rig.lose(what="request")
    lost = rig.publish("p", deadline_ms=500)
    other = rig.publish("p", deadline_ms=500)
    rig.drop("p", "r", m1)
    rig.drop("p", "r", lost)
    rig.deliver("s", "r", m3)  # m3 came first; FIFO order would put it before its cause m2
    rig.deliver("q", "r", m2)
    rig.deliver("p", "r", other)
    rig.advance(210 - rig.now_us / 1000)
    assert rig.delivered("r") == [m2, m3]
    assert rig.reason("r", m2) == "deadline"
    assert rig.held("r") == [other]
    rig.finish()
    assert rig.delivered("r") == [m2, m3, other]


@pytest.mark.parametrize("arrival", [(2, 1, 3), (3, 2, 1), (1, 3, 2)])
def test_at_a_deadline_what_is_held_goes_out_in_causal_order(
    arrival: tuple[int, ...],
) -> None:  # in (stamp, sender) order
    rig = Rig("solicit", members="p q r")
    rig.lose(what="request")
    sent = [rig.publish("p", deadline_ms=500) for _ in range(4)]
    rig.deliver("p", "q")
    last = rig.publish("q", deadline_ms=50)
    rig.drop("p", "r", sent[0])
    for place in arrival:
        rig.deliver("p", "r", sent[place])
    rig.deliver("q", "r", last)
    rig.advance(50)
    assert rig.delivered("r") == [*sent[1:], last]
    rig.finish()


def test_a_message_goes_out_at_the_deadline_of_its_successor() -> None:  # s1: the logical deadline
    rig = Rig("solicit", members="p q r")
    rig.lose(what="request")
    lost = rig.publish("p", deadline_ms=500)
    m2 = rig.publish("p", deadline_ms=500)
    rig.deliver("p", "q")
    m3 = rig.publish("q", deadline_ms=50)
    rig.drop("p", "r", lost)
    rig.deliver("p", "r", m2)
    rig.deliver("q", "r", m3)
    rig.finish()
    assert rig.delivered("r") == [m2, m3]
    assert rig.delivered_at_ms("r", m2) == rig.delivered_at_ms("r", m3) == 50


def test_the_wake_up_is_exact_at_the_deadline_less_the_guard() -> (
    None
):  # repaired: "deadline = now" at ticks never fires
    rig, (_, _, m3) = three_messages(deadline_ms=123.457, guard_us=5_000)
    rig.lose(what="request")
    rig.deliver("s", "r", m3)
    due_us = 10_000 + 123_457 - 5_000
    rig.advance((due_us - 1 - rig.now_us) / 1000)
    assert rig.delivered("r") == [] and rig.machine("r").next_wake() == due_us
    rig.advance(0.001)
    assert rig.delivered("r") == [m3] and rig.reason("r", m3) == "deadline"
    rig.drop("p", "r")
    rig.drop("q", "r")
    rig.finish()


def test_what_was_overtaken_at_a_deadline_is_past() -> None:  # CHECK-MSGs: the vector takes the max; s1: no inversion
    rig, (m1, m2, m3) = three_messages("dcco", deadline_ms=100)
    late = rig.publish("p", deadline_ms=400)
    rig.deliver("s", "r", m3)
    rig.advance(110 - rig.now_us / 1000)
    assert rig.delivered("r") == [m3]
    rig.deliver("p", "r", late)
    assert rig.delivered("r") == [m3, late]  # its cause m1 is past: it does not wait
    rig.deliver("p", "r", m1)
    rig.deliver("q", "r", m2)
    assert rig.delivered("r") == [m3, late]
    assert [why for _, why in rig.discarded("r")] == ["late", "late"]
    rig.finish()


# -- SOLICIT-RECV ------------------------------------------------------------------------------------------------------


def test_an_answer_reaches_up_to_the_bound_and_includes_it() -> None:  # repaired: strict < returns nothing in Fig 5
    rig = Rig("solicit", members="p r s")
    one, two, three = (rig.publish("p", deadline_ms=500) for _ in range(3))
    rig.deliver("p", "s")
    m = rig.publish("s", deadline_ms=500)
    four = rig.publish("p", deadline_ms=500)
    rig.deliver("p", "s", four)
    rig.deliver("p", "r", one)
    for message in (two, three, four):
        rig.drop("p", "r", message)
    rig.deliver("s", "r", m)
    rig.deliver("r", "s", "request")
    assert rig.answers("s") == [("r", two), ("r", three)]  # not what r has, not what m does not need
    rig.deliver("s", "r", "data")
    assert rig.delivered("r") == [one, two, three, m]
    assert rig.finish().fates["expired"] == 1  # nothing after it, and no rounds: a lost tail


def test_what_the_asker_holds_is_neither_asked_for_nor_sent() -> None:  # s3.1: not already held by the asker
    rig, (m1, m2, m3) = three_messages()
    rig.lose("r", "q", "request")
    rig.drop("p", "r", m1)
    rig.deliver("q", "r", m2)
    rig.deliver("s", "r", m3)
    assert [message for _, message in rig.asks("r")] == [m1]
    rig.run_until_quiet()
    assert all(
        f.ids == (rig.id_of(m1),) for f in rig.sent(to="r", what="data") if isinstance(f.frame, Data) and f.frame.answer
    )
    assert rig.delivered("r") == [m1, m2, m3]
    rig.finish()


def test_what_is_only_held_is_sent_too() -> None:  # s3.1: every stored or held message
    rig = Rig("solicit", members="p q r")
    one, two = rig.publish("p", deadline_ms=300), rig.publish("p", deadline_ms=300)
    three = rig.publish("p", deadline_ms=300)
    rig.lose("p", "q")
    rig.lose("p", "r")
    rig.inject("p", "q", Data((rig.machine("p").store.by_id[two],)))
    rig.inject("p", "r", Data((rig.machine("p").store.by_id[three],)))
    rig.deliver("p", "q", two)
    rig.deliver("p", "r", three)
    rig.crash("p")
    assert rig.held("q") == [two] and rig.held("r") == [three]
    rig.run_until_quiet()
    assert rig.delivered("r") == [two, three] and one not in rig.delivered("r")
    assert ("r", two) in rig.answers("q")
    rig.finish()


def test_nothing_is_said_where_there_is_nothing_to_say() -> None:  # repaired: no empty answers, no loops
    rig = Rig("solicit", members="p q r")
    rig.publish("p", deadline_ms=100)
    rig.inject("r", "q", Request((("p", 0, 1), ("q", 0, 7))))
    rig.deliver("r", "q", "request")
    assert rig.sent("q") == []  # neither an answer nor a request of its own
    rig.finish()


def test_requests_end_when_nobody_has_it() -> None:  # repaired: no loops
    rig, (_, _, m3) = without_m1_and_m2()
    for name in ("p", "q", "s"):
        rig.crash(name)
    report = rig.finish()
    assert rig.delivered("r") == [m3] and rig.delivered_at_ms("r", m3) == 210
    assert 1 < len(rig.sent("r", what="request")) <= 1 + 200 // 30
    assert report.fates["lost"] + report.fates["superseded"] == 2


def test_what_has_expired_is_not_sent_but_named_so_that_nobody_waits() -> None:  # s3.1: not expired
    rig = Rig("solicit", members="p q r")
    m1 = rig.publish("p", deadline_ms=50)
    rig.deliver("p", "q", m1)
    m2 = rig.publish("q", deadline_ms=300)
    rig.drop("p", "r", m1)
    rig.advance(49)
    rig.deliver("q", "r", m2)
    rig.advance(2)
    rig.deliver("r", "q", "request")
    assert rig.answers("q") == []
    assert rig.delivered("r") == []
    rig.deliver("q", "r", "gone")
    assert rig.delivered("r") == [m2] and rig.reason("r", m2) == "causes"
    assert rig.discarded("r") == [(m1, "expired")]
    rig.finish()


# -- RPY-RECV ----------------------------------------------------------------------------------------------------------


def test_an_answer_makes_no_duplicate() -> None:  # repaired: RPY-RECV delivers unchecked
    rig, (m1, m2, m3) = three_messages()
    rig.deliver("s", "r", m3)
    rig.deliver("r", "s", "request")
    rig.deliver("p", "r", m1)
    rig.deliver("s", "r", "data")
    rig.deliver("q", "r", m2)
    assert rig.delivered("r") == [m1, m2, m3]
    assert rig.discarded("r") == [(m1, "duplicate"), (m2, "duplicate")]
    rig.finish()


def test_an_answer_makes_no_inversion() -> None:  # repaired: RPY-RECV delivers unchecked
    rig = Rig("solicit", members="p q r")
    m1 = rig.publish("p", deadline_ms=500)
    rig.deliver("p", "q", m1)
    m2 = rig.publish("q", deadline_ms=60)
    rig.drop("p", "r", m1)
    rig.deliver("q", "r", m2)
    rig.deliver("r", "q", "request")
    rig.advance(61)
    assert rig.delivered("r") == [m2]
    rig.deliver("q", "r", "data")
    assert rig.delivered("r") == [m2]
    assert rig.discarded("r") == [(m1, "superseded")]
    rig.finish()


def test_an_answer_is_never_late() -> None:  # repaired: RPY-RECV delivers unchecked
    rig = Rig("solicit", members="p q r")
    m1 = rig.publish("p", deadline_ms=60)
    rig.deliver("p", "q", m1)
    m2 = rig.publish("q", deadline_ms=500)
    rig.drop("p", "r", m1)
    rig.deliver("q", "r", m2)
    rig.deliver("r", "q", "request")
    rig.advance(61)
    rig.deliver("q", "r", "data")
    assert rig.delivered("r") == [m2]  # what was late alone is skipped; its successor need not wait any longer
    assert rig.discarded("r") == [(m1, "late")]
    rig.finish()


def test_an_answer_in_the_wrong_order_is_held_like_any_message() -> None:  # RPY-RECV, repaired: the same path
    rig, (m1, m2, m3) = three_messages()
    rig.lose(what="request")
    rig.drop("p", "r", m1)
    rig.drop("q", "r", m2)
    rig.deliver("s", "r", m3)
    rig.inject("s", "r", Data((rig.machine("s").store.by_id[rig.id_of(m2)],), answer=True))
    rig.deliver("s", "r", m2)
    assert rig.delivered("r") == [] and sorted(rig.held("r")) == [m2, m3]
    rig.inject("s", "r", Data((rig.machine("s").store.by_id[rig.id_of(m1)],), answer=True))
    rig.deliver("s", "r", m1)
    assert rig.delivered("r") == [m1, m2, m3]
    rig.finish()


def test_an_answered_message_can_be_had_here() -> None:  # RPY-RECV: insert into DLVD_Q
    rig, (m1, _, _) = without_m1_and_m2()
    rig.deliver("r", "s", "request")
    rig.deliver("s", "r", "data")
    rig.inject("q", "r", Request((("p", 0, 1),)))
    rig.deliver("q", "r", "request")
    assert rig.answers("r") == [("q", m1)]
    rig.finish()


# -- whom to ask, and when to stop (ours) ------------------------------------------------------------------------------


def test_when_the_sender_has_crashed_another_member_is_asked() -> (
    None
):  # repaired: no retry when the sender has crashed
    rig, (m1, m2, m3) = without_m1_and_m2()
    rig.crash("s")
    rig.finish()
    assert rig.delivered("r") == [m1, m2, m3]
    assert [whom for whom, _ in rig.asks("r")] == ["s", "s", "p", "p"]
    assert rig.delivered_at_ms("r", m3) == 15 + 30 + 20  # one retry later, and the trip


def test_no_request_leaves_whose_answer_cannot_come_in_time() -> None:  # s3.1: only while an answer can still come
    rig, (_, _, m3) = three_messages(deadline_ms=50, trip_us=20_000)
    rig.drop("p", "r")
    rig.drop("q", "r")
    rig.advance(60 - 19.999 - rig.now_us / 1000)
    rig.deliver("s", "r", m3)
    rig.finish()
    assert rig.asks("r") == []
    assert rig.delivered_at_ms("r", m3) == 60


def test_a_request_leaves_whose_answer_can_just_come_in_time() -> None:  # the same bound from the other side
    rig, (m1, m2, m3) = three_messages(deadline_ms=50, trip_us=20_000)
    rig.drop("p", "r")
    rig.drop("q", "r")
    rig.lose(what="data")
    rig.advance(60 - 20 - rig.now_us / 1000)
    rig.inject("s", "r", Data((rig.machine("s").store.by_id[rig.id_of(m3)],)))
    rig.deliver("s", "r", m3)
    rig.finish()
    assert sorted(rig.asks("r")) == [("s", m1), ("s", m2)]  # once: a retry could not be answered any more


def test_a_lost_tail_is_found_by_comparing() -> None:  # ours: the papers have nothing for it
    rig = Rig("solicit", members="p q r", round_us=50_000)
    m1 = rig.publish("p", deadline_ms=500)
    rig.drop("p", "r", m1)
    rig.finish()
    assert rig.delivered("r") == [m1]
    assert [message for _, message in rig.asks("r")] == [m1]


def test_a_newcomer_begins_at_a_members_cut() -> None:  # s2: a joiner asks a member for its frontier
    rig = Rig("solicit", members="p q r")
    m1 = rig.publish("p", deadline_ms=5_000)
    rig.settle()
    rig.crash("r")
    rig.tell(without="r")
    rig.restart("r", "r.1")
    rig.settle()
    m2 = rig.publish("q", deadline_ms=5_000)
    rig.finish()
    assert [row.cut for row in rig.rows("r.1", "join")] == [(m1,)]
    assert rig.delivered("r.1") == [m2]


@pytest.mark.parametrize(("guard_ms", "clean"), [(None, True), (0, False)])
def test_clocks_may_drift_by_ten_ms(guard_ms: float | None, clean: bool) -> None:  # 002 s2: "range from 5 to 10 ms"
    counts: dict[str, int] = {}
    for seed in range(4):
        run = simulate(Scenario(
            recipe="solicit", seed=seed, messages=60, loss=0.2, skew_ms=10, deadline_ms=(60, 120), guard_ms=guard_ms
        ))  # fmt: skip
        for verdict, count in check(run.rows, scenario=run.body()).counts.items():
            counts[verdict] = counts.get(verdict, 0) + count
    assert (sum(counts.values()) == 0) == clean and (counts["overdue"] == 0) == clean and not counts["inversion"]
