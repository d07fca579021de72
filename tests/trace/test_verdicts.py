"""Planted faults, one at a time: each is named exactly, and nothing else is."""

from __future__ import annotations

import pytest

from tests.trace.tables import found, plant, verdict

# Three members. p:1 -> q:1 -> r:1; r gets q:1 before p:1 and holds it; then p:2, concurrent with r:1.
CLEAN = """
p 0 join G1 guard=5
q 0 join G1 guard=5
r 0 join G1 guard=5
p 10 publish p:1 G1 due=100
q 20 arrive p:1 from=p
q 20 deliver p:1
q 30 publish q:1 G1 due=120
p 40 arrive q:1 from=q
p 40 deliver q:1
r 40 arrive q:1 from=q
r 50 arrive p:1 from=p
r 50 deliver p:1
r 50 deliver q:1
r 60 publish r:1 G1 due=150
p 65 publish p:2 G1 due=160
p 70 arrive r:1 from=r
p 70 deliver r:1
q 70 arrive r:1 from=r
q 70 deliver r:1
q 75 arrive p:2 from=p
q 75 deliver p:2
r 75 arrive p:2 from=p
r 75 deliver p:2
p 200 end quiet
q 200 end quiet
r 200 end quiet
"""

# A broker A that publishes, a subscriber s of it, another broker B.
TIERS = """
A 0 join G1 guard=20
B 0 join G1 guard=20
s 1 join G1 guard=5 from=A
A 10 publish A:1 G1 due=200
B 20 arrive A:1 from=A
B 20 deliver A:1
s 20 arrive A:1 from=A
s 20 deliver A:1
B 30 publish B:1 G1 due=220
A 40 arrive B:1 from=B
A 40 deliver B:1
s 50 arrive B:1 from=A
s 50 deliver B:1
A 300 end quiet
B 300 end quiet
s 300 end quiet
"""


# r never gets p:1; q:1 is released at its logical deadline less the guard.
LOST = """
p 0 join G1 guard=5
q 0 join G1 guard=5
r 0 join G1 guard=5
p 10 publish p:1 G1 due=100
q 20 arrive p:1 from=p
q 20 deliver p:1
q 30 publish q:1 G1 due=120
p 40 arrive q:1 from=q
p 40 deliver q:1
r 40 arrive q:1 from=q
r 115 deliver q:1 deadline
r 116 publish r:1 G1 due=300
p 130 arrive r:1 from=r
p 130 deliver r:1
q 130 arrive r:1 from=r
q 130 deliver r:1
p 400 end quiet
q 400 end quiet
r 400 end quiet
"""


@pytest.mark.parametrize("trace", [CLEAN, LOST, TIERS])
def test_nothing_planted_nothing_found(trace: str) -> None:
    assert found(trace) == []


def test_inversion() -> None:
    # q:1 is rightly released by its deadline; p:1, which then comes in time, must not be delivered any more.
    overtaken = LOST.replace("p:1 G1 due=100", "p:1 G1 due=300")
    planted = plant(overtaken, ("r 115 deliver q:1 deadline", "r 115 deliver q:1 deadline\nr 118 arrive p:1 from=p"))
    assert found(plant(planted, ("r 118 arrive p:1 from=p", "r 118 arrive p:1 from=p\nr 118 deliver p:1"))) == [
        ("inversion", "r", "p:1", "q:1")
    ]
    assert (
        found(plant(planted, ("r 118 arrive p:1 from=p", "r 118 arrive p:1 from=p\nr 118 discard p:1 superseded")))
        == []
    )


def test_duplicate() -> None:
    assert found(plant(CLEAN, ("q 75 deliver p:2", "q 75 deliver p:2\nq 75 deliver p:2"))) == [
        ("duplicate", "q", "p:2", None)
    ]


def test_its_own_message_is_a_duplicate() -> None:
    assert found(plant(CLEAN, ("p 200 end quiet", "p 90 arrive p:2 from=q\np 90 deliver p:2\np 200 end quiet"))) == [
        ("duplicate", "p", "p:2", None)
    ]


def test_overdue_by_the_simulators_clock() -> None:
    # The process's own clock runs behind: it sees 150, in truth it is 161.
    late = plant(
        CLEAN,
        ("q 75 arrive p:2 from=p", "q 150 arrive p:2 from=p true=161"),
        ("q 75 deliver p:2", "q 150 deliver p:2 true=161"),
    )
    assert found(late) == [("overdue", "q", "p:2", None)]
    assert [f.text for f in verdict(late).findings] == ["delivered p:2 0.001 ms after its deadline"]
    assert found(late.replace("true=161", "true=160")) == []


