"""Options that reading and writing of live topics share."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from antecede.errors import EnvironmentFault, InputError
from antecede.spark.topics import places as module
from antecede.spark.topics.places import AGAIN, TRIES, opened, places_of, words


def test_several_brokers_stand_between_commas() -> None:
    places = places_of({"brokers": "antecede://127.0.0.1:7400, antecede://127.0.0.1:7401", "name": "meter"})
    assert places.brokers == ("antecede://127.0.0.1:7400", "antecede://127.0.0.1:7401") and places.name == "meter"
    assert str(places) == "antecede://127.0.0.1:7400, antecede://127.0.0.1:7401"
    assert words(" , a") == ("a",)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"brokers": " , "}, "option brokers is empty"),
        ({"brokers": "http://x"}, "antecede://"),
        ({"brokers": "antecede://127.0.0.1:1", "token": "a", "token_file": "b"}, "give one of them"),
        ({"brokers": "antecede://127.0.0.1:1", "name": "a:b"}, "a:b"),
    ],
)
def test_what_cannot_work_is_one_sentence(options: dict[str, str], words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        places_of(options)
    assert "\n" not in str(caught.value)


def test_a_token_is_shown_as_text_or_read_from_a_file_and_never_printed() -> None:
    as_text = places_of({"brokers": "antecedes://127.0.0.1:1", "token": "secret"})
    in_file = places_of({"brokers": "antecedes://127.0.0.1:1", "token_file": "/run/token"})
    assert as_text.shown_token() == "secret" and str(in_file.shown_token()) == "/run/token"
    assert "secret" not in repr(as_text) + str(as_text)


@pytest.mark.parametrize(("refusal", "tries"), [("Another client has come.", TRIES), ("", 1)])
def test_who_is_refused_tries_again_and_who_finds_nobody_does_not(
    refusal: str, tries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PAUSE_S", 0)
    asked = []

    def make(good: int) -> Any:
        async def open() -> None:
            asked.append(good)
            if len(asked) < good:
                raise EnvironmentFault("no")

        return SimpleNamespace(open=open, refusal=refusal)

    with pytest.raises(EnvironmentFault):
        asyncio.run(opened(lambda: make(99)))
    assert len(asked) == tries
    if refusal:
        asked.clear()
        asyncio.run(opened(lambda: make(3)))
        assert len(asked) == 3


def test_whom_brokers_have_served_before_waits_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAUSE_S", 0)
    asked: list[int] = []

    def make() -> Any:
        async def open() -> None:
            asked.append(1)
            if len(asked) < 3:
                raise EnvironmentFault("nobody answers")

        return SimpleNamespace(open=open, refusal="")

    assert asyncio.run(opened(make, silent=AGAIN)).refusal == "" and len(asked) == 3
    asked.clear()
    with pytest.raises(EnvironmentFault, match="nobody"):
        asyncio.run(opened(make, silent=2))
    assert len(asked) == 2
