"""Every run is tried (a dumb twin agrees), what is promised holds, and planted faults are found."""

from __future__ import annotations

from typing import Any

import pytest

from antecede.core.deadline.inbox import Inbox
from antecede.core.message import Envelope, Message, Stamp
from antecede.core.order.graph import GraphWriter
from antecede.core.order.numbered import IndexReader
from antecede.core.order.reader import Reader
from antecede.core.order.vector import VectorWriter
from antecede.core.recipes import RECIPES, build
from antecede.core.repair.comparing import Rounds
from antecede.sim import explore as module
from antecede.sim.explore import Explored, explore
from antecede.sim.small import TIMED, Small
from antecede.sim.transcript import replay, transcribe
from antecede.trace.check import check
from tests.sim.twin import Rows, Twin, run_of

# -- complete ------------------------------------------------------------------------------------------------------

TWINS: list[dict[str, Any]] = [
    {"members": 2, "messages": 2, "losses": 0},
    {"members": 2, "messages": 1, "losses": 1, "duplicates": 1},
    {"members": 2, "messages": 1, "losses": 0, "slow": 1},
    {"members": 2, "messages": 1, "losses": 0, "early": 1},
    {"members": 2, "messages": 2, "losses": 1, "deadline_ms": 60},
    {"members": 2, "messages": 2, "losses": 1, "script": "A G1; B G1 after A:1"},
    {"members": 3, "messages": 1, "losses": 0},
    {"recipe": "cbcast", "brokers": 1, "groups": "G1=A", "subscribers": 1, "messages": 2, "losses": 1, "duplicates": 0},
]