def test_overdue_without_a_common_clock_is_in_doubt_within_the_skew() -> None:
    at = "q {t} arrive p:2 from=p", "q {t} deliver p:2"
    for t, findings, doubts in ((150, 0, 0), (153, 0, 0), (154, 0, 1), (167, 0, 1), (168, 1, 0)):
        text = plant(CLEAN, ("q 75 arrive p:2 from=p", at[0].format(t=t)), ("q 75 deliver p:2", at[1].format(t=t)))
        report = verdict(text, clock=False, scenario={"skew_ms": 0.007})
        assert ([f.verdict for f in report.findings], len(report.in_doubt)) == (["overdue"] * findings, doubts)


def test_stuck() -> None:
    assert found(plant(CLEAN, ("q 75 deliver p:2", "# forgotten"))) == [
        ("idle", "q", "p:2", None),
        ("stuck", "q", "p:2", None),
    ]
    assert found(plant(CLEAN, ("q 75 deliver p:2", "# forgotten")), idle=False) == [("stuck", "q", "p:2", None)]


def test_overflow_is_not_stuck() -> None:
    assert found(plant(CLEAN, ("q 75 deliver p:2", "q 75 discard p:2 overflow"))) == []


def test_idle() -> None:
    assert found(plant(CLEAN, ("q 75 deliver p:2", "q 76 deliver p:2"))) == [("idle", "q", "p:2", None)]


def test_idle_after_the_last_predecessor_came() -> None:
    late = plant(CLEAN, ("r 50 deliver q:1", "r 51 deliver q:1"))
    assert found(late) == [("idle", "r", "q:1", None)]
    assert found(late, idle=False) == []


def test_leaving_something_else_does_not_hide_that_a_message_is_held() -> None:
    trace = """
    p 0 join G1
    r 0 join G1,G2
    p 10 publish p:1 G1
    r 20 arrive p:1 from=p
    r 20 leave G2
    r 60 deliver p:1
    p 400 end quiet
    r 400 end quiet
    """
    assert found(trace) == [("idle", "r", "p:1", None)]
    for left in ("leave G1", "leave G1,G2"):
        assert found(trace.replace("leave G2", left).replace("r 60 deliver p:1\n", "\n")) == []


def test_no_idle_while_a_predecessor_is_out_even_if_it_expired() -> None:
    # p:1 never comes to r; q:1 is held beyond p:1's deadline, to its own less the guard.
    assert found(LOST) == []
    assert found(plant(LOST, ("r 115 deliver q:1 deadline", "r 100 deliver q:1"))) == []


def test_gap() -> None:
    assert found(plant(LOST, ("r 115 deliver q:1 deadline", "r 60 deliver q:1"))) == [("gap", "r", "q:1", "p:1")]


def test_no_gap_when_the_predecessor_can_no_longer_come_in_time() -> None:
    assert found(plant(LOST, ("r 115 deliver q:1 deadline", "r 95 deliver q:1"))) == [("gap", "r", "q:1", "p:1")]
    assert found(plant(LOST, ("r 115 deliver q:1 deadline", "r 96 deliver q:1"))) == []


def test_no_gap_for_what_was_discarded_here() -> None:
    discarded = "r 60 arrive p:1 from=p\nr 60 discard p:1 overflow\nr 60 deliver q:1"
    assert found(plant(LOST, ("r 115 deliver q:1 deadline", discarded))) == []


def test_a_discarded_copy_does_not_excuse_a_gap() -> None:
    # p:1 came twice and is held (its cause o:1 is missing); `duplicate` speaks of the second copy only.
    trace = """
    o 0 join G1
    p 0 join G1
    r 0 join G1
    o 5 publish o:1 G1 due=200
    p 6 arrive o:1 from=o
    p 6 deliver o:1
    p 10 publish p:1 G1 due=200
    o 20 arrive p:1 from=p
    o 20 deliver p:1
    o 30 publish o:2 G1 due=200
    p 40 arrive o:2 from=o
    p 40 deliver o:2
    r 50 arrive p:1 from=p
    r 51 arrive p:1 from=p
    r 51 discard p:1 duplicate
    r 60 arrive o:2 from=o
    r 60 deliver o:2
    o 300 end quiet
    p 300 end quiet
    r 300 end quiet
    """
    assert ("gap", "r", "o:2", "p:1") in found(trace)


