"""`colour` and `colour-eager` (004): figures 1 and 3, the procedures line by line, and what one scalar costs (s3.5)."""

from __future__ import annotations

from typing import Any

import pytest

from antecede.core.frames import Data
from antecede.core.order.round_clock import colours_for
from tests.papers.rig import Flight, Rig

BROKERS = {"A": "G1 G2", "B": "G1 G2", "C": "G1", "D": "G2"}
SUBSCRIBERS = {"S1": ("G1", "C"), "S2": ("G1 G2", "A"), "S3": ("G2", "D")}
BOTH = "G1 G2"
ROUND_MS = 50


def colour(recipe: str = "colour", subscribers: Any = SUBSCRIBERS, **settings: Any) -> Rig:
    """004 Figs 1-3: {A, B, C}, {A, B, D}, subscribers {S1, S2}, {S2, S3}; log N = 2, so three colours."""
    knobs = {"colours": colours_for(4, 1), "round_us": ROUND_MS * 1000, **settings}
    rig = Rig(recipe, brokers=BROKERS, subscribers=subscribers, **knobs)
    rig.lose(what="digest")
    return rig


def begin(rig: Rig, number: int) -> None:
    rig.advance((number - 1) * ROUND_MS - rig.now_us / 1000)


def stamp_of(flight: Flight, message: str) -> Any:
    assert isinstance(flight.frame, Data)
    return next(e.stamp for e in flight.frame.envelopes if e.message.id == message)


# -- T7: 004 Fig 1 -----------------------------------------------------------------------------------------------------


def test_at_the_logical_deadline_all_that_is_held_goes_out_in_order() -> None:  # 004 Fig 1, RMB1 and RMB2
    rig = colour(subscribers={})
    rig.lose("D", what="request")
    for number, sender, deadline_ms in ((1, "A", 900), (2, "B", 800), (3, "A", 700), (4, "B", 300)):
        begin(rig, number)
        message = rig.publish(sender, BOTH, deadline_ms=deadline_ms, called=f"m{number}")
        rig.spread(message, but=("D",))
        if number > 1:
            rig.deliver(sender, "D", message)
    assert rig.held("D") == ["m2", "m3", "m4"]  # all follow m1
    begin(rig, 4 + 6)
    assert rig.delivered("D") == ["m2", "m3", "m4"]  # when the deadline of m4 has come, none before
    assert [rig.delivered_at_ms("D", m) for m in rig.delivered("D")] == [3 * ROUND_MS + 300] * 3
    rig.deliver("A", "D", "m1")
    assert rig.discarded("D") == [("m1", "superseded")]  # Del_viol_CO: its deadline is far, a successor is out
    rig.finish()


def test_three_colours_between_brokers_and_to_subscribers() -> None:  # 004 Fig 2: N = 4 brokers, N = 3 subscribers
    assert colours_for(len(BROKERS), 1) == colours_for(len(SUBSCRIBERS), 1) == 3
    rig = colour()
    clock = rig.machine("A").clock
    assert len({clock.colour_of(number, number + 1) for number in (1, 2, 3)}) == 3
    assert clock.colour_of(1, 2) == clock.colour_of(4, 5)  # "is the repetition in the maximum gossip round"
    assert [name for name, (filters, _) in SUBSCRIBERS.items() if "G1" in filters] == ["S1", "S2"]
    rig.finish()


# -- T8: 004 Fig 3 -----------------------------------------------------------------------------------------------------


def figure_three(rig: Rig) -> None:
    """red_B1, yellow_A1, blue_B2, red_B3, each after the one before; S3 misses red_B1 for now."""
    rig.lose("S3", what="request")
    for number, message in enumerate(("red_B1", "yellow_A1", "blue_B2", "red_B3"), 1):
        begin(rig, number)
        rig.publish(message[-2], BOTH, called=message)
        rig.deliver_to_brokers()
        if number > 1:
            rig.deliver("D", "S3", message)
            if number < 4:
                assert rig.held("S3")[-1] == message and rig.delivered("S3") == []


