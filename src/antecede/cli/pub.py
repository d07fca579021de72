"""`antecede pub`: publishes one message, or each line that comes in, and says when it is safe.

Decided here: a message that is not known to be safe, at its deadline or at the end, is an outcome (exit 1), and no bad
input. And lines are published as they come, also where the next one is long in coming (`tail -f log | antecede pub
log -`). So a thread waits for them: a client that waits itself says nothing to its broker, and is taken for dead.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Annotated, Any

import typer

from antecede.errors import EnvironmentFault, InputError

__all__ = ["pub"]

CHUNK = 65_536
"""Bytes of standard input that are read at once, at most."""
AT_ONCE = 1000
"""Lines that may be published and not known to be safe before more are read."""


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
    """Publish a message; prints its id once it is safe: another broker has it too, or there is no other.

    Exit 1: it was not known to be safe by its deadline (--within), or this client was taken for dead;
    some subscribers may have it. Exit 2: it could not be published.
    """
    from antecede.cli.calling import called
    from antecede.live.client import connect
    from antecede.live.when import LONGEST_S, parse_duration

    seconds = None if within is None else parse_duration(within)
    if seconds is not None and not 0 < seconds <= LONGEST_S:
        raise InputError(f"--within is a time above 0 and up to a year, such as 500ms, not {within}.")
    headers = {}
    for one in header or ():
        key, equals, value = one.partition("=")
        if not equals:
            raise InputError(f"A header is KEY=VALUE, not {one!r}.")
        headers[key] = value

    async def publish() -> None:
        client = connect(*(at or ()), name=name, records=records, tls=ca, token=token_file)
        async with called(client, at) as node:
            publishing = Publishing(
                lambda line: node.publish(topic, line, within=seconds, headers=headers, order=order)
            )
            if payload != "-":
                publishing.add(payload.encode())
            else:
                if sys.stdin.isatty():
                    print("One message a line; ctrl-D ends.", file=sys.stderr, flush=True)
                async for line in lines_of(sys.stdin.fileno()):
                    publishing.add(line)
                    if len(publishing.waiting) > AT_ONCE:
                        await publishing.done()
            await publishing.done()
            if publishing.unsafe:
                raise typer.Exit(1)

    asyncio.run(publish())
    where = "".join(f" --at {one}" for one in at or ())
    where += f" --ca {ca}" if ca else ""
    where += f" --token-file {token_file}" if token_file else ""
    print(f"Safe. Subscribers see it as it comes:\n  antecede sub '{topic}'{where}", file=sys.stderr)


class Publishing:
    """Prints ids, in the order of their messages, once these are safe; more may come meanwhile."""

    def __init__(self, publish: Callable[[bytes], Coroutine[Any, Any, str]]) -> None:
        self._publish = publish
        self.waiting: deque[asyncio.Task[str]] = deque()
        self.unsafe = 0
        """How many were not known to be safe in time."""
        self._telling: asyncio.Task[None] | None = None

    def add(self, payload: bytes) -> None:
        self.waiting.append(asyncio.create_task(self._publish(payload)))
        if self._telling is None or self._telling.done():
            self._telling = asyncio.create_task(self._tell())

    async def _tell(self) -> None:
        while self.waiting:
            try:
                print(await self.waiting[0], flush=True)
            except EnvironmentFault as fault:
                self.unsafe += 1
                print(f"antecede: {fault}", file=sys.stderr, flush=True)
            finally:
                self.waiting.popleft()

    async def done(self) -> None:
        """Of all that was added it is known."""
        if self._telling is not None:
            await self._telling


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
