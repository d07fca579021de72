"""`antecede cluster`: several brokers in one process; another one is killed and its clients go elsewhere."""

from __future__ import annotations

import asyncio
import signal
import socket
from pathlib import Path

from antecede.live.client import connect
from antecede.trace.check import check
from tests.cli.processes import cluster, running


def test_any_address_will_do_and_what_was_recorded_is_clean(tmp_path: Path) -> None:
    records = str(tmp_path)
    with cluster(3, "--records", records) as (process, told):
        assert len(told["addresses"]) == 3

        async def main() -> None:
            first, *_, last = told["addresses"]
            async with (
                connect(first, name="ann", records=records) as ann,
                connect(last, name="bob", records=records) as bob,
                bob.subscribe("room/#") as inbox,
            ):
                for n in range(10):
                    await ann.publish("room/1", b"%d" % n)
                assert [(await inbox.get(20)).payload for _ in range(10)] == [b"%d" % n for n in range(10)]

        asyncio.run(main())
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    report = check(tmp_path)
    assert report.clean and report.fates_by_role["subscriber"]["delivered"] == 10


def test_a_broker_is_killed_and_nothing_that_was_safe_is_missed(tmp_path: Path) -> None:
    records = str(tmp_path)
    with cluster(2, "--records", records) as (others, told):
        join = told["addresses"][0]
        with running(
            "broker", "--listen", "127.0.0.1:0", "--name", "K", "--join", join, "--records", records
        ) as doomed:
            assert doomed.stdout is not None
            at = doomed.stdout.readline().split()[-1]

            async def main() -> None:
                async with (
                    connect(at, name="ann", records=records) as ann,
                    connect(at, name="bob", records=records) as bob,
                    bob.subscribe("room/#") as inbox,
                ):
                    for n in range(60):
                        await ann.publish("room/1", b"%d" % n)
                        if n == 20:
                            doomed.kill()
                    assert [(await inbox.get(30)).payload for _ in range(60)] == [b"%d" % n for n in range(60)]
                    assert ann.home in ("A", "B") and bob.home in ("A", "B")

            asyncio.run(main())
        others.send_signal(signal.SIGTERM)
        assert others.wait(20) == 0
    report = check(tmp_path)
    assert report.findings == [] and report.unknown_tails == ["K"]
    assert report.fates_by_role["subscriber"]["delivered"] == 60


def test_mqtt_clients_come_in_by_any_broker() -> None:
    with cluster(2, "--mqtt") as (process, told):
        assert len(told["mqtt"]) == 2
        for address in told["mqtt"]:
            host, port = address.removeprefix("mqtt://").split(":")
            with socket.create_connection((host, int(port)), 20) as sock:
                sock.sendall(b"\x10\x0d\x00\x04MQTT\x05\x02\x00\x00\x00\x00\x00")
                assert sock.recv(4)[:1] == b"\x20"
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
