"""Every claim a protocol can make, made untrue, one at a time: `false`, and nothing else."""

from __future__ import annotations

import pytest

from tests.trace.tables import found, plant, verdict
from tests.trace.test_verdicts import HOME

# p:1 (due 300) -> q:1 (due 120). r never got p:1 in time and released q:1 by deadline; the place to plant is `r 200`.
RUN = """
p 0 join G1 guard=5
q 0 join G1 guard=5
r 0 join G1 guard=5
p 10 publish p:1 G1 due=300
q 20 arrive p:1 from=p
q 20 deliver p:1
q 30 publish q:1 G1 due=120
p 40 arrive q:1 from=q
p 40 deliver q:1
r 40 arrive q:1 from=q
r 115 deliver q:1 deadline
r 200 arrive p:1 from=p
r 200 discard p:1 superseded
p 400 end quiet
q 400 end quiet
r 400 end quiet
"""
CLAIM = "r 200 discard p:1 superseded"


def test_the_true_claims_are_clean() -> None:
    assert found(RUN) == []
    assert found(plant(RUN, (CLAIM, CLAIM + "\nr 210 arrive p:1 from=q\nr 210 discard p:1 duplicate"))) == []


def test_hearsay_is_no_outcome_of_a_copy() -> None:
    told = "r 300 discard p:1 expired\nr 310 arrive p:1 from=q\nr 310 discard p:1 late"
    assert found(plant(RUN, (CLAIM, told))) == []


@pytest.mark.parametrize(
    "untrue",
    [
        "r 200 discard p:1 late",  # in time: 200 <= 300 - 5
        "r 200 discard p:1 expired",
        "r 200 discard p:1 duplicate\nr 200 discard p:1 superseded",  # the first copy
        "r 200 discard p:1 foreign",  # a filter matches
        "r 200 discard p:1 gone",  # p holds it
        # a second copy is `duplicate`, whatever became of the first
        "r 200 discard p:1 superseded\nr 210 arrive p:1 from=q\nr 210 discard p:1 superseded",
        "r 200 discard p:1 superseded\nr 310 arrive p:1 from=q\nr 310 discard p:1 late",
    ],
)
def test_an_untrue_discard(untrue: str) -> None:
    assert found(plant(RUN, (CLAIM, untrue))) == [("false", "r", "p:1", None)]


def test_superseded_without_a_successor() -> None:
    early = plant(
        RUN,
        ("r 40 arrive q:1 from=q", "r 300 arrive p:1 from=p\nr 300 discard p:1 superseded"),
        ("r 115 deliver q:1 deadline", "# never"),
        ("r 200 arrive p:1 from=p", "# moved"),
        (CLAIM, "# moved"),
    )
    assert found(early) == [("false", "r", "p:1", None)]


def test_superseded_by_what_it_published_itself() -> None:
    # r publishes r:1 after q:1, whose past holds p:1.
    assert found(plant(RUN, ("r 115 deliver q:1 deadline", "r 115 deliver q:1 deadline\nr 116 publish r:1 G2"))) == []


def test_released_by_deadline_too_early() -> None:
    # Nothing is missing at q, so it is no gap; but the reason is untrue.
    assert found(plant(RUN, ("q 20 deliver p:1", "q 20 deliver p:1 deadline"))) == [("false", "q", "p:1", None)]


def test_released_by_deadline_without_one() -> None:
    free = RUN.replace("p:1 G1 due=300", "p:1 G1")
    assert ("false", "q", "p:1", None) in found(plant(free, ("q 20 deliver p:1", "q 20 deliver p:1 deadline")))


def test_overflow_without_arrival() -> None:
    assert found(plant(RUN, ("r 200 arrive p:1 from=p", "# never"), (CLAIM, "r 200 discard p:1 overflow"))) == [
        ("false", "r", "p:1", None)
    ]


def test_late_or_expired_without_a_deadline() -> None:
    for reason in ("late", "expired"):
        planted = RUN.replace("p:1 G1 due=300", "p:1 G1").replace(CLAIM, f"r 200 discard p:1 {reason}")
        assert found(planted) == [("false", "r", "p:1", None)]


