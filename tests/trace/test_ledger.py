"""The bookkeeping: which arrivals count, what the logical deadline is, what a copy is."""

from __future__ import annotations

from antecede.trace.history import History
from antecede.trace.ledger import Ledger
from antecede.trace.pairs import Receiver
from tests.trace.tables import rows

PUBLISHED = """
p 1 publish p:1 G1 due=500
p 2 publish p:2 G1 due=90
p 3 publish p:3 G1
q 1 publish q:1 G1 due=10
"""


def after(text: str, name: str = "c") -> tuple[Ledger, History]:
    """The ledger of `name` when all its rows have happened."""
    history = History(rows(PUBLISHED + text))
    receiver = Receiver(name, history)
    ledger = Ledger(receiver, history)
    for row in receiver.rows:
        ledger.take(row)
    return ledger, history


def test_the_logical_deadline_is_the_earliest_of_itself_and_its_arrived_successors() -> None:
    for arrived, expected in (("p:1", 500), ("p:2", 90), ("p:3", 500), ("q:1", 500)):
        ledger, history = after(f"c 0 join G1 from=A\nc 5 arrive {arrived} from=A")
        assert ledger.logical_deadline_us(history.index["p:1"]) == expected
    ledger, history = after("c 0 join G1 from=A")
    assert ledger.logical_deadline_us(history.index["p:3"]) is None


def must(text: str) -> set[str]:
    ledger, history = after(text)
    return {history.messages[i].id for i in ledger.must}


def test_arrivals_that_count() -> None:
    assert must("c 0 join G1 from=A\nc 5 arrive p:1 from=A") == {"p:1"}
    assert must("c 0 arrive p:1 from=A\nc 5 join G1 from=A") == set()  # before the join
    assert must("c 0 join G1 from=A\nc 5 arrive p:1 from=B") == set()  # not a broker of its own
    assert must("c 0 join G1 from=A\nc 5 arrive p:1 from=A\nc 6 move from=B") == set()  # before the move
    assert must("c 0 join G1 from=A\nc 5 move from=B\nc 6 arrive p:1 from=A") == set()  # from the old home
    assert must("c 0 join G1 from=A\nc 5 move from=B\nc 6 arrive p:1 from=B") == {"p:1"}
    assert must("c 0 join G1 from=A\nc 5 arrive p:1 from=A\nc 6 leave G1") == set()
    assert must("c 0 join G1 cut=p:1 from=A\nc 5 arrive p:1 from=A") == set()  # behind the cut


def test_in_time_is_less_the_guard() -> None:
    assert must("c 0 join G1 guard=10 from=A\nc 80 arrive p:2 from=A") == {"p:2"}
    assert must("c 0 join G1 guard=10 from=A\nc 81 arrive p:2 from=A") == set()


def test_a_subscriber_minds_the_lifetime_too() -> None:
    history = History(rows("p 1 publish p:1 G1 due=90 exp=50"))
    assert history.messages[0].due_us("subscriber") == 50
    assert history.messages[0].due_us("broker") == 90


def test_what_is_held_at_a_move_is_remembered() -> None:
    ledger, history = after(
        "c 0 join G1 from=A\nc 5 arrive p:1 from=A\nc 6 arrive p:3 from=A\nc 6 deliver p:3\nc 7 move from=B"
    )
    assert ledger.moved_away == 1 << history.index["p:1"]


def test_neither_a_duplicate_nor_a_foreign_copy_settles_or_excuses_anything() -> None:
    ledger, _ = after("c 0 join G1 from=A\nc 5 arrive p:1 from=A\nc 5 discard p:1 duplicate\nc 6 discard q:1 foreign")
    assert ledger.settled == 0 and ledger.discarded == 0


def test_after_a_return_only_what_the_broker_had_out_since_counts() -> None:
    # The copy may be one of the first attachment, which the client must ignore.
    back = "c 0 join G1 from=A\nc 5 move from=B\nc 9 move from=A\n"
    assert must(back + "A 8 deliver p:1\nc 20 arrive p:1 from=A") == set()
    assert must(back + "A 10 deliver p:1\nc 20 arrive p:1 from=A") == {"p:1"}