def test_eager_delivers_yellow_blue_and_red_in_round_4() -> None:  # 004 s2.2 on Fig 3, RMS1 and RMS2
    rig = colour("colour-eager")
    figure_three(rig)
    assert rig.delivered("S3") == ["yellow_A1", "blue_B2", "red_B3"]
    assert {rig.delivered_at_ms("S3", m) for m in ("yellow_A1", "blue_B2", "red_B3")} == {
        3 * ROUND_MS
    }  # "in the current red round"
    rig.deliver("D", "S3", "red_B1")
    assert rig.discarded("S3") == [("red_B1", "late")]  # "red_B1 has bypassed deadline = |log N + 1| = 3"
    rig.finish()


def test_hold_delivers_the_same_one_round_each() -> None:  # 004 Fig 3 under hold
    rig = colour()
    figure_three(rig)
    begin(rig, 8)
    assert rig.delivered("S3") == ["yellow_A1", "blue_B2", "red_B3"]
    ends = [
        rig.machine("S3").reader.clock.round_at(int(rig.delivered_at_ms("S3", m) * 1000))
        for m in ("yellow_A1", "blue_B2", "red_B3")
    ]
    assert ends == [4, 5, 6]
    rig.deliver("D", "S3", "red_B1")
    assert rig.discarded("S3") == [("red_B1", "late")]
    rig.finish()


# -- between brokers, line by line -------------------------------------------------------------------------------------


def test_the_matrix_travels_as_it_was_before_the_send() -> None:  # MB1-MB3, repaired: attached before the update
    rig = colour(subscribers={})
    rig.publish("A", "G1")
    rig.publish("A", BOTH)
    begin(rig, 2)
    first, second = (stamp_of(rig.sent("A", "B", m)[0], m) for m in ("A:1", "A:2"))
    assert first.covers == {} and first.own == (("A@A", 1), ("A@B", 1), ("A@C", 1))
    assert second.covers == {"A@A": 1, "A@B": 1, "A@C": 1}
    assert second.own == (("A@A", 2), ("A@B", 2), ("A@C", 2), ("A@D", 2))  # MB2: all the destination brokers
    rig.finish()


def test_a_message_goes_to_its_destinations_only() -> None:  # MB4
    rig = colour()
    rig.publish("A", "G1")
    assert {f.to for f in rig.flying("A", what="A:1")} == {"B", "C", "S2"}
    rig.finish()


def test_ready_means_that_the_own_column_is_covered() -> None:  # RMB2, Del_ok: also the sender's own entry
    rig = colour(subscribers={})
    rig.publish("A", "G1")
    rig.publish("A", BOTH)
    begin(rig, 2)
    rig.deliver("A", "D", "A:2")
    assert rig.delivered("D") == ["A:2"]  # A:1 is not in its column
    rig.deliver("A", "C", "A:2")
    assert rig.held("C") == ["A:2"]  # with 004's `<` on the sender's entry it would go out without A:1
    rig.finish()
    assert rig.delivered("C") == ["A:1", "A:2"]


def test_order_through_a_third_broker_is_kept() -> None:  # RMB3: the maximum of all entries, also of other columns
    rig = colour(subscribers={})
    rig.publish("A", "G1")
    rig.deliver("A", "B", "A:1")
    begin(rig, 2)
    rig.publish("B", "G2")
    rig.deliver("B", "D", "B:2")
    assert rig.machine("D").writer.matrix["A@C"] == 1  # D is not in G1, and knows
    rig.finish()


def test_gossip_sends_only_the_column_of_its_receiver() -> None:  # GB2, repaired
    rig = colour(subscribers={})
    rig.losing.clear()
    rig.publish("A", "G1")
    rig.publish("B", "G2")
    rig.advance(80)
    for flight in rig.sent(what="digest"):
        assert all(stream.endswith(f"@{flight.to}") for stream in flight.frame.offer)  # type: ignore[union-attr]
    rig.finish()


def test_gossip_goes_to_part_of_the_brokers_and_subscribers() -> None:  # GB1, GS1: "select partial ..."
    rig = Rig("colour", brokers=dict.fromkeys("ABCDEFGH", "G1"), subscribers={f"S{i}": ("G1", "A") for i in range(9)},
              colours=6, round_us=ROUND_MS * 1000, fanout=2)  # fmt: skip
    rig.publish("A", "G1")
    rig.advance(ROUND_MS * 1.9)
    digests = rig.sent("A", what="digest")
    for when_us in {f.sent_us for f in digests}:
        to = [f.to for f in digests if f.sent_us == when_us]
        assert 0 < len(to) <= 4, "of 7 brokers and 9 subscribers two each"
    assert digests
    rig.finish()


