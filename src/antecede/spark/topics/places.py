"""Where live topics are, and who asks for them: the options that reading and writing share.

Decided in this file: `brokers` is one or several addresses by commas; a token may be given as text or as a file, which
is read again for every call; what cannot work is one sentence before anything is connected; and a client that is
refused tries again a few times, since a broker that has just come back gives names of earlier lives until it has heard
of the later ones.

Options: `brokers` (`antecede://HOST:PORT,...`, or `antecedes://` with TLS), `ca` (the ca.pem of their cluster), `token`
or `token_file`, `name` (what this reader or writer is called in ids and records; left out, one is made up once).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from antecede.core.names import check_process
from antecede.errors import EnvironmentFault, InputError
from antecede.live.address import is_secure, parse_address
from antecede.live.client import Client
from antecede.live.keys.caller import caller_for

__all__ = ["AGAIN", "SHARED", "TRIES", "Places", "ended", "opened", "places_of", "words"]

TRIES = 4
"""How often a client is opened; raising it delays the sentence where no broker will have it."""
AGAIN = 10
"""How often nobody may answer whom brokers have served before: about a minute. A wrong address is said at once."""
PAUSE_S = 1.0
CLOSE_S = 0.1

C = TypeVar("C", bound=Client)

SHARED = ("brokers", "ca", "token", "token_file", "name")


@dataclass(frozen=True, repr=False)
class Places:
    brokers: tuple[str, ...]
    ca: str | None = None
    token: str | None = None
    token_file: str | None = None
    name: str | None = None

    def __str__(self) -> str:
        return ", ".join(self.brokers)

    def shown_token(self) -> str | Path | None:
        return Path(self.token_file) if self.token_file is not None else self.token

    def prefix(self) -> str:
        """What a name that is made up begins with: a token allows names that begin with its own."""
        said = caller_for(self.brokers, self.ca, self.shown_token()).prefix
        return "spark-" if said == "c" else said


def words(text: str | None) -> tuple[str, ...]:
    """What stands between commas.

    >>> words("a/#, b"), words(None)
    (('a/#', 'b'), ())
    """
    return tuple(word.strip() for word in (text or "").split(",") if word.strip())


def places_of(options: Mapping[str, str]) -> Places:
    brokers = words(options.get("brokers"))
    if not brokers:
        raise InputError("option brokers is empty: give addresses such as antecede://127.0.0.1:7400")
    secure = any(map(is_secure, brokers)) or options.get("ca") is not None
    for one in brokers:
        parse_address(one, beyond_loopback=secure)
    if options.get("token") is not None and options.get("token_file") is not None:
        raise InputError("options token and token_file are two ways to say one thing: give one of them")
    if options.get("name") is not None:
        check_process(options["name"])
    return Places(
        brokers, options.get("ca"), options.get("token"), options.get("token_file"), options.get("name")
    )  # fmt: skip


async def opened(make: Callable[[], C], silent: int = 1) -> C:
    """A client that some broker has welcomed. `silent`: how often nobody may answer, for five seconds each."""
    refused = TRIES
    while True:
        client = make()
        try:
            await client.open()
            return client
        except EnvironmentFault:
            if client.refusal:
                refused -= 1
            else:
                silent -= 1
            if not (refused and silent):
                raise
            await asyncio.sleep(PAUSE_S)


async def ended() -> None:
    """Let a connection over TLS close before its event loop does."""
    await asyncio.sleep(CLOSE_S)
