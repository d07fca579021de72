"""A client of a command: a person who waits for a broker that does not answer is told so, and not only at the end."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Sequence

from antecede.live.client import Client

__all__ = ["called"]

PATIENCE_S = 1.0
"""A broker on this machine answers within a few milliseconds."""


@contextlib.asynccontextmanager
async def called(client: Client, at: Sequence[str] | None, patience_s: float = PATIENCE_S) -> AsyncIterator[Client]:
    """The client, connected. `at`: the addresses that its command was given."""
    whom = " or ".join(at) if at else "antecede://127.0.0.1:7400"

    def say() -> None:
        if sys.stderr.isatty():  # who reads it later finds one sentence, the last
            print(f"Calling {whom}: no answer yet ...", file=sys.stderr, flush=True)

    saying = asyncio.get_running_loop().call_later(patience_s, say)
    try:
        async with client:
            saying.cancel()
            yield client
    finally:
        saying.cancel()