def test_gone_is_true_once_all_have_let_go() -> None:
    gone = plant(RUN, (CLAIM, "r 200 discard p:1 gone"), ("r 200 arrive p:1 from=p", "# never"))
    assert found(gone) == [("false", "r", "p:1", None)]
    let_go = plant(gone, ("p 400 end quiet", "p 150 collect p:1\np 400 end quiet"))
    assert found(let_go) == [("false", "r", "p:1", None)]  # q still has it
    assert found(plant(let_go, ("q 400 end quiet", "q 160 collect p:1\nq 400 end quiet"))) == []
    assert found(plant(let_go, ("q 400 end quiet", "q 160 crash"))) == []


def test_gone_behind_a_partition() -> None:
    gone = plant(RUN, (CLAIM, "r 200 discard p:1 gone"), ("r 200 arrive p:1 from=p", "# never"))
    assert found(gone, scenario={"partition": "p,q|r@0.1-0.3"}) == []
    assert len(found(gone, scenario={"partition": "p,q|r@0.1-0.2"})) == 1
    assert len(found(gone, scenario={"partition": "p|q,r@0.1-0.3"})) == 1


def test_gone_without_a_common_clock_is_in_doubt() -> None:
    gone = plant(RUN, (CLAIM, "r 200 discard p:1 gone"), ("r 200 arrive p:1 from=p", "# never"))
    report = verdict(gone, clock=False)
    assert report.findings == [] and [f.verdict for f in report.in_doubt if f.process == "r"][-1] == "false"


# --- foreign, and cuts -----------------------------------------------------------------------------------------------

# A delivers C:1 and C:2; s joins at A behind C:1; C:2 is owed, C:1 arrives all the same.
JOINED = """
A 0 join G1
C 0 join G1
C 10 publish C:1 G1
A 20 arrive C:1 from=C
A 20 deliver C:1
s 30 join G1 cut=C:1 from=A
s 35 arrive C:1 from=A
s 35 discard C:1 foreign
C 40 publish C:2 G1
A 50 arrive C:2 from=C
A 50 deliver C:2
s 60 arrive C:2 from=A
s 60 deliver C:2
A 100 end quiet
C 100 end quiet
s 100 end quiet
"""


def test_what_lies_behind_the_cut_is_foreign() -> None:
    assert found(JOINED) == []


def test_what_comes_from_a_broker_it_is_not_attached_to_is_foreign() -> None:
    other = plant(
        JOINED, ("s 60 arrive C:2 from=A", "s 55 arrive C:2 from=C\ns 55 discard C:2 foreign\ns 60 arrive C:2 from=A")
    )
    assert found(other) == []
    assert found(other.replace("s 55 arrive C:2 from=C", "s 55 arrive C:2 from=A")) == [("false", "s", "C:2", None)]


def test_whether_a_copy_is_of_an_attachment_that_is_over_is_in_doubt() -> None:
    moved = plant(
        JOINED, ("s 60 arrive C:2 from=A", "s 54 move from=A\ns 55 arrive C:2 from=A\ns 55 discard C:2 foreign\n"
                 "s 60 arrive C:2 from=A")
    )  # fmt: skip
    report = verdict(moved)
    assert report.findings == [] and [(f.verdict, f.process, f.message) for f in report.in_doubt] == [
        ("false", "s", "C:2")
    ]
    assert verdict(moved.replace("s 55 discard C:2 foreign\n", "")).in_doubt == []


def test_a_first_copy_from_before_the_join_does_not_make_a_duplicate() -> None:
    early = plant(JOINED, ("s 30 join G1 cut=C:1 from=A", "s 25 arrive C:1 from=A\ns 30 join G1 cut=C:1 from=A"))
    assert found(early) == []
    assert found(early.replace("discard C:1 foreign", "discard C:1 duplicate")) == []  # both are true of it