def test_one_skipped_message_is_one_gap_not_one_per_descendant() -> None:
    # p:1 is skipped by q:1 (a gap); r:1 and q:2, descendants of both, come later and are no further gaps.
    trace = """
    p 0 join G1
    q 0 join G1
    x 0 join G1
    p 10 publish p:1 G1 due=500
    q 20 arrive p:1 from=p
    q 20 deliver p:1
    q 30 publish q:1 G1 due=500
    q 31 publish q:2 G1 due=500
    q 32 publish q:3 G1 due=500
    p 40 arrive q:1 from=q
    p 40 deliver q:1
    p 40 arrive q:2 from=q
    p 40 deliver q:2
    p 40 arrive q:3 from=q
    p 40 deliver q:3
    x 40 arrive q:1 from=q
    x 40 deliver q:1
    x 41 arrive q:2 from=q
    x 41 deliver q:2
    x 42 arrive q:3 from=q
    x 42 deliver q:3
    p 600 end quiet
    q 600 end quiet
    x 600 end quiet
    """
    assert found(trace) == [("gap", "x", "q:1", "p:1")]


def test_the_logical_deadline_of_an_arrived_successor_releases_its_causes() -> None:
    # q:1 (due 300) waits for p:1; q:2 (due 120) comes and forces q:1 out at 115.
    trace = LOST.replace("q:1 G1 due=120", "q:1 G1 due=300\nq 31 publish q:2 G1 due=120").replace(
        "r 115 deliver q:1 deadline", "r 60 arrive q:2 from=q\nr 115 deliver q:1 deadline\nr 115 deliver q:2 deadline"
    )
    trace = trace.replace("p 40 deliver q:1", "p 40 deliver q:1\np 41 arrive q:2 from=q\np 41 deliver q:2")
    trace = trace.replace("p:1 G1 due=100", "p:1 G1 due=400")
    assert found(trace) == []
    without = plant(trace, ("r 60 arrive q:2 from=q", "# not yet"), ("r 115 deliver q:2 deadline", "# never"))
    assert found(without) == [("gap", "r", "q:1", "p:1"), ("false", "r", "q:1", None)]


# --- subscribers -----------------------------------------------------------------------------------------------------


def test_gap_at_a_subscriber() -> None:
    planted = plant(TIERS, ("s 20 arrive A:1 from=A", "# lost"), ("s 20 deliver A:1", "# lost"))
    assert found(planted) == [("gap", "s", "B:1", "A:1")]


def test_what_the_broker_skipped_is_judged_there() -> None:
    # A itself released B:1 without C:1 (a gap at A); its subscriber could not know.
    trace = """
    A 0 join G1
    B 0 join G1
    C 0 join G1
    s 1 join G1 from=A
    C 10 publish C:1 G1 due=200
    B 20 arrive C:1 from=C
    B 20 deliver C:1
    B 30 publish B:1 G1 due=200
    C 40 arrive B:1 from=B
    C 40 deliver B:1
    A 40 arrive B:1 from=B
    A 40 deliver B:1
    s 50 arrive B:1 from=A
    s 50 deliver B:1
    A 300 end quiet
    B 300 end quiet
    C 300 end quiet
    s 300 end quiet
    """
    assert found(trace) == [("gap", "A", "B:1", "C:1")]


JOINED_BY_IT = """
A 0 join G1
B 0 join G1
C 0 join G1
s 1 join G1 from=A
s 5 leave G1
C 10 publish C:1 G1 due=200
B 20 arrive C:1 from=C
B 20 deliver C:1
B 30 publish B:1 G1 due=200
C 40 arrive B:1 from=B
C 40 deliver B:1
A 40 arrive B:1 from=B
A 190 deliver B:1 deadline
s 195 arrive B:1 from=A
s 195 join G1 from=A
s 195 deliver B:1
A 300 end quiet
B 300 end quiet
C 300 end quiet
s 300 end quiet
"""


