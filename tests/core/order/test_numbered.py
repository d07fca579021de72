"""The delivery index: what the log of an attachment says, what its reader makes of it; causes as a walk finds them."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from antecede.core.frames import Grown, Item
from antecede.core.interest import Interest
from antecede.core.message import Envelope, Message, Stamp
from antecede.core.order.channel import OVERHEAD
from antecede.core.order.numbered import INDEX, WINDOW, IndexReader, Log, item_stamp
from tests.core.kit import grouped

STREAMS = ("p@G1", "p@G2", "q@G1")
MARKS = st.lists(st.tuples(st.sampled_from(STREAMS), st.integers(1, 12)), min_size=1, max_size=2)
STEPS = st.lists(st.tuples(MARKS, st.dictionaries(st.sampled_from(STREAMS), st.integers(0, 14)), st.integers(0, 8)))


def walked(log: Log, covers: dict[str, int]) -> int:
    """The slow and obvious way, before the next entry is appended."""
    after = 0
    for index, entry in log.entries.items():
        if any(n <= covers.get(stream, 0) for stream, n in entry.envelope.stamp.own):
            after |= 1 << (log.top - index)
    return after


@settings(max_examples=300, deadline=None)
@given(STEPS, st.booleans())
def test_causes_are_those_of_a_walk_through_the_log(
    steps: list[tuple[list[tuple[str, int]], dict[str, int], int]], in_turn: bool
) -> None:
    log = Log(1, Interest(("#",)), {}, (), plain=False)
    newest = dict.fromkeys(STREAMS, 0)
    for own, covers, ack in steps:
        marks = dict(own)
        if in_turn:
            marks = {stream: newest[stream] + n for stream, n in marks.items()}
            newest.update(marks)
        expected = walked(log, covers)
        item = log.append(Envelope(Message("p", 1, ("G1",)), Stamp(tuple(marks.items()), (), covers)))
        assert item is not None and item.after == expected
        log.acknowledge(log.top - ack)


def log(frontier: dict[str, int] | None = None, *, plain: bool = False) -> Log:
    return Log(1, Interest(("#",)), frontier or {}, (), plain=plain)


def after(item: Item | None) -> set[int]:
    assert item is not None
    return {n for _, n in item_stamp(item, 0).needs}


def test_indexes_are_contiguous_and_only_causes_are_named() -> None:
    """H6: a lower index is not a cause by itself."""
    one = log()
    assert after(one.append(grouped("p:1", "G1"))) == set()
    assert after(one.append(grouped("q:1", "G1"))) == set()
    assert after(one.append(grouped("r:1", "G1", covers={"p@G1": 1}))) == {1}
    assert after(one.append(grouped("s:1", "G1", covers={"p@G1": 1, "q@G1": 1, "r@G1": 1}))) == {1, 2, 3}
    assert list(one.entries) == [1, 2, 3, 4] and one.top == 4


def test_every_cause_is_named_not_only_the_nearest() -> None:
    """H7b: 2 -> 6 and 3 -> 4 must stay apart, and 1 -> 2 -> 3 names both."""
    one = log()
    one.append(grouped("p:1", "G1"))
    one.append(grouped("p:2", "G1", covers={"p@G1": 1}))
    assert after(one.append(grouped("p:3", "G1", covers={"p@G1": 2}))) == {1, 2}


def test_what_is_acknowledged_is_neither_kept_nor_named() -> None:
    one = log()
    for n in (1, 2, 3):
        one.append(grouped(f"p:{n}", "G1", covers={"p@G1": n - 1}))
    one.due()
    one.acknowledge(2)
    one.acknowledge(1)
    assert list(one.entries) == [3] and one.acked == 2
    assert after(one.append(grouped("p:4", "G1", covers={"p@G1": 3}))) == {3}
    one.due()
    one.acknowledge(99)
    assert not one.entries and one.acked == one.top == 4


def test_what_lies_in_the_clients_past_is_not_sent() -> None:
    """H2: a message is covered when its mark in any one group is."""
    one = log({"p@G1": 2})
    assert one.append(grouped("p:2", "G2", "G1")) is None and one.append(grouped("p:1", "G1")) is None
    assert one.top == 0 and not one.entries
    item = one.append(grouped("p:3", "G1"))
    assert item is not None and item.index == 1


def test_what_lies_behind_where_it_began_in_all_groups_it_wants_is_not_sent() -> None:
    """One group may have begun later than another, having lost everything: what is also in the other is owed."""
    one = Log(1, Interest(("G1", "G2")), {}, (), plain=False)
    one.began = {"p@G1": 2, "q@G2": 1}
    assert one.append(grouped("p:1", "G1")) is None and one.append(grouped("p:2", "G1", "G9")) is None
    item = one.append(grouped("p:2", "G1", "G2"))
    assert item is not None and one.append(grouped("q:1", "G2")) is None
    one.frontier = {"p@G1": 2}
    assert one.append(grouped("p:2", "G1", "G2")) is None, "its past it has delivered, in whatever group"


def test_plain_mode_takes_every_lower_index_for_a_cause() -> None:
    one = log(plain=True)
    assert after(one.append(grouped("p:1", "G1"))) == set()
    one.append(grouped("q:1", "G1"))
    assert after(one.append(grouped("r:1", "G1"))) == {1, 2}
    one.due()
    one.acknowledge(1)
    assert after(one.append(grouped("s:1", "G1"))) == {2, 3}


def test_the_stamp_of_an_item() -> None:
    envelope = grouped("p:1", "G1")
    stamp = item_stamp(Item(9, 0b1010_0001, envelope), 0)
    assert stamp.own == ((INDEX, 9),) and stamp.rank == 9 and stamp.extra is envelope.stamp
    assert set(stamp.needs) == {(INDEX, 8), (INDEX, 3), (INDEX, 1)}


def test_a_wide_bitmap_is_read_in_one_go() -> None:
    """Bit by bit it would take minutes."""
    wide = 2**20
    needs = item_stamp(Item(wide + 1, (1 << wide) - 1, grouped("p:1", "G1")), 0).needs
    assert len(needs) == wide and needs[0] == (INDEX, wide) and needs[-1] == (INDEX, 1)


def test_an_index_lies_behind_by_itself() -> None:
    reader = IndexReader()
    five, nine = Stamp(((INDEX, 5),), ((INDEX, 2),)), Stamp(((INDEX, 9),), ((INDEX, 5), (INDEX, 2)))
    assert reader.precedes(five, nine) and not reader.precedes(nine, five)
    assert not reader.precedes(Stamp(((INDEX, 4),)), nine), "lower, but no cause"
    reader.skipped(five.own, five)
    assert reader.behind(INDEX, 5) and not reader.behind(INDEX, 4) and not reader.behind(INDEX, 2)
    assert reader.missing(nine) == [(INDEX, 2)]
    reader.delivered(nine, forced=True)
    assert [n for n in range(1, 11) if reader.behind(INDEX, n)] == [2, 5, 9]
    reader.delivered(Stamp(((INDEX, 1),)), forced=False)
    assert reader.front == {INDEX: 2}


def test_missing_causes_that_are_reached_by_force_free_who_waited_for_them() -> None:
    reader = IndexReader()
    reader.watch((INDEX, 2), "waits")
    reader.delivered(Stamp(((INDEX, 9),), ((INDEX, 2),)), forced=True)
    assert reader.freed == ["waits"]


def test_how_many_numbers_have_not_come() -> None:
    reader = IndexReader()
    for n in (1, 2, 5, 7):
        reader.skipped(((INDEX, n),), None)
    assert [reader.lacking(n) for n in (0, 2, 4, 6, 9)] == [0, 0, 2, 3, 5]


def test_a_new_attachment_begins_at_one() -> None:
    reader = IndexReader()
    reader.watch((INDEX, 7), "waits")
    for n in (1, 3):
        reader.delivered(Stamp(((INDEX, n),)), forced=False)
    reader.restart()
    assert not reader.behind(INDEX, 1) and not reader.behind(INDEX, 3) and not reader.watched and not reader.freed


def test_an_unordered_message_has_no_causes_and_is_none() -> None:
    log = Log(1, Interest(("G1",)), {}, (), plain=False)
    loose = [
        Envelope(Message("p", n, ("G1",), order="none"), Stamp((("p~@G1", n),), (), {"p~@G1": n - 1})) for n in (1, 2)
    ]
    ordered = Envelope(Message("q", 1, ("G1",)), Stamp((("q@G1", 1),), (), {"p~@G1": 2}))
    after = [item.after for envelope in (*loose, ordered) if (item := log.append(envelope)) is not None]
    assert after == [0, 0, 0]


def test_what_a_client_is_about_to_pass_is_what_it_was_sent_and_all_before_it() -> None:
    """H8."""
    log = Log(1, Interest(("#",)), {}, (), plain=False)
    log.append(grouped("p:1", "G1", needs=[("q@G2", 7)]))
    log.append(grouped("p:2", "G1", needs=[("q@G2", 9)]))
    log.append(Envelope(Message("r", 3, ("G1",), order="none"), Stamp((("r~@G1", 3),), (), {"r~@G1": 2})))
    assert log.passed({"p@G1": 1, "z@G1": 4}, 1) == {"p@G1": 2, "q@G2": 9, "z@G1": 4}
    assert log.passed({"q@G2": 12}, 0) == {"p@G1": 2, "q@G2": 12}
    assert log.passed({}, 2) == {}


def test_a_change_may_be_unknown_until_something_numbered_since_is_acknowledged() -> None:
    log = Log(1, Interest(("#",)), {}, (), plain=False)
    assert log.unknown() is None
    log.append(grouped("p:1", "G1"))
    log.grown = Grown(1, 1, 2, ())
    log.append(grouped("p:2", "G1"))
    log.due()
    log.acknowledge(1)
    assert log.unknown() is log.grown
    log.acknowledge(2)
    assert log.unknown() is None


def test_only_so_many_are_on_their_way_and_name_no_more_causes_than_that() -> None:
    one = log()
    for n in range(1, WINDOW + 11):
        one.append(grouped(f"p:{n}", "G1", covers={"p@G1": n - 1}))
    assert [item.index for item in one.due()] == list(range(1, WINDOW + 1)) and one.due() == []
    one.acknowledge(WINDOW + 5)
    assert one.acked == one.sent == WINDOW, "what was not sent cannot be acknowledged"
    late = one.due()
    assert [item.index for item in late] == list(range(WINDOW + 1, WINDOW + 11))
    assert [after(item) for item in late] == [set(range(WINDOW + 1, item.index)) for item in late]


def test_the_lowest_of_each_stream_that_is_not_acknowledged() -> None:
    one = log()
    for name, group in (("p:3", "G1"), ("p:1", "G1"), ("q:7", "G2"), ("p:9", "G1")):
        one.append(grouped(name, group))
    assert one.lowest == {"p@G1": 1, "q@G2": 7}
    one.due()
    one.acknowledge(2)
    assert one.lowest == {"p@G1": 9, "q@G2": 7}
    one.append(grouped("q:5", "G2"))
    assert one.lowest == {"p@G1": 9, "q@G2": 5}


def test_what_lies_behind_is_no_cause_to_wait_for() -> None:
    given = Item(9, 0b1010_0001, grouped("p:1", "G1"))
    assert [item_stamp(given, k).needs for k in (0, 2, 7, 8, 11)] == [
        ((INDEX, 8), (INDEX, 3), (INDEX, 1)), ((INDEX, 8), (INDEX, 3)), ((INDEX, 8),), (), (),
    ]  # fmt: skip


def test_which_of_its_publications_a_client_keeps() -> None:
    """Up to a number those it named when it attached; above it all, until each is said to be safe."""
    log = Log(1, Interest(("G1",)), {}, (), plain=False)
    log.published, log.unacked = {"S": 3, "S~": 1}, {"S:2"}
    assert [n for n in range(1, 6) if log.keeps(("S@G1", n))] == [2, 4, 5]
    assert [n for n in range(1, 4) if log.keeps(("S~@G1", n))] == [2, 3]
    for one in ("S:5", "S:2", "S~:2"):
        log.safe(one)
    assert [n for n in range(1, 7) if log.keeps(("S@G1", n))] == [4, 6] and log._safe == {"S:5"}
    log.safe("S:4")
    assert log.published == {"S": 5, "S~": 2} and not log._safe


def test_a_repeat_is_not_remembered() -> None:
    reader = IndexReader()
    for n in (1, 2, 3, 2, 1):
        reader.skipped((("", n),), None)
    assert reader.front == {"": 3} and not reader.above


def test_what_waits_is_bounded_and_the_oldest_go() -> None:
    one = log()
    for n in range(1, 8):
        one.append(grouped(f"p:{n}", "G1"))
    assert one.shed(7, 10**9) == [] and one.bytes == 7 * OVERHEAD
    assert [item.index for item in one.shed(4, 10**9)] == [1, 2, 3] and one.low == one.sent == 3
    assert [item.index for item in one.shed(9, 2 * OVERHEAD)] == [4, 5] and one.bytes == 2 * OVERHEAD
    assert [item.index for item in one.shed(9, 1)] == [6], "the newest stays, however large"
    assert one.lowest == {"p@G1": 7} and list(one.entries) == [7]
    one.acknowledge(3)
    assert (one.acked, one.low) == (3, 6)
    assert [item.index for item in one.due()] == [7]
    one.acknowledge(7)
    assert (one.acked, one.low, one.bytes, one.lowest) == (7, 7, 0, {})


def test_what_was_sent_and_let_go_of_is_still_named_as_a_cause() -> None:
    """The client may have it, and hold it: what follows must not overtake it there."""
    one = log()
    one.append(grouped("p:1", "G1"))
    one.due()
    one.append(grouped("q:1", "G1", needs=[("p@G1", 1)]))
    one.shed(1, 10**9)
    (sent,) = one.due()
    assert (sent.index, sent.after) == (2, 0b1)


def test_beyond_the_window_causes_are_named_when_it_is_sent() -> None:
    one = log()
    for n in range(1, WINDOW + 3):
        one.append(grouped(f"p:{n}", "G1", needs=[("p@G1", n - 1)] if n > 1 else ()))
    assert one.entries[WINDOW].after == (1 << (WINDOW - 1)) - 1 and one.entries[WINDOW + 1].after == 0
    one.due()
    one.acknowledge(WINDOW - 1)
    assert [(item.index, item.after) for item in one.due()] == [(WINDOW + 1, 0b1), (WINDOW + 2, 0b11)]


def test_the_lowest_where_numbers_came_out_of_turn() -> None:
    one = log()
    for n in (3, 5, 4):
        one.append(grouped(f"p:{n}", "G1"))
    one.due()
    one.acknowledge(1)
    assert one.lowest == {"p@G1": 4}
    one.acknowledge(2)
    assert one.lowest == {"p@G1": 4}
