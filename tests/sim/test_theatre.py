"""How a small scenario begins, and the rows of a run."""

from __future__ import annotations

from typing import Any

import pytest

from antecede.core.recipes import build
from antecede.errors import InputError
from antecede.sim.small import Small
from antecede.sim.theatre import Constant, Ledger, Theatre


def test_everybody_begins_attached_and_at_rest() -> None:
    actors, rows = Theatre(Small(recipe="home")).begin()
    assert [{row[0] for row in mine} for mine in rows] == [{"join"}] * 4
    assert all(actor.next_wake() is None for actor in actors)


def test_who_cannot_begin_is_a_mistake_of_whoever_asked() -> None:
    def broken(*args: Any, **kwargs: Any) -> Any:
        machine: Any = build(*args, **kwargs)
        del machine.inbox
        return machine

    with pytest.raises(InputError, match="before anything has happened"):
        Theatre(Small(), broken).begin()


def test_dice_always_show_the_same() -> None:
    dice = Constant()
    assert dice.random() == dice.random() == 0.5 and dice.getrandbits(8) == 0


def test_rows_count_their_steps_and_take_the_tick_for_time() -> None:
    ledger = Ledger(Theatre(Small()))
    stub = ("arrive", None, "A:1", None, None, None, None, None, "A", None, None)
    ledger.note(1, [stub, stub], 7)
    ledger.note(1, [("arrive", 55, *stub[2:])], 8)
    ledger.end(1, "quiet", 9)
    assert [(row[1], row[3], row[4], row[5], row[14]) for row in ledger.rows] == [
        ("B", 0, 7, "arrive", 7),
        ("B", 1, 7, "arrive", 7),
        ("B", 2, 55, "arrive", 55),
        ("B", 3, 9, "end", 9),
    ]
