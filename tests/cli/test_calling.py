"""Whoever waits for a broker is told so after a while."""

from __future__ import annotations

import asyncio
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


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.0, ""), (0.2, "Calling antecede://10.0.0.1:7400: no answer yet ...\n")]
)
def test_only_who_waits_is_told(capsys: pytest.CaptureFixture[str], seconds: float, said: str) -> None:
    async def call() -> None:
        client: Any = Slow(seconds)
        async with called(client, ["antecede://10.0.0.1:7400"], patience_s=0.05) as node:
            assert node is client
            await asyncio.sleep(0.1)  # connected: there is nothing to say any more

    asyncio.run(call())
    assert capsys.readouterr().err == said
