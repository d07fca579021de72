"""What is refused is refused before anything has changed; what is published twice to a topic is in it once."""

from __future__ import annotations

from typing import Any

import pytest

from antecede.core.effects import Deliver
from antecede.core.frames import Data
from antecede.core.message import Publication
from antecede.core.publishing import asked_for
from antecede.errors import InputError
from tests.core.kit import frame_to, machine, view_of

PUBLISHERS = [("solicit", "member"), ("graph", "broker"), ("pull", "broker"), ("home", "subscriber")]


def alone(recipe: str, role: str, **knobs: Any) -> Any:
    one = machine(recipe, "A", role, "G1" if role != "subscriber" else "", **knobs)
    one.view(view_of({"A": "G1", "B": "G1"}), 0)
    one.start(0)
    return one


@pytest.mark.parametrize(("recipe", "role"), PUBLISHERS)
@pytest.mark.parametrize(
    "bad",
    [
        {"topics": ()},
        {"topics": ("a\0b",)},
        {"topics": (["a", "b"],)},
        {"topics": "G1"},
        {"payload": "text"},
        {"payload": None},
        {"after": "B:1"},
        {"deadline_us": 2**63},
        {"order": "odd"},
    ],
)
def test_a_refusal_costs_nothing(recipe: str, role: str, bad: dict[str, Any]) -> None:
    one = alone(recipe, role)
    what = {"topics": ("G1",), "payload": b"", **bad}
    with pytest.raises(InputError):
        one.publish(Publication(**what), 0)
    message, _ = one.publish(Publication(("G1",), b"", deadline_us=9_000_000), 0)
    assert message.seq == 1 and len(one.tops) == 1


@pytest.mark.parametrize("recipe", ["graph", "pull"])
def test_a_topic_that_is_named_twice_counts_once(recipe: str) -> None:
    """Held and taken again, it has one mark per stream."""
    a = alone(recipe, "broker")
    b = machine(recipe, "B", "broker", "G1")
    b.view(view_of({"A": "G1", "B": "G1"}), 0)
    b.start(0)
    _, first = a.publish(Publication(("G1",), b"", deadline_us=9_000_000), 0)
    message, second = a.publish(Publication(("G1", "G1"), b"", deadline_us=9_000_000), 0)
    assert message.topics == ("G1",)
    effects = b.receive(frame_to(second, "B", Data), "A", 1) + b.receive(frame_to(first, "B", Data), "A", 2)
    assert [e.message.id for e in effects if isinstance(e, Deliver)] == ["A:1", "A:2"]


def test_first_mistakes_are_answered_in_one_sentence() -> None:
    one = alone("home", "subscriber")
    with pytest.raises(
        InputError, match=r"^A payload is bytes, not a str: encode it first, e\.g\. text\.encode\(\)\.$"
    ):
        one.publish(Publication(("G1",), "text"), 0)
    with pytest.raises(InputError, match=r"^A topic is a str such as 'room/1', not a list\.$"):
        one.publish(Publication((["G1"],)), 0)
    with pytest.raises(InputError, match=r"^Causes are a list: publish after \['B:1'\]\.$"):
        one.publish(Publication(("G1",), b"", after="B:1"), 0)


def test_deadlines_are_kept_out_of_where_nothing_expires_and_asked_for_where_order_needs_them() -> None:
    with pytest.raises(InputError, match="Nothing expires here"):
        alone("solicit", "member", deadlines=False).publish(Publication(("G1",), b"", deadline_us=5), 0)
    for recipe in ("dcco", "delta"):
        with pytest.raises(InputError, match="needs a deadline"):
            alone(recipe, "member").publish(Publication(("G1",)), 0)


def test_which_orders_may_be_asked_for() -> None:
    assert asked_for(None, None, ("fifo", "none")) == ("fifo", ())
    assert asked_for("causal", ["p:1"], ("causal",)) == ("causal", ["p:1"])
    with pytest.raises(InputError, match="There is no order 'none' here: publish in causal or fifo"):
        asked_for("none", None, ("causal", "fifo"))
    with pytest.raises(InputError, match="A message of order none follows no message of others"):
        asked_for("none", [], ("causal", "none"))
