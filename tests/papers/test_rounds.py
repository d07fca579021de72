"""`rounds` (001 s2.2): figures 2 and 3, the sentences of the description, rule 1, and the traps (s3.4, s3.7)."""

from __future__ import annotations

from typing import Any

from antecede.core.frames import Data
from antecede.core.order.round_clock import colours_for
from tests.papers.rig import Rig

BROKERS = {"A": "G1 G2", "B": "G1", "C": "G1 G2", "D": "G2"}
SUBSCRIBERS = {"S1": ("G1", "C"), "S2": ("G1 G2", "A"), "S3": ("G1", "B"), "S4": ("G2", "D")}
BOTH = "G1 G2"
ROUND_MS = 50


def rounds(brokers: dict[str, str] = BROKERS, subscribers: Any = SUBSCRIBERS, **settings: Any) -> Rig:
    """001 Figs 2-3: G1 = {A, B, C}, G2 = {A, C, D}; N = 4, alpha = 1: three colours."""
    knobs = {"colours": colours_for(4, 1), "round_us": ROUND_MS * 1000, "fanout": 9, **settings}
    rig = Rig("rounds", brokers=brokers, subscribers=subscribers, **knobs)
    rig.lose(what="digest")  # what is lost is to be found by colours alone
    return rig


def begin(rig: Rig, number: int) -> None:
    """Let round `number` begin; what brokers push then to subscribers is on its way."""
    rig.advance((number - 1) * ROUND_MS - rig.now_us / 1000)


def colours(rig: Rig, sender: str, to: str, message: str) -> dict[str, int]:
    """What travels with a message to a subscriber: broker -> colour (a number from 1)."""
    frame = rig.flying(sender, to, message)[0].frame
    assert isinstance(frame, Data)
    return dict(next(e.stamp.covers for e in frame.envelopes if e.message.id == rig.id_of(message)))


RED, YELLOW, BLUE = 2, 3, 1
"""Rounds 1, 2, 3 and again from 4, as colours."""


ROUNDS_OF_FIGURE_2 = {
    1: [("A", BOTH, "red_A1")],
    2: [("A", BOTH, "yellow_A1"), ("D", "G2", "yellow_D1")],
    3: [("B", "G1", "blue_B1")],
    4: [("A", BOTH, "red_A2"), ("B", "G1", "red_B2")],
}


def figure_two(rig: Rig) -> None:
    """001 Fig 2: red_A1; yellow_A1 and yellow_D1 after it; blue_B1; then, in epoch 2, red_A2 and red_B2."""
    for number, sent in ROUNDS_OF_FIGURE_2.items():
        begin(rig, number)
        for sender, topics, name in sent:
            rig.publish(sender, topics, called=name)
        rig.deliver_to_brokers()
    rig.advance(ROUND_MS)


# -- T6: 001 Figs 2-3 --------------------------------------------------------------------------------------------------


def test_the_vectors_of_figure_2() -> None:
    rig = rounds()
    figure_two(rig)
    assert colours(rig, "A", "S2", "red_A1") == {}  # "all 0, that is {0, 0, 0, 0}"
    assert colours(rig, "A", "S2", "yellow_A1") == {"A": RED}  # "as {red, 0, 0, 0}"
    assert colours(rig, "D", "S4", "yellow_D1") == {"A": RED}
    assert colours(rig, "B", "S3", "blue_B1") == {"A": YELLOW}
    # {yellow, blue, 0, yellow} "at all brokers" cannot be: B is not in G2 and never hears of D's
    assert colours(rig, "A", "S2", "red_A2") == {"A": YELLOW, "B": BLUE, "D": YELLOW}
    assert colours(rig, "B", "S3", "red_B2") == {"A": YELLOW, "B": BLUE}
    rig.finish()


def test_messages_of_one_round_are_independent() -> (
    None
):  # "sent at the same gossip round ... independent of each other"
    rig = rounds()
    figure_two(rig)
    assert "D" not in colours(rig, "A", "S2", "yellow_A1")
    assert "A" not in {n: c for n, c in colours(rig, "D", "S4", "yellow_D1").items() if c == YELLOW}
    rig.finish()


def test_s1_never_gets_yellow_d1() -> None:  # "It discards yellow_D1, because it does not belong to G2"
    rig = rounds()
    figure_two(rig)
    assert rig.sent("C", "S1", "yellow_D1") == []
    rig.finish()


