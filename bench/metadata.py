"""What causality costs on the wire from a broker to a subscriber, in bytes a message: does it grow with anything?

python bench/metadata.py [--leavers 20000] [--messages 400]

Eight clients publish and subscribe, `chat/1` to each other, through brokers as they run live: the machines of `home`
inside a cluster on a virtual clock (`antecede.testing.LocalCluster`), so that what is counted is what the wire carries.
Counted are all bytes of ITEMS frames beyond payloads, topics and deadlines: `control` is the stamps with their index
and bitmap, exactly as `wire.measure` tells. Printed for 4 and many brokers, 10 and 100,000 topics, and after so many
clients published once and left: brokers retire senders (`core/home/retiring.py`), so the last row is as the first.
Exit 1 where a row has more than 16 bytes a message, or two rows differ by more than 1 byte.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import sys
from collections.abc import Sequence

from antecede.core.effects import Effect, Send
from antecede.core.frames import Items
from antecede.live.client import Client
from antecede.live.inbox import Inbox
from antecede.live.testing import LocalCluster
from antecede.wire import measure

__all__ = ["MOST", "SPREAD", "findings", "measured"]

MOST = 16.0
"""Bytes a message, in every row."""
SPREAD = 1.0
"""Bytes a message by which rows may differ: how many items share a frame differs by so much."""
CLIENTS = 8
BATCH = 20
"""Clients that come at the same time, publish once and leave, every PAUSE_S: five a second. Those of the last two
minutes are named in every stamp, so the bench takes a time that grows with the square of this rate."""
PAUSE_S = 4.0
WAIT_S = 120.0
"""How long after the last of them everything is measured: stability, and how long brokers remember what they let go
of."""


class Counted:
    """Control bytes and messages of the ITEMS frames that brokers send."""

    def __init__(self, cluster: LocalCluster) -> None:
        self.cluster = cluster
        self.control = self.messages = 0
        self.counting = False
        for broker in cluster.brokers.values():
            machine, flush = broker.machine, broker.machine.flush
            setattr(machine, "flush", lambda now_us, flush=flush: self._saw(flush(now_us)))  # noqa: B010

    def _saw(self, effects: list[Effect]) -> list[Effect]:
        for effect in effects if self.counting else ():
            if isinstance(effect, Send) and isinstance(effect.frame, Items):
                self.control += measure(effect.frame)[1] * len(effect.to)
                self.messages += len(effect.frame.items) * len(effect.to)
        return effects


async def _talk(clients: Sequence[Client], topics: int, messages: int) -> None:
    """Each in turn, in bursts of sixteen, as at the load of bench/live.py."""
    for turn in range(messages // 16):
        client = clients[turn % len(clients)]
        for n in range(16):
            client.publish_nowait(f"chat/{(turn * 16 + n) * 7919 % topics}", b"x" * 128)
        await asyncio.sleep(0.02)


async def _visit(cluster: LocalCluster, count: int, talker: Client) -> None:
    """So many clients publish once and leave, while others go on: a quiet system compares nothing, and so lets go of
    nothing."""

    async def one(name: str) -> None:
        async with cluster.connect(name) as node:
            await node.publish("chat/0", b"hello")

    for start in range(0, count, BATCH):
        await asyncio.gather(*(one(f"v{n}") for n in range(start, min(count, start + BATCH))))
        talker.publish_nowait("chat/0", b"still here")
        await asyncio.sleep(PAUSE_S)
    for _ in range(int(WAIT_S / PAUSE_S) if count else 1):
        talker.publish_nowait("chat/0", b"still here")
        await asyncio.sleep(PAUSE_S)


def measured(brokers: int, topics: int, leavers: int, messages: int, seed: int = 1) -> dict[str, float]:
    """Average control bytes a message, and what is left of those who left: names in a client's frontier, in the
    brokers' clocks and in their tables."""

    async def scenario(cluster: LocalCluster) -> dict[str, float]:
        counted = Counted(cluster)
        clients = [cluster.connect(f"c{n}") for n in range(CLIENTS)]
        for client in clients:
            await client.__aenter__()
        inboxes = [client.subscribe("chat/#", queue=1_000_000) for client in clients]
        for inbox in inboxes:
            await inbox.__aenter__()
        reading = [asyncio.create_task(_drain(inbox)) for inbox in inboxes]
        await _visit(cluster, leavers, clients[0])
        counted.counting = True
        await _talk(clients, topics, messages)
        await asyncio.sleep(1.0)
        one = next(iter(cluster.brokers.values()))
        found = {
            "bytes": counted.control / max(1, counted.messages),
            "items": float(counted.messages),
            "frontier": float(len(inboxes[0].frontier)),
            "clock": float(len(one.machine.writer.past())) if one.machine.writer else 0.0,
            "table": float(len(one.managed.table.entries)),
        }
        for task in reading:
            task.cancel()
        for inbox in inboxes:
            await inbox.aclose()
        for client in clients:
            await client.aclose()
        return found

    return LocalCluster(brokers, seed=seed).run(scenario)


async def _drain(inbox: Inbox) -> None:
    async for _ in inbox:
        pass


def findings(costs: Sequence[float]) -> list[str]:
    """What is wrong with these bytes a message, a sentence each."""
    found = [f"{cost:.1f} bytes a message are more than {MOST:g}" for cost in costs if not cost <= MOST]
    if max(costs) - min(costs) > SPREAD:
        found.append(f"{min(costs):.1f} and {max(costs):.1f} bytes a message differ by more than {SPREAD:g}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--leavers", type=int, default=20_000)
    parser.add_argument("--messages", type=int, default=400)
    parser.add_argument("--brokers", type=int, default=64, help="the many (a cluster in memory has 64 at most)")
    given = parser.parse_args()
    rows = [(4, 10, 0), (given.brokers, 10, 0), (4, 100_000, 0), (4, 10, given.leavers)]
    costs = []
    print("brokers   topics  leavers   bytes/message   frontier bytes   clock   members known")
    for brokers, topics, leavers in rows:
        found = measured(brokers, topics, leavers, given.messages)
        costs.append(found["bytes"] if found["items"] else math.inf)
        print(
            f"{brokers:7}  {topics:7,}  {leavers:7,}   {found['bytes']:13.1f}   {found['frontier']:14.0f}   "
            f"{found['clock']:5.0f}   {found['table']:13.0f}",
            flush=True,
        )
    wrong = findings(costs)
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
