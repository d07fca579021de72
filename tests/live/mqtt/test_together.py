"""Native and MQTT clients in one causal order: through two brokers, with records that the oracle judges."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import threading
import time
from pathlib import Path

import aiomqtt
import pytest
from paho.mqtt.client import MQTTMessage
from paho.mqtt.properties import Properties

from antecede.live.client import connect
from antecede.trace.check import check
from antecede.trace.parquet import read_rows
from tests.live.mqtt.harness import Paho, brokers, until


def test_numbers_across_two_topics_and_two_brokers_stay_in_order(tmp_path: Path) -> None:
    """EMQX #4658: one publisher, two sub-topics, a subscriber at another broker."""
    with (
        brokers(2, records=tmp_path) as two,
        Paho(two.port(0)).connect() as pub,
        Paho(two.port(1)).connect() as sub,
        Paho(two.port(0)).connect() as near,
    ):
        sub.subscribe("seq/#", qos=1)
        near.subscribe("seq/a", "seq/b", qos=2)
        for n in range(1_000):
            pub.client.publish(f"seq/{'ab'[n % 2]}", b"%d" % n, qos=1)
        wanted = [b"%d" % n for n in range(1_000)]
        assert sub.got(1_000, 30) == wanted and near.got(1_000, 30) == wanted
    report = check(tmp_path)
    assert report.findings == []


def test_an_answer_never_comes_before_its_question_whoever_asks(tmp_path: Path) -> None:
    """paho asks at A, a native client answers at B; everybody, of either kind, at either broker, sees both in order."""
    with brokers(2, records=tmp_path) as two:

        async def native(rounds: int) -> list[bytes]:
            async with (
                connect(two.brokers[1].url, name="nat", records=str(tmp_path)) as answering,
                connect(two.brokers[0].url, name="eve", records=str(tmp_path)) as watching,
                answering.subscribe("q") as questions,
                watching.subscribe("q", "a") as inbox,
            ):
                ready.append(1)
                for _ in range(rounds):
                    question = await questions.get(20)
                    await answering.publish("a", b"to " + question.payload, within=30)
                return [(await inbox.get(20)).payload for _ in range(2 * rounds)]

        ready: list[int] = []
        rounds = 60
        with (
            Paho(two.port(0)).connect() as asking,
            Paho(two.port(0)).connect() as near,
            Paho(two.port(1)).connect() as far,
        ):
            near.subscribe("#", qos=1)
            far.subscribe("q", "a", qos=0)
            work = asyncio.run_coroutine_threadsafe(native(rounds), two._loop)
            assert until(lambda: ready)
            for n in range(rounds):
                asking.publish("q", b"%d" % n, qos=n % 3)
            seen = [work.result(60), near.got(2 * rounds, 30), far.got(2 * rounds, 30)]
        for order in seen:
            assert sorted(order) == sorted(seen[0])
            for n in range(rounds):
                assert order.index(b"%d" % n) < order.index(b"to %d" % n)
            questions = [one for one in order if not one.startswith(b"to")]
            assert questions == [b"%d" % n for n in range(rounds)]
    report = check(tmp_path)
    assert report.findings == []
    assert {row.process for row in read_rows(tmp_path)} >= {"A", "B", "nat", "eve"}


def test_what_was_written_to_a_client_is_a_cause_of_what_it_publishes(tmp_path: Path) -> None:
    with (
        brokers(2, records=tmp_path) as two,
        Paho(two.port(0)).connect() as a,
        Paho(two.port(1)).connect() as b,
        Paho(two.port(1)).connect() as c,
    ):

        def answer(client: object, userdata: object, message: MQTTMessage) -> None:
            b.client.publish("reply", message.payload, 1)

        b.subscribe("ask", qos=1)
        b.client.on_message = answer
        c.subscribe("#", qos=2)
        for n in range(100):
            a.client.publish("ask", b"%d" % n, 1)
        c.got(200, 30)
        order = [(message.topic, message.payload) for message in c.messages]
        for n in range(100):
            assert order.index(("ask", b"%d" % n)) < order.index(("reply", b"%d" % n))
    assert check(tmp_path).findings == []


