"""Each fate, and the verdicts on pairs. `verdict` asserts in every test that the fates add up to the pairs."""

from __future__ import annotations

from tests.trace.tables import found, plant, verdict
from tests.trace.test_verdicts import HOME

# p publishes p:1, q answers q:1; r is the receiver in question.
BASE = """
p 0 join G1 guard=5
q 0 join G1 guard=5
r 0 join G1 guard=5
p 10 publish p:1 G1 due=100
q 20 arrive p:1 from=p
q 20 deliver p:1
q 30 publish q:1 G1 due=200
p 40 arrive q:1 from=q
p 40 deliver q:1
r 40 arrive q:1 from=q
r 50 arrive p:1 from=p
r 50 deliver p:1
r 50 deliver q:1
p 400 end quiet
q 400 end quiet
r 400 end quiet
"""


def fates(text: str, *, clean: bool = True, **options: object) -> dict[str, int]:
    """The fates that occur."""
    report = verdict(text, **options)  # type: ignore[arg-type]
    assert (report.findings == []) == clean, report.findings
    return {fate: count for fate, count in report.fates.items() if count}


def without(*lines: str, base: str = BASE) -> str:
    return plant(base, *((line, "# -") for line in lines))


def test_delivered() -> None:
    assert fates(BASE) == {"delivered": 4}
    assert verdict(BASE).fates_by_role["member"]["delivered"] == 4


def test_superseded_when_it_never_came() -> None:
    missed = plant(without("r 50 arrive p:1 from=p", "r 50 deliver p:1"), ("r 50 deliver q:1", "r 96 deliver q:1"))
    assert fates(missed) == {"delivered": 3, "superseded": 1}


def test_superseded_when_it_came_in_time_after_a_successor() -> None:
    short = BASE.replace("q:1 G1 due=200", "q:1 G1 due=60")
    after = plant(
        without("r 50 arrive p:1 from=p", "r 50 deliver p:1", base=short),
        ("r 50 deliver q:1", "r 55 deliver q:1 deadline\nr 70 arrive p:1 from=p\nr 70 discard p:1 superseded"),
    )
    assert fates(after) == {"delivered": 3, "superseded": 1}


def test_superseded_at_the_home_broker() -> None:
    # H12: A released C:2 over the lost C:1 by its deadline; c, in G1 only, is never sent C:1.
    trace = """
    A 0 join G1,G2
    C 0 join G1,G2
    c 1 join G1 from=A
    C 10 publish C:1 G1 due=300
    C 20 publish C:2 G2 due=100
    A 30 arrive C:2 from=C
    A 100 deliver C:2 deadline
    A 150 arrive C:1 from=C
    A 150 discard C:1 superseded
    A 400 end quiet
    C 400 end quiet
    c 400 end quiet
    """
    assert fates(trace) == {"delivered": 1, "superseded": 2}


def test_late_on_arrival() -> None:
    late = plant(
        without("r 50 arrive p:1 from=p", "r 50 deliver p:1"),
        ("r 50 deliver q:1", "r 96 arrive p:1 from=p\nr 96 discard p:1 late\nr 96 deliver q:1"),
    )
    assert fates(late) == {"delivered": 3, "late": 1}


def test_overflow() -> None:
    assert fates(plant(BASE, ("r 50 deliver p:1", "r 50 discard p:1 overflow"))) == {"delivered": 3, "overflow": 1}


def test_expired() -> None:
    never = without("r 40 arrive q:1 from=q", "r 50 deliver q:1")
    assert fates(never) == {"delivered": 3, "expired": 1}
    stopped = never.replace("end quiet", "end stopped")
    assert fates(stopped) == {"delivered": 3, "expired": 1}  # 400 is after the deadline


def test_quiet_before_the_deadline_expires_all_the_same() -> None:
    never = without("r 40 arrive q:1 from=q", "r 50 deliver q:1").replace(" 400 end", " 90 end")
    assert fates(never) == {"delivered": 3, "expired": 1}


def test_departed() -> None:
    # r crashes holding q:1; what has no row there does not count: p:1 is no pair.
    crashed = plant(
        without("r 50 arrive p:1 from=p", "r 50 deliver p:1", "r 50 deliver q:1"), ("r 400 end quiet", "r 60 crash")
    )
    assert fates(crashed) == {"delivered": 2, "departed": 1}
    left = plant(crashed, ("r 60 crash", "r 60 leave G1\nr 400 end quiet"))
    assert fates(left) == {"delivered": 2, "departed": 1}