@pytest.mark.parametrize("knobs", TWINS, ids=lambda knobs: " ".join(f"{k}={v}" for k, v in knobs.items()))
def test_a_dumb_twin_that_merges_nothing_sees_the_same_runs(
    knobs: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: set[Rows] = set()

    def note(rows: Any, **kwargs: Any) -> Any:
        seen.add(run_of(rows))
        return check(rows, **kwargs)

    monkeypatch.setattr(module, "check", note)
    small = Small(**knobs)
    found = explore(small)
    assert found.complete and not found.findings
    twin = Twin(small)
    assert twin.all() == seen
    assert twin.count > found.ends


# -- clean ---------------------------------------------------------------------------------------------------------

SMALL: list[dict[str, Any]] = [
    {"recipe": "solicit", "messages": 2},
    {"recipe": "solicit", "messages": 2, "deadline_ms": 100},
    {"recipe": "solicit", "members": 2, "slow": 1, "deadline_ms": 100, "script": "A G1; A G1 within 30"},
    {"recipe": "solicit", "messages": 1, "losses": 0, "crashes": 1},
    {"recipe": "graph", "messages": 2},
    {"recipe": "graph", "messages": 2, "deadline_ms": 100},
    {"recipe": "graph", "messages": 1, "losses": 0, "crashes": 1},
    {"recipe": "cbcast", "messages": 2},
    {"recipe": "pull", "messages": 1, "fanout": 1, "at": "S1=G1@A;S2=G1@A"},
    {"recipe": "rounds", "messages": 2},
    {"recipe": "colour", "messages": 2},
    {"recipe": "colour-eager", "messages": 2},
    {"recipe": "graph+lazy", "messages": 1, "fanout": 1, "at": "S1=G1@A;S2=G1@A"},
    {"recipe": "home", "messages": 1},
    {"recipe": "home", "messages": 1, "deadline_ms": 100},
    {"recipe": "home-plain", "messages": 1},
    {"recipe": "dcco", "messages": 2, "deadline_ms": 100},
]


@pytest.mark.parametrize("knobs", SMALL, ids=lambda knobs: " ".join(f"{k}={v}" for k, v in knobs.items()))
def test_nothing_goes_wrong_in_any_run(knobs: dict[str, Any]) -> None:
    found = explore(Small(**knobs))
    assert found.complete and found.judged and found.states > found.ends > 0
    assert not found.findings, transcribe(found)


def test_every_recipe_can_be_explored() -> None:
    for name, recipe in RECIPES.items():
        deadline_ms = 100 if recipe.deadlines in TIMED else None
        found = explore(Small(recipe=name, messages=1, losses=0, deadline_ms=deadline_ms), max_states=10_000)
        assert found.complete or recipe.chance, name  # what chance spreads may go on for ever
        assert not found.findings, name


def test_a_search_gives_up_beyond_what_it_was_allowed() -> None:
    heard: list[int] = []
    found = explore(Small(), max_states=500, watch=lambda so_far: heard.append(so_far.states))
    assert not found.complete and 500 < found.states < 600 and heard == sorted(heard)


# -- planted faults ------------------------------------------------------------------------------------------------


def shortest(**knobs: Any) -> tuple[Explored, list[str]]:
    """What was found, and its commands; replaying the transcript finds the same."""
    found = explore(Small(**knobs))
    assert found.findings, f"{found.states} states, nothing found"
    text = transcribe(found)
    again = replay(text)
    assert not again.differs
    if "comes to rest" not in found.findings[0].text:
        assert found.findings[0].verdict in [f.verdict for f in again.findings]
    return found, [line for line in text.splitlines()[1:] if not line.startswith((" ", "verdict"))]


def test_an_order_per_sender_holds_and_no_more_is_promised() -> None:
    assert explore(Small(recipe="fifo", members=2, script="A G1; A G1; B G1")).findings == []
    assert explore(Small(recipe="fifo", messages=2)).findings == []
    assert explore(Small(recipe="ackcast", members=2, messages=2)).findings == []


PRINTED: list[tuple[str, str, dict[str, Any], str]] = [
    ("solicit", "printed", {"messages": 2, "losses": 1}, "undelivered"),
    ("solicit", "printed", {"messages": 3, "losses": 0}, "duplicate"),
    ("solicit", "charitable", {"messages": 3, "losses": 0}, "duplicate"),
    ("graph", "printed-a", {"messages": 2, "losses": 0, "subscribers": 1}, "unexplained"),
    (
        "graph",
        "printed-b",
        {"at": "S1=G1@B", "script": "A G1,G2; B G2 after A:1; A G1 after B:1", "losses": 1},
        "gap",
    ),
    ("pull", "printed-a", {"messages": 2, "losses": 0}, "undelivered"),
    ("pull", "printed-b", {"messages": 3, "losses": 0}, "inversion"),
    ("pull", "printed-c", {"messages": 3, "losses": 0}, "inversion"),
    ("pull", "printed-c", {"messages": 2, "losses": 0, "duplicates": 1}, "duplicate"),
    ("rounds", "printed", {"messages": 3, "losses": 0}, "stuck"),
    ("rounds", "described", {"messages": 3, "losses": 0}, "stuck"),
    ("colour", "printed", {"messages": 2, "losses": 0}, "stuck"),
    ("colour", "charitable", {"messages": 3, "losses": 0}, "stuck"),
]


@pytest.mark.parametrize(("recipe", "reading", "knobs", "verdict"), PRINTED)
def test_what_is_wrong_with_each_printed_reading_is_found(
    recipe: str, reading: str, knobs: dict[str, Any], verdict: str
) -> None:
    found, commands = shortest(recipe=recipe, reading=reading, **knobs)
    assert verdict in [f.verdict for f in found.findings] and len(commands) <= 40


def test_every_printed_reading_is_among_them() -> None:
    printed = {(name, reading) for name, recipe in RECIPES.items() for reading in recipe.readings[1:]}
    assert printed <= {(recipe, reading) for recipe, reading, _, _ in PRINTED}


def test_without_causes_order_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = VectorWriter.stamp

    def stamp(self: VectorWriter, message: Message, after: Any) -> Stamp:
        return Stamp(honest(self, message, after).own, (), {}, 0)

    monkeypatch.setattr(VectorWriter, "stamp", stamp)
    found, commands = shortest(messages=2, losses=0)
    assert [f.verdict for f in found.findings] == ["inversion"]
    assert commands == [
        "A publishes G1",
        "B gets data A:1 from A",
        "B publishes G1",
        "C gets data B:1 from B",
        "C gets data A:1 from A",
    ]


def test_without_the_duplicate_test_a_repeat_is_delivered_or_misjudged(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Inbox.accept

    def accept(self: Inbox, envelope: Envelope, now_us: int) -> None:
        self.seen.pop(envelope.message.id, None)
        honest(self, envelope, now_us)

    monkeypatch.setattr(Inbox, "accept", accept)
    _, commands = shortest(messages=2, losses=0, duplicates=1)
    assert len(commands) <= 7 and any("gets again" in command for command in commands)


def test_without_the_test_of_what_lies_behind_order_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Reader, "stale", lambda self, stamp: False)
    found, commands = shortest(members=2, losses=1, slow=1, deadline_ms=100, script="A G1; A G1 within 30")
    assert found.findings[0].verdict == "inversion" and len(commands) <= 9


def test_without_the_projection_a_subscriber_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = GraphWriter._needs

    def needs(self: GraphWriter, entry: Any, interest: Any) -> Any:
        direct = {mark for pred in entry.preds for mark in pred.marks}
        return tuple(mark for mark in honest(self, entry, interest) if mark in direct)

    monkeypatch.setattr(GraphWriter, "_needs", needs)
    found, commands = shortest(recipe="graph", at="S1=G1@B", losses=0, script="A G1,G2; B G2 after A:1; A G1 after B:1")
    assert (found.findings[0].verdict, found.findings[0].process) == ("gap", "S1")
    assert commands[:8] == [
        "A publishes G1,G2",
        "B gets data A:1 from A",
        "B publishes G2",
        "A gets data B:1 from B",
        "A publishes G1",
        "B gets data A:2 from A",
        "S1 gets data A:2 from B",
        "S1 gets data A:1 from B",
    ]


def test_without_digests_a_lost_tail_is_never_delivered(monkeypatch: pytest.MonkeyPatch) -> None:
    def wake(self: Rounds, now_us: int) -> None:
        self.at_us = None

    monkeypatch.setattr(Rounds, "wake", wake)
    found, commands = shortest(messages=1)
    assert {f.verdict for f in found.findings} == {"undelivered"} and len(commands) <= 6


def test_without_attachment_numbers_a_client_that_moves_takes_old_items(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(IndexReader, "restart", lambda self: None)
    found, _ = shortest(recipe="home", losses=0, script="S2 G1; S1 -> B; S2 G1", at="S1=G1@A;S2=G1@B")
    assert found.findings[0].process == "S1"


def test_a_machine_that_breaks_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Inbox.wake

    def wake(self: Inbox, now_us: int) -> None:
        if self.held:
            raise ValueError("held\nand more")
        honest(self, now_us)

    monkeypatch.setattr(Inbox, "wake", wake)
    found, _ = shortest(messages=2)
    assert found.findings[0].text == "raised ValueError: held"


def test_a_timer_that_is_never_done_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Inbox, "wake", lambda self, now_us: None)  # what is due stays due
    found, commands = shortest(members=2, losses=2, deadline_ms=100, script="A G1; A G1 within 30")
    assert "comes to rest" in found.findings[0].text and len(commands) < 12


def test_other_readings_are_explored_too() -> None:
    built: set[str] = set()

    def make(recipe: Any, reading: str, **kwargs: Any) -> Any:
        built.add(reading)
        return build(recipe, "repaired", **kwargs)

    assert explore(Small(reading="printed-a", messages=1, losses=0), make=make).complete
    assert built == {"printed-a"}
