"""The client behind a live stream: it takes messages from the brokers and writes them into the spool.

Decided in this file: rows are taken as they come, not when Spark asks, since a message counts as delivered when it is
taken and one with a deadline must not wait for a trigger; a spool that is full stops the taking, so that the brokers
hold what comes (65,536 messages, then `overflow`); and every message that the brokers could not deliver is a row too,
with its fate and without a payload, unless its home had no room for it, since nobody says which those are. The client
ends without a good-bye: its brokers keep for a while what it misses.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from typing import Any

from antecede.errors import AntecedeError, EnvironmentFault
from antecede.live.client import Client
from antecede.live.inbox import Fate, Inbox
from antecede.live.keys.caller import caller_for
from antecede.live.message import Message
from antecede.live.network import SocketNetwork
from antecede.spark.topics.places import AGAIN, TRIES, Places, ended, opened
from antecede.spark.topics.spool import After, Spool

__all__ = ["FULL", "Feed", "undelivered"]

log = logging.getLogger("antecede.spark")

CHUNK = 10_000
"""Rows of a chunk at most: fewer than a client remembers causes of. Lowering it costs files."""
GATHER_S = 0.05
"""How long rows are gathered for a chunk: each costs a file and two writes to disk. Raising it delays rows."""
FULL = 500_000
"""Rows in the spool that Spark has not finished: then no more are taken. Raising it costs disk."""
OPEN_S = 15.0
"""How long a broker is looked for that carries the topics."""


class Feed:
    def __init__(self, spool: Spool, places: Places, topics: tuple[str, ...], where: str | None, most: int) -> None:
        self.spool, self.places, self.topics, self.where = spool, places, topics, where
        self.most = min(most, CHUNK)
        self.after: After | None = None
        self.error: BaseException | None = None
        self._clock = SocketNetwork().clock()
        self._came_us = 0
        """When the last rows came."""
        self.done_row = 0
        """Spark has finished the rows before this one."""
        self._fates: list[Fate] = []
        self._tries = 0
        self._open = threading.Event()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, since: After | None) -> None:
        """Returns when the brokers know what is wanted: what is published from then on becomes a row."""
        self.after = since
        self._thread = threading.Thread(target=self._run, name="antecede-feed", daemon=True)
        self._thread.start()
        self._open.wait()
        self.check()

    def check(self) -> None:
        if self.error is not None:
            raise self.error

    @property
    def row(self) -> int:
        """How many rows there are."""
        return 0 if self.after is None else self.after.row

    def quiet_for(self, seconds: float) -> bool:
        """Whether nothing has come for so long."""
        return self._clock.now_us() - self._came_us >= seconds * 1e6

    def stop(self) -> None:
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(5)

    def _run(self) -> None:
        try:
            asyncio.run(self._feed())
        except BaseException as error:  # it is raised where Spark asks for the next offset
            known = isinstance(error, AntecedeError)
            self.error = error if known else EnvironmentFault(f"reading {self.places} ended: {error!r}")
        finally:
            self._open.set()

    async def _feed(self) -> None:
        places = self.places
        how = caller_for(places.brokers, places.ca, places.shown_token())
        name = self.spool.name(places.name, places.prefix())
        self._tries = TRIES
        while not self._stopping.is_set():
            silent = AGAIN if self.after is not None else 1  # a query that went on for days outlasts a busy minute
            client = await opened(lambda: Client(how, name, None, None, self.note, SocketNetwork()), silent)
            try:
                await self._feed_by(client)
            except EnvironmentFault:
                self._tries -= 1
                if not (client.refusal and self._tries):
                    raise
            finally:
                await client.stop()
                await ended()

    def note(self, fate: Fate) -> None:
        """What its home had no room for has no names, so no rows: the log of the client says how many. What was
        delivered without some cause has its row as it is."""
        if fate.id and fate.fate != "delivered":
            self._fates.append(fate)

    async def _feed_by(self, client: Client) -> None:
        """With one life of the client; all its lives but the first go on where the spool ends."""
        since = None if self.after is None else self.after.frontier
        inbox = client.subscribe(*self.topics, queue=CHUNK, overflow="block", since=since, where=self.where)
        await self._opened(client, inbox)
        await self._take_all(client, inbox)

    async def _opened(self, client: Client, inbox: Inbox) -> None:
        try:
            async with asyncio.timeout(OPEN_S):
                await client.open_inbox(inbox)
        except TimeoutError:
            raise EnvironmentFault(
                f"no broker at {self.places} carries {', '.join(self.topics)}: start one that does, or read others"
            ) from None
        self._write([], inbox)  # where it begins: a restart before the first row begins there too
        self._came_us = self._clock.now_us()
        self._open.set()

    async def _take_all(self, client: Client, inbox: Inbox) -> None:
        while not self._stopping.is_set():
            if self.row - self.done_row >= FULL:
                await asyncio.sleep(GATHER_S)
                continue
            messages: list[Message] = []
            try:
                messages.append(await inbox.get(GATHER_S))
                if len(inbox) < self.most:
                    await asyncio.sleep(GATHER_S)
                messages += client.take(inbox, self.most - 1)
            except TimeoutError:
                pass
            if client.closed and not messages:
                raise EnvironmentFault(client.refusal or f"the client {client.name} was closed")
            fates, self._fates[:] = self._fates[:], []
            if messages or fates:
                rows = list(map(_row, messages))
                self._write([*rows, *map(undelivered, fates)], inbox)
                self._came_us, self._tries = self._clock.now_us(), TRIES
                if fates:
                    log.warning(
                        "%s: %d messages were not delivered, the first %s (%s)", client.name, len(fates), *fates[0][:2]
                    )

    def _write(self, rows: list[dict[str, Any]], inbox: Inbox) -> None:
        row, pos = (0, 0) if self.after is None else self.after[:2]
        for one in rows:
            if one["fate"] == "delivered":
                one["causal_pos"] = pos
                pos += 1
        self.after = self.spool.write(rows, row, pos, inbox.frontier)


def _row(message: Message) -> dict[str, Any]:
    return {
        "id": message.id, "topic": message.topic, "payload": message.payload,
        "headers": list(message.headers.items()), "sender": message.sender, "sent_us": message.sent_us,
        "deadline_us": message.deadline_us, "causes": list(message.causes), "causal_pos": None, "fate": "delivered",
        "missing": list(message.missing),
    }  # fmt: skip


def undelivered(fate: Fate) -> dict[str, Any]:
    """Of what never came its topic is not known."""
    sender = fate.id.rpartition(":")[0].rstrip("~")
    return {"id": fate.id, "sender": sender, "fate": fate.fate, "missing": list(fate.missing)}