def test_departed_between_leaving_and_joining_again() -> None:
    # r leaves and joins again at a cut that has q:1 behind: held at the leave, it is departed, not stuck.
    again = plant(
        without("r 50 arrive p:1 from=p", "r 50 deliver p:1", "r 50 deliver q:1"),
        ("r 400 end quiet", "r 60 leave G1\nr 70 join G1 cut=q:1 from=q\nr 400 end quiet"),
    )
    assert fates(again) == {"delivered": 2, "departed": 1}
    # A successor that it delivers after joining again changes nothing.
    more = plant(
        again,
        ("q 400 end quiet", "q 80 publish q:2 G1\nq 400 end quiet"),
        ("p 400 end quiet", "p 90 arrive q:2 from=q\np 90 deliver q:2\np 400 end quiet"),
        ("r 400 end quiet", "r 90 arrive q:2 from=q\nr 90 deliver q:2\nr 400 end quiet"),
    )
    assert fates(more) == {"delivered": 4, "departed": 1}


def test_pending_when_the_records_end_too_early() -> None:
    stopped = without("r 40 arrive q:1 from=q", "r 50 deliver q:1").replace(" 400 end quiet", " 90 end stopped")
    assert fates(stopped) == {"delivered": 3, "pending": 1}


def test_a_process_without_an_end_is_pending_and_never_clean() -> None:
    torn = without("r 50 arrive p:1 from=p", "r 50 deliver p:1", "r 50 deliver q:1", "r 400 end quiet")
    report = verdict(torn)
    assert report.findings == [] and report.unknown_tails == ["r"] and not report.clean
    assert report.fates["pending"] == 2 and report.fates["delivered"] == 2


def test_lost_with_all_who_held_it() -> None:
    # q:1 reaches nobody before q crashes.
    lost = plant(
        without("p 40 arrive q:1 from=q", "p 40 deliver q:1", "r 40 arrive q:1 from=q", "r 50 deliver q:1"),
        ("q 400 end quiet", "q 31 crash"),
    )
    assert fates(lost) == {"delivered": 2, "lost": 2}


def test_lost_by_gone() -> None:
    # No deadlines; everyone has let go of q:1, r is told so.
    gone = plant(
        without("r 40 arrive q:1 from=q", base=BASE.replace(" due=100", "").replace(" due=200", "")),
        ("r 50 deliver q:1", "r 90 discard q:1 gone"),
        ("p 40 deliver q:1", "p 40 deliver q:1\np 60 collect q:1"),
        ("q 400 end quiet", "q 60 collect q:1\nq 400 end quiet"),
    )
    assert fates(gone) == {"delivered": 3, "lost": 1}


def test_lost_behind_a_cause_that_is_lost() -> None:
    # No deadlines: p:1 died with p; r holds q:1 for ever, and nobody can help.
    blocked = """
    p 0 join G1
    q 0 join G1
    r 0 join G1
    p 10 publish p:1 G1
    p 11 publish p:2 G1
    p 12 crash
    q 40 arrive p:2 from=p
    r 40 arrive p:2 from=p
    q 400 end quiet
    r 400 end quiet
    """
    assert fates(blocked) == {"lost": 4}


def test_what_nobody_got_from_its_publisher_in_time_expires() -> None:
    trace = """
    A 0 join G1
    c 1 join G1 from=A
    c 10 publish c:1 G1 due=100
    A 400 end quiet
    c 400 end quiet
    """
    assert fates(trace) == {"expired": 1}
    assert fates(trace.replace("c 400 end quiet", "c 50 crash")) == {"lost": 1}
    too_late = trace.replace("c 10 publish c:1 G1 due=100", "c 110 publish c:1 G1 due=100")
    assert fates(too_late) == {"expired": 1}  # published when it had expired already


def test_what_a_broker_got_only_after_the_deadline_expires_elsewhere() -> None:
    trace = """
    A 0 join G1
    B 0 join G1
    p 0 join G2
    p 10 publish p:1 G1 due=100
    p 20 crash
    A 110 arrive p:1 from=p
    A 400 end quiet
    B 400 end quiet
    """
    assert fates(trace) == {"late": 1, "expired": 1}
    assert fates(trace.replace("A 400", "A 110 discard p:1 late\n    A 400")) == {"late": 1, "lost": 1}


