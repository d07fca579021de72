"""Subscriptions by content: what is sent to whom, and whether the oracle agrees, while subscribers move.

    .venv/bin/python bench/where.py                     2,000 messages, three brokers, a tenth of the datagrams lost
    .venv/bin/python bench/where.py --messages 20000

Two publishers answer each other, so that most messages follow others that a subscriber does not want. One subscriber
wants everything, two want the half of which a predicate is true (one looks at headers, one at JSON payloads); all three
move to another broker every so often, and one broker is killed halfway. Everything is written down and judged.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from antecede.live.client import Client
from antecede.live.inbox import Inbox
from antecede.live.testing import LocalCluster
from antecede.trace.check import check
from antecede.trace.parquet import read_rows

PREDICATES = {"all": None, "warm": "temp >= 20 and room in ('a', 'b', 'c')", "lit": "payload.lamp.on == true"}


@dataclass
class Outcome:
    published: dict[str, dict[str, bool]]
    """Message -> subscriber -> whether it matches."""
    taken: dict[str, list[str]]
    arrived: dict[str, Counter[str]] = field(default_factory=dict)
    bytes: Counter[str] = field(default_factory=Counter)
    moves: int = 0
    findings: list[str] = field(default_factory=list)

    def wanted(self, who: str) -> set[str]:
        return {message for message, matches in self.published.items() if matches[who]}


def reading(n: int) -> tuple[bytes, dict[str, str], dict[str, bool]]:
    """The n-th message: its payload, its headers, and who wants it."""
    warm, lit = n % 4 < 2, n % 2 == 0
    headers = {"temp": str(20 + n % 7 if warm else n % 20), "room": "abc"[n % 3]}
    body = json.dumps({"n": n, "lamp": {"on": lit}, "note": "x" * 100}).encode()
    return body, headers, {"all": True, "warm": warm, "lit": lit}


def run(
    directory: Path, messages: int, *, brokers: int = 3, loss: float = 0.1, seed: int = 1, every: int = 250
) -> Outcome:
    """`every`: so many messages lie between two moves."""
    outcome = Outcome({}, {name: [] for name in PREDICATES})

    async def take(inbox: Inbox, name: str) -> None:
        async for message in inbox:
            outcome.taken[name].append(message.id)

    async def publish(cluster: LocalCluster, publishers: list[Client], readers: dict[str, Client]) -> None:
        for n in range(messages):
            body, headers, wanted = reading(n)
            message = await publishers[n % 2].publish(f"sensors/{n % 5}", body, headers=headers)
            outcome.published[message] = wanted
            if n == messages // 2:
                cluster.kill("B")
            if n % every == every - 1:
                for name in PREDICATES:
                    client = readers[name]
                    others = [one for one in cluster.brokers if (one,) != client.managed.at]
                    client.node.move((others[n // every % len(others)],))
                    outcome.moves += 1

    async def scenario(cluster: LocalCluster) -> None:
        names = ("ann", "bob", *PREDICATES)
        clients = {name: cluster.connect(name, at=at) for name, at in zip(names, "ABACB", strict=True)}
        for client in clients.values():
            await client.__aenter__()
        inboxes = {name: clients[name].subscribe("sensors/#", queue=messages, where=where)
                   for name, where in PREDICATES.items()}  # fmt: skip
        heard = [clients[name].subscribe("sensors/#", queue=100) for name in ("ann", "bob")]
        for inbox in (*inboxes.values(), *heard):
            await inbox.__aenter__()
        taking = [asyncio.create_task(take(inbox, name)) for name, inbox in inboxes.items()]
        listening = [asyncio.create_task(_listen(inbox)) for inbox in heard]
        await publish(cluster, [clients["ann"], clients["bob"]], clients)
        async with asyncio.timeout(600):
            while any(len(outcome.taken[name]) < len(outcome.wanted(name)) for name in PREDICATES):
                await asyncio.sleep(0.5)
        await asyncio.sleep(5)  # whatever else might come
        for client in clients.values():
            await client.aclose()
        await asyncio.gather(*taking, *listening)

    LocalCluster(brokers=brokers, loss=loss, seed=seed, records=str(directory)).run(scenario)
    for name in PREDICATES:
        outcome.arrived[name] = Counter()
    for row in read_rows(directory):
        if row.kind == "arrive" and row.process in outcome.arrived:
            outcome.arrived[row.process][row.message or ""] += 1
            outcome.bytes[row.process] += row.bytes or 0
    report = check(directory)
    outcome.findings = [finding.text for finding in report.findings]
    return outcome


async def _listen(inbox: Inbox) -> None:
    """Whatever a publisher has taken is a cause of what it publishes next."""
    async for _ in inbox:
        pass


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=2000)
    parser.add_argument("--loss", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        outcome = run(Path(directory), given.messages, loss=given.loss, seed=given.seed)
    print(
        f"{len(outcome.published)} messages, {outcome.moves} moves, a broker killed, {given.loss:.0%} of datagrams lost"
    )
    print(f"{'subscriber':<12}{'matching':>10}{'delivered':>10}{'others sent':>12}{'bytes':>12}   where")
    for name, where in PREDICATES.items():
        wanted = outcome.wanted(name)
        others = sum(count for message, count in outcome.arrived[name].items() if message not in wanted)
        print(
            f"{name:<12}{len(wanted):>10}{len(outcome.taken[name]):>10}{others:>12}{outcome.bytes[name]:>12,}   {where}"
        )
    print(f"the oracle finds {len(outcome.findings)} faults")
    for text in outcome.findings[:10]:
        print(f"  {text}")


if __name__ == "__main__":
    main()
