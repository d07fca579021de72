"""The modules of 002 Fig 6, one by one."""

from __future__ import annotations

from random import Random

from antecede.core.frames import Data, Request
from antecede.core.machine import Peer, Settings
from antecede.core.message import Message, Publication
from antecede.core.printed.solicit import READINGS, PrintedMember
from tests.core.kit import frame_to, sent, told

VIEW = {name: Peer(name, "member", ("G1",)) for name in "pqr"}


def member(name: str) -> PrintedMember:
    made = PrintedMember(name, ("G1",), Settings(round_us=10), Random(1))
    made.view(VIEW, 0)
    assert told(made.start(0)) == ["join at None cut "]
    return made


def send(by: PrintedMember, now_us: int, deadline_us: int | None = 1000) -> tuple[Message, Data]:
    message, effects = by.publish(Publication(("G1",), b"", deadline_us=deadline_us), now_us)
    return message, sent(effects, Data)[0][1]


def test_b_send_stamps_the_time_and_goes_to_all_others() -> None:
    p = member("p")
    _, effects = p.publish(Publication(("G1",), b"", deadline_us=100), 7)
    [(to, frame)] = sent(effects, Data)
    assert to == ("q", "r") and frame.envelopes[0].stamp.covers == {"p": 7} and p.kept == []


def test_b_recv_delivers_discards_or_queues_and_solicits_the_sender() -> None:
    p, q, r = member("p"), member("q"), member("r")
    _, m1 = send(p, 1)
    assert told(q.receive(m1, "p", 2)) == ["deliver p:1 causes"]
    assert told(q.receive(m1, "p", 3)) == ["discard p:1 duplicate"]
    _, m2 = send(q, 4)
    effects = r.receive(m2, "q", 5)
    assert told(effects) == ["ask q for ", "request to q"] and len(r.waiting) == 1
    assert frame_to(effects, "q", Request).ranges == (("p", 0, 1), ("q", 0, 4))
    r.receive(m2, "q", 6)
    assert len(r.waiting) == 2, "a copy of what waits is queued again"
    assert told(r.receive(send(p, 7, deadline_us=8)[1], "p", 9)) == ["discard p:2 late"]


def test_check_msgs_delivers_what_has_become_ready() -> None:
    p, q, r = member("p"), member("q"), member("r")
    _, m1 = send(p, 1)
    q.receive(m1, "p", 2)
    r.receive(send(q, 4)[1], "q", 5)
    assert told(r.receive(m1, "p", 6)) == ["deliver p:1 causes", "deliver q:1 causes"] and r.next_wake() is None


def test_check_msgs_releases_at_the_deadline_and_not_before() -> None:
    p, q, r = member("p"), member("q"), member("r")
    q.receive(send(p, 1)[1], "p", 2)
    r.receive(send(q, 4, 103)[1], "q", 5)
    assert r.next_wake() == 103 and told(r.wake(102)) == [] and told(r.wake(103)) == ["deliver q:1 deadline"]
    assert r.next_wake() is None


def test_solicit_recv_answers_what_is_below_in_every_entry() -> None:
    p, q = member("p"), member("q")
    q.receive(send(p, 1)[1], "p", 2)
    empty = q.receive(Request((("p", 0, 1), ("q", 0, 4))), "r", 5)
    assert told(empty) == ["answer r with ", "data to r"], "1 < 1 is false: the paper's own figure"
    full = q.receive(Request((("p", 0, 2), ("q", 0, 4))), "r", 5)
    assert told(full) == ["answer r with p:1", "data to r: p:1"]
    assert told(q.receive(Request((("p", 1, 2), ("q", 0, 4))), "r", 5))[0] == "answer r with ", "the asker has it"


def test_charitably_an_answer_reaches_up_to_the_bound() -> None:
    p, q = member("p"), PrintedMember("q", ("G1",), Settings(), Random(1), below=READINGS["charitable"])
    q.view(VIEW, 0)
    q.receive(send(p, 1)[1], "p", 2)
    assert told(q.receive(Request((("p", 0, 1), ("q", 0, 4))), "r", 5))[0] == "answer r with p:1"
    assert told(q.receive(Request((("p", 0, 1),)), "r", 5))[0] == "answer r with ", "equal is not less"


def test_rpy_recv_delivers_whatever_it_gets() -> None:
    p, r = member("p"), member("r")
    _, m1 = send(p, 1, deadline_us=10)
    answer = Data(m1.envelopes, answer=True)
    lines = told(r.receive(answer, "q", 50)) + told(r.receive(answer, "q", 60))
    assert lines == ["deliver p:1 causes"] * 2, "late, and twice"


def test_the_rest_of_the_face_is_silent() -> None:
    p = member("p")
    assert p.subscribe((), (), 0) == p.unsubscribe(0) == p.move((), 0) == p.wake(0) == []
