"""Losses: who is asked, what is given up and when, and what goes with it."""

from __future__ import annotations

from typing import Any

from antecede.core.effects import Effect
from antecede.core.frames import Attached, Data, Digest, Gone, Request
from antecede.core.machine import Peer
from antecede.core.message import Envelope, Message, Stamp
from antecede.core.order.reader import AHEAD
from tests.core.kit import flat, frame_to, grouped, machine, sent, told, view_of
from tests.core.spread.peers import ask, gone, member


def test_a_header_is_believed_once_its_deadline_is_over_here_too() -> None:
    one = member()
    one.receive(Data((flat("B:9"), flat("C:1", {"A": 1}, deadline_us=900))), "C", 0)
    header = Gone((flat("A:1", deadline_us=50),))
    assert "discard A:1 expired" not in told(one.receive(header, "C", 50))
    assert told(one.receive(header, "C", 51))[:2] == ["discard A:1 expired", "deliver C:1 causes"]
    assert frame_to(ask(one, ("A", 0, 1), now=60), "C", Gone).headers[0].message.id == "A:1"


def waiting(**knobs: Any) -> Any:
    """A member that holds C:1 and lacks A:1, whose sender left at 100."""
    one = member(peers="A B C D", deadlines=False, **knobs)
    one.receive(Data((flat("C:1", {"A": 1}),)), "C", 0)
    gone(one, "A", now=100)
    return one


LACKS = Gone((), (("A", 0, 1),))


def test_given_up_after_grace_when_everybody_lacks_it() -> None:
    one = waiting()
    assert told(one.receive(LACKS, "C", 1099)) == [] and told(one.receive(LACKS, "D", 1099)) == []
    assert told(one.receive(LACKS, "C", 1100)) == ["ask D for A:1", "request to D"], "it may have it"
    assert told(one.receive(LACKS, "C", 1101)) == []
    assert told(one.receive(LACKS, "D", 1102)) == ["discard A:1 gone", "deliver C:1 causes"]
    assert not one.wants.wants and told(one.receive(LACKS, "D", 1103)) == []


def test_what_is_here_or_of_somebody_present_is_not_given_up() -> None:
    one = member(deadlines=False)
    one.receive(Data((flat("C:1", {"A": 1}),)), "C", 0)
    assert told(one.receive(LACKS, "C", 9000)) == []
    gone(one, "A", now=9000)
    one.receive(Data((flat("A:1", {"D": 1}),)), "C", 9001)
    assert "discard A:1 gone" not in told(one.receive(LACKS, "C", 99_000)), "it is held"
    assert told(one.receive(Data((flat("D:1"),)), "C", 99_001)) == [
        "deliver D:1 causes", "deliver A:1 causes", "deliver C:1 causes",
    ]  # fmt: skip
    assert told(one.receive(LACKS, "C", 99_002)) == []


def test_with_nobody_left_to_ask_it_is_given_up_after_grace() -> None:
    one = waiting(retry_us=10)
    gone(one, "C", "D", now=200)
    for now in (210, 220, 1099):
        assert not [line for line in told(one.wake(now)) if "gone" in line]
    assert one.wants.next_ask() == 1100
    assert told(one.wake(1100)) == ["discard A:1 gone", "deliver C:1 causes"]


def test_deadlines_bound_every_wait_so_nothing_is_given_up() -> None:
    one = member(deadlines=True)
    one.receive(Data((flat("C:1", {"A": 1}, deadline_us=9_000_000),)), "C", 0)
    gone(one, "A", now=100)
    assert "discard A:1 gone" not in told(one.receive(LACKS, "C", 5000))
    assert sent(ask(one, ("A", 0, 9), now=5000), Gone) == []
    gone(one, "C", now=6000)
    for now in (10_000, 100_000, 5_000_000):
        assert "discard A:1 gone" not in told(one.wake(now))
    assert ("A", 1) not in one.wants.wants


