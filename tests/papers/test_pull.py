"""`pull` (003): its figure and the sentences of its five procedures, in their repaired reading (s3.2)."""

from __future__ import annotations

from typing import Any

from antecede.core.frames import Data, Digest, Gone
from tests.papers.rig import Flight, Rig

BROKERS = {"A": "G1 G2", "B": "G1 G2", "C": "G1", "D": "G2"}
BOTH = "G1 G2"
ORDER = ["B1", "A1", "B2", "B3"]


def pull(subscribers: dict[str, tuple[str, str]], **settings: Any) -> Rig:
    """003 Fig 2: Group1 = {A, B, C}, Group2 = {A, B, D}."""
    return Rig("pull", brokers=BROKERS, subscribers=subscribers, **{"deadlines": False, **settings})


def stamp_of(flight: Flight, message: str) -> Any:
    assert isinstance(flight.frame, Data)
    return next(e.stamp for e in flight.frame.envelopes if e.message.id == message)


def figure_two(rig: Rig) -> None:
    """B1 -> A1 -> B2 -> B3 among brokers; every copy for a subscriber is still on its way."""
    for message in ORDER:
        rig.publish(message[0], BOTH, called=message)
        rig.deliver_to_brokers(message)


# -- T3: 003 Fig 2 -----------------------------------------------------------------------------------------------------


def test_s1_receives_all_from_a_and_requests_nothing() -> None:  # 003 s2.A: "S1 receives all messages from Broker A"
    rig = pull({"S1": (BOTH, "A")})
    figure_two(rig)
    for message in ORDER:
        rig.deliver("A", "S1", message)
    assert rig.delivered("S1") == ORDER
    rig.finish()
    assert rig.asks("S1") == []


def test_s2_gets_a1_first_and_requests_b1() -> None:  # 003 s2.A: "S2 requests message B1 ... after receiving A1"
    rig = pull({"S2": (BOTH, "B")})
    figure_two(rig)
    rig.drop("B", "S2", "B1")
    rig.deliver("B", "S2", "A1")
    assert rig.held("S2") == ["A1"] and rig.asks("S2") == [("B", "B1")]
    rig.deliver("S2", "B", "request")
    rig.deliver("B", "S2", "B1")
    assert rig.delivered("S2") == ["B1", "A1"]
    rig.finish()
    assert rig.delivered("S2") == ORDER and rig.asks("S2") == [("B", "B1")]


def test_s3_gets_the_last_three_and_requests_b1_once() -> None:  # 003 s2.A: "S3 does the exactly same thing as S2 did"
    rig = pull({"S3": ("G2", "D")})
    figure_two(rig)
    rig.drop("D", "S3", "B1")
    for message in ORDER[1:]:
        rig.deliver("D", "S3", message)
    assert rig.held("S3") == ORDER[1:] and rig.asks("S3") == [("D", "B1")]
    rig.finish()
    assert rig.delivered("S3") == ORDER and rig.asks("S3") == [("D", "B1")]


# -- the procedures, line by line --------------------------------------------------------------------------------------


def test_a_send_increments_the_entry_of_each_destination_group() -> None:  # SEND_MULTICAST: "increment ... by one"
    rig = pull({})
    rig.publish("A", BOTH)
    rig.publish("A", "G1")
    assert stamp_of(rig.flying("A", "B", "A:1")[0], "A:1").own == (("A@G1", 1), ("A@G2", 1))
    assert stamp_of(rig.flying("A", "B", "A:2")[0], "A:2").own == (("A@G1", 2),)
    rig.finish()


def test_all_vectors_of_all_groups_travel() -> None:  # SEND_MULTICAST: "piggybacked with all vectors of all groups"
    rig = pull({})
    rig.deliver_to_brokers(rig.publish("D", "G2"))
    rig.deliver_to_brokers(rig.publish("A", "G1"))
    rig.publish("C", "G1")  # C is not in G2, and hands on what it heard of it
    assert stamp_of(rig.flying("C", "B", "C:1")[0], "C:1").covers == {"D@G2": 1, "A@G1": 1}
    rig.finish()


def test_order_through_a_group_one_is_not_in_is_kept() -> None:  # s3.2: "or transitive order is lost"
    rig = pull({})
    rig.publish("D", "G2")
    rig.deliver("D", "A", "D:1")
    rig.publish("A", "G1")
    rig.deliver("A", "C", "A:1")
    rig.publish("C", "G1")
    rig.deliver("C", "B", "C:1")
    assert rig.held("B") == ["C:1"]  # it needs A:1 and, through it, D:1
    rig.deliver("A", "B", "A:1")
    assert sorted(rig.held("B")) == ["A:1", "C:1"]
    rig.deliver("D", "B", "D:1")
    assert rig.delivered("B") == ["D:1", "A:1", "C:1"]
    rig.finish()


def test_a_small_random_set_gets_the_message_and_the_others_a_digest() -> None:  # SEND_GOSSIP
    many = {f"S{i}": ("G1", "A") for i in range(12)}
    rig = pull(many, fanout=3, round_us=50_000)
    rig.publish("A", "G1")
    first = {f.to for f in rig.flying("A", what="A:1")} & set(many)
    assert len(first) == 3
    rig.settle()
    rig.finish()
    assert all(rig.delivered(name) == ["A:1"] for name in many)
    told = {f.to for f in rig.sent("A") if isinstance(f.frame, Digest)}
    copies = [f for f in rig.sent("A", what="A:1") if f.to in many]
    assert set(many) - first <= told and len(copies) == len(many)  # a payload goes only where it is lacking


