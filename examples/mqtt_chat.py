"""A client of another language talks to a native one: aiomqtt stands for it, and both see one causal order.

    python examples/mqtt_chat.py          needs: pip install aiomqtt 'antecede[mqtt]'

Two brokers. Ann, an MQTT client, asks at A; Ben, a native client, answers at B; Eve, an MQTT client at B, reads both.
Ben's answers say how long they are worth reading; whatever language Eve is written in, no answer comes before its
question.
"""

from __future__ import annotations

import asyncio

import aiomqtt

import antecede

QUESTIONS = 20


def mqtt(broker: antecede.Broker) -> aiomqtt.Client:
    assert broker.door is not None and broker.door.address is not None
    host, port = broker.door.address
    return aiomqtt.Client(host, port, protocol=aiomqtt.ProtocolVersion.V5)


async def ben(url: str, ready: asyncio.Event) -> None:
    async with antecede.connect(url) as node, node.subscribe("chat/questions") as inbox:
        ready.set()
        for _ in range(QUESTIONS):
            question = await inbox.get(30)
            await node.publish("chat/answers", b"yes, " + question.payload, after=question, within=30)


async def eve(client: aiomqtt.Client) -> list[str]:
    seen = []
    async for message in client.messages:
        assert isinstance(message.payload, bytes)
        seen.append(message.payload.decode())
        if len(seen) == 2 * QUESTIONS:
            break
    return seen


async def main() -> None:
    async with (
        antecede.Broker("127.0.0.1:0", name="A", mqtt=0) as a,
        antecede.Broker("127.0.0.1:0", name="B", join=[a.url], mqtt=0) as b,
        mqtt(a) as ann,
        mqtt(b) as listening,
    ):
        await listening.subscribe("chat/#", qos=1)
        ready = asyncio.Event()
        answering = asyncio.create_task(ben(b.url, ready))
        reading = asyncio.create_task(eve(listening))
        await ready.wait()
        for n in range(QUESTIONS):
            await ann.publish("chat/questions", f"question {n}", qos=1)
        seen = await reading
        await answering
    for n in range(QUESTIONS):
        assert seen.index(f"question {n}") < seen.index(f"yes, question {n}")
    print(f"Eve read {len(seen)} messages of an MQTT and a native client; every question came before its answer.")


if __name__ == "__main__":
    asyncio.run(main())