def test_a_message_is_given_up_in_all_its_groups_at_once() -> None:
    broker = machine("cbcast", "A", "broker", "G1 G2", deadlines=False, grace_us=1000)
    broker.view(view_of({"A": "G1 G2", "B": "G1 G2", "C": "G1 G2"}), 0)
    broker.start(0)
    broker.receive(Data((grouped("C:1", needs=[("B@G1", 2), ("B@G2", 2)]),)), "C", 0)
    gone(broker, "B", now=0)
    assert told(broker.receive(Gone((), (("B@G1", 1, 2),)), "C", 2000)) == ["ask C for B:2", "request to C"]
    said = told(broker.receive(Gone((), (("B@G2", 1, 2),)), "C", 2001))
    assert said == ["discard B:1 gone", "discard B:2 gone", "deliver C:1 causes"] and not broker.wants.wants


def test_only_the_nearest_of_many_unknown_ones_are_given_up_with_a_lost_one() -> None:
    broker = machine("cbcast", "A", "broker", "G1", deadlines=False, grace_us=1000)
    broker.view(view_of({"A": "G1", "B": "G1", "C": "G1"}), 0)
    broker.start(0)
    broker.receive(Data((grouped("C:1", needs=[("B@G1", 2**62)]),)), "C", 0)
    gone(broker, "B", now=0)
    said = told(broker.receive(Gone((), (("B@G1", 2**62 - 1, 2**62),)), "C", 2000))
    assert len(said) == AHEAD + 1 and said[-1] == "deliver C:1 causes"


def test_in_each_group_what_stands_before_it_comes_first() -> None:
    """B:2 is lost, and was in both groups. In G1 nothing of B came before it; in G2 B:1 did, and C has it."""
    broker = machine("cbcast", "A", "broker", "G1 G2", deadlines=False, grace_us=1000)
    broker.view(view_of({"A": "G1 G2", "B": "G1 G2", "C": "G1 G2"}), 0)
    broker.start(0)
    broker.receive(Data((grouped("C:1", needs=[("B@G1", 2), ("B@G2", 2)]),)), "C", 0)
    gone(broker, "B", now=0)
    asked_in = frame_to(broker.receive(Gone((), (("B@G1", 1, 2),)), "C", 2000), "C", Request).ranges
    assert asked_in == (("B@G1", 0, 2), ("B@G2", 0, 2))
    assert told(broker.receive(Data((grouped("B:1", "G2"),)), "C", 2001)) == ["deliver B:1 causes"]
    said = told(broker.receive(Gone((), (("B@G2", 1, 2),)), "C", 2002))
    assert said == ["discard B:2 gone", "deliver C:1 causes"]


def test_so_does_what_stands_before_those_that_go_with_it() -> None:
    """B:3 is lost, and B:2 with it, which was in both groups. In G2 B:1 came before B:2, and C has it."""
    broker = machine("cbcast", "A", "broker", "G1 G2", deadlines=False, grace_us=1000)
    broker.view(view_of({"A": "G1 G2", "B": "G1 G2", "C": "G1 G2"}), 0)
    broker.start(0)
    needs, covers = [("B@G1", 3)], {"B@G1": 3, "B@G2": 2}
    broker.receive(Data((grouped("C:1", needs=needs, covers=covers),)), "C", 0)
    gone(broker, "B", now=0)
    asked_in = frame_to(broker.receive(Gone((), (("B@G1", 2, 3),)), "C", 2000), "C", Request).ranges
    assert asked_in == (("B@G1", 0, 3), ("B@G2", 0, 2))
    assert told(broker.receive(Data((grouped("B:1", "G2"),)), "C", 2001)) == ["deliver B:1 causes"]
    broker.receive(Gone((), (("B@G2", 1, 2),)), "C", 2002)
    said = told(broker.receive(Gone((), (("B@G1", 2, 3),)), "C", 2003))
    assert said[-1] == "deliver C:1 causes" and "discard B:3 gone" in said