def test_the_send_stamp_is_a_round() -> None:  # MB1: "send_time <- current_time", repaired
    rig = colour(subscribers={})
    assert [rig.publish("A", "G1"), rig.publish("A", "G1")] == ["A:1", "A:2"]  # one instant, two rounds
    rig.finish()


def test_a_message_goes_to_all_destination_subscribers() -> None:  # MS4
    rig = colour(subscribers={f"S{i}": ("G1", "A") for i in range(5)} | {"T": ("G2", "A")})
    rig.publish("A", "G1")
    assert {f.to for f in rig.flying("A", what="A:1")} == {"B", "C", *(f"S{i}" for i in range(5))}
    rig.finish()
    assert all(rig.delivered(f"S{i}") == ["A:1"] for i in range(5)) and rig.delivered("T") == []  # RMS4


def test_what_a_digest_shows_is_requested() -> None:  # "RMB1: if 2-D vector_i[x,y] < 2-D vector_m[x,y] then Request"
    rig = colour(subscribers={})
    rig.losing.clear()
    rig.publish("A", "G1")
    rig.drop("A", "C", "A:1")
    rig.finish()
    assert rig.delivered("C") == ["A:1"] and [m for _, m in rig.asks("C")] == ["A:1"]


def test_too_late_is_discarded() -> None:  # RMB1 and RMS1
    rig = colour()
    rig.publish("A", BOTH)
    begin(rig, 4)
    rig.deliver("A", "B", "A:1")
    rig.deliver("A", "S2", "A:1")
    assert rig.discarded("B") == rig.discarded("S2") == [("A:1", "late")]
    rig.finish()


# -- towards subscribers, line by line ---------------------------------------------------------------------------------


def test_one_colour_travels_to_a_subscriber() -> None:  # MS1-MS4
    rig = colour()
    rig.deliver_to_brokers(rig.publish("B", BOTH))
    begin(rig, 2)
    rig.publish("A", BOTH)
    stamp = stamp_of(rig.flying("A", "S2", "A:2")[0], "A:2")
    assert stamp.rank == rig.machine("A").clock.colour_of(1, 2) and stamp.rank
    assert not stamp.covers and not stamp.needs and stamp.own == (("A", 2),)
    rig.finish()


def test_the_colour_is_of_a_predecessor_addressed_to_the_subscriber() -> None:  # s3.5
    rig = colour()
    rig.deliver_to_brokers(rig.publish("B", "G2"))
    begin(rig, 2)
    rig.publish("A", "G1")
    assert stamp_of(rig.flying("A", "S2", "A:2")[0], "A:2").rank  # S2 is in both groups
    rig.deliver_to_brokers()
    assert not stamp_of(rig.flying("C", "S1", "A:2")[0], "A:2").rank  # S1 is in G1: B:1 is not for it
    rig.finish()


def test_all_messages_live_equally_long_towards_subscribers() -> None:  # "all messages ... have the same lifetime"
    rig = colour()
    rig.publish("A", BOTH, deadline_ms=900)
    begin(rig, 4)
    rig.deliver("A", "B", "A:1")
    assert rig.delivered("B") == ["A:1"]  # for brokers its own deadline counts
    rig.deliver("A", "S2", "A:1")
    assert rig.discarded("S2") == [("A:1", "late")]
    rig.finish()


def test_only_the_round_is_known_of_what_is_missing() -> None:  # s3.5: what one scalar leads to
    rig = colour()
    rig.deliver_to_brokers(rig.publish("B", BOTH))
    begin(rig, 2)
    rig.drop("D", "S3", "B:1")
    rig.deliver_to_brokers(rig.publish("A", BOTH))
    rig.deliver("D", "S3", "A:2")
    assert rig.asks("S3") == [("D", "")]
    rig.deliver("S3", "D", "request")
    assert [f.ids for f in rig.flying("D", "S3")] == [("B:1",)]
    rig.finish()
    assert rig.delivered("S3") == ["B:1", "A:2"]