def test_who_sends_what_makes_a_subscriber_join_answers_for_its_order() -> None:
    """The frame that says where it begins brings messages along: they arrive before it has joined."""
    assert found(plant(JOINED_BY_IT, ("A 0 join G1", "A 0 join G1 guard=10"))) == []
    had = ("A 40 arrive B:1 from=B", "A 35 arrive C:1 from=C\nA 35 deliver C:1\nA 40 arrive B:1 from=B")
    told = plant(JOINED_BY_IT, had, ("A 190 deliver B:1 deadline", "A 40 deliver B:1"))
    assert found(told) == [("gap", "s", "B:1", "C:1")], "that broker had it"
    elsewhere = ("s 195 arrive B:1 from=A", "s 195 arrive B:1 from=B")
    other = plant(JOINED_BY_IT, ("A 0 join G1", "A 0 join G1 guard=10"), elsewhere)
    assert found(other) == [("gap", "s", "B:1", "C:1")], "it did not join there"


def test_what_was_dropped_when_it_left_everything_says_nothing_of_what_makes_it_join_again() -> None:
    """s held B:1 from B, which had C:1, and left; A, which skipped C:1, sent B:1 anew, and that was delivered."""
    held = ("s 5 leave G1", "s 35 arrive B:1 from=B\ns 38 leave G1\ns 38 discard B:1 foreign")
    left = plant(JOINED_BY_IT, ("s 1 join G1 from=A", "s 1 join G1 from=B"), held)
    assert found(plant(left, ("A 0 join G1", "A 0 join G1 guard=10"))) == []
    had = ("A 40 arrive B:1 from=B", "A 35 arrive C:1 from=C\nA 35 deliver C:1\nA 40 arrive B:1 from=B")
    told = plant(left, had, ("A 190 deliver B:1 deadline", "A 40 deliver B:1"))
    assert found(told) == [("gap", "s", "B:1", "C:1")], "the broker that sent it anew had it"
    back = plant(left, ("A 0 join G1", "A 0 join G1 guard=10"), ("s 195 join G1 from=A", "s 195 join G1 from=B"))
    assert found(back) == [("gap", "s", "B:1", "C:1")], "it joined at B again, and A's copy is none of B's"


def test_one_broker_that_told_of_the_predecessor_is_enough() -> None:
    # s is attached to A (which skipped C:1) and to B (which had it): B's copy came first and named C:1.
    trace = """
    A 0 join G1
    B 0 join G1
    C 0 join G1
    s 1 join G1 from=A
    s 1 join G1 from=B
    C 10 publish C:1 G1 due=200
    B 20 arrive C:1 from=C
    B 20 deliver C:1
    B 30 publish B:1 G1 due=200
    C 40 arrive B:1 from=B
    C 40 deliver B:1
    A 199 arrive B:1 from=B
    A 200 deliver B:1 deadline
    s 50 arrive B:1 from=B
    s 200 arrive B:1 from=A
    s 200 discard B:1 duplicate
    s 200 deliver B:1 deadline
    A 300 end quiet
    B 300 end quiet
    C 300 end quiet
    s 300 end quiet
    """
    assert found(trace) == []
    early = plant(trace, ("s 200 arrive B:1 from=A", "# later"), ("s 200 discard B:1 duplicate", "# later"))
    assert found(plant(early, ("s 200 deliver B:1 deadline", "s 199 deliver B:1"))) == [("gap", "s", "B:1", "C:1")]


# --- what contradicts itself -----------------------------------------------------------------------------------------


def test_delivered_without_arrival() -> None:
    assert found(plant(CLEAN, ("q 75 arrive p:2 from=p", "# hidden"))) == [("unexplained", "q", "p:2", None)]


def test_delivered_though_no_filter_matches() -> None:
    assert found(plant(TIERS, ("s 1 join G1 guard=5 from=A", "s 1 join G2 guard=5 from=A"))) == [
        ("unexplained", "s", "A:1", None),
        ("unexplained", "s", "B:1", None),
    ]


def test_delivered_before_it_had_joined() -> None:
    trace = "p 0 join G1\np 1 publish p:1 G1\nr 2 arrive p:1 from=p\nr 2 deliver p:1\nr 3 join G1\n"
    assert found(trace + "p 90 end stopped\nr 90 end stopped") == [("unexplained", "r", "p:1", None)]


def test_delivered_though_nobody_published_it() -> None:
    assert found(plant(CLEAN, ("q 200 end quiet", "q 90 arrive x:1 from=p\nq 90 deliver x:1\nq 200 end quiet"))) == [
        ("unexplained", "q", "x:1", None),
        ("unexplained", "q", "x:1", None),
    ]


