"""Bad certificates, floods and tampered datagrams against running brokers, while authorised traffic goes on."""

from __future__ import annotations

import asyncio
import logging
import random
import socket
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from antecede.errors import EnvironmentFault
from antecede.live.broker import Broker
from antecede.live.client import connect
from antecede.live.keys.certificates import make_certificate
from antecede.live.keys.files import write
from antecede.live.keys.limits import Limits
from antecede.live.keys.sealing import FORGED, REPLAYED
from antecede.live.status import status_of
from antecede.live.udp import UdpTransport
from tests.live.cluster import until
from tests.live.keys.keyed import Keyed


@pytest.fixture
def keyed(tmp_path: Path) -> Keyed:
    return Keyed(tmp_path / "keys")


def test_a_client_does_not_trust_another_authority_an_expired_certificate_or_another_host(
    keyed: Keyed, tmp_path: Path
) -> None:
    async def refused(broker: Broker, ca: Path, words: str) -> None:
        with pytest.raises(EnvironmentFault, match=words) as fault:
            async with connect(broker.url, tls=ca, token=keyed.token("ann")):
                pass
        assert "is not to be trusted" in str(fault.value) and "ca.pem" in str(fault.value)

    async def main() -> None:
        async with keyed.broker("A") as broker:
            await refused(broker, Keyed(tmp_path / "other").ca, "certificate verify failed|self-signed|issuer")
        authority = keyed.ca.read_bytes(), (keyed.directory / "ca.key").read_bytes()
        long_ago, now = datetime.now(UTC) - timedelta(days=1000), datetime.now(UTC)
        for began, host, words in ((long_ago, "127.0.0.1", "expired"), (now, "10.9.9.9", "127.0.0.1")):
            broker = keyed.broker("A")  # it has started with a good one, which is then replaced
            certificate, key = make_certificate(authority, [host], began)
            write(keyed.directory / "broker.key", key)
            write(keyed.directory / "broker.pem", certificate)
            async with broker:
                await refused(broker, keyed.ca, words)
            certificate, key = make_certificate(authority, ["127.0.0.1"], now)
            write(keyed.directory / "broker.key", key)
            write(keyed.directory / "broker.pem", certificate)

    asyncio.run(main())


def test_a_client_that_floods_is_slowed_and_others_are_served(keyed: Keyed) -> None:
    async def main() -> None:
        limits = Limits(rate=500)
        async with (
            keyed.broker("A", limits=limits) as broker,
            keyed.client(broker, name="flood") as flood,
            keyed.client(broker, name="ann") as ann,
            keyed.client(broker, name="bob") as bob,
            bob.subscribe("mine") as inbox,
        ):
            began_s = time.monotonic()
            for _ in range(3000):
                flood.publish_nowait("theirs", bytes(1000))
            for n in range(40):
                await ann.publish("mine", b"%d" % n)
                assert (await inbox.get(5)).payload == b"%d" % n
                await asyncio.sleep(0.02)
                # A thousand at once, then 500 a second; what one read brings (256 KiB) is taken whole.
                assert 3000 - flood.pending <= 1000 + 500 * (time.monotonic() - began_s) + 300
            assert set(status_of(broker)["refusals"]) == {"too fast"}
            await flood.flush(20)  # and nothing is lost

    asyncio.run(main())


def test_replayed_and_altered_datagrams_are_dropped_and_counted(keyed: Keyed, caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        dice = random.Random(4)
        async with keyed.broker("A") as a, keyed.broker("B", join=[a.url]) as b:
            caught: list[bytes] = []
            datagrams = a.hub.datagrams
            assert isinstance(datagrams, UdpTransport)
            put = datagrams._put

            def tapped(address: tuple[str, int], datagram: bytes) -> bool:
                caught.append(datagram)
                return put(address, datagram)

            datagrams._put = tapped  # type: ignore[method-assign]
            async with keyed.client(a) as ann, keyed.client(b) as bob, bob.subscribe("t") as inbox:
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as attacker:
                    for n in range(100):
                        await ann.publish("t", b"%d" % n)
                        assert (await inbox.get(5)).payload == b"%d" % n
                        for datagram in caught[-3:]:
                            attacker.sendto(datagram, b.address)
                            altered = bytearray(datagram)
                            altered[dice.randrange(len(altered))] ^= 1 << dice.randrange(8)
                            attacker.sendto(altered, b.address)
                    assert await until(lambda: status_of(b)["refusals"].get(REPLAYED, 0) > 200)
                counts = status_of(b)["refusals"]
                assert set(counts) == {REPLAYED, FORGED} and counts[FORGED] > 200
                assert sum(counts.values()) == b.hub.counts.refused and not inbox.fates().get("late")
                assert len(inbox) == 0 and not status_of(a)["refusals"]

    with caplog.at_level(logging.WARNING, "antecede"):
        asyncio.run(main())
    assert 2 <= sum("datagram" in record.message for record in caplog.records) <= 6, "few lines, however many come"
