"""Random stories: subscribers change what they select while they move and brokers die; for tests/live/test_where.py."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

from antecede.core.content import Content, fields_of
from antecede.core.where import parse_where
from antecede.live.client import Client
from antecede.live.inbox import Inbox
from antecede.live.testing import LocalCluster

__all__ = ["WHERES", "story", "told"]

WHERES = (None, "n > 3", "n <= 3", "payload.k == 1", "payload.k != 1 and n in (1, 2, 5)", "not n > 4 or payload.k == 0")


async def story(cluster: LocalCluster, seed: int, messages: int) -> list[tuple[str, str | None, dict[str, str]]]:
    """Who took what by which predicate, with what it said of itself."""
    dice = random.Random(seed)
    taken: list[tuple[str, str | None, dict[str, str]]] = []
    names = list(cluster.brokers)
    ann, bob = cluster.connect("ann", at=names[0]), cluster.connect("bob", at=names[-1])
    subscribers = [cluster.connect(f"s{n}", at=dice.choice(names)) for n in range(3)]
    everybody = [ann, bob, *subscribers]
    for client in everybody:
        await client.__aenter__()
    open_now: dict[int, list[tuple[Inbox, asyncio.Task[None]]]] = {n: [] for n in range(3)}

    async def take(inbox: Inbox, where: str | None) -> None:
        async for message in inbox:
            fields = fields_of(Content(message.headers, message.payload))
            assert where is None or parse_where(where).holds(fields), (message.id, where)
            taken.append((message.id, where, dict(message.headers)))

    async def open_one(place: int) -> None:
        where = dice.choice(WHERES)
        inbox = subscribers[place].subscribe(dice.choice(("t/#", "t/1")), queue=1000, where=where)
        await inbox.__aenter__()
        open_now[place].append((inbox, asyncio.create_task(take(inbox, where))))

    async def close_one(place: int) -> None:
        inbox, task = open_now[place].pop(dice.randrange(len(open_now[place])))
        await inbox.aclose()
        await task

    heard = bob.subscribe("t/#", queue=1000)
    await heard.__aenter__()
    hearing = asyncio.create_task(take(heard, None))
    for place in range(3):
        await open_one(place)
    for _ in range(messages):
        who: Client = dice.choice((ann, bob))
        body = b'{"k": %d}' % dice.randrange(3)
        await who.publish(f"t/{dice.randrange(2)}", body, headers={"n": str(dice.randrange(7))})
        what, place = dice.random(), dice.randrange(3)
        if what < 0.06:
            await open_one(place)
        elif what < 0.12 and len(open_now[place]) > 1:
            await close_one(place)
        elif what < 0.18:
            subscribers[place].node.move((dice.choice(list(cluster.brokers)),))
        elif what < 0.19 and len(cluster.brokers) > 2:
            cluster.kill(dice.choice(list(cluster.brokers)))
    await asyncio.sleep(20)
    for client in everybody:
        await client.aclose()
    await asyncio.gather(hearing, *(task for inboxes in open_now.values() for _, task in inboxes))
    return taken


def told(seed: int, directory: Path, messages: int = 80) -> list[tuple[str, str | None, dict[str, str]]]:
    cluster = LocalCluster(brokers=4, loss=0.15, seed=seed, records=str(directory))
    return cluster.run(lambda one: story(one, seed, messages))