def test_whoever_waits_for_it_in_another_group_is_freed_with_the_others() -> None:
    broker = machine("cbcast", "A", "broker", "G1 G2", deadlines=False, grace_us=1000)
    broker.view(view_of({"A": "G1 G2", "B": "G1 G2", "C": "G1 G2"}), 0)
    broker.start(0)
    broker.receive(Data((grouped("C:1", needs=[("B@G1", 2)]), grouped("C:2", "G2", needs=[("B@G2", 2)]))), "C", 0)
    gone(broker, "B", now=0)
    broker.receive(Gone((), (("B@G1", 1, 2),)), "C", 2000)
    said = told(broker.receive(Gone((), (("B@G2", 1, 2),)), "C", 2001))
    assert said == ["discard B:1 gone", "discard B:2 gone", "deliver C:2 causes", "deliver C:1 causes"]


def test_what_was_given_up_in_one_group_is_not_waited_for_in_another() -> None:
    broker = machine("cbcast", "A", "broker", "G1 G2", deadlines=False, grace_us=1000)
    broker.view(view_of({"A": "G1 G2", "B": "G1 G2", "C": "G1 G2"}), 0)
    broker.start(0)
    broker.receive(Data((grouped("C:1", needs=[("B@G1", 2)]),)), "C", 0)
    gone(broker, "B", now=0)
    assert "discard B:2 gone" in told(broker.receive(Gone((), (("B@G1", 1, 2),)), "C", 2000))
    lines = told(broker.receive(Data((grouped("C:2", needs=[("B@G2", 2)]),)), "C", 2001))
    assert lines == ["deliver C:2 causes"] and not broker.wants.wants


def test_what_is_given_up_is_asked_for_in_no_stream() -> None:
    """Somebody offered it in G2; nothing that is held names it there."""
    broker = machine("cbcast", "A", "broker", "G1 G2", deadlines=False, grace_us=1000)
    broker.view(view_of({"A": "G1 G2", "B": "G1 G2", "C": "G1 G2"}), 0)
    broker.start(0)
    broker.receive(Data((grouped("C:1", needs=[("B@G1", 2)]),)), "C", 0)
    broker.receive(Digest({"B@G2": 2}, {}), "B", 0)
    assert ("B@G2", 2) in broker.wants.wants
    gone(broker, "B", now=0)
    broker.receive(Gone((), (("B@G1", 1, 2),)), "C", 2000)
    assert not broker.wants.wants and broker.reader.behind("B@G2", 2)


def test_where_every_number_stands_for_a_message_each_is_given_up_by_itself() -> None:
    """C lacks A:2; A:1 it may have sent, and that answer was lost."""
    one = member(deadlines=False)
    one.receive(Data((flat("C:1", {"A": 2}),)), "C", 0)
    gone(one, "A", now=0)
    said = told(one.receive(Gone((), (("A", 1, 2),)), "C", 2000))
    assert [line for line in said if "gone" in line] == ["discard A:2 gone"]
    said = told(one.receive(Data((flat("A:1"),), answer=True), "C", 2001))
    assert said == ["deliver A:1 causes", "deliver C:1 causes"]


def test_what_came_before_it_and_is_asked_for_comes_or_goes_first() -> None:
    """C offers B:1, which comes before whatever B:3 was: were that given up now, C:1 would go out before B:1 comes."""
    broker = machine("cbcast", "A", "broker", "G1", deadlines=False, grace_us=1000)
    broker.view(view_of({"A": "G1", "B": "G1", "C": "G1"}), 0)
    broker.start(0)
    broker.receive(Data((grouped("C:1", needs=[("B@G1", 3)]),)), "C", 0)
    broker.receive(Digest({"B@G1": 1}, {}), "C", 0)
    gone(broker, "B", now=0)
    assert "discard B:3 gone" not in told(broker.receive(Gone((), (("B@G1", 2, 3),)), "C", 2000))
    assert told(broker.receive(Data((grouped("B:1"),), answer=True), "C", 2001)) == ["deliver B:1 causes"]
    said = told(broker.receive(Gone((), (("B@G1", 2, 3),)), "C", 2002))
    assert said == ["discard B:2 gone", "discard B:3 gone", "deliver C:1 causes"]