def test_held_when_its_client_moved_is_late() -> None:
    trace = """
    A 0 join G1
    B 0 join G1
    c 1 join G1 from=A
    A 10 publish A:1 G1 due=100
    A 11 publish A:2 G1 due=100
    B 20 arrive A:1 from=A
    B 20 deliver A:1
    B 20 arrive A:2 from=A
    B 20 deliver A:2
    c 20 arrive A:2 from=A
    c 30 move from=B cut=
    A 400 end quiet
    B 400 end quiet
    c 400 end quiet
    """
    assert fates(trace) == {"delivered": 2, "late": 1, "expired": 1}


# --- stuck and undelivered -------------------------------------------------------------------------------------------


def test_stuck_whatever_the_discard_says() -> None:
    for reason in ("late", "expired", "superseded", "gone"):
        planted = plant(BASE, ("r 50 deliver p:1", f"r 50 discard p:1 {reason}"))
        assert found(planted) == [("false", "r", "p:1", None), ("stuck", "r", "p:1", None)]


def test_not_stuck_before_the_join_or_the_move_or_from_an_old_home() -> None:
    trace = """
    A 0 join G1
    B 0 join G1
    A 10 publish A:1 G1 due=100
    B 20 arrive A:1 from=A
    B 20 deliver A:1
    c 20 arrive A:1 from=A
    c 30 join G1 from=B
    c 40 arrive A:1 from=A
    A 400 end quiet
    B 400 end quiet
    c 400 end quiet
    """
    assert fates(trace) == {"delivered": 1, "late": 1}
    assert [f[0] for f in found(trace.replace("c 40 arrive A:1 from=A", "c 40 arrive A:1 from=B"))] == ["idle", "stuck"]


FREE = BASE.replace(" due=100", "").replace(" due=200", "")


def test_undelivered() -> None:
    assert found(FREE) == []
    never = without("r 40 arrive q:1 from=q", "r 50 deliver q:1", base=FREE)
    assert found(never) == [("undelivered", "r", "q:1", None)]
    assert fates(never.replace("end quiet", "end stopped")) == {"delivered": 3, "pending": 1}


def test_undelivered_though_it_waits_for_what_could_be_had() -> None:
    held = without("r 50 arrive p:1 from=p", "r 50 deliver p:1", "r 50 deliver q:1", base=FREE)
    assert found(held) == [("undelivered", "r", "p:1", None), ("undelivered", "r", "q:1", None)]


def test_undelivered_at_a_subscriber_needs_a_correct_broker_of_its_own() -> None:
    trace = """
    A 0 join G1
    B 0 join G1
    s 1 join G1 from=A
    B 10 publish B:1 G1
    A 20 arrive B:1 from=B
    A 20 deliver B:1
    A 400 end quiet
    B 400 end quiet
    s 400 end quiet
    """
    assert found(trace) == [("undelivered", "s", "B:1", None)]
    assert fates(plant(trace, ("A 400 end quiet", "A 30 crash"))) == {"delivered": 1, "lost": 1}


def test_what_was_let_go_of_everywhere_is_lost_where_that_was_said() -> None:  # rule H13
    trace = """
    A 0 join G1
    B 0 join G1
    s 1 join G1 from=A
    B 10 publish B:1 G1
    A 20 arrive B:1 from=B
    A 20 deliver B:1
    A 100 collect B:1
    B 100 collect B:1
    s 200 discard B:1 gone
    A 400 end quiet
    B 400 end quiet
    s 400 end quiet
    """
    assert fates(trace) == {"delivered": 1, "lost": 1}
    assert found(without("s 200 discard B:1 gone", base=trace)) == [("undelivered", "s", "B:1", None)]
    kept = without("B 100 collect B:1", base=trace)
    assert found(kept) == [("false", "s", "B:1", None), ("undelivered", "s", "B:1", None)]


def test_who_crashed_is_not_judged_for_stuck() -> None:
    crashed = plant(
        BASE, ("r 50 deliver p:1", "# held"), ("r 50 deliver q:1", "# held"), ("r 400 end quiet", "r 300 crash")
    )
    assert found(crashed, idle=False) == []


