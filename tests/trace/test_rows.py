"""Effects as rows: what each says, and that bytes add up."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antecede.core.effects import (
    Answer,
    Ask,
    Collect,
    Deliver,
    Discard,
    Dropped,
    Effect,
    Expelled,
    Join,
    Leave,
    Move,
    Send,
    Shed,
)
from antecede.core.frames import Top
from antecede.core.message import Message
from antecede.trace.record import COLUMNS, KINDS
from antecede.trace.rows import facts, shares

SAID: list[tuple[Effect, list[dict[str, object]]]] = [
    (Send(("B",), Top(1, 1)), []),
    (Expelled("B"), []),
    (Deliver(Message("A", 1, ("G1",)), "causes"), [{"kind": "deliver", "message": "A:1", "reason": "causes"}]),
    (Discard("A:1", "late"), [{"kind": "discard", "message": "A:1", "reason": "late", "peer": None}]),
    (Dropped("room", "A:1", "late"), []),
    (Shed("A", 3), []),
    (Ask("B", ()), [{"kind": "ask", "message": None, "peer": "B"}]),
    (Answer("B", ("A:1", "A:2")), [{"kind": "answer", "message": f"A:{n}", "peer": "B"} for n in (1, 2)]),
    (
        Join(("G1",), "B", ("A:1",), 5),
        [{"kind": "join", "groups": ("G1",), "cut": ("A:1",), "guard_us": 5, "peer": "B"}],
    ),
    (Leave(("G1",)), [{"kind": "leave", "groups": ("G1",), "peer": None}]),
    (Move("B", ("A:1",)), [{"kind": "move", "cut": ("A:1",), "peer": "B"}]),
    (Collect("A:1"), [{"kind": "collect", "message": "A:1"}]),
]


@pytest.mark.parametrize(("effect", "rows"), SAID, ids=lambda value: type(value).__name__)
def test_an_effect_is_so_many_rows_and_says_this(effect: Effect, rows: list[dict[str, object]]) -> None:
    assert facts(effect) == rows
    for row in rows:
        assert row["kind"] in KINDS and set(row) <= {column.name for column in COLUMNS}


def test_every_effect_has_its_place() -> None:
    assert {type(effect) for effect, _ in SAID} == set(get_args(Effect))


@given(st.integers(0, 10_000), st.integers(1, 50))
def test_shares_add_up_and_differ_in_the_first_only(total: int, count: int) -> None:
    parts = list(shares(total, count))
    assert list(shares(total, 0)) == []
    assert sum(parts) == total and len(parts) == count and len(set(parts[1:])) <= 1 and parts[0] == max(parts)


def test_filters_of_one_predicate_are_one_row() -> None:
    filters = ("G1", "G2#?x > 1", "G3#?x > 1", "G4#?y > 1")
    said = [(fact["groups"], fact.get("where")) for fact in facts(Join(filters, "B", ("p:1",), 5))]
    assert said == [(("G1",), None), (("G2", "G3"), "x > 1"), (("G4",), "y > 1")]
    assert [(fact["groups"], fact.get("where")) for fact in facts(Leave(filters, "B"))] == said
    assert facts(Leave((), "B")) == [{"kind": "leave", "groups": (), "peer": "B"}]
