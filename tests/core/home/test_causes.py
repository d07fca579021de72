"""Declared causes: had, forgotten, or never had."""

from __future__ import annotations

import pytest

from antecede.core.home import causes as module
from antecede.core.home.causes import Causes
from antecede.errors import InputError
from tests.core.kit import grouped


def test_what_was_had_is_known_until_so_many_came_since(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REMEMBERED", 2)
    causes = Causes("S")
    for name in ("X:1", "X:3", "Y:1", "X:7"):
        causes.remember(grouped(name))
    stamps = causes.stamps(["X:7", "Y:1"])
    assert stamps is not None and [stamp.own[0] for stamp in stamps] == [("X@G1", 7), ("Y@G1", 1)]
    assert causes.stamps(["X:3", "Y:1"]) is None, "forgotten: it widens"
    assert causes.stamps(["X:2"]) is None, "perhaps forgotten"
    for never in ("X:4", "Y:2", "Z:1", "X~:1", "X:0x1", "X", ""):
        with pytest.raises(InputError, match=f"^S never had '{never}': `after` names messages that were delivered or"):
            causes.stamps(["X:7", never])


def test_what_followed_a_message_not_long_ago(monkeypatch: pytest.MonkeyPatch) -> None:
    causes = Causes("S")
    for name in ("X:1", "X:2"):
        causes.remember(grouped(name, covers={"Z@G1": 2}))
    assert causes.recent_after(grouped("Z:2").stamp) == ("X:2",) and causes.recent_after(grouped("Z:3").stamp) == ()
    causes.remember(grouped("Y:1"))
    monkeypatch.setattr(module, "RECENT", 1)
    assert causes.recent_after(grouped("Z:2").stamp) == ()
