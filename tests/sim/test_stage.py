"""Commands, what they say, and what cannot be done."""

from __future__ import annotations

import pytest

from antecede.core.frames import Attach, Data, Digest, Gone, Item, Items, Request
from antecede.core.message import Envelope, Message, Stamp
from antecede.errors import InputError
from antecede.sim.small import Small
from antecede.sim.stage import Stage, describe

ENVELOPE = Envelope(Message("A", 1, ("G1",)), Stamp((("A", 1),)))


@pytest.mark.parametrize(
    ("frame", "text"),
    [
        (Data((ENVELOPE,), answer=True), "data A:1 answer"),
        (Digest({"B": 2, "A": 1}, {}, reply=True), "digest offer A=1,B=2 reply"),
        (Request((("A", 0, 2),)), "request ranges (A 0 2)"),
        (Gone((ENVELOPE,)), "gone headers A:1"),
        (Items(2, (Item(1, 0, ENVELOPE), Item(2, 0, ENVELOPE, gone=True))), "items A:1 attachment 2 items 1,2(gone)"),
        (Attach(3, ("G1", "G2"), None), "attach attachment 3 filters G1,G2"),
    ],
)
def test_frames_in_words(frame: object, text: str) -> None:
    assert describe(frame) == text  # type: ignore[arg-type]


def test_what_follows_is_said_in_lines() -> None:
    stage = Stage(Small(members=2, messages=1))
    assert stage.do("A publishes G1") == ["publish A:1 to G1", "send data A:1 to B"]
    assert stage.do("B gets again data A:1 from A") == ["arrive A:1 from A", "deliver A:1 (causes)"]
    assert stage.do("B gets data A:1 from A") == ["arrive A:1 from A", "discard A:1 (duplicate)"]
    assert stage.do("A wakes") == ["send digest offer A=1 have A=1 reply to B"]
    assert stage.do("lost: digest offer A=1 have A=1 reply from A to B") == []
    assert not stage.under_way
    assert stage.verdict() == []


def test_copies_that_look_the_same_are_numbered() -> None:
    stage = Stage(Small(members=2, messages=1))
    for command in ("A publishes G1", "A wakes", "A wakes"):
        stage.do(command)
    _, one, two = stage.under_way
    assert (stage.name_of(one), stage.name_of(two)) == (one.text, f"{one.text} #2")
    stage.do(f"lost: {stage.name_of(two)} from A to B")
    assert stage.under_way[1] is one


def test_a_crash_and_who_learns_of_it() -> None:
    stage = Stage(Small(recipe="graph", at="S1=G1@B", messages=1))
    stage.do("A publishes G1,G2")
    assert stage.do("B crashes") == ["crash"] and stage.under_way == []
    lines = stage.do("S1 learns that B crashed")
    assert lines[0] == "leave of G1" and lines[-1] == "send attach attachment 2 filters G1 to A"
    rest = stage.do("the rest")
    assert "> A learns that B crashed" in rest and stage.verdict() == []


def test_with_one_clock_it_says_when() -> None:
    stage = Stage(Small(members=2, messages=1, clock="one"))
    stage.do("A publishes G1")
    assert stage.do("A wakes")[0] == "at 50 ms"


def test_an_end_with_something_left_to_happen_is_not_quiet() -> None:
    stage = Stage(Small(members=2, messages=1))
    stage.do("A publishes G1")
    assert stage.verdict() == []  # pending, not undelivered
    stage.do("lost: data A:1 from A to B")
    stage.actors[0].machine.rounds.at_us = None  # as if it never compared
    assert [finding.verdict for finding in stage.verdict()] == ["undelivered"]


@pytest.mark.parametrize(
    ("command", "word"),
    [
        ("A sings", "no command"),
        ("B publishes G1", "not what B does next"),
        ("A publishes G2", "not what A does next"),
        ("A moves to B", "not what A does next"),
        ("B gets data A:1 from A", "under way, but nothing"),
        ("lost: data A:1 from A to B", "under way"),
        ("B wakes", "does not wait"),
        ("Z wakes", "does not wait"),
        ("Z crashes", "no living process"),
        ("A learns that B crashed", "has not crashed"),
    ],
)
def test_what_cannot_be_done_is_refused(command: str, word: str) -> None:
    with pytest.raises(InputError, match=word):
        Stage(Small(members=2, messages=1)).do(command)
