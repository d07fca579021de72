"""Whoever waits for a broker is told so after a while."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest

from antecede.cli.calling import called


class Slow:
    """A client whose broker takes its time."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    async def __aenter__(self) -> Slow:
        await asyncio.sleep(self.seconds)
        return self

    async def __aexit__(self, *_: object) -> None:
        pass


TOLD = "Calling antecede://10.0.0.1:7400: no answer yet ...\n"


@pytest.mark.parametrize(("seconds", "watched", "said"), [(0.0, True, ""), (0.2, True, TOLD), (0.2, False, "")])
def test_only_a_person_who_waits_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, seconds: float, watched: bool, said: str
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: watched)

    async def call() -> None:
        client: Any = Slow(seconds)
        async with called(client, ["antecede://10.0.0.1:7400"], patience_s=0.05) as node:
            assert node is client
            await asyncio.sleep(0.1)  # connected: there is nothing to say any more

    asyncio.run(call())
    assert capsys.readouterr().err == said