def test_retained_copies_are_rows_that_no_judge_takes_for_deliveries(tmp_path: Path) -> None:
    with brokers(1, records=tmp_path) as one, Paho(one.port()).connect() as client:
        client.subscribe("r/#")
        client.publish("r/1", b"x", 1, retain=True)
        client.got(1)
        for n in range(2):
            client.subscribe("r/#")
            client.got(n + 2)
        with Paho(one.port()).connect() as other:
            other.subscribe("r/1")
            other.got(1)
            other.publish("after", b"y", 1)
    rows = [(row.kind, row.reason) for row in read_rows(tmp_path) if row.kind == "deliver" and row.process[0] == "m"]
    assert rows.count(("deliver", "retained")) == 3 and rows.count(("deliver", "own")) == 1
    assert check(tmp_path).findings == []


def test_deadlines_hold_across_the_door(tmp_path: Path) -> None:
    with brokers(2, records=tmp_path) as two:

        async def native() -> tuple[int | None, str]:
            async with (
                connect(two.brokers[1].url, name="nat", records=str(tmp_path)) as node,
                node.subscribe("to/native") as inbox,
            ):
                ready.append(1)
                message = await inbox.get(20)
                await node.publish("to/mqtt", b"y", within=4, headers={"k": "v"})
                assert message.deadline_us is not None
                return message.deadline_us - two.brokers[1].clock.now_us(), message.headers["h"]

        ready: list[int] = []
        with Paho(two.port(0)).connect() as client:
            client.subscribe("to/mqtt", qos=1)
            work = asyncio.run_coroutine_threadsafe(native(), two._loop)
            assert until(lambda: ready)
            client.publish("to/native", b"x", 1, MessageExpiryInterval=3, UserProperty=[("h", "1")])
            left_us, header = work.result(20)
            assert left_us is not None and 1_000_000 < left_us <= 3_000_000 and header == "1"
            client.got(1)
            said: Properties | None = client.messages[0].properties
            assert said is not None and said.MessageExpiryInterval == 4 and said.UserProperty == [("k", "v")]
            assert client.messages[0].qos == 1
    assert check(tmp_path).findings == []


def test_an_aiomqtt_client_talks_to_a_native_one() -> None:
    with brokers(2) as two:

        async def main() -> list[bytes]:
            async with (
                connect(two.brokers[0].url) as node,
                aiomqtt.Client("127.0.0.1", two.port(1), protocol=aiomqtt.ProtocolVersion.V5) as client,
            ):
                await client.subscribe("talk/#", qos=1)
                async with node.subscribe("talk/#") as inbox:
                    seen = []
                    for n in range(20):
                        await node.publish("talk/native", b"%d" % n)
                        message = await anext(aiter(client.messages))
                        assert isinstance(message.payload, bytes)
                        await client.publish("talk/mqtt", b"re " + message.payload, qos=1)
                        seen.append((await inbox.get(10)).payload)
                        await anext(aiter(client.messages))  # its own
                    return seen

        assert asyncio.run(main()) == [b"re %d" % n for n in range(20)]


@pytest.mark.skipif(shutil.which("mosquitto_pub") is None, reason="mosquitto's clients are not installed")
def test_mosquitto_clients_talk_through_two_brokers() -> None:
    with brokers(2) as two:
        listening = subprocess.Popen(
            ["mosquitto_sub", "-V", "5", "-p", str(two.port(1)), "-t", "m/#", "-q", "1", "-C", "5", "-W", "20"],
            stdout=subprocess.PIPE,
        )
        assert until(lambda: any(len(one.subscriptions) for one in two.door(1).sessions.values()))
        time.sleep(0.2)
        subprocess.run(
            ["mosquitto_pub", "-V", "5", "-p", str(two.port(0)), "-t", "m/1", "-q", "2", "-l"],
            input=b"1\n2\n3\n4\n5\n", check=True, timeout=20,
        )  # fmt: skip
        assert listening.communicate(timeout=20)[0].split() == [b"1", b"2", b"3", b"4", b"5"]
        old = subprocess.run(["mosquitto_pub", "-V", "311", "-p", str(two.port(0)), "-t", "m", "-m", "x"], check=False)
        assert old.returncode != 0


