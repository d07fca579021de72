"""What may happen in a state, and what it costs."""

from __future__ import annotations

from typing import Any

from antecede.sim.memo import Memo
from antecede.sim.moves import Action, Moves, State
from antecede.sim.small import Small
from antecede.sim.theatre import Theatre


class Walk:
    """One state after the other, by the names of actions."""

    def __init__(self, **knobs: Any) -> None:
        theatre = Theatre(Small(**knobs))
        self.memo = Memo(theatre)
        self.moves = Moves(self.memo)
        actors, rows = theatre.begin()
        numbers = [self.memo.save(a, self.memo.story(0, told)) for a, told in zip(actors, rows, strict=True)]
        self.state: State = self.moves.first(tuple(numbers))

    def kinds(self) -> list[str]:
        return [action[0] for action, _, _ in self.moves.following(self.state)]

    def actions(self, kind: str) -> list[Action]:
        return [action for action, _, _ in self.moves.following(self.state) if action[0] == kind]

    def go(self, *wanted: Any) -> Walk:
        self.state = next(state for action, state, _ in self.moves.following(self.state) if action == wanted)
        return self

    def arrive(self) -> Walk:
        return self.go("get", self.state[1][0])


def test_first_only_steps_may_be_taken() -> None:
    assert Walk(messages=2).actions("step") == [("step", 0), ("step", 1)] and Walk(messages=2).kinds() == ["step"] * 2


def test_timers_wait_until_nothing_else_can_happen() -> None:
    walk = Walk(messages=1, losses=0).go("step", 0)
    assert walk.kinds() == ["get", "get"]
    walk.arrive().arrive()
    assert walk.actions("wake") == [("wake", 0), ("wake", 1), ("wake", 2)] and set(walk.kinds()) == {"wake"}


def test_early_timers_do_not_wait_but_are_counted() -> None:
    walk = Walk(messages=1, losses=0, early=1).go("step", 0)
    assert walk.actions("wake") == [("wake", 0)]
    walk.go("wake", 0)
    assert not walk.actions("wake")


def test_nobody_has_a_second_turn_before_everybody_had_one() -> None:
    walk = Walk(messages=1, losses=0).go("step", 0).arrive().arrive().go("wake", 1)
    while walk.state[1]:
        walk.arrive()
    assert ("wake", 1) not in walk.actions("wake") and walk.actions("wake")


def test_with_one_clock_timers_go_off_in_order() -> None:
    walk = Walk(messages=1, losses=0, clock="one", members=2).go("step", 0).arrive()
    assert walk.actions("wake") == [("wake", 0), ("wake", 1)]  # due at the same instant
    walk.go("wake", 0)
    assert walk.moves.nows[walk.state[5]] == 50_000


def test_a_duplicate_stays_under_way_and_is_counted() -> None:
    walk = Walk(messages=1, losses=0, duplicates=1).go("step", 0)
    flight = walk.state[1][0]
    walk.go("again", flight)
    assert flight in walk.state[1] and not walk.actions("again")


def test_what_is_left_under_way_is_lost_or_slow_all_at_once() -> None:
    walk = Walk(messages=1, losses=1, slow=1).go("step", 0)
    one, other = walk.state[1]
    assert walk.actions("lose") == [("lose", (one,), (other,)), ("lose", (other,), (one,))]
    walk.arrive()
    assert walk.actions("lose") == [("lose", (), (other,)), ("lose", (other,), ())]
    walk.go("lose", (), (other,))
    assert walk.state[1:3] == ((), (other,)) and walk.actions("wake") and ("get", other) in walk.actions("get")
    walk.go("get", other)
    assert walk.state[2] == () and not walk.actions("lose")


def test_with_too_much_under_way_nothing_is_lost_yet() -> None:
    assert not Walk(messages=1, losses=1).go("step", 0).actions("lose")


def test_a_crash_takes_what_was_under_way_to_it_and_others_hear_of_it() -> None:
    walk = Walk(messages=1, losses=0, crashes=1).go("step", 0).go("crash", 1)
    under_way = [walk.memo.flights[f] for f in walk.state[1]]
    assert sorted((f.sender, f.to, f.data is None) for f in under_way) == [(0, 2, False), (1, 0, True), (1, 2, True)]
    assert not walk.actions("crash")
    word = next(f for f in walk.state[1] if walk.memo.flights[f].data is None)
    walk.go("get", word)
    assert walk.memo.situations[walk.state[0][walk.memo.flights[word].to]].actor.gone == {"B"}


def test_word_of_a_crash_is_never_lost_or_doubled() -> None:
    walk = Walk(messages=0, losses=2, duplicates=2, crashes=1).go("crash", 1)
    assert not walk.actions("lose") and not walk.actions("again") and len(walk.actions("get")) == 2