def test_s1_gets_each_in_its_round_and_asks_for_nothing() -> None:  # "S1 receives all messages"
    rig = rounds()
    rig.publish("A", BOTH, called="red_A1")
    for number, sender, name in ((2, "A", "yellow_A1"), (3, "B", "blue_B1"), (4, "A", "red_A2")):
        rig.deliver_to_brokers()
        begin(rig, number)
        rig.settle()
        rig.publish(sender, "G1", called=name)
    rig.finish()
    assert rig.delivered("S1") == ["red_A1", "yellow_A1", "blue_B1", "red_A2"] and rig.asks("S1") == []


def test_s2_lost_red_a1_and_requests_it_on_yellow_a1() -> None:  # "On receiving yellow_A1, S2 requests red_A1 to A"
    rig = rounds()
    rig.publish("A", BOTH, called="red_A1")
    rig.deliver_to_brokers()
    rig.drop("A", "S2", "red_A1")
    begin(rig, 2)
    rig.publish("A", BOTH, called="yellow_A1")
    rig.deliver("A", "S2", "yellow_A1")
    assert rig.held("S2") == ["yellow_A1"] and rig.asks("S2") == [("A", "red_A1")]
    rig.deliver("S2", "A", "request")
    rig.deliver("A", "S2", "red_A1")
    assert rig.delivered("S2") == ["red_A1", "yellow_A1"]
    rig.finish()


def test_s3_requests_all_it_lacks_on_red_b2() -> None:  # "On receiving red_B2, S3 requests all messages ... to B"
    rig = rounds()
    figure_two(rig)
    rig.drop("B", "S3", "red_A1")
    rig.drop("B", "S3", "yellow_A1")
    rig.drop("B", "S3", "blue_B1")
    rig.deliver("B", "S3", "red_B2")
    assert rig.held("S3") == ["red_B2"] and sorted(rig.asks("S3")) == [("B", "blue_B1"), ("B", "yellow_A1")]
    rig.deliver("S3", "B", "request")
    rig.deliver("B", "S3")
    assert rig.delivered("S3") == ["blue_B1", "red_B2", "red_A2"]
    # In round 5 red_A1 and yellow_A1 have expired: their headers say so.
    assert rig.discarded("S3") == [("red_A1", "expired"), ("yellow_A1", "expired")]
    rig.finish()


def test_s3_in_both_groups_can_only_sit_at_a() -> None:  # Fig 3: "S2 and S3 subscribe to A or B in both G1 and G2"
    rig = rounds(subscribers={"S3": (BOTH, "A")})  # B is not in G2: there nobody can be in both
    figure_two(rig)
    for name in ("red_A1", "yellow_A1", "yellow_D1", "blue_B1"):
        if rig.flying("A", "S3", name):
            rig.drop("A", "S3", name)
    rig.deliver("A", "S3", "red_B2")
    assert rig.held("S3") == ["red_B2"] and sorted(rig.asks("S3")) == [("A", "blue_B1"), ("A", "yellow_A1")]
    rig.finish()
    assert {"blue_B1", "red_B2", "red_A2"} <= set(rig.delivered("S3"))


def test_s4_requests_red_a1_from_d_and_never_wants_bs() -> None:  # "S4 requests the red_A1 to D"
    rig = rounds()
    rig.publish("A", BOTH, called="red_A1")
    rig.deliver_to_brokers()
    begin(rig, 2)
    rig.drop("D", "S4", "red_A1")
    rig.publish("A", BOTH, called="yellow_A1")
    rig.deliver_to_brokers()
    begin(rig, 3)
    rig.publish("B", "G1", called="blue_B1")
    rig.deliver_to_brokers()
    rig.deliver("D", "S4", "yellow_A1")
    assert rig.held("S4") == ["yellow_A1"] and rig.asks("S4") == [("D", "red_A1")]
    rig.finish()
    assert rig.delivered("S4") == ["red_A1", "yellow_A1"] and rig.sent(to="S4", what="blue_B1") == []


# -- the sentences of 001 s2.2.1 ---------------------------------------------------------------------------------------


def test_a_broker_sends_at_most_one_message_per_round() -> None:  # "every process has initiated ... exactly once"
    rig = rounds()
    assert [rig.publish("B", "G1") for _ in range(3)] == ["B:1", "B:2", "B:3"]
    assert rig.flying("B", "C", "B:1") and not rig.flying("B", "C", "B:2")
    rig.advance(ROUND_MS - 1)
    assert not rig.flying("B", "C", "B:2")
    rig.advance(1)
    assert rig.flying("B", "C", "B:2") and not rig.flying("B", "C", "B:3")
    rig.finish()
    assert rig.delivered("C") == ["B:1", "B:2", "B:3"]


