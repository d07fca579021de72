"""The process that publishes what Spark writes to live topics, one for each query.

    python -m antecede.spark.topics.publisher OUTBOX         its settings are JSON on its standard input

Decided in this file: who publishes, and what a crash can do. Spark runs a new process for every commit, and every
client that ever published is named in stamps for ever; so all batches of a query are published by one process that
lives on between them, and ends by itself when there is nothing to do for a while or Spark's own process is gone.

A batch counts as published when all its messages are safe. Until then the journal says which rows go out under which
ids. A process that follows one that was killed asks its home broker which of those ids it has had, and publishes the
rest under ids of its own. Messages of one sender are delivered in their order, so one number is the answer. What a
crash can do all the same:

- a broker had accepted rows, was cut off from the others when the publisher died, and comes back later: those rows are
  there twice;
- a broker had accepted a row alone and died with it, while a later row is known to others: that row is lost.

Both need a broker that fails within the second in which the publisher is killed.

Causes: a client may name only what it had, and this one reads nothing. So it takes over what the reader had, from the
frontier in the reader's spool (option `read_spool`), as the cut that the row names: for each sender its message, and
the past of that. Where a sender writes to several entries of the brokers' table and the row names an older message of
it, the frontier does not say which numbers precede in each entry: then the row follows all the reader had of it.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from threading import Event
from typing import Any

from antecede.core.home.frontier import Frontier
from antecede.core.marks import newest_of
from antecede.core.message import LOOSE, series_of, split_id
from antecede.errors import AntecedeError, EnvironmentFault, InputError
from antecede.live.client import Client, connect
from antecede.spark.topics.outbox import Doing, Outbox
from antecede.spark.topics.places import Places, ended, opened
from antecede.spark.topics.spool import Spool, locked
from antecede.wire import restore

__all__ = ["STARTED", "Publisher", "marks_of", "publish_batch", "publish_here"]

IDLE_S = 60.0
"""A publisher without work lives so long: each new one is one more sender in all stamps."""
SETTLE_S = 2.0
"""So long after a publisher was killed its brokers are asked what they had of it: what it sent last must have come."""
SAFE_S = 60.0
"""How long messages may take to become safe before the query fails; raising it bears longer outages of brokers."""
AT_ONCE = 2_000
"""Messages that are not safe yet at a time."""
LOOK_S = 0.02
TOPICS = 100
"""Topics of a batch that a publisher subscribes to, to learn what was published: one of each entry of the table will
do."""

STARTED: list[subprocess.Popen[bytes]] = []
"""Publishers that this process has started, and need not wait for."""


class Publisher:
    """Publishes the batches of an outbox, in their order."""

    def __init__(self, outbox: Outbox, places: Places, read_spool: str | None) -> None:
        self.outbox, self.places = outbox, places
        self.spool = None if read_spool is None else Spool(Path(read_spool))
        self.sent = 0
        """Messages of this life."""

    async def run(self, parent: int | None) -> None:
        """Until there is nothing to do: at once with no `parent`, else after a while, or when that process is gone."""
        name, doing = self.outbox.journal().name, self.outbox.journal().doing
        if doing is not None:
            await asyncio.sleep(SETTLE_S)
        places = self.places
        client = await opened(lambda: connect(*places.brokers, name=name, tls=places.ca, token=places.shown_token()))
        try:
            left = None if doing is None else await self._left(client, doing)
            last_us = client.clock.now_us()
            while True:
                waiting = self.outbox.waiting()
                for number in waiting:
                    await self._publish(client, number, left if doing is not None and doing.batch == number else None)
                    last_us = client.clock.now_us()
                if not waiting and (
                    parent is None or not is_alive(parent) or client.clock.now_us() - last_us > IDLE_S * 1e6
                ):
                    return
                await asyncio.sleep(LOOK_S)
        finally:
            await client.aclose()
            await ended()

    async def _left(self, client: Client, doing: Doing) -> tuple[int, ...]:
        """The rows of a batch that were not published when the life before this one ended. A broker tells whoever
        subscribes where the subscription begins: which messages of each sender lie behind."""
        rows = self.outbox.rows(doing.batch)
        client.attach(sorted({rows[place]["topic"] for place in doing.places})[:TOPICS])
        await client.until(lambda: client.closed or client.machine.joined)
        newest = newest_of(client.machine.start_marks).get(doing.sender, 0)
        client.attach(())
        return doing.places[max(0, newest - doing.first + 1) :]

    async def _publish(self, client: Client, number: int, left: tuple[int, ...] | None) -> None:
        rows, life, now_us = self.outbox.rows(number), client.name, client.clock.now_us()
        if left is None:
            left = tuple(range(len(rows)))
        over = [place for place in left if (rows[place]["deadline_us"] or now_us + 1) <= now_us]
        left = tuple(place for place in left if place not in over)
        self.outbox.note(replace(self.outbox.journal(), doing=Doing(number, life, self.sent + 1, left)))
        frontier = self._frontier()
        for place in left:
            self._publish_row(client, rows[place], frontier)
            self.sent += 1
            if client.pending >= AT_ONCE:
                await self._safe(client, life)
        await self._safe(client, life)
        self.outbox.finish(number, len(left), len(over))

    async def _safe(self, client: Client, life: str) -> None:
        try:
            with suppress(EnvironmentFault):  # said below, in the words of this query
                await client.flush(SAFE_S)
        except TimeoutError:
            raise EnvironmentFault(
                f"{client.pending} rows were not safe at {self.places} after {SAFE_S:.0f} seconds: see whether the "
                "brokers run, then start the query again"
            ) from None
        if client.closed or client.name != life:
            raise EnvironmentFault(
                f"the publisher {life} was taken for dead by the brokers at {self.places}: start the query again"
            )

    def _publish_row(self, client: Client, row: Mapping[str, Any], frontier: Frontier | None) -> None:
        after, named = row["after"], None
        if after:
            if frontier is None:
                raise InputError("rows name causes: say in option read_spool which stream they were read by")
            named = f"{client.name}/row:{self.sent + 1}"
            client.machine.took_result(named, tuple(after), marks_of(after, frontier), frontier.rank)
        within = None
        if row["deadline_us"] is not None:  # one that ended just now expires on its way: it has its number already
            within = max(1, row["deadline_us"] - client.clock.now_us()) / 1e6
        client.publish_nowait(
            row["topic"], row["payload"], within=within, headers=row["headers"], after=named if after else after
        )

    def _frontier(self) -> Frontier | None:
        """What the reader of the causes has had."""
        after = None if self.spool is None else self.spool.after()
        return None if after is None else restore(after.frontier)


def marks_of(after: Sequence[str], frontier: Frontier) -> dict[str, int]:
    """What a row that names these follows, as marks.

    >>> marks_of(["ann:3", "bob~:9"], Frontier("spark", {"ann@0": 5, "bob@0": 1}))
    {'ann@0': 3}
    """
    marks: dict[str, int] = {}
    for one in after:
        sender, seq = split_id(one)
        if sender.endswith(LOOSE):
            continue  # nothing follows an unordered message
        streams = {s: n for s, n in frontier.marks.items() if series_of(s) == sender}
        if seq > max(streams.values(), default=0):
            raise InputError(
                f"a row comes after {one}, which the stream in read_spool has not read: name its own spool"
            )
        for stream, n in streams.items():
            exact = min(n, seq) if len(streams) == 1 else n
            marks[stream] = max(exact, marks.get(stream, 0))
    return marks


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def publish_here(outbox: Outbox, places: Places, read_spool: str | None) -> None:
    """Publish what waits, in this process, and leave."""
    asyncio.run(Publisher(outbox, places, read_spool).run(None))


def publish_batch(outbox: Outbox, number: int, places: Places, read_spool: str | None, parent: int) -> None:
    """Returns when a batch that was put into the outbox is published by the query's publisher."""
    outbox.forgive()
    while outbox.journal().done < number:
        sentence = outbox.failed()
        if sentence is not None:
            raise EnvironmentFault(sentence)
        if not is_running(outbox):
            start(outbox, places, read_spool, parent)
        Event().wait(LOOK_S)