def test_a_copy_from_a_broker_it_left_tells_a_subscriber_nothing() -> None:
    # c moved from B to A; B's copy of B:1, which comes after C:1 there, is ignored; A skipped C:1.
    trace = """
    A 0 join G1 guard=50
    B 0 join G1
    C 0 join G1
    c 1 join G1 from=B
    C 10 publish C:1 G1 due=200
    B 20 arrive C:1 from=C
    B 20 deliver C:1
    B 30 publish B:1 G1 due=400
    c 35 move from=A
    c 40 arrive B:1 from=B
    C 40 arrive B:1 from=B
    C 40 deliver B:1
    A 40 arrive B:1 from=B
    A 160 deliver B:1
    c 170 arrive B:1 from=A
    c 170 deliver B:1
    A 500 end quiet
    B 500 end quiet
    C 500 end quiet
    c 500 end quiet
    """
    assert found(trace) == []


def test_an_inversion_names_the_first_successor_that_was_out() -> None:
    trace = """
    p 0 join G1
    r 0 join G1
    p 10 publish p:1 G1 due=900
    p 11 publish p:2 G1 due=20
    p 12 publish p:3 G1 due=30
    p 13 publish p:4 G1 due=900
    r 20 arrive p:3 from=p
    r 20 arrive p:2 from=p
    r 20 deliver p:2 deadline
    r 30 deliver p:3 deadline
    r 40 arrive p:1 from=p
    r 40 deliver p:1
    r 50 arrive p:4 from=p
    r 50 deliver p:4
    p 999 end quiet
    r 999 end quiet
    """
    assert found(trace) == [("inversion", "r", "p:1", "p:2")]


def test_a_repeated_copy_of_what_was_delivered_is_not_held() -> None:
    again = "q 75 deliver p:2\nq 80 arrive p:2 from=p\nq 80 discard p:2 duplicate"
    assert found(plant(CLEAN, ("q 75 deliver p:2", again))) == []


def test_discarding_a_second_copy_does_not_hide_that_the_first_is_held() -> None:
    held = "q 75 arrive p:2 from=p\nq 75 discard p:2 duplicate\nq 76 deliver p:2"
    assert found(plant(CLEAN, ("q 75 deliver p:2", held))) == [("idle", "q", "p:2", None)]


def test_a_subscriber_is_not_to_know_what_its_broker_had_only_later() -> None:
    late_at_broker = """
    A 0 join G1 guard=20
    B 0 join G1
    s 1 join G1 from=A
    B 10 publish B:1 G1 due=200
    B 20 publish B:2 G1 due=60
    A 30 arrive B:2 from=B
    A 40 deliver B:2 deadline
    A 50 arrive B:1 from=B
    A 50 deliver B:1
    s 45 arrive B:2 from=A
    s 45 deliver B:2
    A 300 end quiet
    B 300 end quiet
    s 300 end quiet
    """
    assert found(late_at_broker) == [("inversion", "A", "B:1", "B:2")]


def test_without_a_known_broker_every_predecessor_counts() -> None:
    lost = plant(TIERS, ("s 20 arrive A:1 from=A", "# lost"), ("s 20 deliver A:1", "# lost"))
    for sender in ("s 50 arrive B:1", "s 50 arrive B:1 from=Z"):
        unknown = plant(lost, ("s 50 arrive B:1 from=A", sender), ("s 1 join G1 guard=5 from=A", "s 1 join G1 guard=5"))
        assert found(unknown) == [("gap", "s", "B:1", "A:1")]


def test_a_copy_of_an_attachment_that_is_over_is_never_idle_later() -> None:
    """Its causes come afterwards, and so does its own next copy: in between nothing is held."""
    trace = """
    A 0 join G1
    p 1 publish p:1 G1
    q 2 publish q:1 G1 after=p:1
    c 3 join G1 from=A
    c 4 move from=B
    c 5 move from=A
    A 6 arrive p:1 from=p
    A 6 deliver p:1 causes
    A 7 arrive q:1 from=q
    A 7 deliver q:1 causes
    c 8 arrive q:1 from=A
    c 8 discard q:1 foreign
    c 9 arrive p:1 from=A
    c 9 deliver p:1 causes
    c 12 arrive q:1 from=A
    c 12 deliver q:1 causes
    """
    assert not [finding for finding in found(trace) if "idle" in str(finding)]


