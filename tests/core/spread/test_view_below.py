"""A view of subscribers: its size, who is replaced, and that it holds only who is there."""

from __future__ import annotations

from random import Random

from antecede.core.spread.view_below import ViewBelow

ALL = tuple(f"S{i}" for i in range(20))


def view(size: int = 5, renewed: float = 0.4) -> ViewBelow:
    made = ViewBelow(Random(1), size=size, renewed=renewed)
    made.update(ALL)
    return made


def test_a_share_is_replaced_each_round_and_only_then() -> None:
    made = view()
    before = list(made.names)
    assert len(before) == 5 and set(made.draw(9, 0)) == set(before)
    made.draw(3, 1)
    after = set(made.names)
    assert len(after) == 5 and len(after - set(before)) == 2  # 40 % of five
    made.draw(3, 1)
    assert set(made.names) == after


def test_in_time_it_has_held_everybody_equally_often() -> None:
    made = view()
    counts = dict.fromkeys(ALL, 0)
    for number in range(1, 2001):
        for name in made.draw(2, number):
            counts[name] += 1
    assert all(140 < count < 260 for count in counts.values())


def test_a_part_of_a_subscriber_is_replaced_now_and_then() -> None:
    made = view(size=2, renewed=0.25)
    changes = 0
    for number in range(1, 401):
        before = set(made.names)
        made.draw(1, number)
        changes += len(before - set(made.names))
    assert 150 < changes < 250  # half of one in each round


def test_who_is_gone_leaves_it_and_few_are_all() -> None:
    made = view()
    made.update(ALL[:3])
    assert set(made.names) == set(ALL[:3]) and set(made.draw(9, 1)) == set(ALL[:3])
    made.update(())
    assert made.names == [] and made.draw(3, 2) == []


def test_nobody_is_replaced_where_nothing_is_renewed() -> None:
    made = view(renewed=0.0)
    before = list(made.names)
    for number in range(1, 9):
        made.draw(2, number)
    assert made.names == before