def is_running(outbox: Outbox) -> bool:
    try:
        locked(outbox.root / ".lock", "publisher", wait_s=0).close()
    except InputError:
        return True
    return False


def start(outbox: Outbox, places: Places, read_spool: str | None, parent: int) -> None:
    """A process of its own, which outlives this one; returns when it has the outbox, or has given up."""
    words = [sys.executable, "-m", "antecede.spark.topics.publisher", str(outbox.root)]
    log = (outbox.root / "publisher.log").open("ab")
    path = {"PYTHONPATH": os.pathsep.join(filter(None, (*sys.path, os.environ.get("PYTHONPATH"))))}
    with log:
        process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=log, stderr=log, start_new_session=True, env={**os.environ, **path}
        )
    STARTED.append(process)
    assert process.stdin is not None
    with suppress(BrokenPipeError), process.stdin as told:
        said = {"places": asdict(places), "read_spool": read_spool, "parent": parent}
        told.write(json.dumps(said).encode())
    while process.poll() is None and not is_running(outbox):
        Event().wait(LOOK_S)
    if process.poll() is not None and outbox.failed() is None and outbox.waiting():
        raise EnvironmentFault(f"the publisher ended at once: see {outbox.root / 'publisher.log'}")


def main(folder: str, said: Mapping[str, Any]) -> None:
    outbox = Outbox(Path(folder))
    try:
        lock = locked(outbox.root / ".lock", "publisher", wait_s=0)
    except InputError:
        return  # another one was quicker
    with lock:
        (outbox.root / "publisher.pid").write_text(str(os.getpid()), "ascii")
        places = Places(**{**said["places"], "brokers": tuple(said["places"]["brokers"])})
        try:
            asyncio.run(Publisher(outbox, places, said["read_spool"]).run(said["parent"]))
        except AntecedeError as fault:
            outbox.fail(str(fault))


if __name__ == "__main__":
    main(sys.argv[1], json.load(sys.stdin))