def test_a_message_without_deadline_is_stuck_when_a_successor_left_without_it() -> None:
    forced = """
    p 0 join G1
    r 0 join G1
    p 10 publish p:1 G1
    p 11 publish p:2 G1
    p 12 publish p:3 G1 due=100
    r 20 arrive p:2 from=p
    r 20 arrive p:3 from=p
    r 100 deliver p:3 deadline
    p 400 end quiet
    r 400 end quiet
    """
    assert found(forced) == [("stuck", "r", "p:2", None)]
    assert (
        found(plant(forced, ("r 100 deliver p:3 deadline", "r 100 deliver p:2 deadline\nr 100 deliver p:3 deadline")))
        == []
    )


def test_a_member_listens_to_everyone_not_only_to_the_one_it_joined_at() -> None:
    joined = plant(BASE, ("r 0 join G1 guard=5", "r 0 join G1 guard=5 from=q"), ("r 50 deliver p:1", "# forgotten"))
    assert ("stuck", "r", "p:1", None) in found(joined, idle=False)


def test_deadlines_pass_less_the_guard() -> None:
    never = without("r 40 arrive q:1 from=q", "r 50 deliver q:1").replace("end quiet", "end stopped")
    for at, fate in ((195, "pending"), (196, "expired")):
        assert fates(never.replace("r 400 end", f"r {at} end")) == {"delivered": 3, fate: 1}


TWO_COPIES = """
A 0 join G1
B 0 join G1
c 1 join G1 from=A
c 2 move from=B
A 10 publish A:1 G1 due=100
B 20 arrive A:1 from=A
B 20 deliver A:1
c 30 arrive A:1 from=B
c 30 arrive A:1 from=A
c 30 discard A:1 foreign
A 400 end quiet
B 400 end quiet
c 400 end quiet
"""


def test_a_copy_that_is_foreign_lets_go_of_no_other_copy() -> None:
    assert ("stuck", "c", "A:1", None) in found(TWO_COPIES)
    only = plant(TWO_COPIES, ("c 30 arrive A:1 from=B", "# lost"))
    assert ("stuck", "c", "A:1", None) not in found(only)


LEFT_LONG_AGO = """
A 0 join G1
B 0 join G1
C 0 join G1
c 1 join G1 from=A
c 2 move from=B
C 10 publish C:1 G1
C 11 publish C:2 G1 due=100
B 20 arrive C:1 from=C
B 20 deliver C:1
B 21 arrive C:2 from=C
B 21 deliver C:2
A 30 arrive C:2 from=C
A 100 deliver C:2 deadline
c 110 arrive C:2 from=B
c 110 discard C:2 late
A 400 end quiet
B 400 end quiet
C 400 end quiet
c 400 end quiet
"""


def test_a_home_it_left_supersedes_nothing() -> None:
    assert found(LEFT_LONG_AGO) == [("undelivered", "c", "C:1", None)]
    stayed = plant(
        LEFT_LONG_AGO, ("c 2 move from=B", "# stays"), ("c 110 arrive C:2 from=B", "c 110 arrive C:2 from=A")
    )
    assert found(stayed) == [] and fates(stayed) == {"delivered": 3, "superseded": 2, "late": 1}


def test_a_broker_that_was_not_to_have_it_supersedes_nothing() -> None:
    trace = """
    A 0 join G2,G3
    B 0 join G1
    C 0 join G1,G2,G3
    c 1 join G3 from=A
    c 1 join G1 from=B
    C 10 publish C:1 G1
    C 11 publish C:2 G2
    A 20 arrive C:2 from=C
    A 20 deliver C:2
    B 20 arrive C:1 from=C
    B 20 deliver C:1
    A 400 end quiet
    B 400 end quiet
    C 400 end quiet
    c 400 end quiet
    """
    assert found(trace) == [("undelivered", "c", "C:1", None)]


HELD_AND_MOVED = """
A 0 join G1
B 0 join G1
c 1 join G1 from=A
A 10 publish A:1 G1
B 20 arrive A:1 from=A
B 20 deliver A:1
c 20 arrive A:1 from=A
c 20 move from=B cut=
A 400 end quiet
B 400 end quiet
c 400 end quiet
"""


def test_a_move_excuses_nothing_from_being_delivered_where_nothing_expires() -> None:
    assert found(HELD_AND_MOVED) == [("undelivered", "c", "A:1", None)]
    again = plant(
        HELD_AND_MOVED, ("c 20 move from=B cut=", "c 20 move from=B cut=\nc 30 arrive A:1 from=B\nc 30 deliver A:1")
    )
    assert found(again) == []


