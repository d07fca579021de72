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


def test_a_client_serves_nobody_but_survives() -> None:
    held = holders("c 10 publish c:1 G1\nr 0 join G1")
    assert held.serving(0, 50, "r") is None and not held.until(0, 50, 0) and held.surviving(0)
    assert not holders("c 10 publish c:1 G1\nc 11 crash\nr 0 join G1").surviving(0)


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
