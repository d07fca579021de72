"""A client of a command: whoever waits for a broker that does not answer is told so, and not only at the end."""

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
    text = f"Calling {whom}: no answer yet ..."
    saying = asyncio.get_running_loop().call_later(patience_s, lambda: print(text, file=sys.stderr, flush=True))
    try:
        async with client:
            saying.cancel()
            yield client
    finally:
        saying.cancel()