def test_what_was_held_at_a_move_may_be_superseded_afterwards() -> None:
    """A:2 follows it, has a deadline, and could not wait for it."""
    trace = plant(
        HELD_AND_MOVED,
        ("A 10 publish A:1 G1", "A 10 publish A:1 G1\nA 11 publish A:2 G1 due=50"),
        ("B 20 deliver A:1", "B 20 deliver A:1\nB 21 arrive A:2 from=A\nB 21 deliver A:2"),
        ("c 20 move from=B cut=", "c 20 move from=B cut=\nc 30 arrive A:2 from=B\nc 50 deliver A:2 deadline"),
    )
    assert found(trace) == []


def test_or_superseded_at_the_new_home() -> None:
    """There A:2 could not wait for A:1 either; c was sent neither."""
    trace = plant(
        HELD_AND_MOVED,
        ("A 10 publish A:1 G1", "A 10 publish A:1 G1\nA 11 publish A:2 G1 due=50"),
        ("B 20 arrive A:1 from=A", "B 21 arrive A:2 from=A\nB 50 deliver A:2 deadline\nB 60 arrive A:1 from=A"),
        ("B 20 deliver A:1", "B 60 discard A:1 superseded"),
    )
    assert found(trace) == []


def test_a_restart_drops_what_was_held_only_after_a_crash() -> None:
    trace = """
    p 0 join G1
    r 0 join G1
    p 10 publish p:1 G1 due=300
    r 20 arrive p:1 from=p
    r 20 restart
    p 400 end quiet
    r 400 end quiet
    """
    assert ("stuck", "r", "p:1", None) in found(trace)
    assert found(trace.replace("r 20 restart", "r 20 crash\n    r 20 restart")) == []


UNHEARD = """
A 0 join G1
c 1 join G1 from=A
d 1 join G1
c 10 publish c:1 G1
A 400 end quiet
c 400 end quiet
d 400 end quiet
"""


def test_what_no_broker_ever_got_is_undelivered_while_its_publisher_is_there_to_repeat_it() -> None:
    assert ("undelivered", "A", "c:1", None) in found(UNHEARD)
    assert found(plant(UNHEARD, ("c 400 end quiet", "c 300 crash"))) == []  # lost with it
    alone = plant(UNHEARD, ("A 400 end quiet", "A 300 crash"))  # nobody to repeat it to
    assert found(alone) == [] and fates(alone) == {"lost": 1}
    heard = plant(UNHEARD, ("A 400 end quiet", "A 20 arrive c:1 from=c\nA 20 discard c:1 gone\nA 400 end quiet"))
    assert ("undelivered", "A", "c:1", None) not in found(heard)  # it was acknowledged


def test_what_a_standing_partition_keeps_away_is_not_undelivered() -> None:
    trace = """
    p 0 join G1
    r 0 join G1
    p 10 publish p:1 G1
    p 400 end quiet
    r 400 end quiet
    """
    assert found(trace, scenario={"partition": "p|r@0-100"}) == []
    assert found(trace, scenario={"partition": "p|r@0-0.3"}) == [("undelivered", "r", "p:1", None)]  # healed by then
    client = UNHEARD.replace("d 1 join G1\n", "").replace("d 400 end quiet\n", "")
    assert found(client, scenario={"partition": "c|A@0-100"}) == []


def test_overflow_at_the_broker_is_its_clients_fate() -> None:
    assert verdict(HOME).fates_by_role["subscriber"]["overflow"] == 1
    assert verdict(HOME).fates_by_role["broker"] == {**dict.fromkeys(verdict(HOME).fates, 0), "delivered": 2}
    stranger = plant(HOME, ("c 0 join G1 from=A", "c 0 join G1 from=B"))
    assert verdict(stranger).fates_by_role["subscriber"]["overflow"] == 0, "it was never attached there"


def test_late_in_the_applications_queue_though_a_successor_went_out() -> None:
    trace = plant(
        BASE, ("r 50 deliver p:1", "r 120 discard p:1 late from=r"), ("r 50 deliver q:1", "r 121 deliver q:1")
    )
    assert fates(trace, idle=False) == {"delivered": 3, "late": 1}
