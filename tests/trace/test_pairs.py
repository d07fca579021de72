"""Who is owed what: filters, cuts, several joins, leaving and crashing."""

from __future__ import annotations

from antecede.trace.history import History, bits
from antecede.trace.pairs import Receiver
from tests.trace.tables import rows

PUBLISHED = """
p 1 publish p:1 G1
p 2 publish p:2 G2
p 3 publish p:3 G1,G2
"""


def receiver(name: str, text: str) -> tuple[Receiver, History]:
    history = History(rows(PUBLISHED + text))
    return Receiver(name, history), history


def owed(name: str, text: str) -> set[str]:
    r, history = receiver(name, text)
    return {history.messages[i].id for i in bits(r.pairs)}


def test_a_filter_that_matches_one_topic_is_enough() -> None:
    assert owed("r", "r 0 join G1") == {"p:1", "p:3"}
    assert owed("r", "r 0 join +") == owed("r", "r 0 join #") == {"p:1", "p:2", "p:3"}
    assert owed("r", "r 0 join G3") == set()


def test_a_publisher_is_never_a_receiver_of_its_own() -> None:
    assert owed("r", "r 0 join G1\nr 1 publish r:1 G1") == {"p:1", "p:3"}


def test_the_cut_and_its_whole_past_lie_behind() -> None:
    assert owed("r", "r 0 join G1 cut=p:2 from=p") == {"p:3"}  # p:1 -> p:2, though p:2 itself is foreign
    assert owed("r", "r 0 join G1 cut=p:3 from=p") == set()


def test_with_several_joins_the_one_that_does_not_cover_it_owes_it() -> None:
    assert owed("s", "s 0 join G1 cut=p:1 from=A\ns 0 join G1 from=B") == {"p:1", "p:3"}


def test_a_move_cut_excuses_nothing() -> None:
    assert owed("c", "c 0 join G1 from=A\nc 9 move from=B cut=p:3") == {"p:1", "p:3"}


def test_who_left_or_crashed_is_owed_only_what_has_a_row_there() -> None:
    for last in ("r 9 leave G1", "r 9 leave", "r 9 crash"):
        assert owed("r", f"r 0 join G1\nr 5 arrive p:3 from=p\n{last}") == {"p:3"}
    assert owed("r", "r 0 join G1\nr 9 crash\nr 10 restart") == {"p:1", "p:3"}


def test_leaving_one_filter_keeps_the_others() -> None:
    r, _ = receiver("r", "r 0 join G1,G2\nr 9 leave G2")
    assert r.correct and owed("r", "r 0 join G1,G2\nr 9 leave G2") == {"p:1", "p:3"}
    r, _ = receiver("s", "s 0 join G1 from=A\ns 0 join G1 from=B\ns 9 leave G1 from=A")
    assert r.correct and not r.left


def test_leaving_the_broker_one_moved_to() -> None:
    r, _ = receiver("c", "c 0 join G1 from=A\nc 5 move from=B\nc 9 leave G1 from=B")
    assert r.left and not r.correct


def test_what_is_owed_changes_with_the_step() -> None:
    r, history = receiver("r", "r 0 join G1 cut=p:1 from=p\nr 5 join G2\nr 6 leave G1\nr 7 end quiet")
    names = [{history.messages[i].id for i in bits(r.owed_at(step))} for step in range(4)]
    assert names == [set(), {"p:3"}, {"p:2", "p:3"}, {"p:2", "p:3"}]


def test_the_guard_is_the_last_declared() -> None:
    r, _ = receiver("r", "r 0 arrive p:1 from=p\nr 1 join G1 guard=5\nr 2 join G2 guard=9\nr 3 end quiet")
    assert [r.guard_at(step) for step in range(4)] == [5, 5, 5, 9]
    r, _ = receiver("r", "r 1 join G1")
    assert r.guard_at(1) == 0


def test_the_tail_is_unknown_without_an_end() -> None:
    assert receiver("r", "r 0 join G1")[0].tail_unknown
    for last in ("r 9 end stopped", "r 9 crash"):
        assert not receiver("r", f"r 0 join G1\n{last}")[0].tail_unknown
    for last in ("r 9 leave G1", "r 9 crash\nr 10 restart"):  # it may have done more
        assert receiver("r", f"r 0 join G1\n{last}")[0].tail_unknown


SAID = """
p 1 publish p:1 G1 headers={"temp":"30"}
p 2 publish p:2 G1 headers={"temp":"10","payload.x":1}
p 3 publish p:3 G1
p 4 publish p:4 G2 headers={"temp":"30"}
"""


def selected(text: str) -> set[str]:
    history = History(rows(SAID + text))
    return {history.messages[i].id for i in bits(Receiver("r", history).pairs)}


def test_a_membership_with_a_predicate_owes_what_it_is_true_of() -> None:
    assert selected("r 0 join G1 where=temp_>_20") == {"p:1"}
    assert selected("r 0 join G1 where=payload.x_==_1") == {"p:2"}
    assert selected("r 0 join G1 where=not_temp_>_20") == {"p:2", "p:3"}, "what says nothing of itself has no temp"
    assert selected("r 0 join + where=temp_>_20\nr 0 join G1 where=temp_<_20") == {"p:1", "p:2", "p:4"}


def test_a_leave_ends_the_membership_of_its_own_predicate_only() -> None:
    joins = "r 0 join G1\nr 0 join G1 where=temp_>_20\n"
    assert selected(joins + "r 9 leave G1") == {"p:1"}
    assert selected(joins + "r 9 leave G1 where=temp_>_20") == {"p:1", "p:2", "p:3"}
