"""Filters that change while a client is attached: what it says, what it is owed, and what it drops."""

from __future__ import annotations

from typing import Any

from antecede.core.frames import Attach, Attached, Grow, Grown, Item
from tests.core.home.test_client import client, item, items
from tests.core.kit import frame_to, grouped, told


def grown(change: int, *given: Item, first: int = 1, cut: tuple[str, ...] = (), number: int = 1) -> Grown:
    return Grown(number, change, first, cut, given)


def change(one: Any, filters: str, now: int = 2, at: str = "H") -> list[str]:
    return told(one.subscribe(tuple(filters.split()), (at,), now))


def test_it_says_what_it_wants_with_its_past_and_how_far_it_has_come() -> None:
    one = client()
    items(one, item(1, grouped("X:7")))
    frame = frame_to(one.subscribe(("G1", "G2"), ("H",), 3), "H", Grow)
    assert (frame.attachment, frame.change, frame.filters, frame.index) == (1, 1, ("G1", "G2"), 1)
    assert frame.frontier == {"X@G1": 7}


def test_what_is_gained_is_owed_when_the_home_says_where_it_begins() -> None:
    one = client()
    assert change(one, "G1 G2") == ["grow to H"]
    assert told(one.receive(grown(1, cut=("X:4",)), "H", 3)) == ["join at H cut X:4"]
    assert one.receive(grown(1, cut=("X:4",)), "H", 4) == [] and one.growing.at_us is None


def test_each_group_begins_where_its_home_began_there_too() -> None:
    began = ("X:4",), (("G2", ("Y:2",)),)
    for answer, at in (Grown(1, 1, 1, began[0], (), began[1]), "H"), (Attached(2, {}, *began), "N"):
        one = client()
        change(one, "G1 G2 G3", at=at)
        assert told(one.receive(answer, at, 3)) == [f"join at {at} cut X:4,Y:2", f"join at {at} cut X:4"]


def test_it_asks_again_until_it_is_told() -> None:
    one = client()
    change(one, "G1 G2", now=2)
    assert one.next_wake() == 22 and told(one.wake(22)) == ["grow to H"]
    one.receive(grown(1), "H", 23)
    assert one.next_wake() is None


def test_to_want_the_same_again_changes_nothing() -> None:
    one = client()
    assert change(one, "G1") == [] and one.growing.change == 0


def test_what_is_lost_is_lost_at_once_and_what_is_held_of_it_lies_behind() -> None:
    one = client()
    change(one, "G1 G2")
    one.receive(grown(1), "H", 3)
    items(one, item(2, grouped("X:2", "G2"), 1), item(3, grouped("X:3", "G1"), 2))
    assert change(one, "G1", now=4) == ["leave G2", "discard X:2 foreign", "deliver X:3 causes", "grow to H"]
    assert items(one, item(4, grouped("X:4", "G2"))) == ["discard X:4 foreign"]
    assert one.behind() == 0 and one.reader.behind("", 4), "its number lies behind, or nothing after it could be done"


def test_what_was_not_wanted_when_it_came_lies_behind_whatever_is_wanted_later() -> None:
    """Its home does not send it again: it thinks, perhaps, that it was wanted all the time."""
    one = client()
    change(one, "G1 G2")
    one.receive(grown(1), "H", 3)
    items(one, item(2, grouped("X:2", "G2"), 1))
    change(one, "G1", now=4)
    items(one, item(3, grouped("Y:3", "G2")), item(4, grouped("X:1", "G2")))
    change(one, "G1 G2", now=5)
    assert told(one.receive(grown(3, cut=("X:1", "Z:9")), "H", 6)) == ["join at H cut X:2,Y:3,Z:9"]
    change(one, "G1", now=7)
    change(one, "G1 G2", now=7)
    one.move(("N",), 8)
    assert told(one.receive(Attached(2, {}, ("X:1",)), "N", 9)) == ["join at N cut X:1"], "another home looks itself"


def test_another_copy_of_what_was_not_wanted_is_a_repeat() -> None:
    one = client()
    items(one, item(1, grouped("X:1", "G2")))
    change(one, "G1 G2")
    one.receive(grown(1, first=2), "H", 3)
    assert items(one, item(1, grouped("X:1", "G2"))) == ["discard X:1 duplicate"]
    assert items(one, item(2, grouped("X:1", "G2"))) == ["deliver X:1 causes"], "under a new number it is new"