PUBLISHERS = 4
EACH = 500


@pytest.mark.skipif(shutil.which("mosquitto_sub") is None, reason="mosquitto's clients are not installed")
def test_two_thousand_messages_of_clients_that_nobody_here_wrote(tmp_path: Path) -> None:
    """paho, aiomqtt, mosquitto and native clients, each publishing, each reading all, at two brokers."""
    total = PUBLISHERS * EACH
    with brokers(2, records=tmp_path) as two:
        ports = [str(two.port(n)) for n in range(2)]

        async def others(seen: dict[str, list[bytes]]) -> None:
            async with (
                connect(two.brokers[1].url, name="nat", records=str(tmp_path)) as node,
                node.subscribe("all/#", queue=total, own=True) as inbox,
                aiomqtt.Client("127.0.0.1", two.port(0), protocol=aiomqtt.ProtocolVersion.V5) as client,
            ):
                await client.subscribe("all/#", qos=1)

                async def read_all() -> None:
                    async for message in client.messages:
                        assert isinstance(message.payload, bytes)
                        seen["aiomqtt"].append(message.payload)
                        if len(seen["aiomqtt"]) == total:
                            break

                reading = asyncio.create_task(read_all())
                ready.append(1)
                for n in range(EACH):
                    node.publish_nowait("all/native", b"native %d" % n, within=60)
                    await client.publish("all/aiomqtt", b"aiomqtt %d" % n, qos=0)
                while len(seen["native"]) < total:
                    seen["native"].append((await inbox.get(60)).payload)
                await asyncio.wait_for(reading, 60)

        ready: list[int] = []
        seen: dict[str, list[bytes]] = {"native": [], "aiomqtt": []}
        with Paho(two.port(1)).connect() as paho:
            paho.subscribe("all/#", qos=2)
            listening = subprocess.Popen(
                ["mosquitto_sub", "-V", "5", "-p", ports[1], "-t", "all/#", "-q", "1", "-C", str(total), "-W", "90"],
                stdout=subprocess.PIPE,
            )
            assert until(lambda: sum(len(one.subscriptions) for one in list(two.door(1).sessions.values())) == 2)
            thread = threading.Thread(target=lambda: asyncio.run(others(seen)))
            thread.start()
            assert until(lambda: ready)
            lines = b"".join(b"mosquitto %d\n" % n for n in range(EACH))
            with subprocess.Popen(
                ["mosquitto_pub", "-V", "5", "-p", ports[0], "-t", "all/mosquitto", "-q", "1", "-l"],
                stdin=subprocess.PIPE,
            ) as publishing:
                assert publishing.stdin is not None
                publishing.stdin.write(lines)
                publishing.stdin.close()
                for n in range(EACH):
                    paho.client.publish("all/paho", b"paho %d" % n, 1)
                assert publishing.wait(60) == 0
            seen["paho"] = paho.got(total, 60)
            seen["mosquitto"] = listening.communicate(timeout=90)[0].splitlines()
            thread.join(90)
    for name, payloads in seen.items():
        assert len(payloads) == len(set(payloads)) == total, name
        for publisher in (b"native", b"aiomqtt", b"mosquitto", b"paho"):
            mine = [int(one.split()[1]) for one in payloads if one.startswith(publisher)]
            assert mine == list(range(EACH)), (name, publisher)
    report = check(tmp_path)
    assert report.findings == []