def test_a_cut_the_peer_cannot_vouch_for() -> None:
    # C:2 is published and delivered at A later: at 30 nobody at A knew it.
    assert ("false", "s", None, None) in found(JOINED.replace("cut=C:1", "cut=C:2"))
    report = verdict(JOINED.replace("cut=C:1 from=A", "cut=C:1"))
    said = "but None had not delivered, published or discarded C:1, nor had s discarded it"
    assert [f.text for f in report.findings] == [f"put C:1 behind itself at a join, {said}"]


def test_of_a_cut_that_names_who_has_no_records_here_that_is_said() -> None:
    for name, said in (
        ("Z:1", "the records of Z are not here, so nobody can say what Z:1 is"),
        ("Z@:238", "the records of Z are not here, so nobody can say what Z@:238 is"),
        ("A@:238", "A has not let go of so many messages (A@:238)"),
        ("A:9", "nobody published A:9"),
    ):
        report = verdict(JOINED.replace("cut=C:1 from=A", f"cut={name},C:1,C:2,A:3,A:4 from=A"))
        texts = [f.text for f in report.findings if f.verdict == "false"]
        assert f"put {name}, C:1, C:2 and 2 more behind itself at a join, but {said}" in texts
        assert report.unrecorded == (["Z"] if "Z" in name else [])


def test_nor_may_it_be_what_was_called_gone_and_not_owed() -> None:
    """That claim was not looked at when it was made."""
    trace = """
    A 0 join G1,G2
    B 0 join G2
    C 0 join G1,G2
    s 1 join G1 from=A
    C 10 publish C:1 G2
    A 12 arrive C:1 from=C
    A 12 deliver C:1
    s 30 discard C:1 gone
    s 41 join G2 cut=C:1 from=B
    A 100 end quiet
    B 100 end quiet
    C 100 end quiet
    s 100 end quiet
    """
    assert ("false", "s", None, None) in found(trace)


def test_who_joins_once_more_may_name_what_it_has_itself_discarded() -> None:
    """C~:1 expired at s, in G1; s leaves for G2, whose broker B never heard of it."""
    trace = """
    A 0 join G1
    B 0 join G2
    C 0 join G1
    s 1 join G1 from=A
    C 10 publish C~:1 G1 due=20 after=-
    A 12 arrive C~:1 from=C
    A 12 deliver C~:1
    s 30 discard C~:1 expired
    s 40 leave G1
    s 41 join G2 cut=C~:1 from=B
    A 100 end quiet
    B 100 end quiet
    C 100 end quiet
    s 100 end quiet
    """
    assert found(trace) == []
    assert found(trace.replace("s 30 discard C~:1 expired", "# -")) == [("false", "s", None, None)]
    assert found(trace.replace("s 41 join G2 cut", "s 41 join G2 from=B\n    s 42 move cut")) == [
        ("false", "s", None, None)
    ]


def test_a_cut_that_names_what_nobody_published() -> None:
    assert found(JOINED.replace("cut=C:1", "cut=X:9,C:1")) == [("false", "s", None, None)]


def test_a_cut_hides_nothing_of_the_past_of_what_was_only_skipped() -> None:
    # A skipped C:2 alone; putting C:2 behind also hides C:1, which A never had.
    trace = """
    A 0 join G1
    C 0 join G1
    C 10 publish C:1 G1 due=500
    C 11 publish C:2 G1 due=20
    A 30 arrive C:2 from=C
    A 30 discard C:2 late
    s 40 join G1 cut=C:2 from=A
    A 50 arrive C:1 from=C
    A 50 deliver C:1
    s 60 arrive C:1 from=A
    s 60 deliver C:1
    A 600 end quiet
    C 600 end quiet
    s 600 end quiet
    """
    assert found(trace) == [("false", "s", None, None)]


MOVED = """
A 0 join G1
B 0 join G1
c 1 join G1 from=A
A 10 publish A:1 G1
B 20 arrive A:1 from=A
B 20 deliver A:1
c 20 arrive A:1 from=A
c 20 deliver A:1
c 30 move from=B cut=A:1
A 40 publish A:2 G1
B 50 arrive A:2 from=A
B 50 deliver A:2
c 60 arrive A:2 from=B
c 60 deliver A:2
A 100 end quiet
B 100 end quiet
c 100 end quiet
"""