def test_an_answer_to_an_older_change_confirms_what_is_still_wanted_of_it() -> None:
    one = client()
    change(one, "G1 G2")
    change(one, "G2 G3")
    lines = told(one.receive(grown(1, item(1, grouped("X:1", "G2")), item(2, grouped("X:2", "G1"))), "H", 3))
    assert lines == ["join at H cut ", "deliver X:1 causes", "discard X:2 foreign"]
    assert one.growing.owed.filters == ("G2",) and one.growing.at_us is not None
    assert told(one.receive(grown(2, cut=("X:1",)), "H", 4)) == ["join at H cut X:2"]
    assert one.growing.owed.filters == ("G2", "G3")
    assert one.receive(grown(1), "H", 5) == [], "an answer that comes late confirms nothing"


def test_what_was_not_wanted_in_between_begins_when_it_is_wanted_again() -> None:
    """Its home did not send it meanwhile."""
    one = client()
    for filters in ("G1 G2 G3", "G1 G3", "G1 G2 G3"):
        change(one, filters)
    assert told(one.receive(grown(1, cut=("X:1",)), "H", 3)) == ["join at H cut X:1"]
    assert one.growing.owed.filters == ("G1", "G3")
    one.receive(grown(3, cut=("X:9",)), "H", 4)
    assert one.growing.owed.filters == ("G1", "G3", "G2")


def test_what_was_numbered_before_the_change_is_missed_then() -> None:
    one = client(deadlines=False)
    change(one, "G1 G2", now=2)
    one.receive(grown(1, first=3), "H", 3)
    assert {mark[1] for mark in one.wants.wants} == {1, 2}


def test_another_attachment_says_what_is_wanted_and_confirms_it() -> None:
    one = client()
    change(one, "G1 G2")
    effects = one.move(("N",), 3)
    assert told(effects) == ["move to N cut ", "attach to N"] and one.growing.at_us is None
    assert frame_to(effects, "N", Attach).change == 1
    assert told(one.receive(Attached(2, {}, ("X:5",)), "N", 4)) == ["join at N cut X:5"]
    assert frame_to(one.move(("H",), 5), "H", Attach).change == 0, "nothing is left to confirm"


def test_who_wants_something_else_elsewhere_moves_there() -> None:
    one = client()
    assert change(one, "G2", at="N") == ["leave G1", "attach to N"], "it is owed nothing that could move"
    assert told(one.receive(Attached(2, {}, ("X:5",)), "N", 4)) == ["join at N cut X:5"]


def test_who_left_and_comes_back_is_owed_what_comes_then() -> None:
    one = client()
    assert told(one.unsubscribe(2)) == ["leave G1", "detach to H"]
    effects = one.subscribe(("G1",), ("H",), 3)
    assert told(effects) == ["attach to H"] and frame_to(effects, "H", Attach).frontier is not None
    assert told(one.receive(Attached(3, {}, ("X:5",)), "H", 4)) == ["join at H cut X:5"]


def test_what_came_late_by_one_home_is_a_repeat_by_the_next_and_lies_behind() -> None:
    one = client(guard_us=5)
    assert items(one, item(1, grouped("X:1", deadline_us=10)), now=6) == ["discard X:1 late"]
    one.move(("N",), 7)
    lines = items(one, item(1, grouped("X:1", deadline_us=10)), frm="N", number=2, now=8)
    assert lines == ["discard X:1 duplicate"] and one.behind() == 1


def test_nothing_is_delivered_for_a_group_of_which_it_is_not_known_where_it_begins() -> None:
    """It was sent for G3, wanted for a moment; for G2 it lies behind where that begins."""
    one = client()
    change(one, "G1 G3")
    change(one, "G2")
    both = item(1, grouped("X:1", "G2", "G3"))
    assert told(one.receive(grown(1, both), "H", 3)) == ["discard X:1 foreign"]
    assert told(one.receive(grown(2, both, item(2, grouped("X:2", "G2"))), "H", 4)) == [
        "join at H cut X:1", "discard X:1 duplicate", "deliver X:2 causes",
    ]  # fmt: skip


