"""`antecede pub`: publishes one message, or each line that comes in, and says when it is safe.

Decided here: lines are published as they come, also where the next one is long in coming (`tail -f log | antecede pub
log -`). So a thread waits for them: a client that waits itself says nothing to its broker, and is taken for dead.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["pub"]

CHUNK = 65_536
"""Bytes of standard input that are read at once, at most."""


def pub(
    topic: Annotated[str, typer.Argument(help="Where to, for example room/1.")],
    payload: Annotated[str, typer.Argument(help="What; - reads lines from standard input, one message each.")],
    within: Annotated[
        str | None, typer.Option(help="Not to be shown later than this from now: 500ms, 2s, 1m; 2 is seconds.")
    ] = None,
    at: Annotated[
        list[str] | None, typer.Option(metavar="ADDRESS", help="A broker [antecede://127.0.0.1:7400]; several times.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="What this client is called [made up].")] = None,
    header: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="A header; several times.")] = None,
    order: Annotated[str, typer.Option(help="causal, fifo or none.")] = "causal",
    ca: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The cluster's ca.pem, for antecedes:// addresses.")
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where the token is, for the same [ANTECEDE_TOKEN].")
    ] = None,
    records: Annotated[str | None, typer.Option(metavar="DIR", help="Write records, for `antecede check`.")] = None,
) -> None:
    """Publish a message; prints its id once it is safe: another broker has it too, or there is no other."""
    from antecede.cli.calling import called
    from antecede.errors import InputError
    from antecede.live.client import connect
    from antecede.live.when import parse_duration

    seconds = None if within is None else parse_duration(within)
    headers = {}
    for one in header or ():
        key, equals, value = one.partition("=")
        if not equals:
            raise InputError(f"A header is KEY=VALUE, not {one!r}.")
        headers[key] = value

    async def publish() -> None:
        client = connect(*(at or ()), name=name, records=records, tls=ca, token=token_file)
        async with called(client, at) as node:
            if payload != "-":
                print(await node.publish(topic, payload.encode(), within=seconds, headers=headers, order=order))
                return
            async for line in lines_of(sys.stdin.fileno()):
                node.publish_nowait(topic, line, within=seconds, headers=headers, order=order)
                if node.pending > 1000:
                    await node.flush()
            await node.flush()

    asyncio.run(publish())
    where = "".join(f" --at {one}" for one in at or ())
    where += f" --ca {ca}" if ca else ""
    where += f" --token-file {token_file}" if token_file else ""
    print(f"Safe. Subscribers see it as it comes:  antecede sub '{topic}'{where}", file=sys.stderr)


async def lines_of(descriptor: int) -> AsyncIterator[bytes]:
    """Lines as they come, without their ends; the last one may have none."""
    loop = asyncio.get_running_loop()
    chunks: asyncio.Queue[bytes] = asyncio.Queue(1)

    def read() -> None:
        chunk = b"-"
        while chunk:
            try:
                chunk = os.read(descriptor, CHUNK)
            except OSError:  # closed, or a terminal that is gone
                chunk = b""
            try:
                asyncio.run_coroutine_threadsafe(chunks.put(chunk), loop).result()
            except (RuntimeError, CancelledError):  # the command has ended
                return

    threading.Thread(target=read, name="lines", daemon=True).start()  # nothing can wake it: it ends with the command
    rest = b""
    while chunk := await chunks.get():
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line.removesuffix(b"\r")
    if rest:
        yield rest