def test_a_round_is_greater_than_every_round_delivered() -> None:  # s3.4
    rig = rounds()
    rig.publish("A", BOTH)
    rig.deliver("A", "B", "A:1")
    assert rig.publish("B", "G1") == "B:2" and not rig.flying("B", what="B:2")
    assert rig.publish("C", "G1") == "C:1"  # C has not delivered it
    rig.finish()


def test_epochs_tell_messages_of_one_colour_apart() -> None:  # "A1 and A2 in red can be distinguished by the epoch"
    rig = rounds()
    rig.publish("A", BOTH)
    begin(rig, 4)
    rig.publish("A", BOTH)
    clock = rig.machine("A").clock
    assert clock.colour_of(1, 2) == clock.colour_of(4, 5) == RED
    rig.finish()


def test_a_skipped_round_is_no_gap() -> None:  # rule 1, "GT_s[i] = GT_m[i] - 1", rejects the paper's own red_A2
    rig = rounds()
    rig.deliver_to_brokers(rig.publish("A", BOTH))
    begin(rig, 3)
    rig.deliver("A", "S2", "A:1")
    rig.publish("A", BOTH)
    rig.deliver("A", "S2", "A:3")
    assert rig.delivered("S2") == ["A:1", "A:3"]
    rig.finish()


def test_stale_messages_are_removed() -> None:  # "The stale messages might be removed periodically"
    rig = rounds()
    rig.publish("A", BOTH)
    assert rig.rows("A", "publish")[0].expires_us == 3 * ROUND_MS * 1000 - 1  # current - round >= 3 in round 4
    rig.advance(3 * ROUND_MS - 1)
    rig.duplicate("A", "B", "A:1")
    assert rig.delivered("B") == ["A:1"]
    rig.advance(1)
    rig.deliver("A", "C", "A:1")
    assert rig.delivered("C") == [] and rig.discarded("C") == [("A:1", "late")]
    rig.finish()


def test_an_expired_predecessor_is_not_named() -> None:  # s3.4: "0 once expired"
    rig = rounds()
    rig.deliver_to_brokers(rig.publish("B", "G1"))
    begin(rig, 5)
    rig.publish("A", BOTH)
    assert colours(rig, "A", "S2", "A:5") == {}
    rig.finish()


def test_gossip_goes_to_f_at_random() -> None:  # "gossips about it to f >= 1 other processes ... at random"
    brokers = dict.fromkeys("ABCDEFGH", "G1")
    rig = Rig("rounds", brokers=brokers, subscribers={"S": ("G1", "H")}, colours=10, round_us=50_000, fanout=2)
    rig.publish("A")
    assert len(rig.flying("A", what="A:1")) == 2
    rig.finish()
    assert all(rig.delivered(name) == ["A:1"] for name in "BCDEFGHS")


# -- traps of two tiers with deadlines ---------------------------------------------------------------------------------


def test_the_newest_of_each_sender_is_named() -> None:  # s3.7, trap 1: y -> a -> x -> b, y and x lost, b due first
    rig = rounds(dict.fromkeys("ABCD", "G1"), {"S": ("G1", "D")}, colours=20)
    rig.deliver_to_brokers(rig.publish("A"))
    for number, sender in ((2, "B"), (3, "C")):
        begin(rig, number)
        rig.publish(sender)
        rig.deliver_to_brokers()
    begin(rig, 4)
    rig.lose("S", "D", "request")
    delayed = rig.flying("D", "S", "A:1")[0]
    rig.publish("D", deadline_ms=100)
    rig.drop("D", "S", "C:3")
    rig.deliver("D", "S", "B:2")
    rig.deliver("D", "S", "D:4")
    assert rig.held("S") == ["B:2", "D:4"]
    rig.advance(100)
    assert rig.delivered("S") == ["B:2", "D:4"] and delayed in rig.flights
    rig.deliver("D", "S", "A:1")
    assert rig.discarded("S") == [("A:1", "superseded")]
    rig.finish()


def test_a_broker_leaves_time_for_the_last_hop() -> None:  # s3.7, trap 3
    rig = rounds(hop_us=60_000)
    rig.publish("A", BOTH)
    rig.publish("A", BOTH)
    begin(rig, 2)
    rig.lose(to="C", what="A:1")
    rig.lose("C", what="request")
    rig.deliver("A", "C", "A:2")
    rig.run_until_quiet(delay_ms=20)
    assert rig.delivered_at_ms("C", "A:2") == 4 * ROUND_MS - 60 - 0.001  # not at the end of its lifetime
    assert rig.delivered("S1") == ["A:2"]
    rig.finish()