def test_what_is_held_for_a_group_that_was_left_is_not_kept_for_one_that_has_not_begun() -> None:
    one = client()
    items(one, item(2, grouped("X:2", "G1", "G2"), 1))
    assert change(one, "G2", now=4) == ["leave G1", "discard X:2 foreign", "grow to H"]


def test_of_what_is_not_wanted_nothing_is_said_when_it_is_gone() -> None:
    one = client(deadlines=False)
    lost = item(1, grouped("X:1", "G2"))
    lost.gone = True
    assert items(one, lost, lost) == [] and one.behind() == 1
    copies = [item(1, grouped("X:1", "G2")) for _ in range(2)]
    assert items(one, *copies) == ["discard X:1 foreign", "discard X:1 duplicate"], "the first that came, and another"


def test_what_was_wanted_as_part_of_more_goes_on_by_itself() -> None:
    """From a/# to a/b: what is on its way or held is owed, from where a/# began."""
    one = client()
    change(one, "a/#")
    one.receive(grown(1, item(1, grouped("X:1", "a/b")), cut=("Y:4",)), "H", 3)
    items(one, item(3, grouped("X:3", "a/b"), 2))
    assert change(one, "a/b", now=4) == ["join at H cut X:1,Y:4", "leave a/#", "grow to H"]
    assert items(one, item(2, grouped("X:2", "a/b"))) == ["deliver X:2 causes", "deliver X:3 causes"]
    assert told(one.receive(grown(2), "H", 5)) == [] and one.growing.owed.filters == ("a/b",)


def test_what_is_now_wanted_as_part_of_more_goes_on() -> None:
    """From G1 to everything: G1 is not left meanwhile, and again by itself it is just the same."""
    one = client()
    assert change(one, "#") == ["grow to H"]
    assert items(one, item(1, grouped("X:1", "G1")), item(2, grouped("X:2", "G2"))) == [
        "deliver X:1 causes", "discard X:2 foreign",
    ]  # fmt: skip
    assert told(one.receive(grown(1), "H", 3)) == ["join at H cut X:2"]
    assert change(one, "#", now=4) == [] and change(one, "G1", now=5) == ["leave #", "grow to H"]


def test_a_repeat_of_what_was_delivered_is_one_whatever_is_wanted_now() -> None:
    one = client()
    items(one, item(1, grouped("X:1", "G1", "G2")))
    change(one, "G2")
    assert items(one, item(1, grouped("X:1", "G1", "G2"))) == ["discard X:1 duplicate"]
    assert told(one.receive(grown(1), "H", 3)) == ["join at H cut "]


def saying(number: int, name: str, x: int, *after: int) -> Item:
    envelope = grouped(name)
    envelope.message.payload = b'{"x": %d}' % x
    return item(number, envelope, *after)


def test_a_narrower_predicate_holds_at_once_and_a_wider_one_when_the_home_says_so() -> None:
    one = client()
    assert told(one.subscribe(("G1#?payload.x > 1",), ("H",), 2)) == ["join at H cut X:9", "leave G1", "grow to H"]
    one.receive(grown(1), "H", 3)
    assert items(one, saying(1, "Y:1", 5), saying(2, "Y:2", 1)) == ["deliver Y:1 causes", "discard Y:2 foreign"]
    said = told(one.subscribe(("G1",), ("H",), 4))
    assert said == ["grow to H"], "what it had it keeps meanwhile"
    assert items(one, saying(3, "Y:3", 1)) == ["discard Y:3 foreign"]
    assert told(one.receive(grown(2, saying(4, "Y:4", 1), first=4), "H", 5))[0].startswith("join at H")


def test_what_is_held_and_no_longer_selected_lies_behind() -> None:
    one = client()
    items(one, saying(2, "Y:2", 1, 1), saying(3, "Y:3", 7, 2))
    assert told(one.subscribe(("G1#?payload.x > 5",), ("H",), 4)) == [
        "join at H cut X:9", "leave G1", "discard Y:2 foreign", "deliver Y:3 causes", "grow to H",
    ]  # fmt: skip