def test_a_foreign_copy_does_not_hide_that_another_is_held() -> None:
    held = """
    A 0 join G1
    B 0 join G1
    c 1 join G1 from=A
    c 2 move from=B
    A 10 publish A:1 G1
    B 20 arrive A:1 from=A
    B 20 deliver A:1
    c 30 arrive A:1 from=B
    c 30 arrive A:1 from=A
    c 30 discard A:1 foreign
    c 60 deliver A:1
    """
    assert ("idle", "c", "A:1", None) in found(held)


# -- orders by message -----------------------------------------------------------------------------------------------

# p:1 -> q:1, and p~:1 in between, unordered; r gets them in any order.
MIXED = """
p 0 join G1
q 0 join G1
r 0 join G1
p 10 publish p:1 G1
p 12 publish p~:1 G1 after=-
q 20 arrive p:1 from=p
q 20 deliver p:1
q 21 arrive p~:1 from=p
q 21 deliver p~:1
q 30 publish q:1 G1
p 35 arrive q:1 from=q
p 35 deliver q:1
r 36 arrive p:1 from=p
r 36 deliver p:1
r 38 arrive q:1 from=q
r 38 deliver q:1
r 40 arrive p~:1 from=p
r 40 deliver p~:1
p 99 end quiet
q 99 end quiet
r 99 end quiet
"""


def test_an_unordered_message_may_be_overtaken_and_holds_nothing_up() -> None:
    assert found(MIXED) == []


def test_the_same_history_with_order_is_an_inversion_and_a_gap() -> None:
    ordered = MIXED.replace("p~:1", "p:2").replace(" after=-", "")
    assert found(ordered) == [("gap", "r", "q:1", "p:2"), ("inversion", "r", "p:2", "q:1")]


def test_among_unordered_ones_every_other_promise_holds() -> None:
    lost = plant(MIXED, ("r 40 arrive p~:1 from=p", ""), ("r 40 deliver p~:1", ""))
    assert found(lost) == [("undelivered", "r", "p~:1", None)]
    twice = plant(MIXED, ("r 40 deliver p~:1", "r 40 deliver p~:1\nr 41 deliver p~:1"))
    assert found(twice) == [("duplicate", "r", "p~:1", None)]
    held = plant(MIXED, ("r 40 deliver p~:1", "r 45 deliver p~:1"))
    assert found(held) == [("idle", "r", "p~:1", None)], "it waits for nothing"
    superseded = plant(MIXED, ("r 40 deliver p~:1", "r 40 discard p~:1 superseded"))
    assert ("false", "r", "p~:1", None) in found(superseded), "nothing follows it"


def test_whoever_waits_for_an_unordered_message_idles() -> None:
    waits = plant(
        MIXED, ("r 38 deliver q:1", ""), ("r 40 deliver p~:1", "r 40 deliver p~:1\nr 40 deliver q:1")
    )  # fmt: skip
    assert found(waits) == [("idle", "r", "q:1", None)]


def test_fifo_inverts_only_within_its_sender() -> None:
    fifo = """
    p 0 join G1
    q 0 join G1
    r 0 join G1
    p 10 publish p:1 G1 after=
    p 11 publish p:2 G1 after=
    q 20 arrive p:1 from=p
    q 20 deliver p:1
    q 20 arrive p:2 from=p
    q 20 deliver p:2
    q 30 publish q:1 G1 after=
    p 35 arrive q:1 from=q
    p 35 deliver q:1
    r 36 arrive q:1 from=q
    r 36 deliver q:1
    r 37 arrive p:1 from=p
    r 37 deliver p:1
    r 38 arrive p:2 from=p
    r 38 deliver p:2
    p 99 end quiet
    q 99 end quiet
    r 99 end quiet
    """
    assert found(fifo) == []
    swapped = plant(fifo, ("r 37 deliver p:1", ""), ("r 38 deliver p:2", "r 38 deliver p:2\nr 38 deliver p:1"))
    assert ("inversion", "r", "p:1", "p:2") in found(swapped)


