"""What a client remembers of what it had: causes that may be named, refused, or forgotten."""

from __future__ import annotations

import pytest

from antecede.core import had
from antecede.core.had import Had
from antecede.errors import InputError
from tests.core.kit import grouped


def some(*names: str) -> Had:
    one = Had("S")
    for name in names:
        one.add(grouped(name, covers={"Z@G1": 2}))
    return one


def test_stamps_of_what_it_had() -> None:
    stamps = some("X:1", "Y:1").stamps_of(["Y:1"])
    assert stamps is not None and [stamp.own for stamp in stamps] == [(("Y@G1", 1),)]
    with pytest.raises(InputError, match="S never had 'X:2'"):
        some("X:1").stamps_of(["X:2"])


def test_forgotten_ones_are_not_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(had, "REMEMBERED", 2)
    one = some("X:1", "X:2", "X:3", "Y:1")
    assert one.stamps_of(["X:2"]) is None and one.stamps_of(["Y:1", "X:3"]) is not None
    with pytest.raises(InputError):
        one.stamps_of(["Q:1"])


def test_what_a_message_follows_and_what_follows_it() -> None:
    one = some("X:1")
    assert one.causes_of("X:1") == ("Z:2",) and one.causes_of("Q:1") == ()
    assert one.recent_after(grouped("Z:2").stamp) == ("X:1",) and one.recent_after(grouped("Z:3").stamp) == ()