def test_after_a_change_of_view_everybody_is_asked_anew() -> None:
    """Whoever left may have passed on, before, what others said they lack."""
    broker = machine("cbcast", "A", "broker", "G1", deadlines=False, grace_us=1000)
    broker.view(view_of({"A": "G1", "B": "G1", "C": "G1", "D": "G1"}), 0)
    broker.start(0)
    broker.receive(Data((grouped("C:1", needs=[("B@G1", 1)]),)), "C", 0)
    broker.view(view_of({"A": "G1", "C": "G1", "D": "G1"}), 1)
    assert "discard B:1 gone" not in told(broker.receive(Gone((), (("B@G1", 0, 1),)), "C", 2000))
    broker.view(view_of({"A": "G1", "C": "G1", "D": "G1"}), 2001)
    assert "discard B:1 gone" not in told(broker.receive(Gone((), (("B@G1", 0, 1),)), "D", 2002))
    assert told(broker.receive(Gone((), (("B@G1", 0, 1),)), "C", 2003)) == ["discard B:1 gone", "deliver C:1 causes"]


def asked(effects: list[Effect]) -> list[str]:
    return [line for line in told(effects) if line.startswith("ask")]


def test_nobody_is_asked_again_who_has_said_that_it_cannot_be_had_there() -> None:
    """Two that offer what follows it would otherwise be asked in turn for ever, and nobody else."""
    one = member(peers="A B C D E", deadlines=False, patience_us=0, retry_us=100)
    assert asked(one.receive(Data((flat("A:2", {"A": 1}),)), "C", 0)) == ["ask C for A:1"]
    gone(one, "A", now=10)
    said = one.receive(Gone((), (("A", 0, 1),)), "C", 2000)
    assert asked(said) == ["ask E for A:1"], "another one, and at once"
    assert asked(one.receive(Digest({"A": 2}, {}), "C", 2001)) == [], "it has what follows, and lacks it still"
    assert asked(one.receive(Gone((), (("A", 0, 1),)), "E", 2002)) == ["ask D for A:1"]
    one.receive(Digest({"A": 1}, {}), "E", 2003)
    assert asked(one.wake(2500)) == ["ask E for A:1"], "it got it after all"
    lines = told(one.receive(Gone((), (("A", 0, 1),)), "E", 2501))
    assert "discard A:1 gone" not in lines, "D has not answered"
    assert "discard A:1 gone" in told(one.receive(Gone((), (("A", 0, 1),)), "D", 2502))


def test_a_sender_that_was_never_seen_is_waited_for_once() -> None:
    """However many of its messages are lost: what the first one's loss brings to light is not waited for anew."""
    one = member(peers="B C", deadlines=False)
    one.receive(Data((flat("C:1", {"X": 1}), flat("C:2", {"C": 1, "Y": 1}))), "C", 0)
    assert "discard X:1 gone" in told(one.receive(Gone((), (("X", 0, 1),)), "C", 1000))
    one.receive(Data((flat("C:3", {"C": 2, "X": 2}),)), "C", 1001)
    assert "discard X:2 gone" in told(one.receive(Gone((), (("X", 1, 2),)), "C", 1002))
    one.view({**one.members, "X": Peer("X", "member", ("G1",))}, 1003)
    one.receive(Data((flat("C:4", {"C": 3, "X": 3}),)), "C", 1004)
    assert "discard X:3 gone" not in told(one.receive(Gone((), (("X", 2, 3),)), "C", 1005)), "it is there"


def test_an_unordered_message_is_given_up_alone() -> None:
    """Its sender's ordered ones have other numbers: nothing follows for them."""
    one = member(deadlines=False)
    unordered = Message("A", 5, ("G1",), order="none")
    one.receive(Data((Envelope(unordered, Stamp((("A~", 5),), (), {"A~": 4})),)), "A", 0)
    gone(one, "A", now=10)
    assert one.request([("A~", 4)]).ranges == (("A~", 0, 4),)
    lines = told(one.receive(Gone((), (("A~", 3, 4),)), "C", 2000))
    assert lines[0] == "discard A~:4 gone" and not any(line.startswith("discard A") for line in lines[1:])
    assert one.reader.front == {"A~": 5}
    asked = frame_to(ask(member(deadlines=False, peers="B C"), ("A~", 0, 4)), "C", Gone)
    assert asked.lacks == (("A~", 3, 4),), "what lies between may not exist"