def test_a_newcomer_begins_behind_the_unordered_ones_its_cut_names() -> None:
    late = MIXED.replace("r 0 join G1\n", "").replace("r 36 arrive", "r 34 join G1 from=q cut=p:1,p~:1\nr 36 arrive")
    late = plant(late, ("r 40 arrive p~:1 from=p", ""), ("r 40 deliver p~:1", ""))
    late = plant(late, ("r 36 arrive p:1 from=p", ""), ("r 36 deliver p:1", ""))
    assert found(late) == []
    assert found(late.replace("cut=p:1,p~:1", "cut=p:1")) == [("undelivered", "r", "p~:1", None)]
    foreign = late.replace("q 21 arrive p~:1 from=p\n", "").replace("q 21 deliver p~:1\n", "")
    assert ("false", "r", None, None) in found(foreign), "its donor never had what it names"


def test_its_own_message_that_was_asked_for_is_none() -> None:
    """Once, and in time."""

    def with_own(*lines: str) -> str:
        return plant(CLEAN, ("p 200 end quiet", "\n".join((*lines, "p 200 end quiet"))))

    assert found(with_own("p 95 deliver p:1 own")) == []
    assert found(with_own("p 95 deliver p:1 own", "p 96 deliver p:1 own")) == [("duplicate", "p", "p:1", None)]
    assert found(with_own("p 101 deliver p:1 own")) == [("overdue", "p", "p:1", None)]
    assert found(with_own("p 95 deliver q:1 own")) == [("false", "p", "q:1", None)], "another published it"


HOME = """
A 0 join G1
c 0 join G1 from=A
s 0 publish s:1 G1
s 5 publish s:2 G1
A 10 arrive s:1 from=s
A 10 deliver s:1
A 20 arrive s:2 from=s
A 20 deliver s:2
A 30 discard s:1 overflow from=c
c 40 arrive s:2 from=A
c 40 deliver s:2
A 90 end quiet
c 90 end quiet
s 90 end quiet
"""


def test_what_its_broker_had_no_room_for_is_no_gap() -> None:
    assert found(HOME) == []
    for other in ("A 30 discard s:1 overflow from=cc", "A 30 ask s:1"):
        assert found(plant(HOME, ("A 30 discard s:1 overflow from=c", other))) == [("gap", "c", "s:2", "s:1")]


def test_what_its_application_left_too_long_is_not_stuck() -> None:
    late = plant(CLEAN, ("q 75 deliver p:2", "q 190 discard p:2 late from=q"))
    assert found(late, idle=False) == []
    assert ("stuck", "q", "p:2", None) in found(
        plant(late, ("q 190 discard p:2 late from=q", "q 190 discard p:2 late"))
    )


SELECTING = """
B 0 join #
p 1 publish p:1 G1 headers={"x":"1"}
p 2 publish p:2 G1 headers={"x":"2"}
p 3 publish p:3 G1 headers={"x":"3"}
B 4 arrive p:1 from=p
B 4 deliver p:1
B 5 arrive p:2 from=p
B 5 deliver p:2
B 6 arrive p:3 from=p
B 6 deliver p:3
s 0 join G1 where=x_!=_2 from=B
s 7 arrive p:1 from=B
s 7 deliver p:1
s 8 arrive p:3 from=B
s 8 deliver p:3
"""


def test_what_a_predicate_leaves_out_is_no_gap_and_what_it_lets_in_is() -> None:
    quiet = "\n".join(f"{who} 9 end quiet" for who in "Bps")
    assert found(SELECTING + quiet) == []
    assert ("gap", "s", "p:3", "p:2") in found(SELECTING.replace(" where=x_!=_2", "") + quiet)
    without = SELECTING.replace("s 7 arrive p:1 from=B\ns 7 deliver p:1\n", "")
    assert ("gap", "s", "p:3", "p:1") in found(without + quiet)
    other = SELECTING.replace("x_!=_2", "x_>_2")
    assert ("unexplained", "s", "p:1", None) in found(other + quiet), "no filter of it matches"


def test_a_retained_copy_is_neither_a_delivery_nor_a_cause() -> None:
    """q is handed a copy of p:1 before it has it, and again afterwards; r one of what nobody published."""
    early = plant(CLEAN, ("q 20 arrive p:1 from=p", "q 15 deliver p:1 retained\nq 20 arrive p:1 from=p"))
    assert found(plant(early, ("q 200 end quiet", "q 190 deliver p:1 retained\nq 200 end quiet"))) == []
    nobody = plant(CLEAN, ("r 200 end quiet", "r 190 deliver x:1 retained\nr 200 end quiet"))
    assert [verdict for verdict, *_ in found(nobody)] == ["unexplained"]
