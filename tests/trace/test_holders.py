"""Who held what when: got it, let go, crashed, out of reach."""

from __future__ import annotations

from antecede.trace.history import History
from antecede.trace.holders import Holders, Partition
from antecede.trace.pairs import Receiver
from tests.trace.tables import rows


def holders(text: str, *partitions: Partition) -> Holders:
    history = History(rows(text))
    return Holders(history, {name: Receiver(name, history) for name in history.processes}, partitions)


PUBLISHED = "c 10 publish c:1 G1 due=100\nA 20 arrive c:1 from=c\nr 0 join G1\n"


def test_a_broker_holds_from_arrival_to_collection() -> None:
    held = holders(PUBLISHED + "A 50 collect c:1")
    assert [held.serving(0, at, "r") for at in (20, 21, 49, 50)] == [None, "A", "A", None]
    assert held.until(0, 50, 0) and not held.until(0, 51, 0) and held.until(0, 51, 1)


def test_a_client_serves_nobody() -> None:
    held = holders("c 10 publish c:1 G1\nr 0 join G1")
    assert held.serving(0, 50, "r") is None and not held.surviving(0)


def test_a_client_holds_what_it_published_until_somebody_heard_it() -> None:
    alone = "c 10 publish c:1 G1\nr 0 join G1\n"
    assert holders(alone).until(0, 50, 0) and holders(alone + "A 51 arrive c:1 from=c").until(0, 50, 0)
    assert not holders(alone + "A 40 arrive c:1 from=c\nA 45 crash").until(0, 50, 0)  # it may have let go
    assert not holders(alone + "c 11 crash").until(0, 50, 0)
    assert holders(alone).until(0, 9, 0)  # published when it had expired already


def test_what_was_dropped_on_arrival_is_not_held() -> None:
    assert holders(PUBLISHED + "A 20 discard c:1 late").serving(0, 50, "r") is None
    assert holders(PUBLISHED + "A 20 discard c:1 duplicate").serving(0, 50, "r") == "A"
    assert holders(PUBLISHED + "A 20 deliver c:1\nA 30 discard c:1 late").serving(0, 50, "r") == "A"


def test_who_crashed_later_serves_nobody() -> None:
    held = holders(PUBLISHED + "A 20 deliver c:1\nA 60 crash")
    assert held.serving(0, 50, "r") is None and held.until(0, 60, 0) and not held.until(0, 61, 0)


def test_partitions() -> None:
    split = Partition((frozenset("A"), frozenset("r")), 40, 60)
    held = holders(PUBLISHED, split)
    assert [held.serving(0, at, "r") for at in (39, 40, 59, 60)] == ["A", None, None, "A"]
    assert split.parts("A", "r.1", 50) and not split.parts("A", "c", 50) and not split.parts("A", "A", 50)


def test_a_guard_before_the_deadline_is_enough_and_too_late_is_not() -> None:
    early = holders("A 0 join G1 guard=10\n" + PUBLISHED + "A 90 collect c:1")
    assert early.until(0, 100, 0) and not early.until(0, 101, 0)
    assert not holders("c 10 publish c:1 G1\nc 20 crash\nA 120 arrive c:1 from=c").until(0, 100, 0)


def test_nobody_asks_itself_and_a_subscriber_with_a_copy_serves_nobody() -> None:
    assert holders(PUBLISHED).serving(0, 50, "A") is None
    assert holders("A 10 publish A:1 G1\nA 11 crash\ns 20 arrive A:1 from=A").surviving(0) is False


def test_a_crash_that_was_survived_lets_go_of_nothing() -> None:
    assert holders(PUBLISHED + "A 30 crash\nA 40 restart").serving(0, 50, "r") == "A"


def test_in_reach_is_a_chain_of_correct_brokers() -> None:
    three = "A 0 join G1\nB 0 join G1\nC 0 join G1\ns 0 join G1 from=A\nB 10 publish B:1 G1\n"
    split = Partition((frozenset("A"), frozenset("B")), 0, 100)
    assert holders(three, split).serving(0, 50, "A") == "B"  # over C
    assert holders(three + "C 20 crash", split).serving(0, 50, "A") is None  # a client does not pass anything on
    far = Partition((frozenset("A"), frozenset("BC")), 0, 100)
    assert holders(three, far).serving(0, 50, "A") is None
    assert holders(three, far).serving(0, 100, "A") == "B"


def test_a_name_with_a_dot_is_tried_whole_before_it_is_an_incarnation() -> None:
    split = Partition((frozenset(["A"]), frozenset(["B.x"])), 0, 100)
    assert split.parts("A", "B.x", 50) and split.parts("A.1", "B.x.2", 50) and not split.parts("A", "B", 50)
    inside = Partition((frozenset(["B"]), frozenset(["B.x"])), 0, 100)
    assert inside.parts("B.1", "B.x", 50)