def test_a_summary_finds_what_no_colour_leads_to() -> None:  # GS2
    rig = colour()
    rig.publish("A", BOTH)
    rig.publish("B", BOTH)
    rig.deliver_to_brokers()
    begin(rig, 2)
    rig.deliver_to_brokers(rig.publish("B", BOTH))
    rig.drop("D", "S3", "B:1")
    rig.deliver("D", "S3", "A:1")
    rig.deliver("D", "S3", "B:2")
    assert rig.asks("S3") == []  # of round 1, which B:2 names, something is here
    rig.losing.clear()
    rig.finish()
    assert rig.asks("S3") == [("D", "B:1")] and rig.delivered("S3") == ["A:1", "B:1", "B:2"]


def test_mixed_ends_are_ordered_by_round() -> None:  # "m -> m' <=> deadline_color_m < deadline_color_m'"
    rig = colour()
    rig.publish("A", BOTH)
    begin(rig, 3)
    rig.deliver("A", "B", "A:1")
    rig.publish("B", BOTH)
    rig.deliver("B", "A", "B:3")
    rig.deliver("A", "S2", "B:3")
    rig.deliver("A", "S2", "A:1")
    rig.finish()
    assert rig.delivered("S2") == ["A:1", "B:3"]


# -- the trade-off, and the traps --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("recipe", "gets"), [("colour", True), ("colour-eager", False)])
def test_one_scalar_cannot_tell_concurrent_predecessors_apart(recipe: str, gets: bool) -> None:  # s3.5; s3.7, trap 2
    rig = colour(recipe)
    rig.publish("A", "G2")
    rig.publish("B", "G2")  # concurrent, of the same round
    rig.deliver_to_brokers()
    begin(rig, 2)
    rig.publish("D", "G2")  # after both
    late = rig.flying("D", "S3", "B:1")[0]
    rig.deliver("D", "S3", "A:1")
    rig.deliver("D", "S3", "D:2")
    assert rig.delivered("S3") == ([] if gets else ["A:1", "D:2"])  # eager: something of round 1 is out
    assert late in rig.flights
    rig.deliver("D", "S3", "B:1")
    rig.finish()
    if gets:
        assert sorted(rig.delivered("S3")[:2]) == ["A:1", "B:1"] and rig.delivered("S3")[2] == "D:2"
    else:
        assert rig.delivered("S3") == ["A:1", "D:2"] and rig.discarded("S3") == [("B:1", "late")]  # kept to its end


def test_eager_takes_along_what_may_precede() -> None:  # s3.5: no inversion
    rig = colour("colour-eager", round_us=ROUND_MS * 1000, colours=6)
    rig.lose("S3", what="request")
    for number, sender in ((1, "B"), (2, "A")):
        begin(rig, number)
        rig.deliver_to_brokers(rig.publish(sender, "G2"))
    rig.publish("B", "G1")  # keeps B busy in round 3
    begin(rig, 3)
    rig.publish("D", "G2", after=[])  # follows nothing
    rig.publish("D", "G2")  # after all of them, in round 4
    begin(rig, 4)
    rig.deliver("D", "S3", "A:2")
    assert rig.held("S3") == ["A:2"]  # B:1 is missing
    rig.deliver("D", "S3", "D:3")
    assert rig.delivered("S3") == ["D:3"]
    rig.deliver("D", "S3", "D:4")
    assert rig.delivered("S3") == ["D:3", "A:2", "D:4"]
    rig.finish()


def test_a_broker_leaves_time_for_the_last_hop() -> None:  # s3.7, trap 3
    rig = colour(hop_us=60_000)
    rig.publish("A", BOTH)
    rig.publish("A", BOTH)
    begin(rig, 2)
    rig.lose(to="D", what="A:1")
    rig.lose("D", what="request")
    rig.run_until_quiet(delay_ms=20)
    assert rig.delivered_at_ms("D", "A:2") == 4 * ROUND_MS - 60 - 0.001
    assert rig.delivered("S3") == ["A:2"]
    rig.finish()