def test_so_it_is_where_not_every_number_stands_for_a_message_of_the_group() -> None:
    broker = machine("cbcast", "A", "broker", "G1", deadlines=False, grace_us=1000)
    broker.view(view_of({"A": "G1", "B": "G1", "C": "G1"}), 0)
    broker.start(0)
    unordered = Message("B", 5, ("G1",), order="none")
    broker.receive(Data((Envelope(unordered, Stamp((("B~@G1", 5),), (), {"B~@G1": 4})),)), "C", 0)
    gone(broker, "B", now=0)
    assert ("B~@G1", 4) in broker.wants.wants
    said = told(broker.receive(Gone((), (("B~@G1", 3, 4),)), "C", 2000))
    assert [line for line in said if "gone" in line] == ["discard B~:4 gone"]


def test_who_missed_what_settled_gives_it_up_after_grace() -> None:
    one = member(deadlines=False)
    one.receive(Data((flat("A:2", {"A": 1}),)), "A", 0)
    for peer in ("A", "C"):
        assert told(one.receive(Gone((), (("A", 0, 1),)), peer, 500)) == []
    assert one.receive(Gone((), (("A", 0, 1),)), "A", 1499) == []
    assert asked(one.receive(Gone((), (("A", 0, 1),)), "A", 1500)) == ["ask C for A:1"]
    lines = told(one.receive(Gone((), (("A", 0, 1),)), "C", 1501))
    assert lines[:2] == ["discard A:1 gone", "deliver A:2 causes"]


def test_what_its_brokers_may_have_passed_at_a_deadline_a_subscriber_does_not_call_gone() -> None:
    """They lack it, and others may have it: what they passed is told by their own records."""
    for deadlines, said in ((True, ["deliver A:2 causes"]), (False, ["discard A:1 gone", "deliver A:2 causes"])):
        one = machine("pull", "S", "subscriber", deadlines=deadlines, grace_us=1000)
        one.view(view_of({"A": "G1"}, "S"), 0)
        one.start(0)
        one.subscribe(["G1"], ["A"], 0)
        one.receive(Attached(1, {}, ()), "A", 0)
        one.receive(Data((grouped("A:2", needs=[("A@G1", 1)]),)), "A", 0)
        one.receive(Gone((), (("A@G1", 0, 1),)), "A", 1)
        assert told(one.receive(Gone((), (("A@G1", 0, 1),)), "A", 2000)) == said


def test_what_an_expired_unordered_one_names_is_asked_for_too() -> None:
    """B~:3 has no deadline and follows B~:2, of which only the header is left, and that B~:1."""
    one = member()
    stream = "B~"

    def loose(n: int, deadline_us: int | None = None) -> Envelope:
        message = Message("B", n, ("G1",), b"", deadline_us, order="none")
        return Envelope(message, Stamp(((stream, n),), (), {stream: n - 1} if n > 1 else {}))

    one.receive(Data((loose(3),)), "B", 100)
    assert list(one.wants.wants) == [(stream, 2)]
    one.receive(Gone((loose(2, 50),), ()), "B", 101)
    assert one.wants.wants[(stream, 1)].endless


def test_what_may_stand_in_another_group_before_a_lost_one_is_asked_for_first() -> None:
    """B:5 is lost; B:3 went to G2, of which only B:7 is named: as long as C may have it, nothing of B's is given up."""
    one = machine("pull", "A", "broker", "G1 G2", deadlines=False, grace_us=1000)
    one.view(view_of({"A": "G1 G2", "B": "G1 G2", "C": "G2", "D": "G1"}), 0)
    one.start(0)
    gone(one, "B", now=0)
    named = {"B@G1": 5, "B@G2": 7}
    one.receive(Data((grouped("D:1", "G1", "G2", needs=list(named.items()), covers=named),)), "D", 2000)
    said = [told(one.receive(Gone((), (("B@G1", 4, 5),)), peer, 2001)) for peer in ("C", "D")]
    assert "discard B:5 gone" not in [line for lines in said for line in lines]
    lines = told(one.receive(Data((grouped("B:3", "G2"), grouped("B:7", "G2", needs=[("B@G2", 3)]))), "C", 2002))
    assert lines[:2] == ["deliver B:3 causes", "deliver B:7 causes"]
    said = [told(one.receive(Gone((), (("B@G1", 4, 5),)), peer, 2003)) for peer in ("C", "D")]
    assert [line for lines in said for line in lines][-2:] == ["discard B:5 gone", "deliver D:1 causes"]


