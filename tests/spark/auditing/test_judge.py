"""The judge on small stories: what it asks others, what it leaves in doubt, what excuses a gap. (Equality with the
oracle on whole runs is in test_judging.py.)"""

from __future__ import annotations

import random

import numpy as np

from antecede.spark.auditing.chunks import code_rows, pack, unpack
from antecede.spark.auditing.cover import NEVER, blocks
from antecede.spark.auditing.history import controls_of, run_messages
from antecede.spark.auditing.judge import Judge, Question, Verdicts, places_of
from antecede.spark.auditing.telling import controls, gather, heard, publications, roles
from tests.spark.auditing.rig import cut_up
from tests.trace.tables import rows


def judged(text: str, process: str, *, clock: bool = True, skew_us: int = 0) -> tuple[Verdicts, list[str]]:
    """The verdicts at one process, and the names of all messages by number."""
    [table] = cut_up(rows(text, clock=clock), random.Random(0), cuts=0)
    told = gather([publications(table)], [controls(table)], roles(table), [heard(table)])
    messages, _ = run_messages(told)
    chunks, _ = pack(code_rows(table), messages.find)
    events, wrong = unpack(chunk for chunk in chunks.to_pylist() if chunk["process"] == process)
    assert wrong is None
    out = places_of(events, messages.count)
    cover = blocks(messages.graph, out[:, None])[:, 0]
    quiet = bool(messages.about["quiet"])
    judge = Judge(events, controls_of(told)[process], messages, out, cover, skew_us=skew_us, quiet=quiet)
    return judge.judge(), [messages.name(n) for n in range(messages.count)]


SUBSCRIBER = """
A 0 join G
p 0 publish p:1 G
p 1 publish p:2 G
s 2 join G from=A
A 5 arrive p:1 from=p
A 5 deliver p:1
A 6 arrive p:2 from=p
A 6 deliver p:2
s 9 arrive p:2 from=A
s 9 deliver p:2
"""


def test_at_a_subscriber_a_gap_is_a_question_to_the_broker() -> None:
    verdicts, names = judged(SUBSCRIBER, "s")
    assert verdicts.found == []
    [question] = verdicts.questions
    assert isinstance(question, Question) and question.peer == "A"
    assert (names[question.first], names[question.then]) == ("p:1", "p:2")
    assert question.found.verdict == "gap" and question.found.step == 2


def test_where_no_broker_is_named_nobody_is_asked() -> None:
    text = SUBSCRIBER.replace("s 9 arrive p:2 from=A", "s 9 arrive p:2")
    verdicts, _ = judged(text, "s")
    assert [f.verdict for f in verdicts.found] == ["gap"] and not verdicts.questions


def test_who_makes_it_join_again_is_asked_and_not_who_it_left() -> None:
    """What came from A was dropped when s left everything; B's frame brought p:2 anew, and where s begins."""
    again = "s 9 arrive p:2 from=A\ns 10 leave G\ns 10 discard p:2 foreign\ns 11 arrive p:2 from=B\ns 11 join G from=B"
    text = SUBSCRIBER.replace("s 9 arrive p:2 from=A", again).replace("s 9 deliver", "s 11 deliver")
    assert [question.peer for question in judged("B 0 join G" + text, "s")[0].questions] == ["B"]


MEMBERS = """
q 0 join G
p 0 publish p:1 G due=100
p 1 publish p:2 G due=90
p 2 publish p:3 G due=50
q 9 arrive p:3 from=p
q 9 arrive p:2 from=p
q 60 deliver p:2 deadline
"""


def test_a_successor_that_could_not_wait_excuses_a_gap() -> None:
    assert judged(MEMBERS, "q")[0].found == []
    waits = MEMBERS.replace("due=50", "due=95")
    assert [f.verdict for f in judged(waits, "q")[0].found] == ["gap"]


def test_lateness_within_the_skew_is_in_doubt() -> None:
    text = "q 0 join G\np 0 publish p:1 G due=100\nq 9 arrive p:1 from=p\nq 103 deliver p:1"
    assert [(f.verdict, f.doubt) for f in judged(text, "q")[0].found] == [("overdue", False)]
    assert [(f.verdict, f.doubt) for f in judged(text, "q", clock=False, skew_us=5)[0].found] == [("overdue", True)]
    assert [(f.verdict, f.doubt) for f in judged(text, "q", clock=False, skew_us=2)[0].found] == [("overdue", False)]


def test_after_a_return_to_a_broker_what_is_stuck_depends_on_when_it_had_it() -> None:
    text = """
    A 0 join G
    p 0 publish p:1 G due=90
    s 1 join G from=A
    s 2 move from=B
    s 3 move from=A
    A 5 arrive p:1 from=p
    A 5 deliver p:1
    s 9 arrive p:1 from=A
    s 100 end quiet
    A 100 end quiet
    p 100 end quiet
    """
    verdicts, names = judged(text, "s")
    [question] = verdicts.questions
    assert question.found.verdict == "stuck" and question.peer == "A"
    assert (names[question.first], question.then, question.after_us) == ("p:1", -1, 3)


def test_places() -> None:
    [table] = cut_up(rows("q 0 join G\np 0 publish p:1 G\nq 1 deliver p:1\nq 2 deliver p:1"), random.Random(0), cuts=0)
    chunks, _ = pack(code_rows(table), lambda keys: np.where(keys > 0, 1, -1).astype(np.int32))
    events, _ = unpack(c for c in chunks.to_pylist() if c["process"] == "q")
    assert places_of(events, 3).tolist() == [NEVER, 1, NEVER]
