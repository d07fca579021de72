"""A chat room with a bot: nobody sees an answer before its question.

    python examples/chat.py                                 the story, in memory: every tenth datagram is lost
    python examples/chat.py antecede://127.0.0.1:7400 ann   talk yourself (start `antecede broker` first)

What to watch for: the bot answers from another broker, often faster than the question reaches the others. Plain gossip
would show them "at the usual place" before "where shall we meet?". Here the second column, replies shown before their
question, stays 0 for every reader; with order="none", where nothing waits for anything, it does not.
"""

from __future__ import annotations

import asyncio
import sys

import antecede
from antecede.live.client import Client
from antecede.testing import LocalCluster

ANSWERS = {"where": "at the usual place", "when": "at eight", "who": "everybody"}
QUESTIONS = ["where shall we meet?", "when?", "who comes?"] * 20


async def bot(node: Client, order: str) -> None:
    """Answers what it can. `after=` says which question: whoever has not seen that one waits for it."""
    async with node.subscribe("room/#", queue=10_000) as inbox:
        async for message in inbox:
            answer = ANSWERS.get(message.text.split()[0].rstrip("?"))
            if answer is not None and order == "causal":
                await node.publish("room/1", answer.encode(), after=message, headers={"re": message.id})
            elif answer is not None:
                await node.publish("room/1", answer.encode(), order=order, headers={"re": message.id})


async def reader(node: Client, messages: int) -> tuple[int, int]:
    """How many messages were shown, and how many replies among them before their question."""
    seen: set[str] = set()
    early = 0
    async with node.subscribe("room/#", queue=10_000) as inbox:
        while len(seen) < messages:
            message = await inbox.get(60)
            if message.headers.get("re", message.id) not in seen | {message.id}:
                early += 1
            seen.add(message.id)
    return len(seen), early


async def story(cluster: LocalCluster, order: str) -> list[tuple[int, int]]:
    async with (
        cluster.connect("ann", at="A") as ann,
        cluster.connect("bot", at="B") as helper,
        cluster.connect("carl", at="C") as carl,
        cluster.connect("dora", at="D") as dora,
    ):
        answering = asyncio.create_task(bot(helper, order))
        reading = [asyncio.create_task(reader(node, 2 * len(QUESTIONS))) for node in (carl, dora)]
        await asyncio.sleep(1)  # until all have subscribed
        for question in QUESTIONS:
            await ann.publish("room/1", question.encode(), order=order)
            await asyncio.sleep(0.02)
        shown = await asyncio.gather(*reading)
        answering.cancel()
        return shown


async def talk(address: str, name: str) -> None:
    async with antecede.connect(address, name=name) as node, node.subscribe("room/#") as inbox:
        print("Type a line; ctrl-D ends.")

        async def show() -> None:
            async for message in inbox:
                print(f"{message.sender}: {message.text}")

        showing = asyncio.create_task(show())
        while line := await asyncio.to_thread(sys.stdin.readline):
            await node.publish("room/1", line.strip().encode())
        showing.cancel()


def main(arguments: list[str]) -> int:
    if arguments and (arguments[0].startswith("-") or len(arguments) > 2):
        print(__doc__)
        return 0 if arguments[0] in ("-h", "--help") else 2
    if arguments:
        asyncio.run(talk(arguments[0], arguments[1] if len(arguments) > 1 else "guest"))
        return 0
    print("order   reader  shown  replies before their question")
    early = {}
    for order in ("causal", "none"):
        cluster = LocalCluster(brokers=4, loss=0.1, delay_s=(0.001, 0.05), seed=1)
        for name, (shown, count) in zip(("carl", "dora"), cluster.run(lambda c, o=order: story(c, o)), strict=True):
            print(f"{order:<8}{name:<8}{shown:>5}  {count:>5}")
            early[order] = early.get(order, 0) + count
    return 0 if early["causal"] == 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