def test_whoever_loses_interest_is_sent_nothing_more() -> None:  # 003 s2.A: "update properly leaving subscribers"
    rig = pull({"S1": (BOTH, "A"), "S2": (BOTH, "A")}, round_us=50_000)
    rig.publish("A", BOTH)
    rig.settle()
    rig._told(rig.processes["S2"], rig.machine("S2").unsubscribe(rig.now_us))
    rig.settle()
    rig.publish("A", BOTH)
    rig.pass_ms(500)
    assert rig.delivered("S1") == ["A:1", "A:2"] and rig.delivered("S2") == ["A:1"]
    assert rig.sent(to="S2", what="A:2") == []


def test_what_was_held_goes_out_with_what_it_waited_for() -> None:  # RECEIVE_MULTICAST: "call CAUSAL_DELIVERY"
    rig = pull({})
    figure_two(rig)
    rig.finish()
    assert rig.delivered("C") == rig.delivered("D") == ORDER and rig.held("C") == []  # "remove m", "deliver m"


def test_a_digest_makes_its_receiver_ask_whoever_sent_it() -> None:  # RECEIVE_GOSSIP: "to Latest_Gossip_Sender"
    rig = pull({"S": ("G1", "A B")}, round_us=50_000, fanout=9)
    rig.publish("C", "G1")
    rig.deliver_to_brokers()
    rig.drop(to="S")
    rig.lose("S", what="request")
    rig.advance(80)
    for broker in ("A", "B"):
        rig.deliver(broker, "S", "digest")
        assert rig.asks("S") == [("A", "C:1")]
    rig.advance(rig.settings.retry_us / 1000)
    assert rig.asks("S")[1] == ("B", "C:1")  # the latest who said that it has it
    rig.losing.clear()
    rig.finish()
    assert rig.delivered("S") == ["C:1"]


def test_what_is_waiting_is_not_put_there_twice() -> None:  # RECEIVE_MULTICAST: "if m not in Waiting_List"
    rig = pull({})
    rig.publish("A", "G1")
    rig.publish("A", "G1")
    rig.duplicate("A", "B", "A:2")
    rig.deliver("A", "B", "A:2")
    assert rig.held("B") == ["A:2"] and rig.discarded("B") == [("A:2", "duplicate")]
    rig.finish()
    assert rig.delivered("B") == ["A:1", "A:2"]


def test_the_senders_own_entry_must_be_exactly_one_above() -> None:  # CAUSAL_DELIVERY, repaired (s3.2)
    rig = pull({})
    for _ in range(3):
        rig.publish("A", "G1")
    rig.deliver("A", "C", "A:3")
    rig.deliver("A", "C", "A:1")
    assert rig.delivered("C") == ["A:1"] and rig.held("C") == ["A:3"]
    rig.deliver("A", "C", "A:2")
    assert rig.delivered("C") == ["A:1", "A:2", "A:3"]
    rig.finish()


def test_delivery_takes_the_maximum_of_both_vectors() -> None:  # CAUSAL_DELIVERY: "MAX(...)"
    rig = pull({})
    rig.deliver_to_brokers(rig.publish("A", BOTH))
    rig.deliver_to_brokers(rig.publish("D", "G2"))
    assert rig.machine("B").writer.past() == {"A@G1": 1, "A@G2": 1, "D@G2": 1}
    assert rig.machine("C").writer.past() == {"A@G1": 1, "A@G2": 1}
    rig.finish()


def test_what_was_collected_is_answered_by_gone() -> None:  # SEND_GOSSIP: "do Garbage_Collection"; s3.2: GONE
    rig = pull({"S": ("G1", "A")}, deadlines=True, round_us=20_000)
    rig.publish("A", "G1", deadline_ms=50)
    rig.publish("A", "G1", deadline_ms=500)
    rig.drop(to="S")
    rig.lose(what="digest")
    rig.deliver_to_brokers()
    rig.advance(100)
    assert ("A", "A:1") in [(r.process, r.message) for r in rig.rows("A", "collect")]
    rig.losing.clear()
    rig.finish()
    assert any(isinstance(f.frame, Gone) for f in rig.sent("A", "S"))
    assert rig.delivered("S") == ["A:2"] and ("A:1", "expired") in rig.discarded("S")


def test_a_broker_leaves_time_for_the_last_hop() -> None:  # s3.7, trap 3
    rig = pull({"S": ("G1", "A")}, deadlines=True, hop_us=80_000)
    rig.publish("B", "G1", deadline_ms=300)
    rig.publish("B", "G1", deadline_ms=300)
    rig.drop("B", "A", "B:1")
    rig.lose("A", what="request")
    rig.deliver("B", "A", "B:2")
    rig.advance(219)
    assert rig.held("A") == ["B:2"]
    rig.advance(1)
    assert rig.delivered("A") == ["B:2"] and rig.reason("A", "B:2") == "deadline"
    rig.finish()
    assert rig.delivered("S") == ["B:2"] and rig.delivered_at_ms("S", "B:2") <= 300