def test_a_move_may_put_behind_only_what_was_here() -> None:
    assert found(MOVED) == []
    early = plant(MOVED, ("c 30 move from=B cut=A:1", "c 55 move from=B cut=A:2"))
    assert found(early) == [("false", "c", None, None)]


def test_what_was_held_at_a_move_and_comes_again_is_no_duplicate() -> None:
    # A:2 is held at A (nothing else keeps it, but the move is at the same instant), then comes late from B.
    again = plant(
        MOVED.replace("A:2 G1", "A:2 G1 due=50"),
        ("c 30 move from=B cut=A:1", "c 45 arrive A:2 from=A\nc 45 move from=B cut=A:1"),
        ("c 60 deliver A:2", "c 60 discard A:2 late"),
    )
    assert found(again) == []
    assert found(again.replace("c 60 discard A:2 late", "c 60 discard A:2 duplicate")) == []


def test_a_move_cut_excuses_nothing() -> None:
    early = plant(MOVED, ("c 30 move from=B cut=A:1", "c 55 move from=B cut=A:2"))
    silent = plant(early, ("c 60 arrive A:2 from=B", "# swallowed"), ("c 60 deliver A:2", "# swallowed"))
    assert found(silent) == [("false", "c", None, None), ("undelivered", "c", "A:2", None)]


# --- claims that are true, at the edge -------------------------------------------------------------------------------


def test_a_held_copy_has_its_own_outcome_beside_the_duplicate() -> None:
    twice = "r 200 arrive p:1 from=q\nr 200 discard p:1 duplicate\nr 200 discard p:1 superseded"
    assert found(plant(RUN, (CLAIM, twice))) == []


def test_foreign_twice_is_tolerated() -> None:
    twice = "s 35 discard C:1 foreign\ns 36 arrive C:1 from=A\ns 36 discard C:1 foreign"
    assert found(plant(JOINED, ("s 35 discard C:1 foreign", twice))) == []


def test_foreign_without_arrival_though_owed() -> None:
    claim = "s 58 discard C:2 foreign\ns 60 arrive C:2 from=A"
    assert found(plant(JOINED, ("s 60 arrive C:2 from=A", claim))) == [("false", "s", "C:2", None)]


def test_its_own_message_coming_back_is_a_duplicate() -> None:
    back = "q 50 arrive q:1 from=p\nq 50 discard q:1 duplicate\nq 400 end quiet"
    assert found(plant(RUN, ("q 400 end quiet", back))) == []


def test_what_an_earlier_cut_put_behind_stays_foreign() -> None:
    # s leaves and joins again at B, which does not have C:1 yet: owed by the second join, behind by the first.
    trace = """
    A 0 join G1
    B 0 join G1
    C 0 join G1
    C 10 publish C:1 G1 due=90
    A 20 arrive C:1 from=C
    A 20 deliver C:1
    s 30 join G1 cut=C:1 from=A
    s 40 leave G1
    s 50 join G1 from=B
    B 55 arrive C:1 from=C
    B 55 deliver C:1
    s 95 arrive C:1 from=B
    s 95 discard C:1 foreign
    A 100 end quiet
    B 100 end quiet
    C 100 end quiet
    s 100 end quiet
    """
    assert found(trace) == []


def test_what_the_peer_itself_joined_behind_or_discarded_may_lie_behind() -> None:
    # B joined behind A:1 and discarded A:2; s joins at B behind both.
    trace = """
    A 0 join G1
    A 10 publish A:1 G1 due=900
    A 11 publish A:2 G1 due=30
    B 20 join G1 cut=A:1 from=A
    B 40 arrive A:2 from=A
    B 40 discard A:2 late
    s 50 join G1 cut=A:2 from=B
    A 999 end quiet
    B 999 end quiet
    s 999 end quiet
    """
    assert found(trace) == []
    assert found(trace.replace("cut=A:1 from=A", "from=A")) == [("false", "s", None, None)]
    copy = trace.replace("discard A:2 late", "discard A:2 foreign")
    assert ("false", "s", None, None) in found(copy)