def test_what_comes_after_a_lost_one_does_not_go_with_it_and_is_not_waited_for() -> None:
    """Its sender goes on: there is always something newer that is named before it comes."""
    one = machine("home", "H", "broker", "G1 G2", deadlines=False, grace_us=1000)
    one.view(view_of({"H": "G1 G2", "B": "G1 G2"}, "S2"), 0)
    one.start(0)
    named = {"S2@G1": 5, "S2@G2": 9}
    one.receive(Data((grouped("S1:1", "G1", "G2", needs=list(named.items()), covers=named),)), "B", 0)
    lines = told(one.receive(Gone((), (("S2@G1", 4, 5),)), "B", 2000))
    assert "discard S2:5 gone" not in lines, "what stands before it in G2 may come"
    assert "discard S2:5 gone" in told(one.receive(Gone((), (("S2@G2", 4, 5),)), "B", 2001))
    assert ("S2@G2", 9) in one.wants.wants and "S2:9" not in one.losses._lost


def test_what_may_have_been_overtaken_in_another_group_is_not_called_gone() -> None:
    """B:4 is out, in G1, at its deadline; of B:1 to B:3 nobody knows whether they were in G2. B:6 was, and is lost."""
    one = machine("home", "H", "broker", "G1 G2", grace_us=1000)
    one.view(view_of({"H": "G1 G2", "B": "G1 G2"}), 0)
    one.start(0)
    one.receive(Data((grouped("S2:4", "G1"),)), "B", 0)
    one.receive(Data((grouped("S1:1", "G1", "G2", needs=[("S2@G2", 6)]),)), "B", 0)
    said = told(one.receive(Gone((), (("S2@G2", 5, 6),)), "B", 2000))
    assert said == ["discard S2:5 gone", "discard S2:6 gone", "deliver S1:1 causes"]


def test_what_goes_with_a_lost_one_is_not_waited_for_another_while() -> None:
    """In `home` a wait begins when something is first asked for; but S2:3 is as lost as S2:5, which it precedes."""
    one = machine("home", "H", "broker", "G1 G2", deadlines=False, grace_us=1000)
    one.view(view_of({"H": "G1 G2", "B": "G1 G2"}, "S2"), 0)
    one.start(0)
    covers = {"S2@G1": 5, "S2@G2": 3}
    one.receive(Data((grouped("S1:1", "G1", needs=[("S2@G1", 5)], covers=covers),)), "B", 0)
    for lacks, now in ((("S2@G1", 4, 5), 2000), (("S2@G2", 2, 3), 2001), (("S2@G1", 4, 5), 2002)):
        said = told(one.receive(Gone((), (lacks,)), "B", now))
    assert said[-2:] == ["discard S2:5 gone", "deliver S1:1 causes"]


def test_what_was_given_up_is_not_asked_for_again_before_the_next_is() -> None:
    one = machine("pull", "A", "broker", "G1 G3", deadlines=False, grace_us=1000)
    one.view(view_of({"A": "G1 G3", "B": "G1 G3", "C": "G1 G3"}), 0)
    one.start(0)
    gone(one, "B", now=0)
    one.receive(Data((grouped("C:1", "G1", needs=[("B@G1", 2)]),)), "C", 2000)
    assert told(one.receive(Gone((), (("B@G1", 1, 2),)), "C", 2001))[-3:] == [
        "discard B:1 gone", "discard B:2 gone", "deliver C:1 causes",
    ]  # fmt: skip
    covers = {"B@G1": 3, "B@G3": 2, "C@G1": 1}
    one.receive(Data((grouped("C:2", "G1", needs=[("B@G1", 3)], covers=covers),)), "C", 2002)
    assert told(one.receive(Gone((), (("B@G1", 2, 3),)), "C", 2003)) == ["discard B:3 gone", "deliver C:2 causes"]