def test_a_move_may_name_the_past_and_what_lay_behind_at_the_join() -> None:
    # A:1 (G2, foreign to c) is in the past of A:2, which c delivered; A:0 lay behind when it joined.
    trace = """
    A 0 join G1,G2
    B 0 join G1,G2
    A 1 publish A:0 G1
    B 2 arrive A:0 from=A
    B 2 deliver A:0
    c 3 join G1 from=A cut={cut}
    A 10 publish A:1 G2
    A 11 publish A:2 G1
    B 20 arrive A:1 from=A
    B 20 deliver A:1
    B 20 arrive A:2 from=A
    B 20 deliver A:2
    {delivered}
    c 30 move from=B cut={moved}
    c 40 arrive A:2 from=B
    {again}
    A 100 end quiet
    B 100 end quiet
    c 100 end quiet
    """
    got = {"cut": "A:0", "delivered": "c 20 arrive A:2 from=A\nc 20 deliver A:2", "again": "c 40 discard A:2 duplicate"}
    assert found(trace.format(moved="A:1", **got)) == []
    late = {"cut": "A:0", "delivered": "", "again": "c 40 deliver A:2"}
    assert found(trace.format(moved="A:0", **late)) == []
    assert found(trace.format(moved="A:1", **late)) == [("false", "c", None, None)]


def test_cuts_without_a_common_clock() -> None:
    assert verdict(JOINED, clock=False).findings == []


def test_what_came_before_the_join_overflows_nothing() -> None:
    trace = "p 0 join G1\np 1 publish p:1 G1\nr 2 arrive p:1 from=p\nr 3 join G1\nr 4 discard p:1 overflow\n"
    assert ("false", "r", "p:1", None) in found(trace)
    assert ("false", "r", "p:1", None) not in found(trace.replace("r 4", "r 4 arrive p:1 from=p\nr 4"))


def test_a_broker_must_have_had_what_it_had_no_room_for_and_for_a_client() -> None:
    row = "A 30 discard s:1 overflow from=c"
    early = plant(HOME, (row, "# -"), ("A 10 deliver s:1", "A 10 discard s:1 overflow from=c\nA 10 deliver s:1"))
    assert ("false", "A", "s:1", None) in found(early, idle=False)
    assert ("false", "A", "s:1", None) in found(plant(HOME, (row, "A 30 discard s:1 overflow from=A2\nA2 1 end quiet")))


def test_only_an_overflow_can_be_the_fate_of_another() -> None:
    assert ("false", "r", "p:1", None) in found(plant(RUN, (CLAIM, CLAIM + " from=q")))


LIVES = """
A 0 join G1
B 0 join G1
c 0 join G1 from=A
s 0 publish s:1 G1
A 10 arrive s:1 from=s
A 10 deliver s:1
c 20 arrive s:1 from=A
c 20 deliver s:1
c 30 crash
c.1 40 restart
c.1 41 join G1 from=B cut=s:1
B 50 arrive s:1 from=A
B 50 deliver s:1
A 90 end quiet
B 90 end quiet
s 90 end quiet
c.1 90 end quiet
"""


def test_who_comes_back_may_begin_behind_what_its_earlier_life_had() -> None:
    """B had not delivered it yet, but c had."""
    assert found(LIVES) == []
    for other in ("cc.1", "c2", "c.01"):
        trace = LIVES.replace("c.1", other)
        assert ("false", other, None, None) in found(trace), "another process, or none of its later lives"


def test_what_comes_with_the_join_may_overflow() -> None:
    trace = "s 0 publish s:1 G1\nA 1 join G1\nA 1 arrive s:1 from=s\nA 1 deliver s:1\nc 5 arrive s:1 from=A\n"
    assert found(trace + "c 5 join G1 from=A\nc 5 discard s:1 overflow\n") == []
    assert found(trace + "c 6 join G1 from=A\nc 6 discard s:1 overflow\n") == [("false", "c", "s:1", None)]
